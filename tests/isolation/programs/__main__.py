"""python -m tests.isolation.programs NAME FACTS: make one attempt and say in JSON how it ended."""

from __future__ import annotations

import errno
import json
import sys
from typing import Any

from tests.isolation.programs.attempt import Facts, Refused
from tests.isolation.programs.everything import ATTEMPTS


def outcome(name: str, facts: Facts) -> dict[str, Any]:
    """``got``: in words, or ``None``; ``refused``: the names of the kernel's errors."""
    said: dict[str, Any] = {"got": None, "refused": []}
    try:
        said["got"] = ATTEMPTS[name].run(facts)
    except Refused as refused:
        said["refused"] = sorted(errno.errorcode.get(number, str(number)) for number in refused.numbers)
    except OSError as refused:
        said["refused"] = [errno.errorcode.get(refused.errno or 0, str(refused))]
    return said


if __name__ == "__main__":
    print(json.dumps(outcome(sys.argv[1], Facts(**json.loads(sys.argv[2])))), flush=True)
