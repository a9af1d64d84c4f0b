"""`make chaos`: people work at a site of its own while its parts are killed; the auditor says what was lost or doubled.

    python3 -m ops.chaos [--faults 100] [--people 4] [--seed 1] [--kinds site,keeper] [--embedded] [--json FILE] [--docs]

Ends with status 1 if anything was lost or doubled, or somebody was away for more than ten seconds after a fault was over.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BEGINS, ENDS = "<!-- figures: written by make chaos -->", "<!-- end of the figures of make chaos -->"


def as_the_project() -> None:
    """Go on with the project's own interpreter and paths, as whoever started this: root can do more here."""
    python = ROOT / ".venv" / "bin" / "python"
    paths = f"{ROOT}:{ROOT / 'platform'}"
    if os.environ.get("PYTHONPATH") == paths:
        return
    if not python.exists():
        sys.exit("fdegym: this checkout is not set up yet: run `make setup` first.")
    os.environ |= {"PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"}
    os.execv(python, [str(python), "-m", "ops.chaos", *sys.argv[1:]])


def parsed(arguments: list[str]) -> argparse.Namespace:
    from ops.chaos.faults import KINDS

    parser = argparse.ArgumentParser(prog="make chaos", description="Kill parts of a site under people's hands.")
    parser.add_argument("--faults", type=int, default=100)
    parser.add_argument("--people", type=int, default=4)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no fault later than that")
    parser.add_argument("--seed", type=int, default=1, help="the same seed: the same faults in the same order")
    parser.add_argument("--kinds", default="", help=f"some of {','.join(KINDS)} (default: all that can be tried)")
    parser.add_argument("--embedded", action="store_true", help="SQLite and no servers, as `make run` has it")
    parser.add_argument("--dockerd-pidfile", type=Path, default=None, help="of a Docker daemon that is started again")
    parser.add_argument("--json", type=Path, default=None, help="write everything there, too")
    parser.add_argument("--docs", action="store_true", help="write the table into docs/performance.md")
    options = parser.parse_args(arguments)
    options.kinds = [kind for kind in options.kinds.split(",") if kind]
    if unknown := set(options.kinds) - set(KINDS):
        parser.error(f"there is no fault {', '.join(sorted(unknown))}")
    return options


def main(arguments: list[str]) -> int:
    from ops.chaos.report import Told, markdown
    from ops.chaos.trial import Options, run

    async def to_the_end() -> Told:
        this = asyncio.current_task()
        assert this is not None
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, this.cancel)  # it, too, leaves nothing behind
        return await run(wanted)

    given = parsed(arguments)
    wanted = Options(
        seed=given.seed,
        faults=given.faults,
        people=given.people,
        embedded=given.embedded,
        kinds=given.kinds,
        dockerd=given.dockerd_pidfile,
        minutes=given.minutes,
    )
    told = asyncio.run(to_the_end())
    print(markdown(told))
    for problem in told.problems():
        print(problem)
    if given.json:
        given.json.write_text(json.dumps(told.as_json(), indent=1) + "\n")
    if given.docs:
        write_into(ROOT / "docs" / "performance.md", markdown(told))
    return 1 if told.problems() else 0


def write_into(document: Path, figures: str) -> None:
    before, _, rest = document.read_text().partition(BEGINS)
    after = rest.partition(ENDS)[2]
    document.write_text(f"{before}{BEGINS}\n\n{figures}\n\n{ENDS}{after}")


if __name__ == "__main__":
    as_the_project()
    sys.exit(main(sys.argv[1:]))
