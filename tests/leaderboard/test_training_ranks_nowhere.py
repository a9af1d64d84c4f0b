"""Runs of a training scenario: played and graded like any other, ranked nowhere, counted in no figure about people."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse

from fdegym.catalog.scenarios import ranked_scenarios, scenarios
from fdegym.delivery.audit import audit_run
from fdegym.leaderboard.boards import VIEWS
from fdegym.leaderboard.evidence import evidence_by_scenario, evidence_of
from fdegym.runs import log
from fdegym.runs.models import Run
from tests.grading.sides import TINY
from tests.standings import results_of_view

pytestmark = pytest.mark.django_db(transaction=True)


def say_status(market: Path, status: str) -> None:
    config = market / "scenario.toml"
    lines = [line for line in config.read_text().splitlines() if not line.startswith("status =")]
    place = next(number for number, line in enumerate(lines) if line.startswith("sponsor ="))
    config.write_text("\n".join([*lines[:place], f'status = "{status}"', *lines[place:]]) + "\n")


@pytest.fixture
def training(market: Path) -> Path:
    """The stall is offered for training."""
    say_status(market, "training")
    return market


def test_a_first_run_of_training_is_graded_and_does_not_rank(alice: Any, training: Path, graded: Any) -> None:
    run = graded(alice)
    assert (run.attempt, run.state, run.is_ranked) == (1, "graded", False)
    assert all(results_of_view(view, scenario) == [] for view in VIEWS for scenario in (None, TINY.name))


def test_training_is_in_no_figure_about_first_runs(alice: Any, training: Path, graded: Any) -> None:
    graded(alice)
    assert evidence_of(TINY.name).runs == 0
    assert evidence_by_scenario([TINY.name])[TINY.name].runs == 0


def test_a_run_keeps_what_it_was_begun_as(alice: Any, bob: Any, market: Path, graded: Any) -> None:
    """Whoever trained does not rank when the scenario is ranked later, and a ranked run stays ranked in training."""
    say_status(market, "training")
    trained = graded(alice)
    say_status(market, "ready")
    ranked = graded(bob)
    say_status(market, "training")
    assert [Run.objects.get(pk=run.pk).is_ranked for run in (trained, ranked)] == [False, True]
    assert [result.person for result in results_of_view("ranked", TINY.name)] == [bob.pk]


def test_the_log_says_that_it_was_training_and_the_audit_compares(alice: Any, training: Path, graded: Any) -> None:
    run = graded(alice)
    assert log.events(run.id)[0].payload["training"] is True
    words = {found.check: found.words for found in audit_run(run.id).findings}
    assert any("training" in text for text in words.values())
    Run.objects.filter(pk=run.pk).update(training=False)
    assert "training" in audit_run(run.id).findings[-1].words
    assert not audit_run(run.id).holds


def test_training_is_offered_first_and_has_no_board(training: Path, client: Any) -> None:
    assert [card.training for card in scenarios()] == [True]
    assert ranked_scenarios() == []
    assert client.get(reverse("leaderboard-scenario", args=[TINY.name])).status_code == 404


def test_pages_say_training_and_never_ranked(alice: Any, training: Path, graded: Any, client: Any) -> None:
    client.force_login(alice)
    run = graded(alice)
    for name, arguments in (("scenarios", []), ("scenario", [TINY.name]), ("runs", []), ("debrief", [run.id])):
        html = client.get(reverse(name, args=arguments)).content.decode()
        assert "training" in html, name
        assert "Begin the ranked run" not in html
        assert ">ranked<" not in html


def test_home_leads_a_new_person_to_training(training: Path, client: Any) -> None:
    html = client.get(reverse("home")).content.decode()
    assert "Begin a guided first run" in html
    assert reverse("scenario", args=[TINY.name]) in html


def test_whoever_has_trained_is_led_to_what_ranks(alice: Any, training: Path, graded: Any, client: Any) -> None:
    client.force_login(alice)
    graded(alice)
    assert "Begin a guided first run" not in client.get(reverse("home")).content.decode()
