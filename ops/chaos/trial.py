"""One fault test from beginning to end: people come, faults happen one after the other, people leave, the auditor looks."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import sqlite3
import sys
import time
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

from ops.chaos.auditor import audit
from ops.chaos.faults import KINDS, Planned, Site, plan
from ops.chaos.network import Network
from ops.chaos.person import KEPT_FILE, SCENARIO, Person
from ops.chaos.product import Orphans, Product
from ops.chaos.report import LINES, Happened, Told
from ops.chaos.stored import load
from tests.e2e.stack import own_directory

WAIT_FOR_PEOPLE_S = 60.0
WAIT_FOR_WORK_S = 120.0
SETTLE_S = 600.0  #: at most, for the last grades and for orphans to go
LOOK_FOR_ORPHANS_EVERY_S = 2.0


@dataclass(frozen=True, slots=True)
class Options:
    """What is tried. ``kinds`` empty: all that can be tried here. ``run_s``: how long a run is worked in."""

    seed: int
    faults: int
    people: int
    embedded: bool = False
    kinds: Sequence[str] = ()
    run_s: tuple[float, float] = (90.0, 200.0)
    dockerd: Path | None = None
    minutes: float = float("inf")  #: no fault is begun later than so long after the first could be
    quiet: bool = False


@dataclass
class _Trial:
    options: Options
    product: Product
    network: Network
    orphans: Orphans
    people: list[Person] = field(default_factory=list)
    happened: list[Happened] = field(default_factory=list)
    late_s: list[float] = field(default_factory=list)  #: how late this test's own loop was, ten times a second

    def say(self, words: str) -> None:
        if not self.options.quiet:
            print(f"{time.strftime('%H:%M:%S')} {words}", file=sys.stderr, flush=True)

    async def until_all_work(self) -> None:
        self.say("everybody begins")
        while not all(person.signs.all_alive(LINES) for person in self.people):
            await asyncio.sleep(0.2)

    async def until_somebody_works(self) -> None:
        """A fault that nobody is there to see shows nothing; everybody may just be handing in."""
        deadline = time.time() + WAIT_FOR_WORK_S
        while time.time() < deadline and not any(person.signs.all_alive(LINES) for person in self.people):
            await asyncio.sleep(0.2)

    async def faults(self, planned: Sequence[Planned], site: Site) -> None:
        until = time.time() + self.options.minutes * 60
        for number, fault in enumerate(planned, start=1):
            if time.time() > until:
                return
            await asyncio.sleep(fault.pause_s)
            await self.until_somebody_works()
            began = time.time()
            await KINDS[fault.kind].happen(site, fault.lasts_s)
            over = time.time()
            self.happened.append(Happened(fault.kind, began, over))
            back = await asyncio.gather(*(person.signs.back(over, WAIT_FOR_PEOPLE_S) for person in self.people))
            for each in back:
                for line, took in each.items():
                    worst = self.happened[-1].back_s.get(line, 0.0)
                    self.happened[-1].back_s[line] = None if took is None or worst is None else max(worst, took)
            words = {
                line: "never" if took is None else f"{took:.1f}" for line, took in self.happened[-1].back_s.items()
            }
            self.say(f"{number}/{len(planned)} {fault.kind}, {over - began:.1f} s; back: {words}")

    async def watch_for_orphans(self) -> None:
        while True:
            # a product without a database for now is looked at again when it has one
            with contextlib.suppress(OSError, psycopg.Error, sqlite3.Error):
                await asyncio.to_thread(self.orphans.look)
            await asyncio.sleep(LOOK_FOR_ORPHANS_EVERY_S)

    async def watch_the_clock(self) -> None:
        """On a machine so busy that this test itself is late, its times say more about the machine than the product."""
        while True:
            due = time.monotonic() + 0.1
            await asyncio.sleep(0.1)
            self.late_s.append(time.monotonic() - due)

    def full_disk(self) -> list[tuple[float, float]]:
        return [(fault.began, fault.over) for fault in self.happened if fault.kind == "full disk"]


def tried_here(site: Site, wanted: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """(kinds that can be tried, kind → why it cannot be) of those wanted; of all, if none is named."""
    why = {kind: KINDS[kind].impossible(site) for kind in wanted or KINDS}
    return [kind for kind, words in why.items() if not words], {kind: words for kind, words in why.items() if words}


async def run(options: Options) -> Told:
    """The whole of it. Leaves nothing behind."""
    product = Product(own_directory("fdch-"), embedded=options.embedded)
    network = Network(product.port)
    trial = _Trial(options, product, network, Orphans(product))
    try:
        trial.say("preparing")
        await asyncio.to_thread(product.begin, SCENARIO)
        await network.up()
        return await _with_people(trial, options)
    finally:
        for person in trial.people:
            await person.close()
        await network.close()
        await asyncio.to_thread(product.end)


async def _with_people(trial: _Trial, options: Options) -> Told:
    site = Site(trial.product, trial.network, options.dockerd)
    kinds, left_out = tried_here(site, options.kinds)
    leaving, began, load_before = asyncio.Event(), time.time(), os.getloadavg()[0]
    for number in range(options.people):
        chance = random.Random(f"{options.seed} {number}")
        trial.people.append(Person(f"person{number}", trial.network.address, chance, options.run_s))
    for person in trial.people:
        await person.sign_up()
    lives = [asyncio.create_task(person.live(leaving)) for person in trial.people]
    looking = [asyncio.create_task(each) for each in (trial.watch_for_orphans(), trial.watch_the_clock())]
    try:
        await _unless_ended(trial.until_all_work(), lives)
        planned = plan(options.seed, options.faults, kinds)
        await _unless_ended(trial.faults(planned, site), lives)
        trial.say("no more faults; everybody hands in")
        leaving.set()
        async with asyncio.timeout(SETTLE_S):
            await asyncio.gather(*lives)
            while trial.orphans.present():
                await asyncio.sleep(LOOK_FOR_ORPHANS_EVERY_S)
    except TimeoutError:
        trial.say("not everything came to rest")
    finally:
        for task in (*looking, *lives):
            task.cancel()
        await asyncio.gather(*looking, *lives, return_exceptions=True)
    trial.say("auditing")
    stored = load(await asyncio.to_thread(trial.product.dump, KEPT_FILE, SETTLE_S))
    stored.orphans = [*trial.orphans.overdue(), *(f"{what}, to the end" for what in trial.orphans.present())]
    return Told(
        seed=options.seed,
        installation="SQLite, broker of files" if options.embedded else "PostgreSQL and Redis",
        seconds=time.time() - began,
        faults=trial.happened,
        left_out=left_out,
        waited_for_grades_s=[each for person in trial.people for each in person.waited_for_grades],
        orphans=trial.orphans.seen,
        late_s=trial.late_s,
        audited=audit([person.account for person in trial.people], stored, trial.full_disk()),
        load=(load_before, os.getloadavg()[0]),
    )


async def _unless_ended(course: Coroutine[Any, Any, None], lives: Sequence[asyncio.Task[None]]) -> None:
    """Do this; a person who gives up, which nobody should have to, ends it."""
    happening = asyncio.create_task(course)
    await asyncio.wait([happening, *lives], return_when=asyncio.FIRST_COMPLETED)
    for task in (happening, *lives):
        if task.done() and (problem := task.exception()) is not None:
            happening.cancel()
            raise problem
    await happening
