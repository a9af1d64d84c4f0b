"""The site's tests: a bakery that is on offer, and graded runs made by hand (no workspace, no grader)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

BAKERY = "bakery_orders"
#: The name of the bakery's other task: it may be read nowhere before a debrief.
OTHER_TASK = "frozen_dough"
NOON = datetime(2026, 10, 5, 12, 0, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _the_bakery_is_on_offer(settings):
    settings.SCENARIO_DIRS = [Path(__file__).parent / "scenarios"]


@pytest.fixture
def runs_at_bakery(make_run):
    """``make(user, begun_at=…, minutes=…, **fields)``: a run of the bakery with times of its own."""
    from fdegym.runs.models import Run

    def make(user, *, begun_at=NOON, minutes=60, **fields):
        run = make_run(user, BAKERY, **fields)
        times = {"begun_at": begun_at}
        if run.state != "open" and run.state != "preparing":
            times["submitted_at"] = begun_at + timedelta(minutes=minutes)
        Run.objects.filter(pk=run.pk).update(**times)
        run.refresh_from_db()
        return run

    return make


@pytest.fixture
def submitted(runs_at_bakery):
    """``make(user, **fields)``: a run in the queue, with its submission."""
    from grading.models import Submission

    def make(user, *, progress=None, submission_state="queued", void_reason="", **fields):
        run = runs_at_bakery(user, **({"state": "submitted"} | fields))
        Submission.objects.create(
            run=run,
            sealed_path="/nowhere.tar",
            sha256="ab" * 32,
            files=3,
            bytes=4096,
            state=submission_state,
            void_reason=void_reason,
            progress=progress or {"step": "queued", "done": 0, "total": 0, "what": "in the queue"},
        )
        return run

    return make


@pytest.fixture
def graded(submitted):
    """``make(user, kpi=…, cost=…, incident=…, **fields)``: a graded run; as found 900 loaves, reference 240."""
    from decimal import Decimal

    from grading.models import Grade
    from grading.score import score_run, uplift

    def make(user, *, kpi=300.0, cost="0.03", incidents=(), grade=None, **fields):
        run = submitted(user, state="graded", submission_state="graded", **fields)
        counted = score_run(uplift(kpi, 900.0, 240.0), contact_cost=Decimal(cost), incident=bool(incidents))
        values = {
            "number": 1,
            "scenario_release": run.release,
            "grader_version": "1",
            "kpi": kpi,
            "kpi_baseline": 900.0,
            "kpi_reference": 240.0,
            "uplift": counted.uplift,
            "uplift_adjusted": counted.uplift_adjusted,
            "contact_cost": counted.contact_cost,
            "score": counted.score,
            "resolved": counted.resolved,
            "incidents": list(incidents),
        }
        Grade.objects.create(submission=run.submission, **(values | (grade or {})))
        return run

    return make


@pytest.fixture
def visit(db):
    """``visit(user)``: a browser in which that person is signed in; ``visit(None)``: a stranger's."""
    from django.test import Client

    def open_browser(user):
        browser = Client()
        if user is not None:
            browser.force_login(user)
        return browser

    return open_browser
