"""The contract's arithmetic on hand-made stops, with hours computed by hand."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any

import pytest

from scenarios.oil_npt.grader.ledger import ledger, terms_on
from scenarios.oil_npt.world.stoppages import Kind, Part, Segment, Stoppage, Version

ORIGINAL: dict[str, Any] = {
    "clock": "resume",
    "own_use": "deduct",
    "job_allowance_h": 1.5,
    "month_allowance_h": 6.0,
    "recurrence_days": 14,
    "binding": "last_joint",
    "old_terms_contractors": [],
    "amendment_2_in_force": True,
}
ACCEPT = ORIGINAL | {"clock": "accept", "own_use": "none", "job_allowance_h": 99.0, "recurrence_days": 0}
SIDE_LETTER = ORIGINAL | {"old_terms_contractors": ["HD", "VM"]}
NOTICE = ORIGINAL | {
    "clock": "repair",
    "own_use": "none",
    "job_allowance_h": 99.0,
    "month_allowance_h": 12.0,
    "recurrence_days": 0,
    "binding": "first",
    "amendment_2_in_force": False,
}


def segments(start: datetime, *parts: tuple[Part, float]) -> tuple[Segment, ...]:
    made = []
    for part, hours in parts:
        end = start + timedelta(hours=hours)
        made.append(Segment(part, start, end))
        start = end
    return tuple(made)


def stop(start: str, *parts: tuple[Part, float], tag: str = "TDS-1", rig: str = "HD-11", kind: Kind = "C") -> Stoppage:
    made = segments(datetime.fromisoformat(start), *parts)
    days = sorted({moment.date() for part in made for moment in (part.start, part.end)})
    return Stoppage(rig, kind, tag, (Version(0, True, made),), tuple(days))


LONG: tuple[tuple[Part, float], ...] = (("trip_out", 1.0), ("repair", 3.0), ("own_use", 2.0), ("return", 2.5))


@pytest.mark.parametrize(
    ("facts", "gross", "allowance"),
    [(ORIGINAL, 6.5, 1.5), (ORIGINAL | {"own_use": "none"}, 8.5, 1.5), (ACCEPT, 4.0, 4.0), (NOTICE, 3.0, 3.0)],
)
def test_the_clock_counts_what_the_terms_say(facts: dict[str, Any], gross: float, allowance: float) -> None:
    (credit,) = ledger([stop("2026-11-03T02:00", *LONG)], facts)
    assert (credit.gross_h, credit.allowance_h, credit.credit_h) == (gross, allowance, gross - allowance)


def test_own_use_between_repair_and_return_is_not_credited_although_the_stop_goes_on() -> None:
    (credit,) = ledger([stop("2026-11-03T02:00", *LONG)], ORIGINAL)
    assert [(a.hour + a.minute / 60, b.hour + b.minute / 60) for a, b in credit.credited] == [(3.5, 6.0), (8.0, 10.5)]
    assert credit.resumed == datetime(2026, 11, 3, 10, 30)


def test_the_month_gives_six_hours_oldest_job_first_whatever_order_the_stops_come_in() -> None:
    stops = [stop(f"2026-11-{day:02d}T02:00", ("repair", 2.0), tag=f"T-{day}") for day in (3, 4, 5, 6, 7)]
    credits = ledger(reversed(stops), ORIGINAL)
    assert [credit.allowance_h for credit in credits] == [1.5, 1.5, 1.5, 1.5, 0.0]
    assert [credit.used_before_h for credit in credits] == [0.0, 1.5, 3.0, 4.5, 6.0]


def test_a_short_job_takes_only_its_own_length_and_the_last_one_what_is_left() -> None:
    stops = [stop(f"2026-11-{day:02d}T02:00", ("repair", hours), tag=f"T-{day}")
             for day, hours in ((3, 0.75), (4, 4.0), (5, 4.0), (6, 4.0), (7, 4.0))]  # fmt: skip
    assert [credit.allowance_h for credit in ledger(stops, ORIGINAL)] == [0.75, 1.5, 1.5, 1.5, 0.75]


def test_a_piece_failing_again_within_fourteen_days_of_going_back_to_work_takes_and_uses_no_allowance() -> None:
    stops = [
        stop("2026-10-20T00:00", ("repair", 4.0)),
        stop("2026-11-03T04:00", ("repair", 2.0)),  # 14 days to the minute after 2026-10-20T04:00
        stop("2026-11-17T06:15", ("repair", 2.0)),  # a quarter of an hour more than 14 days
        stop("2026-11-18T00:00", ("repair", 2.0), tag="MP-1"),
    ]
    credits = ledger(stops, ORIGINAL)
    assert [credit.recurring for credit in credits] == [False, True, False, False]
    assert [credit.allowance_h for credit in credits] == [1.5, 0.0, 1.5, 1.5]
    assert credits[3].used_before_h == 1.5


def test_the_same_piece_on_another_rig_or_another_owner_is_no_recurrence() -> None:
    stops = [
        stop("2026-11-02T00:00", ("repair", 1.0), tag="SHK", kind="O"),
        stop("2026-11-03T00:00", ("repair", 1.0), tag="SHK"),
        stop("2026-11-04T00:00", ("repair", 1.0), tag="SHK", rig="OK-3"),
    ]
    assert [credit.recurring for credit in ledger(stops, ORIGINAL)] == [False, False]


def test_a_stop_over_the_month_s_end_is_charged_where_it_starts_and_split_at_midnight() -> None:
    (credit,) = ledger([stop("2026-11-30T23:00", ("repair", 4.0))], ORIGINAL)
    assert credit.months() == [date(2026, 12, 1)]
    assert (credit.credit_in(date(2026, 11, 1)), credit.credit_in(date(2026, 12, 1))) == (0.0, 2.5)
    (longer,) = ledger([stop("2026-11-30T20:00", ("repair", 6.0))], ORIGINAL)
    assert (longer.credit_in(date(2026, 11, 1)), longer.credit_in(date(2026, 12, 1))) == (2.5, 2.0)


def test_the_last_version_signed_by_both_is_the_record() -> None:
    start = datetime(2026, 11, 3, 2, 0)
    versions = tuple(
        Version(rev, both, segments(start, ("repair", hours)))
        for rev, both, hours in ((0, True, 3.0), (1, True, 4.0), (2, False, 6.0))
    )
    revised = Stoppage("HD-11", "C", "TDS-1", versions, (start.date(),), start.date())
    assert ledger([revised], ORIGINAL)[0].gross_h == 4.0
    assert ledger([revised], NOTICE)[0].gross_h == 3.0


def test_terms_are_old_before_july_and_for_contractors_with_a_side_letter() -> None:
    assert terms_on("HD-11", date(2026, 6, 30), ORIGINAL).clock == "repair"
    assert terms_on("HD-11", date(2026, 7, 1), ORIGINAL).clock == "resume"
    assert terms_on("VM-201", date(2026, 11, 1), SIDE_LETTER).month_allowance_h == 12.0
    assert terms_on("OK-3", date(2026, 11, 1), SIDE_LETTER).month_allowance_h == 6.0
    assert terms_on("OK-3", date(2026, 11, 1), NOTICE).recurrence_days == 0


def test_under_the_old_terms_each_month_strikes_its_own_first_hours() -> None:
    stops = [
        stop("2026-11-10T00:00", ("repair", 11.0)),
        stop("2026-11-30T20:00", ("repair", 10.0), tag="MP-1"),  # 4 h in November, 6 h in December
        stop("2026-12-05T00:00", ("repair", 8.0), tag="DW-1"),
    ]
    credits = ledger(stops, NOTICE)
    assert [credit.allowance_h for credit in credits] == [11.0, 7.0, 6.0]
    assert (credits[1].credit_in(date(2026, 11, 1)), credits[1].credit_in(date(2026, 12, 1))) == (3.0, 0.0)
    assert credits[2].credit_in(date(2026, 12, 1)) == 2.0
