"""One instant is one instant, whatever zone it is read in and whatever the clocks did that night."""

from __future__ import annotations

import csv
import io
import re
from datetime import UTC, datetime, timedelta

import pytest
from django.urls import reverse

ZONES = ["", "America/New_York", "Europe/Berlin", "Asia/Kolkata", "Australia/Sydney"]


def text_of(browser, name):
    answer = browser.get(reverse(name))
    assert answer.status_code == 200
    return answer.content.decode()


def exported(browser):
    """The one row of the CSV."""
    (row,) = csv.DictReader(io.StringIO(text_of(browser, "profile-export-csv")))
    return row


@pytest.mark.parametrize("zone", ZONES)
def test_the_same_instant_is_shown_and_exported_in_every_zone(zone, alice, visit, graded):
    """FC-109: stored in UTC, written out with the zone it is shown in, the same for every locale of the browser."""
    begun = datetime(2026, 3, 4, 5, 6, tzinfo=UTC)  # the fourth of March, or the third of April
    graded(alice, begun_at=begun)
    alice.time_zone = zone
    alice.save()
    for language in ("en-US", "de", "ja"):
        browser = visit(alice)
        browser.defaults["HTTP_ACCEPT_LANGUAGE"] = language
        machine = re.findall(r'<time datetime="([^"]+)"', text_of(browser, "runs"))
        assert begun in [datetime.fromisoformat(text) for text in machine]
        row = exported(browser)
        assert datetime.fromisoformat(row["begun_at"]) == begun
        assert datetime.fromisoformat(row["begun_at"]).utcoffset() is not None


@pytest.mark.parametrize(
    ("zone", "begun", "offsets"),
    [
        # New York, 1 November 2026: 01:30 comes twice, an hour apart
        ("America/New_York", datetime(2026, 11, 1, 5, 30, tzinfo=UTC), (-4, -5)),
        # New York, 8 March 2026: 02:30 does not come at all
        ("America/New_York", datetime(2026, 3, 8, 6, 30, tzinfo=UTC), (-5, -4)),
        # Sydney, 5 April and 4 October 2026
        ("Australia/Sydney", datetime(2026, 4, 4, 15, 30, tzinfo=UTC), (11, 10)),
        ("Australia/Sydney", datetime(2026, 10, 3, 15, 30, tzinfo=UTC), (10, 11)),
    ],
)
def test_an_hour_across_a_change_of_clocks_is_an_hour(zone, begun, offsets, alice, visit, graded):
    """FC-110: in what is shown, in what is exported, and in the time that a board counts."""
    graded(alice, begun_at=begun, minutes=60)
    alice.time_zone = zone
    alice.save()
    row = exported(visit(alice))
    first, last = datetime.fromisoformat(row["begun_at"]), datetime.fromisoformat(row["submitted_at"])
    assert (first.utcoffset(), last.utcoffset()) == tuple(timedelta(hours=hours) for hours in offsets)
    assert last - first == timedelta(hours=1)
    assert row["time_used_s"] == "3600"


def test_the_limit_of_the_agents_board_does_not_move_with_the_clocks(alice, bob, visit, graded):
    """FC-110: 150 minutes across the hour that comes twice are 150; 151 are too many."""
    from tests.standings import results_of_view

    night = datetime(2026, 11, 1, 4, 30, tzinfo=UTC)
    for person, minutes in ((alice, 150), (bob, 151)):
        person.time_zone = "America/New_York"
        person.save()
        graded(person, begun_at=night, minutes=minutes)
    assert [result.person for result in results_of_view("150", "bakery_orders")] == [alice.pk]
