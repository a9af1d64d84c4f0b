"""`make load`: a class at work on the product, and what it costs. Nothing here passes or fails.

    python3 ops/load [people] [starts] [idle] [pages] [--people 10,50] [--seconds 60] [--json FILE] …

Starts a product of its own unless ``--url`` names one. The same seed gives the same people with the same pauses.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("people", "starts", "idle", "pages")


def parsed(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make load", description="A class at work on the product, and what it costs.")
    parser.add_argument("parts", nargs="*", metavar="part", help=f"some of {', '.join(PARTS)}; all when none is named")
    parser.add_argument("--people", default="10,50,100,200", help="how many at once, one load after another")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long they work, once all are there")
    parser.add_argument("--floods", type=int, default=5, help="how many of them flood their terminal all the time")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--scenario", default="first_delivery")
    parser.add_argument("--starts", type=int, default=50, help="workspaces that are begun within ten seconds")
    parser.add_argument("--url", help="a site that runs already; manage.py must reach its database from here")
    parser.add_argument("--directory", type=Path, help="of the product that is started: kept, so that worlds are, too")
    parser.add_argument("--json", type=Path, help="write the figures there, too")
    options = parser.parse_args(arguments)
    options.parts = options.parts or list(PARTS)
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"there is no part {', '.join(sorted(unknown))}")
    options.people = [int(each) for each in options.people.split(",")]
    return options


def main(arguments: list[str]) -> int:
    options = parsed(arguments)
    sys.path[0] = str(ROOT)  # this folder was there
    from ops import place

    place.settle("ops/load/__main__.py", refresh=False)
    # only now this is the interpreter that has what they import
    from ops.load import report
    from ops.load.crowds import Plan, load
    from ops.load.measuring import machine
    from ops.load.product import running, started

    found: dict[str, Any] = {"machine": machine(), "loads": []}
    with running(options.url) if options.url else started(options.directory) as product:
        for number in options.people if "people" in options.parts else ():
            plan = Plan(
                number,
                seconds=options.seconds,
                arrive_s=max(5.0, number / 5),
                floods=min(options.floods, number),
                seed=options.seed,
                scenario=options.scenario,
            )
            found["loads"].append(load(product, plan))
            print(report.of_load(found["loads"][-1]), flush=True)
    if options.json:
        options.json.write_text(report.as_json(found) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
