"""Trials on the page: a button only where the customer has them, what it answers, and what the debrief says of them."""

from __future__ import annotations

import json
import uuid
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse

from fdegym.pages import workbench
from fdegym.pages.conversation import Names, contacts_of, totals_of
from fdegym.pages.debrief import timeline_of
from fdegym.runs import log
from grading.contacts import fold_contacts
from grading.verdict import contact_row
from stakeholders.trials import TrialRefused

pytestmark = pytest.mark.django_db
REPORT = {
    **{
        "client_id": "t1",
        "outcome": "reported",
        "said": [{"id": "late", "text": "Twenty loaves were late."}],
        "words": "",
    },
    **{"system": "ab" * 32, "calls": 6, "failures": {}, "charge": "0.03", "counted": True, "at": None},
}
VOID = {**REPORT, "client_id": "t2", "outcome": "void", "said": [], "words": "A failure of ours.", "charge": "0"}
VOID["counted"] = False


@pytest.fixture
def bench(alice: Any, runs_at_bakery: Any, visit: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Alice's open run and her browser; the desk answers as a test says."""

    class Bench:
        run = runs_at_bakery(alice)
        browser = visit(alice)
        address = reverse("workbench_trial", args=[run.id])
        asked: list[str] = []

        def post(self, **body: Any) -> Any:
            return self.browser.post(self.address, json.dumps(body), content_type="application/json")

    made = Bench()

    def ask_trial(run_id: uuid.UUID, client_id: str) -> dict[str, Any]:
        made.asked.append(client_id)
        if len(made.asked) > 1:
            raise TrialRefused("A trial is being run already.")
        return {"id": client_id, "running": True, "said": [], "words": "", "sent": None}

    monkeypatch.setattr(workbench.people, "ask_trial", ask_trial)
    monkeypatch.setattr(workbench.people, "trials_left", lambda run_id: 2 - len(made.asked))
    monkeypatch.setattr(workbench.workspace, "touch", lambda run_id: None)
    return made


def test_a_trial_is_asked_for_once_and_a_second_is_refused_in_words(bench: Any) -> None:
    assert bench.browser.get(bench.address).json() == {"progress": None, "left": True}
    assert bench.post(id="t1").json()["trial"]["running"]
    refused = bench.post(id="t2")
    assert (refused.status_code, refused.json()) == (409, {"error": "A trial is being run already."})
    assert bench.browser.get(bench.address).json()["left"] is False
    assert bench.post().status_code == 400
    assert bench.browser.delete(bench.address).status_code == 405


def test_nobody_else_has_a_trial_of_alices_system(bench: Any, charlie: Any, visit: Any) -> None:
    for browser, status in ((visit(charlie), 404), (visit(None), 401)):
        asked = browser.post(bench.address, json.dumps({"id": "x"}), content_type="application/json")
        assert (asked.status_code, browser.get(bench.address).status_code) == (status, status)
    assert bench.asked == []


def test_a_run_that_is_over_has_no_trial(alice: Any, submitted: Any, visit: Any) -> None:
    address = reverse("workbench_trial", args=[submitted(alice).id])
    assert visit(alice).get(address).status_code == 409


@pytest.mark.parametrize("has_trial", [True, False])
def test_the_button_stands_only_where_the_customer_has_trials(has_trial: bool) -> None:
    from django.template.loader import render_to_string

    boot = {"hasTrial": has_trial, "hasCalendar": False}
    page = render_to_string("workbench/workbench.html", {"boot": boot, "run": {"level": "L3"}, "scenario": {}})
    assert ("wb-trial-open" in page) == has_trial
    assert ("js/workbench/trial.js" in page) == has_trial
    assert ("ask --trial" in page) == has_trial
    assert "charged" not in page  # what contacts cost is told where scoring is explained, not by the customer


def test_the_script_of_the_page_finds_every_element_it_asks_for() -> None:
    root = Path(workbench.__file__).parents[3]
    script, page = (
        (root / name).read_text() for name in ("static/js/workbench/trial.js", "templates/workbench/workbench.html")
    )
    wanted = {part.split('"')[0] for part in script.split('byId("')[1:]}
    assert wanted
    assert all(f'id="{name}"' in page for name in wanted)


def test_the_debrief_lists_trials_with_what_was_said_and_what_they_cost(alice: Any, graded: Any) -> None:
    events = [("trial.requested", {"client_id": "t1", "number": 1, "at": None}), ("trial.reported", REPORT)]
    events += [("trial.requested", {"client_id": "t2", "number": 2, "at": None}), ("trial.reported", VOID)]
    contacts = contact_row(fold_contacts(events))
    run = graded(alice, cost="0.03", grade={"contacts": contacts})
    for kind, payload in events:
        log.append(run.id, kind, payload)
    names = Names({}, {})
    listed = contacts_of(log.events(run.id), names)
    assert [(one.person, one.answer, one.charge) for one in listed] == [
        ("Trial run", "Twenty loaves were late.", Decimal("0.03")),
        ("Trial run", "", Decimal(0)),
    ]
    assert listed[1].outcome == "A failure of ours. Free of charge."
    grade = run.submission.grades.get()
    assert [(row.name, row.messages, row.charge) for row in totals_of(grade, names)] == [
        ("Trial runs", 1, Decimal("0.03"))
    ]
    assert [entry.words for entry in timeline_of(log.events(run.id), names)] == [
        *("Asked for a trial run", "The trial run was reported"),
        *("Asked for a trial run", "The trial run was reported"),
    ]
