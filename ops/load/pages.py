"""Pages over a database as it is after years (``ops.load.database``): how long each takes, asked one after another."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ops.load.notes import Notes
from ops.load.product import ROOT, Product
from ops.load.visitor import Visitor

PEOPLE, RUNS = 5_000, 50_000
PLAYED = "fund_recon"  #: whose run and grade the others are copied from
TIMES = 40
FILL = f"from ops.load.database import fill; fill(people={PEOPLE}, runs={RUNS})"
#: One more grade for each line that comes, as a worker adds it; says so with a line.
GRADE_ON = "from ops.load.database import add_grades; add_grades()"
WHO = "from ops.load.database import busiest; print(*busiest())"


def fill(product: Product) -> None:
    """Before the product starts: play one run for real, and make all others after it."""
    product.manage("play", PLAYED, "--solution", "reference")
    product.manage("shell", "-v0", "-c", FILL)


@contextmanager
def grader(product: Product) -> Iterator[subprocess.Popen[str]]:
    adding = subprocess.Popen(
        [sys.executable, "manage.py", "shell", "-v0", "-c", GRADE_ON],
        cwd=ROOT,
        env=product.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield adding
    finally:
        adding.communicate()


def _one_more(adding: subprocess.Popen[str]) -> None:
    assert adding.stdin is not None
    assert adding.stdout is not None
    adding.stdin.write("\n")
    adding.stdin.flush()
    adding.stdout.readline()


async def _looked(product: Product, session: str, run: str, adding: subprocess.Popen[str]) -> Notes:
    notes = Notes()
    visitor = Visitor(product.address, session, Notes())
    board = f"/leaderboard/{PLAYED}/"
    addresses = {
        "page: leaderboard": "/leaderboard/",
        "page: leaderboard, best of all runs": "/leaderboard/?view=best",
        "page: leaderboard of a scenario": board,
        "page: leaderboard of a scenario, page 40": f"{board}?page=40",
        "page: scenarios": "/scenarios/",
        "page: scenario": f"/scenarios/{PLAYED}/",
        "page: my runs": "/runs/",
        "page: debrief": f"/runs/{run}/debrief/",
    }
    for what, address in addresses.items():  # the very first, which reads all grades and compiles its template
        with notes.timed(f"{what}, first after a start"):
            await visitor.page(address, what)
    for _ in range(TIMES):
        for what, address in addresses.items():
            with notes.timed(what):
                await visitor.page(address, what)
    for _ in range(TIMES // 2):
        for what, address in addresses.items():
            if "leaderboard" in what or what in ("page: scenarios", "page: scenario"):
                await asyncio.to_thread(_one_more, adding)
                with notes.timed(f"{what}, after one more grade"):
                    await visitor.page(address, what)
    notes.errors += visitor.notes.errors
    await visitor.close()
    return notes


def measure(product: Product) -> dict[str, Any]:
    """What each page took, for the person with the most runs."""
    session, run = product.manage("shell", "-v0", "-c", WHO).split()
    with grader(product) as adding:
        notes = asyncio.run(_looked(product, session, run, adding))
    return {"people": PEOPLE, "runs": RUNS, "times": TIMES, "notes": notes}
