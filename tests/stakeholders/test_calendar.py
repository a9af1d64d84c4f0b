"""The customer's working time and what waiting costs, on the calendar that oil_npt describes."""

from __future__ import annotations

from datetime import date, datetime, time
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios.kit.format import CalendarConfig, Window
from stakeholders.calendar import Calendar, WaitRefused, words_for

MONDAY = datetime(2026, 10, 5, 8, 0)


def tessaly(**changes: object) -> Calendar:
    settings = {
        "starts_at": MONDAY,
        "utc_offset_minutes": 300,
        "opens": time(8),
        "closes": time(17),
        "ask_minutes": 45,
        "day_price": "0.008",
    }
    return Calendar(CalendarConfig.model_validate(settings | changes))


def october(day: int, hour: int, minute: int = 0) -> datetime:
    return datetime(2026, 10, day, hour, minute)


def test_a_contact_takes_working_minutes_and_skips_the_night() -> None:
    calendar = tessaly()
    assert calendar.add_minutes(MONDAY, 45) == october(5, 8, 45)
    assert calendar.add_minutes(october(5, 16, 30), 45) == october(6, 8, 15)


def test_closing_time_is_the_next_mornings_opening() -> None:
    calendar = tessaly()
    assert calendar.add_minutes(october(5, 16, 15), 45) == october(6, 8, 0)
    assert calendar.working(october(9, 17, 0)) == october(12, 8, 0)  # Friday evening is Monday morning


def test_a_holiday_is_skipped_like_a_weekend() -> None:
    calendar = tessaly(holidays=[date(2026, 10, 6)])
    assert calendar.add_minutes(october(5, 16, 30), 45) == october(7, 8, 15)
    assert calendar.minutes_between(october(5, 16, 0), october(7, 9, 0)) == 120


def test_waiting_for_tuesday_half_past_nine_is_four_started_quarters() -> None:
    plan = tessaly().plan_wait(october(5, 10, 15), "Tue 09:30")
    assert (plan.until, plan.working_minutes) == (october(6, 9, 30), 8 * 60 + 15)
    assert (plan.quarters, plan.charge) == (4, Decimal("0.008"))


def test_a_day_waited_ends_at_the_same_hour_and_costs_a_day() -> None:
    plan = tessaly().plan_wait(october(5, 10, 15), "1d")
    assert (plan.until, plan.quarters, plan.charge) == (october(6, 10, 15), 4, Decimal("0.008"))
    assert tessaly().plan_wait(october(5, 11, 0), "1d").until == october(6, 11, 0)


def test_a_wait_begun_after_monday_noon_by_a_day_misses_the_window_on_tuesday() -> None:
    window = [Window(on=date(2026, 10, 6), opens=time(9, 30), closes=time(12))]
    calendar = tessaly()
    assert calendar.in_window(calendar.plan_wait(october(5, 11, 59), "1d").until, window)
    assert not calendar.in_window(calendar.plan_wait(october(5, 12, 0), "1d").until, window)
    assert calendar.in_window(calendar.plan_wait(october(5, 12, 45), "Tue 09:30").until, window)


def test_waiting_for_the_arbitration_to_end_is_nineteen_quarters() -> None:
    plan = tessaly().plan_wait(october(5, 10, 15), "2026-10-12 08:00")
    assert plan.working_minutes == 42 * 60 + 45
    assert (plan.quarters, plan.charge) == (19, Decimal("0.038"))


@pytest.mark.parametrize(
    ("target", "until"),
    [
        ("3h", october(5, 13, 15)),
        ("90 min", october(5, 11, 45)),
        ("2d", october(7, 10, 15)),
        ("0.5 d", october(5, 14, 45)),
        ("Tue", october(6, 8, 0)),
        ("tuesday, 9:30", october(6, 9, 30)),
        ("Mon 10:15", october(12, 10, 15)),
        ("Mon 10:16", october(5, 10, 16)),
        ("Sat 10:00", october(12, 8, 0)),
        ("周二 09:30", october(6, 9, 30)),
        ("3小时", october(5, 13, 15)),
        ("2026-10-09", october(9, 8, 0)),
    ],
)
def test_a_wait_is_written_as_people_write_it(target: str, until: datetime) -> None:
    assert tessaly().plan_wait(october(5, 10, 15), target).until == until


@pytest.mark.parametrize(
    "target",
    ["", "soon", "-3h", "0h", "3", "Tue 25:00", "2026-13-01", "2026-10-04 09:00", "4000d", "2028-01-01", "9" * 99],
)
def test_a_wait_that_makes_no_sense_is_refused_in_words(target: str) -> None:
    with pytest.raises(WaitRefused, match="Nothing was changed"):
        tessaly().plan_wait(october(5, 10, 15), target)


def test_somebody_reached_by_windows_is_back_at_their_next_opening() -> None:
    calendar = tessaly()
    windows = [Window(days=["mon", "tue", "wed", "thu", "fri"], opens=time(9), closes=time(16))]
    assert calendar.next_in_windows(october(5, 8, 0), windows) == october(5, 9, 0)
    assert calendar.next_in_windows(october(9, 16, 0), windows) == october(12, 9, 0)
    assert calendar.next_in_windows(october(5, 10, 0), windows) == october(5, 10, 0)
    assert words_for(october(5, 9, 0)) == "Monday 5 October, 09:00"


def test_a_window_outside_working_hours_is_never_reached() -> None:
    assert tessaly().next_in_windows(MONDAY, [Window(opens=time(18), closes=time(19))]) is None


@given(st.integers(0, 5000), st.integers(0, 5000))
def test_waiting_twice_leads_where_waiting_once_does(first: int, second: int) -> None:
    calendar = tessaly(holidays=[date(2026, 10, 7)])
    there = calendar.add_minutes(calendar.add_minutes(MONDAY, first), second)
    assert there == calendar.add_minutes(MONDAY, first + second)
    assert calendar.minutes_between(MONDAY, there) == first + second
    assert calendar.working(there) == there


@given(st.integers(1, 20_000))
def test_a_started_quarter_is_a_paid_quarter(minutes: int) -> None:
    quarters, charge = tessaly().price(minutes)
    assert (quarters - 1) * 135 < minutes <= quarters * 135
    assert charge == Decimal("0.002") * quarters
