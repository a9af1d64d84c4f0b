"""Everything in `make bench` but terminals: memory, pages, workspaces, replies of people, grades."""

from __future__ import annotations

import asyncio
import statistics
import time
import tomllib
from collections.abc import Callable

from bench_site import ROOT, Processes, Visitor
from bench_table import Figure, percentile

READY_TIMES = 20
PAGE_TIMES = 40
MESSAGES = 320
MESSAGES_A_RUN = 40
GRADES = 5


async def timed(act: Callable[..., object], *values: object) -> float:
    """Milliseconds that a blocking call takes."""

    def act_timed() -> float:
        started = time.perf_counter()
        act(*values)
        return (time.perf_counter() - started) * 1e3

    return await asyncio.to_thread(act_timed)


async def somebody(person: Visitor, name: str) -> Visitor:
    """Another visitor of the same site, signed up."""
    other = Visitor(person.address)
    await asyncio.to_thread(other.sign_up, name)
    await asyncio.to_thread(other.get, "/scenarios/oil_npt/")
    return other


async def idle(person: Visitor, processes: Processes) -> list[Figure]:
    await asyncio.sleep(3)
    found = processes.memory_by_kind_mb()
    parts = ", ".join(f"{kind} {size:.0f}" for kind, size in sorted(found.items()))
    return [Figure("memory of all processes, idle", sum(found.values()), "MB", 900, note=parts)]


async def pages(person: Visitor, processes: Processes) -> list[Figure]:
    names = {"/": "first page", "/scenarios/": "list of scenarios", f"/runs/{person.run}/": "workbench"}
    took: dict[str, list[float]] = {path: [] for path in names}
    for turn in range(PAGE_TIMES + 1):
        for path, values in took.items():
            spent = await timed(person.get, path)
            if turn:  # not the very first, which compiles its template
                values.append(spent)
    return [Figure(f"{names[path]}, p95", percentile(values, 0.95), "ms", 100) for path, values in took.items()]


async def ready(person: Visitor, processes: Processes) -> list[Figure]:
    took = []
    for number in range(READY_TIMES):
        other = await somebody(person, f"ready{number}")
        took.append(await timed(other.begin, "oil_npt") / 1e3)
    return [Figure("workspace ready, its world built before, p95", percentile(took, 0.95), "s", 0.5)]


async def replies(person: Visitor, processes: Processes) -> list[Figure]:
    """Messages that no matcher has learnt, in an order that changes people and topics."""
    with (ROOT / "scenarios/oil_npt/phrasings.toml").open("rb") as file:
        topics = tomllib.load(file)["topics"]
    heard = [(name.partition("/")[0], text) for name, topic in topics.items() for text in topic["tests"]]
    took: list[float] = []
    for number, (who, text) in enumerate(heard[:: max(1, len(heard) // MESSAGES)][:MESSAGES]):
        if number % MESSAGES_A_RUN == 0:
            person = await somebody(person, f"writer{number}")
            await asyncio.to_thread(person.begin, "oil_npt")
        took.append(await timed(person.say, who, text))
    name = f"a person's reply, of {len(took)}"
    return [
        Figure(f"{name}, p50", statistics.median(took), "ms"),
        Figure(f"{name}, p99", percentile(took, 0.99), "ms", 30, note=f"slowest {max(took):.0f} ms"),
    ]


async def grade(person: Visitor, processes: Processes) -> list[Figure]:
    took = []
    for number in range(GRADES):
        other = await somebody(person, f"grade{number}")
        await asyncio.to_thread(other.begin, "oil_npt")
        took.append(await timed(other.submit) / 1e3)
    return [Figure("from submitting to the debrief, p50", statistics.median(took), "s", 30)]
