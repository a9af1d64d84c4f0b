"""What production brings morning by morning, and how the claimants answer to what is paid."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from scenarios.kit.tables import csv_bytes
from scenarios.kit.world import Streams, TaskView
from scenarios.logistics_claims.world import places, tables
from scenarios.logistics_claims.world.claims import Filed, Shipment
from scenarios.logistics_claims.world.days import working_days
from scenarios.logistics_claims.world.desk import Desk, Row, Settled
from scenarios.logistics_claims.world.process import ClaimProcess, Period
from scenarios.logistics_claims.world.terms import Terms

FIRST_MORNING = date(2026, 9, 14)
CLAIM_DAYS, RUN_OFF_DAYS = 110, 46
FIRST_NUMBER = 121_001
MONDAY = 0
UPDATE_PERCENT = 6
_PAPERS = (
    ("invoice", "purchase invoice"), ("photo", "2 more pictures"), ("photo", "picture of the box"),
    ("estimate", "repair estimate"), ("letter", "reminder"), ("invoice", "Rechnung"), ("photo", "photo du colis"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Source:
    """What a production draws on; it never changes, whatever is decided."""

    period: Period
    days: list[date]
    terms: Terms
    rates: places.Rates
    customers: list[places.Customer]
    late: Mapping[int, list[str]]  #: day → scans of earlier shipments that arrive only then
    first_number: int


class Run:
    """One run of a production: on each morning ``file`` and ``drop``, then ``react``."""

    def __init__(self, source: Source) -> None:
        self.source, self.terms = source, source.terms
        self.days: Sequence[date] = source.days
        self.desk = Desk(source.period, source.days, source.terms, source.first_number)
        self._today: list[int] = []  #: days whose files the next drop brings
        self._answers: list[Settled] = []

    def file(self, day: int) -> list[Filed]:
        """The claims that come in on working day ``day`` (0, 1, …); called once for each day, in order."""
        self._today.append(day)
        return self.desk.file(day)

    def drop(self, day: int) -> dict[str, bytes]:
        """The files of a morning: its own, and those of failed mornings just before."""
        filed = [one for which in self._today for one in self.desk.filed_by_day[which]]
        shipments: dict[str, Shipment] = {one.claim.shipment.id: one.claim.shipment for one in filed}
        lines = [line for shipment in shipments.values() for line in tables.scan_lines(shipment)]
        lines += [line for which in self._today for line in self.source.late.get(which, ())]
        files = {
            "claims_new.csv": tables.claims_csv(filed),
            "claims_update.csv": self._updates(),
            "shipments.csv": tables.shipments_csv(shipments.values()),
            "scans.txt": tables.scans_txt(lines),
            "pod.csv": tables.pod_csv(shipments.values()),
            "answers.csv": self._answers_csv(),
        }
        if day == 0 or any(self.days[which].weekday() == MONDAY for which in self._today):
            files["customers.csv"] = places.customers_csv(self.source.customers)
            files["hauliers.csv"] = places.hauliers_csv()
            files["sdr.csv"] = self.source.rates.table(self.days[day])
        elif any(self.days[which].month != self.days[which - 1].month for which in self._today):
            files["sdr.csv"] = self.source.rates.table(self.days[day])
        return files

    def react(self, day: int, rows: Mapping[str, Row], *, failed: bool = False) -> list[Settled]:
        """Carry out the decisions of a day and say what is settled. After a failed call its files come again."""
        if not failed:
            self._today.clear()
            self._answers.clear()
        done = self.desk.settle(day, rows)
        self._answers += [one for one in done if one.row is None]
        return done

    def _updates(self) -> bytes:
        """Papers that came in later for claims of the days before; nothing hangs on them."""
        rows = []
        for which in self._today:
            for one in self.desk.filed_by_day[which - 1] if which else ():
                if one.sequence * 37 % 100 < UPDATE_PERCENT:
                    rows.append((one.id, self.days[which], *_PAPERS[one.sequence % len(_PAPERS)]))
        return csv_bytes(tables.UPDATE_COLUMNS, rows)

    def _answers_csv(self) -> bytes:
        rows = [answer_row(one, self.days[one.on_day]) for one in self._answers]
        return csv_bytes(tables.ANSWER_COLUMNS, rows)


class Production(Run):
    """Claims of 110 working days from 14 September 2026, and 46 more in which what is open is worked off.

    Closed loop: what is paid decides which claims are tried on. Nothing else of what comes depends on the decisions.
    """

    def __init__(self, task: TaskView, streams: Streams) -> None:
        super().__init__(held_out(task, streams))


def answer_row(one: Settled, on: date) -> tuple[str, str, str, str, str]:
    """How a claim that nobody but the desk's people decided went."""
    if one.ending == "assessed":
        return one.filed.id, "PAY" if one.paid > 0 else "REFUSE", f"{one.paid:.2f}", "assessor", on.isoformat()
    return one.filed.id, "LAPSE", f"{one.paid:.2f}", "lapse", on.isoformat()


def held_out(task: TaskView, streams: Streams) -> Source:
    terms = Terms.of(task.facts)
    days = working_days(FIRST_MORNING, CLAIM_DAYS + RUN_OFF_DAYS)
    period = ClaimProcess(streams, "heldout", days[:CLAIM_DAYS], terms, odd_ids=True).draw()
    return source(streams, period, days, terms, FIRST_NUMBER)


def source(streams: Streams, period: Period, days: list[date], terms: Terms, first_number: int) -> Source:
    known = places.customers(streams)
    return Source(period, days, terms, places.Rates(streams), known, _late(period), first_number)


def _late(period: Period) -> dict[int, list[str]]:
    """Regular shipments only: whether a claim that is tried on comes in at all is not known beforehand."""
    late: dict[int, list[str]] = defaultdict(list)
    seen: set[str] = set()
    for day, claims in enumerate(period.claims):
        for claim in claims:
            if claim.threshold is None and claim.shipment.id not in seen:
                seen.add(claim.shipment.id)
                for scan in claim.shipment.scans:
                    if scan.late:
                        late[day + scan.late].append(tables.scan_line(claim.shipment.id, scan))
    return late
