"""Who begins a run reads what of it is kept and how long; its pages say what was removed."""

from __future__ import annotations

from django.urls import reverse

from fdegym.delivery.retention import REMOVED
from fdegym.runs import log
from tests.site.conftest import BAKERY

RULE = "the site keeps the recordings of its terminals for 365 days"


def test_who_begins_a_run_is_told_what_is_recorded_and_how_long_it_is_kept(client, alice):
    client.force_login(alice)
    page = client.get(reverse("scenario", args=[BAKERY])).content.decode()
    assert "What is done in the terminals is recorded." in page
    assert RULE in page


def test_a_runs_page_says_the_rule_and_later_what_was_removed(client, alice, submitted):
    client.force_login(alice)
    run = submitted(alice)
    address = reverse("grading", args=[run.id])
    assert RULE in client.get(address).content.decode()
    log.append(run.id, REMOVED, {"what": "recordings", "after_days": 365})
    page = client.get(address).content.decode()
    assert "the recordings of its terminals were removed on" in page
    assert RULE not in page
