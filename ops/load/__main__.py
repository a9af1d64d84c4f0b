"""`make load`: a class at work on the product, and what it costs. Nothing here passes or fails.

    python3 ops/load [people] [starts] [idle] [pages] [--people 10,50] [--seconds 60] [--json FILE] …

Starts a product of its own unless ``--url`` names one. The same seed gives the same people with the same pauses.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("people", "starts", "idle", "pages")
IDLE = 20  #: people who only have a page open


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
    parser.add_argument("--worlds", type=Path, help="a directory of built worlds, else those of set-up are taken")
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
    from ops.load import pages, report
    from ops.load.crowds import Plan, load
    from ops.load.measuring import machine
    from ops.load.product import running, started

    plans = {
        "people": [Plan(number, seconds=options.seconds, arrive_s=max(5.0, number / 5)) for number in options.people],
        "starts": [Plan(options.starts, seconds=1, arrive_s=10, floods=0, submit=False)],
        "idle": [Plan(IDLE, seconds=options.seconds, floods=0, submit=False, kind="idler")],
    }
    found: dict[str, Any] = {"machine": machine(), "loads": {}}
    print(report.of_machine(found["machine"]), flush=True)
    with running(options.url) if options.url else started(options.worlds) as product:
        for part in [part for part in plans if part in options.parts]:
            for plan in plans[part]:
                told = replace(plan, seed=options.seed, scenario=options.scenario)
                if part == "people":
                    told = replace(told, floods=min(options.floods, plan.people))
                measured = load(product, told)
                found["loads"].setdefault(part, []).append(measured)
                print(f"\n{part}: {report.of_load(measured)}", flush=True)
    if "pages" in options.parts and not options.url:
        with started(options.worlds, first=pages.fill) as product:
            found["pages"] = pages.measure(product)
        print(f"\n{report.of_pages(found['pages'])}", flush=True)
    if options.json:
        options.json.write_text(report.as_json(found) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
