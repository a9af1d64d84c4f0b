"""The visible weeks: what the system as found paged, and what came of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date

from scenarios.kit.tables import csv_bytes
from scenarios.oncall_incident.world.alerts import Alert
from scenarios.oncall_incident.world.clock import DAY, STEP, SWAPPED_IN, VISIBLE, day_of, stamp
from scenarios.oncall_incident.world.events import CALL_COLUMNS, call_fields, call_line, page_id
from scenarios.oncall_incident.world.gateway import Page, Played
from scenarios.oncall_incident.world.production import FIRST_PAGE, PAGE_TWICE
from scenarios.oncall_incident.world.truth import ROTA_KNOWN_UNTIL, Truth

SHOWN_PAGES = 2_800
FIRST_INCIDENT = 1_578
INCIDENT_COLUMNS = ("incident_id", "service_id", "severity", "ts_utc", "lost_minutes")


@dataclass(frozen=True, slots=True)
class NumberedPage:
    number: int
    page: Page
    alert: Alert


@dataclass(slots=True)
class History:
    """``lines``: day → the lines of its event file, in the order in which they were read."""

    truth: Truth
    played: list[Played] = field(default_factory=list)
    pages: list[NumberedPage] = field(default_factory=list)
    lines: Mapping[date, list[str]] = field(default_factory=dict)

    def service_id(self, alert: Alert) -> str:
        return self.truth.fleet[alert.service].id_at(alert.at)

    def calls_csv(self) -> bytes:
        rows = []
        for one in self.pages:
            fields = call_fields(one.number, one.page, self.service_id(one.alert), one.alert.severity)
            rows.append([stamp(one.page.at) if name == "ts_utc" else fields[name] for name in CALL_COLUMNS])
        return csv_bytes(CALL_COLUMNS, rows)

    def incidents_csv(self) -> bytes:
        rows = (
            (incident_id(index), self.service_id(one.alert), one.alert.severity, stamp(one.alert.at), f"{one.lost:.1f}")
            for index, one in enumerate(self.played)
        )
        return csv_bytes(INCIDENT_COLUMNS, rows)

    def page_ids(self) -> list[str]:
        return [page_id(one.number) for one in self.pages]

    def not_mine_pct(self) -> int:
        """Of the shown pages, whole per cent."""
        return round(100 * sum(one.page.outcome == "not_mine" for one in self.pages) / len(self.pages))


def incident_id(index: int) -> str:
    return f"IN-{FIRST_INCIDENT + index:05}"


def history(truth: Truth) -> History:
    """Play June to September on the system as found."""
    from scenarios.oncall_incident.grader.as_found import AsFound, table_rows

    found, gateway, as_found = History(truth), truth.gateway(), AsFound()
    as_found.rota(table_rows(truth.roster.rota_csv(VISIBLE[0] - DAY, ROTA_KNOWN_UNTIL)))
    upcoming = iter(truth.history)
    alert = next(upcoming, None)
    read: list[tuple[int, list[str]]] = []
    for asof in range(VISIBLE[0], VISIBLE[1] + STEP, STEP):
        lines = truth.feed.lines(asof - STEP, asof)
        read.append((asof, lines))
        as_found.events(lines)
        if asof % DAY == 0:
            as_found.catalogue(table_rows(truth.catalog_csv(asof)))
            as_found.forget(asof)
        while alert is not None and alert.at < asof + STEP + SWAPPED_IN and asof < VISIBLE[1]:
            rings = as_found.rings(found.service_id(alert), alert.severity, alert.at)
            found.played.append(gateway.play(alert, rings, asof))
            alert = next(upcoming, None)
    pages = sorted(((page, one.alert) for one in found.played for page in one.pages), key=lambda pair: pair[0].at)
    pages = [pair for pair in pages if pair[0].at < VISIBLE[1]][-SHOWN_PAGES:]
    first = FIRST_PAGE - len(pages)
    found.pages = [NumberedPage(first + index, page, alert) for index, (page, alert) in enumerate(pages)]
    found.lines = _by_day(read, found)
    return found


def _by_day(read: list[tuple[int, list[str]]], found: History) -> dict[date, list[str]]:
    """What the calls of a day read, in their order; each brings the pages since the one before."""
    calls = _calls(found)
    days: dict[date, list[str]] = {}
    for asof, lines in read:
        if asof > VISIBLE[0]:
            days.setdefault(day_of(asof - 1), []).extend([*lines, *calls[asof]])
    return days


def _calls(found: History) -> dict[int, list[str]]:
    calls: dict[int, list[str]] = defaultdict(list)
    for one in found.pages:
        asof = one.page.at - one.page.at % STEP + STEP
        line = call_line(one.number, one.page, found.service_id(one.alert), one.alert.severity, asof)
        calls[asof].append(line)
        if one.number % PAGE_TWICE == 0:
            calls[asof + STEP].append(line)
    return calls


def all_lines(found: History) -> Iterator[str]:
    for day in sorted(found.lines):
        yield from found.lines[day]
