"""An operator, browsers, and things that are stuck, made by hand: no workspace, no worker."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone


@pytest.fixture
def olivia(db):
    """Runs the site."""
    from fdegym.accounts.models import Role, User

    return User.objects.create_user("olivia", password="olivia-has-a-long-password", role=Role.OPERATOR)


@pytest.fixture
def visit(db):
    """``visit(user)``: a browser in which that person is signed in; ``visit(None)``: a stranger's, from elsewhere."""

    def open_browser(user):
        browser = Client(REMOTE_ADDR="192.0.2.7")
        if user is not None:
            browser.force_login(user)
        return browser

    return open_browser


@pytest.fixture
def submit(make_run):
    """``make(user, state, **fields)``: a run that was handed in, with its submission in that state, an hour ago."""
    from grading.models import Submission

    def make(user, state="queued", **fields):
        run_state = state if state in ("graded", "void") else "submitted"
        run = make_run(user, state=run_state)
        values = {"sealed_path": "/nowhere.tar", "sha256": "ab" * 32, "files": 3, "bytes": 4096, "state": state}
        submission = Submission.objects.create(run=run, **values)
        fields = {"created_at": timezone.now() - timedelta(hours=1)} | fields
        Submission.objects.filter(pk=submission.pk).update(**fields)
        submission.refresh_from_db()
        return submission

    return make


@pytest.fixture(autouse=True)
def _nobody_is_woken(monkeypatch):
    """What would have been sent to workers, instead of a broker."""
    sent = []
    monkeypatch.setattr("fdegym.operations.acts.wake", lambda task, *given: sent.append((task.name, *given)))
    return sent


@pytest.fixture
def woken(_nobody_is_woken):
    return _nobody_is_woken
