"""A site without room for another workspace: the run waits and says so, and nothing of it counts as failed."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

import pytest
from django.test import Client
from django.urls import reverse

from fdegym.accounts.models import User
from fdegym.delivery import tasks
from fdegym.pages import workbench
from fdegym.runs import log
from fdegym.runs.models import Run, RunState
from workspaces.runtime.errors import HostFull

WORDS = "There is no room for another workspace on this site now: 12 are open."
MakeRun = Callable[..., Run]


def no_room(*_: object) -> NoReturn:
    raise HostFull(WORDS)


def test_a_run_that_finds_no_room_waits_and_is_not_given_up(
    alice: User, make_run: MakeRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_run(alice, state=RunState.PREPARING)
    monkeypatch.setattr(tasks, "prepare_run", no_room)
    for _ in range(2 * tasks.PREPARING_TRIES):
        tasks.prepare(str(run.id))
    run.refresh_from_db()
    assert run.state == RunState.PREPARING
    assert log.events(run.id) == []


def test_whoever_waits_is_told_why(
    client: Client, alice: User, make_run: MakeRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_run(alice, state=RunState.PREPARING)
    monkeypatch.setattr(workbench.workspace, "waits_for_room", lambda run_id: WORDS if run_id == str(run.id) else None)
    client.force_login(alice)
    assert client.get(reverse("workbench_state", args=[run.id])).json()["reason"] == WORDS


def test_a_page_that_waits_goes_on_asking_without_a_keeper(client: Client, alice: User, make_run: MakeRun) -> None:
    run = make_run(alice, state=RunState.PREPARING)
    client.force_login(alice)
    assert client.get(reverse("workbench_state", args=[run.id])).json()["state"] == "preparing"


def test_whoever_comes_back_to_a_stopped_workspace_is_told_that_there_is_no_room(
    client: Client, alice: User, make_run: MakeRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_run(alice)
    monkeypatch.setattr(workbench.workspace, "workspace_state", lambda run_id: "stopped")
    monkeypatch.setattr(workbench, "reopen_workspace", no_room)
    client.force_login(alice)
    answer = client.post(reverse("workbench_ticket", args=[run.id]), {"terminal": 1}, content_type="application/json")
    assert (answer.status_code, answer.json()["error"]) == (503, WORDS)
