"""What a run was given and what people said: neither can be another afterwards without the audit saying so."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fdegym.delivery import given
from fdegym.runs import log
from fdegym.runs.models import Run
from grading.worlds import ensure_world
from scenarios.kit.load import load_scenario
from tests.audit.asking import audit, event_of, not_so

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("briefs/L3/TASK.md", "the instruction (TASK.md)"),
        ("docs/book.md", "the documents (docs/)"),
        ("data/day_3.csv", "the data (data/)"),
        ("directory.md", "the directory of people (directory.md)"),
        ("system/shop/total.py", "the system as found (system/)"),
    ],
)
def test_a_file_that_the_workspace_was_given_changed(
    name: str, words: str, alice: Any, graded: Callable[..., Run], market: Path
) -> None:
    run = graded(alice)
    path = ensure_world(load_scenario(market), "original").visible / name
    path.write_text(f"{path.read_text()} ")
    assert not_so(run) == ("given", f"Not what the run was given: {words}.")
    path.unlink()
    assert not_so(run)[0] == "given"


def test_what_people_accept_as_evidence_changed(alice: Any, graded: Callable[..., Run], market: Path) -> None:
    run = graded(alice)
    meta = ensure_world(load_scenario(market), "original").world / "meta.json"
    meta.write_text(json.dumps(json.loads(meta.read_text()) | {"records": {"parcel": ["PX-1"]}}))
    assert "what people accept as evidence" in not_so(run)[1]


def test_the_instruction_of_another_level_is_none_of_this_runs(
    alice: Any, graded: Callable[..., Run], market: Path
) -> None:
    run = graded(alice, level="L3")
    (ensure_world(load_scenario(market), "original").visible / "briefs/L0/TASK.md").write_text("other")
    assert audit(run)[0] == 0


@pytest.fixture
def other_ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`ask` is another program than the one that the run was given."""
    (tmp_path / "ask").mkdir()
    (tmp_path / "ask" / "ask").write_text("#!/bin/sh\necho Nobody is there.\n")
    monkeypatch.setattr(given, "ASK_DIRECTORY", tmp_path / "ask")


def test_ask_replaced(alice: Any, graded: Callable[..., Run], request: pytest.FixtureRequest) -> None:
    run = graded(alice)
    request.getfixturevalue("other_ask")
    check, words = not_so(run)
    assert check == "ask"
    assert "nothing else of the installation has changed: one of the two was replaced" in words


def test_ask_of_another_version_is_no_accusation(
    alice: Any, graded: Callable[..., Run], request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = graded(alice)
    request.getfixturevalue("other_ask")
    monkeypatch.setattr("fdegym.delivery.audit.people_version", lambda: "another")
    status, words = audit(run)
    assert status == 0
    assert "this may be an update" in words


def test_a_charge_that_the_rules_do_not_give(alice: Any, begin: Any, talk: Any, hand_in: Any, monkeypatch: Any) -> None:
    """Written and signed by the site itself, as after a fault of ours or by somebody who has the key."""
    run = begin(alice)
    talk(run, "Well?")
    payload = dict(event_of(run, "contact.message").payload)
    log.append(run.id, "contact.message", payload | {"client_id": "other", "charge": "0.005"})
    hand_in(run)
    check, words = not_so(run)
    assert check == "replies"
    assert words.endswith("the charge in the log is '0.005', by the rules it is '0.01'.")
    monkeypatch.setattr("fdegym.delivery.audit.people_version", lambda: "another")
    status, words = audit(run)
    assert status == 0
    assert "are not those here" in words


def test_a_workspace_opened_again_as_it_was_adds_nothing_to_the_log(alice: Any, begin: Callable[..., Run]) -> None:
    from fdegym.delivery.begin import reopen_workspace

    run = begin(alice)
    reopen_workspace(run)
    assert [event.kind for event in log.events(run.id)].count("run.prepared") == 1


def test_a_workspace_opened_again_with_other_files_is_told(
    alice: Any, begin: Callable[..., Run], talk: Any, hand_in: Any, market: Path
) -> None:
    """As when the scenario was replaced under a run that was open: the log has both, and the audit says from when on."""
    from fdegym.delivery.begin import reopen_workspace

    run = begin(alice)
    talk(run, "Well?")
    (market / "docs" / "book.md").write_text("Returned goods are thrown away.\n")
    reopen_workspace(run)
    hand_in(run)
    status, words = audit(run)
    assert status == 0
    reopened = log.events(run.id, kinds=["run.prepared"])[-1]
    assert f"are those that were given from event {reopened.seq} on; before, others were." in words
    assert "under another release of the scenario than the run was begun with" in words


def test_a_site_that_salts_its_worlds_otherwise_since_accuses_nobody(
    alice: Any, graded: Callable[..., Run], market: Path, settings: Any
) -> None:
    """Both worlds lie on the host; the log names the salt so that nobody who reads it can try words for it."""
    run = graded(alice)
    (prepared,) = log.events(run.id, kinds=["run.prepared"])
    settings.WORLD_SALT = "pepper"
    ensure_world(load_scenario(market), "original")
    status, words = audit(run)
    assert status == 0
    assert words.count("with the WORLD_SALT of then it can be checked") == 2
    assert log.seal(run.id, "salt ") == prepared.payload["salt"]
    settings.SECRET_KEY = "another-" + "k" * 60
    assert log.seal(run.id, "salt ") != prepared.payload["salt"]
