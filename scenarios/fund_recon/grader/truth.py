"""What somebody would query who knows which trades fail and which dividends are short, but not the future."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from scenarios.fund_recon.grader.actions import COLUMNS
from scenarios.fund_recon.grader.books import ProductionPeriod
from scenarios.fund_recon.grader.breakdown import fails, shorts
from scenarios.fund_recon.grader.replay import OUTBOX, replay
from scenarios.fund_recon.world.calendars import DAYS
from scenarios.fund_recon.world.production import Production
from scenarios.fund_recon.world.trades import Trade
from scenarios.kit.world import CallOutcome, Outcome, Streams, TaskView

DONE = CallOutcome(0, None, b"", b"")


def oracle(task: TaskView, streams: Streams) -> Outcome:
    """The truth through the replay: each fail on the first accepted day with its party, each short dividend once."""
    production = Production(task, streams)
    return replay(production, DecidedHost(decided(production)))


def decided(production: ProductionPeriod) -> dict[str, bytes]:
    """Path → content of the actions of every day."""
    rows: dict[int, list[str]] = defaultdict(list)
    rules = production.rules(production.first_graded)
    for trade in [*fails(production), *undecided(production)]:
        rows[trade.isd + rules.first].append(f";TRADE;{trade.trade_id};CHASE;{rules.party(trade.reason)};;")
    for one in shorts(production):
        rows[one.event.pay + 5].append(f";ENT;{one.ref};CHASE;CUSTODIAN;;")
    return {
        f"{OUTBOX}/actions_{DAYS[day].isoformat()}.csv": "\n".join([";".join(COLUMNS), *rows.get(day, [])]).encode()
        for day in production.indices
    }


def undecided(production: ProductionPeriod) -> Iterable[Trade]:
    """Trades that are still open on the first accepted day and settle later: who does not know the future asks about them.

    Where queries are taken from the first day on, they look like fails. From the third day on there are none.
    """
    rules = production.rules(production.first_graded)
    days = range(production.first_graded, production.last_graded + 1)
    return [
        trade for trade in production.trades.values() if trade.lag > rules.first and trade.isd + rules.first in days
    ]


class DecidedHost:
    """A deployment whose every output is decided beforehand. A ``DeploymentHost``."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._files = files

    def put(self, path: str, data: bytes) -> None:
        """Nothing here reads it."""

    def put_drop(self, name: str, files: Mapping[str, bytes]) -> str:
        return f"/{name}"

    def call(self, argv: list[str]) -> CallOutcome:
        return DONE

    def read(self, path: str, max_bytes: int) -> bytes | None:
        data = self._files.get(path)
        return data if data is not None and len(data) <= max_bytes else None

    def list(self, path: str, max_entries: int) -> list[str]:
        return []

    def progress(self, done: int, total: int, what: str) -> None:
        """Nobody waits."""
