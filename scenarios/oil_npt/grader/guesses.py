"""Deliveries by luck: what the grade gives to somebody who decides by coins, stop by stop."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from weakref import WeakKeyDictionary

from numpy.random import Generator

from scenarios.kit.world import Outcome, Streams, TaskView
from scenarios.oil_npt.grader.books import Books
from scenarios.oil_npt.grader.claims import COLUMNS, parse_claim
from scenarios.oil_npt.grader.ledger import Interval, ledger, month_of, total_hours, within
from scenarios.oil_npt.grader.mail import Mailroom
from scenarios.oil_npt.grader.replay import Observed, ProductionPeriod
from scenarios.oil_npt.grader.truth import claim_files, claim_row, notice
from scenarios.oil_npt.world.production import Production
from scenarios.oil_npt.world.stoppages import Segment, Stoppage

#: hours that a guess leaves free of each job
FREE_HOURS = (0.0, 0.75, 1.5, 3.0)

#: a task's streams and facts go together, and all draws of a task come with the same streams
_BOOKS: WeakKeyDictionary[Streams, Books] = WeakKeyDictionary()


def random_delivery(task: TaskView, streams: Streams, rng: Generator) -> Outcome:
    """One delivery drawn decision by decision and judged as a replayed one is.

    It finds every stop in the reports, whatever its kind, and tosses a coin for each whether it is the contractor's,
    on an item drawn from the rig's where the crew named none, and another whether to notify it in time. One delivery
    in two then knows contract and record and claims the right hours of what it takes for the contractor's; the others
    guess which parts count, what is free, and which revision binds.
    """
    if streams not in _BOOKS:
        _BOOKS[streams] = Books(Production(task, streams))
    books = _BOOKS[streams]
    production = books.production
    stops = [_on_some_item(stop, production, rng) for stop in (*production.earlier_stoppages, *production.stoppages)]
    taken = [replace(stop, kind="C") for stop in stops if rng.random() < 0.5]
    knows_the_rules = rng.random() < 0.5
    files = (
        claim_files(ledger(taken, production.facts), production)
        if knows_the_rules
        else _guessed(taken, production, rng)
    )
    observed = Observed(Mailroom(production.contacts), closed=set(production.graded_months))
    for stop in stops:
        if rng.random() < 0.5:
            day, mail = notice(stop, production)
            observed.mailroom.send(mail, day, "a guess")
    for (month, rig), data in files.items():
        observed.claims[month][rig] = parse_claim(data, rig, month)
    return books.outcome(observed)


def _on_some_item(stop: Stoppage, production: ProductionPeriod, rng: Generator) -> Stoppage:
    if stop.tag:
        return stop
    tags = sorted(production.tags(stop.rig))
    return replace(stop, tag=tags[int(rng.integers(len(tags)))])


def _guessed(stops: list[Stoppage], production: ProductionPeriod, rng: Generator) -> dict[tuple[date, str], bytes]:
    rows: dict[tuple[date, str], list[str]] = defaultdict(lambda: [";".join(COLUMNS)])
    for stop in stops:
        version = stop.versions[int(rng.integers(len(stop.versions)))]
        counted = _some_parts(version.segments, rng)
        free_h = FREE_HOURS[int(rng.integers(len(FREE_HOURS)))]
        for month, part in _by_month(counted):
            hours = total_hours([part]) - free_h
            if hours > 0 and month in production.graded_months:
                reports = production.report_ids(stop.rig, *part)
                evidence = [f"{report}@{_some_revision(report, production, rng)}" for report in reports]
                claim = rows[month, stop.rig]
                claim.append(claim_row(len(claim), stop.rig, month, part, stop.tag, hours, evidence))
    return {key: "\n".join(lines).encode() for key, lines in rows.items()}


def _some_parts(segments: tuple[Segment, ...], rng: Generator) -> Interval:
    """From the start of the stop or of its repair to the end of the repair, of one's own work or of the way back."""
    repairs = [index for index, segment in enumerate(segments) if segment.part == "repair"]
    first = int(rng.integers(0, repairs[0] + 1))
    last = int(rng.integers(repairs[-1], len(segments)))
    return segments[first].start, segments[last].end


def _by_month(interval: Interval) -> Iterator[tuple[date, Interval]]:
    for month in sorted({month_of(interval[0]), month_of(interval[1])}):
        for part in within([interval], month):
            yield month, part


def _some_revision(report_id: str, production: ProductionPeriod, rng: Generator) -> int:
    revisions = production.revisions(report_id)
    return revisions[int(rng.integers(len(revisions)))][0]
