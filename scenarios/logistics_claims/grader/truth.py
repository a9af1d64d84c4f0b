"""The best that could be decided: every entitlement known, within what an assessor's day holds and the mandate allows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import date

from scenarios.kit.world import CallOutcome, Outcome, Streams, TaskView
from scenarios.logistics_claims.grader.replay import replay
from scenarios.logistics_claims.grader.rows import COLUMNS
from scenarios.logistics_claims.world.claims import Filed
from scenarios.logistics_claims.world.desk import ASSESSOR_EUR, COMPLAINT_EUR, Row, may_charge
from scenarios.logistics_claims.world.production import Production, Run
from scenarios.logistics_claims.world.terms import Terms

RULE = "TRUTH"
URGENT_DAYS = 12

#: (claims of this morning, those open before, day's place, day) → rows
Policy = Callable[[list[Filed], list[Filed], int, date], Iterable[Row]]


class PolicyHost:
    """A ``DeploymentHost`` whose system is a policy that is handed the claims themselves."""

    def __init__(self, run: Run, policy: Policy) -> None:
        self._run, self._policy, self._out = run, policy, b""

    def put(self, path: str, data: bytes) -> None:
        """Nothing is kept."""

    def put_drop(self, name: str, files: Mapping[str, bytes]) -> str:
        return name

    def call(self, argv: list[str]) -> CallOutcome:
        if argv[2] == "claims.decide":
            desk = self._run.desk
            day = len(desk.filed_by_day) - 1
            new = desk.filed_by_day[day]
            waiting = [one for one in desk.open.values() if one.day < day]
            self._out = written(self._policy(new, waiting, day, self._run.days[day]))
        return CallOutcome(0, None, b"", b"")

    def read(self, path: str, max_bytes: int) -> bytes | None:
        return self._out if len(self._out) <= max_bytes else None

    def list(self, path: str, max_entries: int) -> list[str]:
        return []

    def progress(self, done: int, total: int, what: str) -> None:
        """Nobody waits."""


def written(rows: Iterable[Row]) -> bytes:
    """Rows as a system writes them."""
    lines = [";".join(COLUMNS)]
    for row in rows:
        amount = f"{row.amount:.2f}" if row.decision == "PAY" else ""
        priority = f"{row.priority:.4f}" if row.decision == "QUEUE" else ""
        letter = "Y" if row.letter else "N"
        lines.append(f"{row.claim_id};{row.decision};{amount};{row.rule};{letter};{row.haulier};{priority}")
    return "\n".join([*lines, ""]).encode()


def oracle(task: TaskView, streams: Streams) -> Outcome:
    """Pays or refuses each claim for what it is worth; what is above the mandate goes to people, best money first."""
    run = Production(task, streams)
    return replay(run, PolicyHost(run, lambda new, waiting, day, today: _truth(new, waiting, day, today, run.terms)))


def _truth(new: list[Filed], waiting: list[Filed], day: int, today: date, terms: Terms) -> Iterable[Row]:
    for filed in new:
        if filed.owed <= 0:
            yield Row(filed.id, "REFUSE", rule=RULE)
        elif filed.owed <= terms.mandate:
            yield Row(filed.id, "PAY", filed.owed, RULE, may_charge(filed, today), filed.claim.shipment.haulier)
        else:
            yield Row(filed.id, "QUEUE", priority=_worth(filed, day, today, terms))
    for filed in waiting:
        yield Row(filed.id, "QUEUE", priority=_worth(filed, day, today, terms))


def _worth(filed: Filed, day: int, today: date, terms: Terms) -> float:
    """What deciding the claim now saves against letting it lapse."""
    spot = filed.claim.shipment.cls == "spot"
    saved = COMPLAINT_EUR if spot else filed.claim.claimed - filed.owed
    recovered = terms.letter_share * filed.owed if may_charge(filed, today) else 0.0
    left = (terms.complaint if spot else terms.silence) - (day - filed.day)
    worth = saved - ASSESSOR_EUR + recovered
    return worth if recovered or left <= URGENT_DAYS else worth / 2
