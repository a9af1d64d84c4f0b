"""Eleven months of production: 831 calls in the order of the calendar, and what the outbox held after them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from typing import Any, Literal, Protocol

from scenarios.kit.world import DeploymentHost, Outcome
from scenarios.oil_npt.grader.books import Books
from scenarios.oil_npt.grader.claims import MAX_CLAIM_BYTES, Claim, parse_claim
from scenarios.oil_npt.grader.ledger import next_month
from scenarios.oil_npt.grader.mail import OUTBOX, Contact, Mailroom
from scenarios.oil_npt.world.stoppages import RIGS, Stoppage

CLOSE_DAY = 8
DATABASE = "var/npt.sqlite"
CLAIMS = "outbox/claims"

Call = Literal["ingest", "digest", "close", "ask"]
_AT: Mapping[Call, time] = {"ingest": time(5), "digest": time(5, 30), "close": time(6), "ask": time(9)}
_WORDS: Mapping[Call, str] = {
    "ingest": "morning reports",
    "digest": "daily digest",
    "close": "monthly claims",
    "ask": "a question from the intranet",
}


class ProductionPeriod(Protocol):
    """What the world brings, and the truth that only the grader may see."""

    @property
    def facts(self) -> Mapping[str, Any]: ...
    @property
    def report_dates(self) -> list[date]: ...
    @property
    def graded_months(self) -> list[date]: ...
    @property
    def stoppages(self) -> list[Stoppage]: ...
    @property
    def earlier_stoppages(self) -> list[Stoppage]: ...
    @property
    def contacts(self) -> Sequence[Contact]: ...
    def drops(self) -> Iterator[tuple[date, dict[str, bytes]]]: ...
    def questions(self) -> Iterator[tuple[date, str]]: ...
    def binding_rev(self, report_id: str) -> int: ...
    def revisions(self, report_id: str) -> list[tuple[int, bool]]: ...
    def report_ids(self, rig: str, start: datetime, end: datetime) -> list[str]: ...
    def tags(self, rig: str) -> frozenset[str]: ...


@dataclass(frozen=True, slots=True)
class Step:
    """One call of production. ``subject``: the drop's day, the report date, the month's first day or the day asked."""

    at: datetime
    call: Call
    subject: date
    text: str = ""
    files: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def words(self) -> str:
        return f"{self.at.day} {self.at:%B %Y}: {_WORDS[self.call]}"


@dataclass(slots=True)
class Observed:
    """What came out of the delivered system. ``claims``: month → rig → claim; a failed close leaves its month out."""

    mailroom: Mailroom
    claims: dict[date, dict[str, Claim]] = field(default_factory=lambda: defaultdict(dict))
    closed: set[date] = field(default_factory=set)
    calls: Counter[Call] = field(default_factory=Counter)
    failures: Counter[Call] = field(default_factory=Counter)


def replay(production: ProductionPeriod, host: DeploymentHost) -> Outcome:
    """Run production on the delivered system and settle its claims."""
    return Books(production).outcome(observe(production, host))


def steps(production: ProductionPeriod) -> list[Step]:
    """Every call of the replay, in order."""
    made = [Step(_at(day, "ingest"), "ingest", day, files=files) for day, files in production.drops()]
    made += [Step(_at(day + timedelta(days=1), "digest"), "digest", day) for day in production.report_dates]
    made += [Step(_at(day, "ask"), "ask", day, text=text) for day, text in production.questions()]
    for month in sorted({day.replace(day=1) for day in production.report_dates}):
        made.append(Step(_at(next_month(month).replace(day=CLOSE_DAY), "close"), "close", month))
    return sorted(made, key=lambda step: step.at)


def observe(production: ProductionPeriod, host: DeploymentHost) -> Observed:
    """Make the calls and read the outbox as production does. What the delivered system does wrong is never an error."""
    observed = Observed(Mailroom(production.contacts))
    todo = steps(production)
    missed: Mapping[str, bytes] = {}
    for done, step in enumerate(todo):
        host.progress(done, len(todo), step.words)
        drop = {**missed, **step.files} if step.call == "ingest" else {}
        outcome = host.call(_argv(step, host.put_drop("drop", drop) if drop else ""))
        observed.calls[step.call] += 1
        observed.failures[step.call] += outcome.failure is not None
        if step.call == "ingest":
            missed = step.files if outcome.failure else {}
        elif step.call == "digest":
            observed.mailroom.collect(host, step.subject)
        elif step.call == "close" and outcome.failure is None:
            observed.closed.add(step.subject)
            for rig in RIGS:
                data = host.read(f"{CLAIMS}/{claim_name(rig, step.subject)}", MAX_CLAIM_BYTES)
                if data is not None:
                    observed.claims[step.subject][rig] = parse_claim(data, rig, step.subject)
    host.progress(len(todo), len(todo), "claims settled")
    return observed


def claim_name(rig: str, month: date) -> str:
    return f"claim_{rig}_{month:%Y%m}.csv"


def _argv(step: Step, drop: str) -> list[str]:
    start = ["python", "-m", f"npt.{step.call}"]
    if step.call == "ingest":
        return [*start, "--drop", drop, "--db", DATABASE]
    if step.call == "digest":
        return [*start, "--date", step.subject.isoformat(), "--db", DATABASE, "--out", OUTBOX]
    if step.call == "close":
        return [*start, "--month", f"{step.subject:%Y-%m}", "--db", DATABASE, "--out", CLAIMS]
    return [*start, "--question", step.text, "--db", DATABASE]


def _at(day: date, call: Call) -> datetime:
    return datetime.combine(day, _AT[call])
