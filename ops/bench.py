"""`make bench`: how quick and how large the product is, beside peers where there are any, in one run.

    python3 ops/bench.py [--only echo,bulk] [--json FILE] [--docs]

Starts a site of its own. ``--docs`` writes the table into docs/performance.md. Nothing here passes or fails.
"""

from __future__ import annotations

import argparse
import asyncio
import datetime
import json
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

import place

PARTS = (
    ("bench_pages", ("idle", "pages", "ready")),
    ("bench_terminal", ("echo", "bulk", "interrupt", "slow", "paste", "reconnects")),
    ("bench_pages", ("replies", "grade")),
)
BEGINS, ENDS = "<!-- figures: written by ops/bench.py -->", "<!-- end of figures -->"


def parsed(arguments: list[str]) -> argparse.Namespace:
    names = [name for _, part in PARTS for name in part]
    parser = argparse.ArgumentParser(prog="make bench", description="Speed and memory, beside peers, in one run.")
    parser.add_argument("--only", default=",".join(names), help=f"some of {','.join(names)}")
    parser.add_argument("--json", type=Path, default=None, help="write the figures there, too")
    parser.add_argument("--docs", action="store_true", help="write the table into docs/performance.md")
    options = parser.parse_args(arguments)
    options.only = options.only.split(",")
    if unknown := set(options.only) - set(names):
        parser.error(f"there is no part {', '.join(sorted(unknown))}")
    return options


def write_document(arguments: list[str]) -> int:
    """Measure in a process of its own, which may have fewer rights than whoever owns the document; write the table."""
    from bench_table import Figure, markdown

    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        kept = Path(folder) / "figures.json"
        measured = subprocess.run([sys.executable, __file__, *arguments, "--json", str(kept)], check=False)
        if measured.returncode:
            return measured.returncode
        figures = [Figure.of_json(said) for said in json.loads(kept.read_text())]
    write_into(place.CHECKOUT / "docs" / "performance.md", markdown(figures))
    return 0


def write_into(document: Path, figures: str) -> None:
    before, _, rest = document.read_text().partition(BEGINS)
    after = rest.partition(ENDS)[2]
    machine = f"{os.cpu_count()} cores, Python {platform.python_version()}, {datetime.date.today():%d %B %Y}"
    document.write_text(f"{before}{BEGINS}\n\n{machine}.\n\n{figures}\n\n{ENDS}{after}")


def main(arguments: list[str]) -> int:
    options = parsed(arguments)
    if options.docs:
        return write_document([argument for argument in arguments if argument != "--docs"])
    place.settle("ops/bench.py", refresh=False)
    # only now this is the interpreter that has what they import
    import bench_pages
    import bench_terminal
    from bench_site import Visitor, running_site
    from bench_table import Figure, table

    modules = {"bench_pages": bench_pages, "bench_terminal": bench_terminal}
    figures: list[Figure] = []
    with running_site() as (address, processes):
        for name, module in ((name, modules[module]) for module, names in PARTS for name in names):
            if name not in options.only:
                continue
            print(f"{name} …", file=sys.stderr, flush=True)
            person = Visitor(address)
            person.sign_up(f"bench-{name}")
            if name != "idle":
                person.begin("oil_npt")
            figures += asyncio.run(getattr(module, name)(person, processes))
    print(table(figures))
    if options.json:
        options.json.write_text(json.dumps([figure.as_json() for figure in figures], indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
