"""The contractor's test of a line, and what one disputed line costs, on hand-made stops."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Any

import pytest

from scenarios.oil_npt.grader.claims import Claim, ClaimLine
from scenarios.oil_npt.grader.disputes import JudgedClaim, Record, judge_month
from scenarios.oil_npt.grader.ledger import Credit, ledger
from scenarios.oil_npt.world.stoppages import Stoppage, Version
from tests.scenarios.test_oil_grader_ledger import LONG, ORIGINAL, segments, stop

NOVEMBER = date(2026, 11, 1)
TAGS = frozenset({"TDS-1", "MP-1", "MP-3", "DW-1", "SHK"})


def record_of(
    stops: list[Stoppage],
    facts: dict[str, Any] = ORIGINAL,
    revs: dict[str, int] | None = None,
    noticed: Callable[[Credit], bool] = lambda _: True,
) -> Record:
    credits: dict[str, list[Credit]] = defaultdict(list)
    others: dict[str, list[Stoppage]] = defaultdict(list)
    for credit in ledger(stops, facts):
        credits[credit.stoppage.rig].append(credit)
    for other in stops:
        if other.kind != "C":
            others[other.rig].append(other)
    binding = revs or {}
    return Record(credits, others, lambda rig: TAGS, report_ids, lambda report: binding.get(report, 0), noticed)


def report_ids(rig: str, start: datetime, end: datetime) -> list[str]:
    days = (end - timedelta(seconds=1)).date() - start.date()
    return [f"{rig}/{start.date() + timedelta(days=day)}" for day in range(days.days + 1)]


def line(
    start: str, end: str, hours: float, *, tag: str = "TDS-1", number: int = 1, review: bool = False, evidence: str = ""
) -> ClaimLine:
    begin, finish = datetime.fromisoformat(start), datetime.fromisoformat(end)
    named = evidence.split("|") if evidence else [f"{report}@0" for report in report_ids("HD-11", begin, finish)]
    return ClaimLine(number, begin, finish, tag, hours, review, tuple(named))


def judge(record: Record, *lines: ClaimLine, unreadable: int = 0) -> JudgedClaim:
    problems = tuple((position, "unreadable") for position in range(unreadable))
    (claim,) = judge_month({"HD-11": Claim("HD-11", NOVEMBER, lines, problems)}, NOVEMBER, record)
    return claim


STOP = stop("2026-11-03T02:00", *LONG)  # 8.5 h long, 2 h of them own use: 6.5 - 1.5 = 5.0 h due, resumed at 10:30
WHOLE = ("2026-11-03T02:00", "2026-11-03T10:30")


def test_a_right_line_is_released_with_all_its_hours() -> None:
    claim = judge(record_of([STOP]), line(*WHOLE, 5.0))
    assert (claim.reason, claim.credited_h, claim.unfounded_h) == (None, 5.0, 0.0)


def test_a_quarter_of_an_hour_is_tolerated_and_still_set_off() -> None:
    claim = judge(record_of([STOP]), line("2026-11-03T01:45", "2026-11-03T10:45", 5.25))
    assert (claim.reason, claim.credited_h, claim.unfounded_h) == (None, 5.0, 0.25)


@pytest.mark.parametrize(
    ("hours", "reason"),
    [(7.0, "own_use"), (6.5, "allowance"), (5.5, "allowance"), (8.5, "own_use"), (9.0, "beyond")],
)
def test_hours_above_the_credit_are_disputed_for_the_rule_they_break(hours: float, reason: str) -> None:
    claim = judge(record_of([STOP]), line(*WHOLE, hours))
    assert (claim.reason, claim.credited_h, claim.unfounded_h) == (reason, 0.0, hours - 5.0)


def test_an_allowance_short_because_a_recurrence_was_charged_is_called_recurrence() -> None:
    stops = [
        stop("2026-10-30T00:00", ("repair", 4.0), tag="MP-1"),
        stop("2026-11-02T00:00", ("repair", 4.0), tag="MP-1"),
        *(stop(f"2026-11-{day:02d}T00:00", ("repair", 4.0), tag=tag)
          for day, tag in ((3, "DW-1"), (4, "TDS-1"), (20, "MP-1"), (25, "DW-1"))),
    ]  # fmt: skip
    claim = judge(record_of(stops), line("2026-11-25T00:00", "2026-11-25T04:00", 4.0, tag="DW-1"))
    assert claim.reason == "recurrence"


@pytest.mark.parametrize(
    ("start", "end", "reason"),
    [
        ("2026-11-03T02:00", "2026-11-03T11:00", "beyond"),
        ("2026-11-03T01:30", "2026-11-03T10:30", "beyond"),
        ("2026-10-31T23:00", "2026-11-03T10:30", "form"),
        ("2026-11-03T04:00", "2026-12-01T01:00", "form"),
        ("2026-11-03T06:00", "2026-11-03T19:00", "item"),  # less than half of the window is in the stop
    ],
)
def test_a_window_outside_stop_or_month_is_disputed(start: str, end: str, reason: str) -> None:
    assert judge(record_of([STOP]), line(start, end, 4.0)).reason == reason


def test_one_disputed_line_holds_the_whole_month_and_only_its_own_excess_is_unfounded() -> None:
    other = stop("2026-11-10T02:00", ("repair", 4.0), tag="MP-1")
    claim = judge(
        record_of([STOP, other]), line(*WHOLE, 7.0), line("2026-11-10T02:00", "2026-11-10T06:00", 2.5, tag="MP-1")
    )
    assert (claim.reason, claim.grounded_h, claim.credited_h, claim.unfounded_h) == ("own_use", 7.5, 0.0, 2.0)


def test_an_item_of_the_operator_and_a_service_are_unfounded_in_full() -> None:
    hired = stop("2026-11-03T02:00", ("repair", 3.0), tag="SHK", kind="O")
    service = stop("2026-11-04T02:00", ("repair", 0.5), tag="TDS-1", kind="R")
    record = record_of([hired, service])
    claim = judge(record, line("2026-11-03T02:00", "2026-11-03T05:00", 3.0, tag="SHK"))
    assert (claim.reason, claim.unfounded_h) == ("item", 3.0)
    claim = judge(record, line("2026-11-04T02:00", "2026-11-04T02:30", 0.5))
    assert (claim.reason, claim.unfounded_h) == ("service_or_hole", 0.5)


def test_the_wrong_revision_is_disputed_but_nothing_is_set_off() -> None:
    record = record_of([STOP], revs={"HD-11/2026-11-03": 1})
    claim = judge(record, line(*WHOLE, 5.0))
    assert (claim.reason, claim.unfounded_h, claim.grounded_h) == ("revision", 0.0, 5.0)
    assert judge(record, line(*WHOLE, 5.0, evidence="HD-11/2026-11-03@1")).reason is None


@pytest.mark.parametrize("evidence", ["HD-11/2026-11-03@0|HD-11/2026-11-04@0", "HD-14/2026-11-03@0"])
def test_evidence_names_each_report_of_the_window_and_no_other(evidence: str) -> None:
    assert judge(record_of([STOP]), line(*WHOLE, 5.0, evidence=evidence)).reason == "revision"


def test_hours_of_a_one_sided_version_are_a_matter_of_the_revision() -> None:
    start = datetime(2026, 11, 3, 2, 0)
    versions = tuple(
        Version(rev, rev == 0, segments(start, ("repair", 3.0 + 1.5 * rev), ("return", 2.0))) for rev in (0, 1)
    )
    record = record_of([Stoppage("HD-11", "C", "TDS-1", versions, (start.date(),), start.date())])
    assert judge(record, line("2026-11-03T02:00", "2026-11-03T08:30", 5.0)).reason == "revision"
    assert judge(record, line("2026-11-03T02:00", "2026-11-03T07:00", 5.0)).reason == "revision"


def test_many_small_lines_on_one_stop_are_added_up() -> None:
    parts = [
        line(f"2026-11-03T{hour:02d}:00", f"2026-11-03T{hour + 1:02d}:00", 1.0, number=hour) for hour in range(2, 9)
    ]
    claim = judge(record_of([STOP]), *parts)
    assert (claim.reason, claim.unfounded_h, claim.grounded_h) == ("own_use", 2.0, 5.0)
    assert judge(record_of([STOP]), *parts[:5]).reason is None


def test_the_same_line_twice_overlaps() -> None:
    claim = judge(record_of([STOP]), line(*WHOLE, 2.5), line(*WHOLE, 2.5))
    assert [judged.reason for judged in claim.lines] == ["form", "form"]


def test_one_unreadable_line_holds_the_claim_and_counts_no_hours() -> None:
    claim = judge(record_of([STOP]), line(*WHOLE, 5.0), unreadable=1)
    assert (claim.reason, claim.credited_h, claim.unfounded_h) == ("form", 0.0, 0.0)


def test_an_item_that_the_rig_does_not_have_is_a_matter_of_form() -> None:
    assert judge(record_of([STOP]), line(*WHOLE, 5.0, tag="TDS-9")).reason == "form"


def test_six_doubtful_lines_a_month_are_put_right_and_the_seventh_lapses() -> None:
    stops = [stop(f"2026-11-{day:02d}T00:00", ("repair", 4.0), tag="MP-1") for day in range(3, 10)]
    lines = [
        line(f"2026-11-{day:02d}T01:00", f"2026-11-{day:02d}T03:00", 99.0, tag="MP-1", number=day, review=True)
        for day in range(3, 10)
    ]
    claim = judge(record_of(stops), *reversed(lines))
    assert [judged.hours for judged in claim.lines] == [2.5, 4.0, 4.0, 4.0, 4.0, 4.0]  # all but the first recur
    assert (claim.reason, claim.credited_h) == (None, 22.5)


def test_a_doubtful_line_adds_only_what_its_stop_still_lacks() -> None:
    doubtful = line("2026-11-03T05:00", "2026-11-03T08:00", 3.0, review=True)
    claim = judge(record_of([STOP]), line("2026-11-03T02:00", "2026-11-03T05:00", 3.0), doubtful)
    assert (claim.reason, claim.credited_h) == (None, 5.0)


def test_doubtful_lines_are_looked_at_rig_by_rig() -> None:
    stops = [
        stop(f"2026-11-{day:02d}T00:00", ("repair", 4.0), rig=rig) for rig in ("HD-11", "OK-3") for day in (3, 4, 5, 6)
    ]
    doubtful = {
        rig: Claim(rig, NOVEMBER, tuple(
            line(f"2026-11-{day:02d}T00:00", f"2026-11-{day:02d}T04:00", 4.0, number=day, review=True)
            for day in (3, 4, 5, 6)), ())
        for rig in ("OK-3", "HD-11")
    }  # fmt: skip
    claims = judge_month(doubtful, NOVEMBER, record_of(stops))
    assert [(claim.rig, len(claim.lines)) for claim in claims] == [("HD-11", 4), ("OK-3", 2)]


def test_a_doubtful_line_over_the_whole_month_finds_no_stop() -> None:
    claim = judge(
        record_of([STOP]), line("2026-11-01T00:00", "2026-11-30T24:00".replace("30T24", "30T23"), 5.0, review=True)
    )
    assert (claim.lines, claim.credited_h) == ([], 0.0)


def test_one_window_over_the_whole_month_is_disputed_and_unfounded_in_full() -> None:
    claim = judge(record_of([STOP]), line("2026-11-01T00:00", "2026-11-30T23:00", 5.0))
    assert (claim.reason, claim.unfounded_h) == ("item", 5.0)


def test_a_stop_over_the_month_s_end_may_be_claimed_only_as_far_as_the_month_goes() -> None:
    late = stop("2026-11-30T20:00", ("repair", 6.0))  # 4 h in November less 1.5 h
    record = record_of([late])
    evening = line("2026-11-30T20:00", "2026-12-01T00:00", 2.5)
    assert judge(record, evening).credited_h == 2.5
    assert judge(record, line("2026-11-30T20:00", "2026-12-01T00:00", 4.0)).reason == "allowance"


def test_a_stop_without_notice_is_disputed_and_nothing_is_set_off() -> None:
    claim = judge(record_of([STOP], noticed=lambda _: False), line(*WHOLE, 9.0))
    assert (claim.reason, claim.grounded_h, claim.unfounded_h) == ("notice", 0.0, 0.0)


def test_evidence_names_the_reports_as_printed_where_the_reports_run_five_hours_behind() -> None:
    record = record_of([STOP])  # 02:00 to 10:30 field time is 21:00 to 05:30 in the reports
    behind = timedelta(hours=5)
    late = replace(record, report_ids=lambda rig, start, end: report_ids(rig, start - behind, end - behind))
    assert judge(late, line(*WHOLE, 5.0)).reason == "revision"
    assert judge(late, line(*WHOLE, 5.0, evidence="HD-11/2026-11-02@0|HD-11/2026-11-03@0")).reason is None
