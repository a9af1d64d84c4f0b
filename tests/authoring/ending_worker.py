"""A stand-in for admission's worker that ends, or says nothing, as the item's name tells it to.

``ends``: every time; ``ends once``: the first time it is asked; ``half``: in the middle of its answer; ``silent``: never
answers; ``busy``: never has a result on this machine; ``busy twice``: has one the third time. Anything else is answered
with its own name.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path


def main() -> None:
    for line in sys.stdin:
        name = json.loads(line)["name"]
        asked_before = Path(os.environ["FDEGYM_VAR"]) / f"asked {name}"
        with asked_before.open("a") as asked:
            asked.write("1")
        times = asked_before.stat().st_size
        first = times == 1
        if name == "ends" or (name == "ends once" and first):
            os._exit(9)
        if name == "half":
            print('{"result": {"na', end="", flush=True)
            os._exit(0)
        if name == "silent":
            time.sleep(3600)
        if name == "busy" or (name == "busy twice" and times <= 2):
            print(json.dumps({"failed": "too busy", "later": True, "seconds": 0.0}), flush=True)
            continue
        print(json.dumps({"result": {"name": name}, "seconds": 0.0}), flush=True)


if __name__ == "__main__":
    main()
