"""How quickly a neighbour's letters come back while somebody uses up what all share, on each runtime.

    python3 ops/bench_isolation.py [--runtimes bubblewrap,docker] [--only NAME,…] [--keys 200] [--json FILE] [--list]

Prints a table for docs/isolation.md. ``DOCKER_FOR_TESTS`` names the socket of the Docker daemon, as for the tests. Nothing
here passes or fails; ``--list`` prints what is attempted, and attempts nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import datetime
import json
import os
import platform
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import place

if TYPE_CHECKING:
    from tests.isolation.street import Street

QUIET = "quiet"
PAUSE_S = 0.02  #: between two letters: quicker than anybody types


def parsed(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="A neighbour's echo while a sandbox uses up what all share.")
    parser.add_argument("--runtimes", default="bubblewrap,docker")
    parser.add_argument("--only", default="", help="names of attempts")
    parser.add_argument("--keys", type=int, default=200, help="letters under each")
    parser.add_argument("--json", type=Path, default=None, help="write the figures there, too")
    parser.add_argument("--list", action="store_true", help="print every attempt with what it tries")
    return parser.parse_args(arguments)


def print_list() -> None:
    from tests.isolation.battery import everything

    for kind, attempts in everything().items():
        print(f"\n{kind}: {len(attempts)}")
        for name, tries in attempts.items():
            print(f"  {name.replace('_', ' ')}: {tries}")


async def measured(street: Street, keys: int) -> list[float]:
    """Milliseconds of each letter."""
    from tests.isolation.street import echo_s

    found = []
    async with street.typing() as stream:
        for number in range(keys):
            found.append(await echo_s(stream, bytes([97 + number % 26])) * 1000)
            await asyncio.sleep(PAUSE_S)
    return found


async def under_each(street: Street, names: list[str], keys: int) -> dict[str, list[float] | str]:
    from tests.isolation.programs.pressing import PRESSURES

    found: dict[str, list[float] | str] = {QUIET: await measured(street, keys)}
    watched = street.runtime.report().limits_enforced_by["memory"] == "watcher"
    for name in names or list(PRESSURES):
        print(f"{street.runtime.name}: {name} …", file=sys.stderr, flush=True)
        if PRESSURES[name].only_with_cgroup and watched:
            found[name] = "not held without a cgroup"
            continue
        try:
            async with street.under(PRESSURES[name]):
                found[name] = await measured(street, keys)
        except (AssertionError, TimeoutError) as problem:
            found[name] = str(problem) or "a letter did not come back"
    return found


def table(figures: dict[str, dict[str, list[float] | str]]) -> str:
    from bench_table import number, percentile

    lines = ["| beside | " + " | ".join(f"{runtime}: p50, p95" for runtime in figures) + " |"]
    lines.append("| --- |" + " --- |" * len(figures))
    for name in {name: None for found in figures.values() for name in found}:
        cells = []
        for found in figures.values():
            said = found.get(name, "")
            if isinstance(said, list):
                said = f"{number(percentile(said, 0.5))} ms, {number(percentile(said, 0.95))} ms"
            cells.append(said)
        lines.append(f"| {name.replace('_', ' ')} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    options = parsed(arguments)
    place.settle("ops/bench_isolation.py", refresh=False)
    sys.path[:0] = [str(place.CHECKOUT), str(place.CHECKOUT / "platform")]
    if options.list:
        print_list()
        return 0
    os.environ.setdefault("FDEGYM_SECRET_KEY", "of-a-measurement-" + "k" * 50)
    from tests.isolation.street import Street
    from workspaces.runtime.base import Limits

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # who is told to end still clears its sandboxes away
    load = os.getloadavg()[0]
    figures: dict[str, dict[str, list[float] | str]] = {}
    for runtime in options.runtimes.split(","):
        with Street(runtime, Limits()) as street:
            figures[runtime] = asyncio.run(
                under_each(street, [name for name in options.only.split(",") if name], options.keys)
            )
    machine = f"{os.cpu_count()} cores, Linux {platform.release()}, Python {platform.python_version()}"
    busy = "a quiet machine" if load < 1 else f"a machine that was busy already (load {load:.1f})"
    print(f"{machine}, {datetime.date.today():%d %B %Y}, {busy}; {options.keys} letters each.\n")
    print(table(figures))
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
