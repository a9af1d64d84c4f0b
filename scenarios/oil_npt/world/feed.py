"""The files that production drops every morning: reports as printed, with the dirt of a real feed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from numpy.random import Generator

from scenarios.kit.tables import csv_bytes
from scenarios.oil_npt.world.process import NEW_TOOL_FROM
from scenarios.oil_npt.world.quarters import FIRST_MIDNIGHT, QUARTERS_A_DAY, midnight
from scenarios.oil_npt.world.reports import FIELD_OFFSET, MORNING, Issue, Line, Report

COLUMNS = (
    "report_id", "rig_id", "well", "report_date", "rev", "issued_at", "sign_operator", "sign_contractor", "seq",
    "t_from", "t_to", "hours", "op_code", "sub_code", "phase", "hole_depth_m", "bit_depth_m", "remark",
)  # fmt: skip
FEET_A_METRE = 3.28084
REPEATED = 0.02  #: of the lines come twice in a drop
ROUNDED = 0.02  #: of the lines with a quarter or three quarters have their hours rounded to a tenth

Row = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Delivery:
    """A revision of a report on the morning on which it first lies in the drop."""

    morning: date
    report: Report
    issue: Issue


def deliveries(reports: Iterable[Report], cut_off: date) -> list[Delivery]:
    """When each revision arrives, in order. Nothing that would be late is late on ``cut_off``, the last day shown."""
    found: list[Delivery] = []
    for report in reports:
        for issue in report.issues:
            if issue.rev == 0:
                late = report.delayed and report.day != cut_off
                morning = report.day + timedelta(days=2 if late else 1)
            else:
                morning = _next_morning(issue.issued_minute)
            found.append(Delivery(morning, report, issue))
    return sorted(found, key=lambda one: (one.morning, -one.report.day.toordinal(), one.report.rig, one.issue.rev))


def drops(arrivals: Iterable[Delivery], rng: Generator, mornings: tuple[date, date]) -> Iterator[tuple[date, bytes]]:
    """(morning, the file ``ddr_<day before>.csv``) from the first to the last morning, empty ones included."""
    by_morning: dict[date, list[Delivery]] = {}
    for delivery in arrivals:
        by_morning.setdefault(delivery.morning, []).append(delivery)
    morning = mornings[0]
    while morning <= mornings[1]:
        rows: list[Row] = []
        for delivery in by_morning.get(morning, []):
            rows.extend(_rows(delivery.report, delivery.issue, rng))
        yield morning, csv_bytes(COLUMNS, _with_repeats(rows, rng), byte_order_mark=file_day(morning) >= NEW_TOOL_FROM)
        morning += timedelta(days=1)


def file_day(morning: date) -> date:
    """The day in the name of the file that is dropped on ``morning``."""
    return morning - timedelta(days=1)


def file_name(morning: date) -> str:
    return f"ddr_{file_day(morning):%Y%m%d}.csv"


def clean_rows(report: Report, issue: Issue) -> list[Row]:
    """The rows of a revision without any dirt."""
    return _rows(report, issue, None)


def printed_span(report: Report, line: Line) -> tuple[datetime, datetime]:
    """From when until when a line is printed to run: field time, or UTC where the report is in UTC."""
    offset = FIELD_OFFSET if report.in_utc else 0
    start, end = (FIRST_MIDNIGHT + timedelta(minutes=15 * (quarter - offset)) for quarter in (line.start, line.end))
    return start, end


def _rows(report: Report, issue: Issue, rng: Generator | None) -> list[Row]:
    offset = FIELD_OFFSET if report.in_utc else 0
    begin = midnight(report.day) + offset
    issued = FIRST_MIDNIGHT + timedelta(minutes=issue.issued_minute - 15 * offset)
    rows: list[Row] = []
    for seq, line in enumerate(issue.lines, start=1):
        rows.append((
            report.report_id, report.rig, line.span.well, report.day.isoformat(), str(issue.rev),
            issued.strftime("%Y-%m-%dT%H:%M"), issue.sign_operator, issue.sign_contractor, str(seq),
            _clock(line.start - begin), _clock(line.end - begin), _hours(line.end - line.start, rng),
            str(line.span.op), line.span.sub, line.span.phase,
            _depth(line.span.hole_to, report.in_utc), _depth(line.span.bit_to, report.in_utc), line.remark,
        ))  # fmt: skip
    return rows


def _with_repeats(rows: list[Row], rng: Generator) -> list[Row]:
    """Some lines come twice: right below, or once more at the end of the file."""
    repeated = rng.random(len(rows)) < REPEATED
    result: list[Row] = []
    tail: list[Row] = []
    for row, twice in zip(rows, repeated, strict=True):
        result.append(row)
        if twice:
            (result if rng.random() < 0.7 else tail).append(row)
    return result + tail


def _hours(length: int, rng: Generator | None) -> str:
    hours = length / 4
    if rng is not None and length % 2 and rng.random() < ROUNDED:
        return f"{hours + (0.05 if rng.random() < 0.5 else -0.05):.1f}"
    return f"{hours:.2f}"


def _clock(quarter: int) -> str:
    if quarter == QUARTERS_A_DAY:
        return "24:00"
    return f"{quarter // 4:02d}:{quarter % 4 * 15:02d}"


def _depth(metres: int, in_feet: bool) -> str:
    return f"{metres * FEET_A_METRE:.1f}" if in_feet else f"{metres:.1f}"


def _next_morning(issued_minute: int) -> date:
    issued = FIRST_MIDNIGHT + timedelta(minutes=issued_minute)
    morning = FIRST_MIDNIGHT.replace(year=issued.year, month=issued.month, day=issued.day) + timedelta(
        minutes=15 * MORNING
    )
    return issued.date() if issued <= morning else issued.date() + timedelta(days=1)
