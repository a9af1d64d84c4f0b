"""How figures are written."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from fdegym.pages.templatetags.figures import better, charge, duration, kpi, plain, share, signed, taken, when
from scenarios.kit.format import Kpi

HOURS = Kpi(name="claimable hours", unit="h", direction="higher", meaning="Hours.")
EUROS = Kpi(name="loss", unit="kEUR", direction="lower", decimals=1, meaning="Money.")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (Decimal("0.93"), "+0.93"),
        (Decimal("-0.123456"), "−0.12"),
        (Decimal("-0.001"), "0.00"),
        (Decimal("0"), "0.00"),
        (Decimal("-1234.5"), "−1,234.50"),
        (None, "–"),
        (float("nan"), "–"),
    ],
)
def test_a_score_has_two_decimals_a_sign_and_a_true_minus(value, shown):
    assert signed(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"), [("0.02", "−0.02"), ("0.008", "−0.008"), ("0.25", "−0.25"), ("0", "0.00"), ("0.000", "0.00")]
)
def test_a_charge_is_shown_as_what_it_takes_off(value, shown):
    assert charge(Decimal(value)) == shown


def test_what_contacts_took_has_as_many_decimals_as_the_scores_beside_it():
    """A run that gained nothing and was charged 0.065: S is exactly −C, and so it is shown."""
    assert taken(Decimal("0.065")) == signed(Decimal("-0.065")) == "−0.06"
    assert (taken(Decimal("0")), taken(None)) == ("0.00", "–")


def test_a_kpi_carries_its_unit_and_its_own_decimals():
    assert kpi(-177.0, HOURS) == "−177\N{NARROW NO-BREAK SPACE}h"
    assert kpi(2073.4, HOURS) == "2,073\N{NARROW NO-BREAK SPACE}h"
    assert kpi(20.25, EUROS) == "20.2\N{NARROW NO-BREAK SPACE}kEUR"
    assert (better(HOURS), better(EUROS)) == ("higher is better", "lower is better")


def test_no_figure_is_written_with_a_hyphen_for_a_minus():
    written = [signed(-3), plain(-3.5, 1), charge("3"), kpi(-3, HOURS)]
    assert not any("-" in text for text in written)


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0, "0 s"), (59, "59 s"), (60, "1 min"), (3600, "1 h 00 min"), (9000, "2 h 30 min"), (200_000, "2 d 7 h")],
)
def test_a_duration_has_two_units_at_most(seconds, shown):
    assert duration(timedelta(seconds=seconds)) == shown


def test_a_share_says_what_it_is_a_share_of():
    assert share(3, 40) == "3 of 40"


def test_a_time_is_shown_in_the_viewers_zone_and_marked_up_in_utc():
    with timezone.override("Asia/Kolkata"):
        html = when(datetime(2026, 10, 5, 20, 0, tzinfo=UTC))
    assert html == '<time datetime="2026-10-05T20:00:00+00:00">6 Oct 2026, 01:30</time>'
