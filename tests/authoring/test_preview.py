"""``manage.py preview``: what an author sees of a task and a run never shows."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from fdegym.authoring.preview import Preview
from fdegym.catalog.scenarios import get_scenario
from grading.worlds import ensure_world
from stakeholders.matcher.matching import Match, MatchedPart
from stakeholders.scripts import compiled_script


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """Type these lines into a preview of oil_npt; what it says."""

    def type_lines(*lines: str, task: str = "original") -> str:
        monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(lines)))
        call_command("preview", "oil_npt", "--task", task)
        return capsys.readouterr().out

    return type_lines


def test_a_message_is_answered_with_its_charge_scores_and_gate(typed) -> None:
    said = typed("molefe: From when until when does downtime run?")
    assert "Thandeka Molefe: Which clause are you reading?" in said
    assert "gate_miss, charged 0.008" in said
    assert "molefe/clock" in said
    assert "not " in said


def test_what_a_message_releases_is_named_and_counts(typed) -> None:
    said = typed("molefe: Clause 14.2 of Amendment 2: from when until when does downtime run?", "/so-far")
    assert "facts  F2" in said
    assert "released  F2" in said
    assert "cost  0.008" in said


def test_the_last_message_can_be_taken_back(typed) -> None:
    said = typed("molefe: Clause 14.2 of Amendment 2: when does downtime run?", "/undo", "/undo")
    assert "released  nothing" in said
    assert "cost  0" in said
    assert "nothing to take back" in said


def test_facts_people_and_instruction_of_the_task_asked_for(typed) -> None:
    said = typed("/facts", "/people", "/brief L0", task="utc")
    assert "feed_utc_from = '2" in said
    assert "key F" in said
    assert "clock → F2   wants a gate" in said
    assert "off limits" in said


def test_waiting_moves_the_customers_clock_and_is_priced(typed) -> None:
    said = typed("/wait 1d", "/so-far")
    assert "charged 0.008" in said
    assert "Tuesday" in said or "Tue" in said


def test_what_cannot_be_done_is_said_and_the_preview_goes_on(typed, tmp_path: Path) -> None:
    said = typed("nobody: hello", "hello", "/dance", "/wait soon", "/brief L9", f"/files {tmp_path}", "/so-far")
    assert "Nobody in the directory has the id" in said
    assert "Write PERSON: TEXT" in said
    assert "There is no /dance" in said
    assert "Levels are L0" in said
    assert "Nothing there was replaced" in said
    assert "released  nothing" in said


def test_the_workspaces_files_can_be_looked_at(typed, tmp_path: Path) -> None:
    typed(f"/files {tmp_path / 'look'}")
    assert (tmp_path / "look" / "system" / "README.md").is_file()
    assert (tmp_path / "look" / "docs").is_dir()


def test_a_scenario_or_task_that_is_not_there_is_named() -> None:
    with pytest.raises(CommandError, match="no scenario 'nowhere'"):
        call_command("preview", "nowhere")
    with pytest.raises(CommandError, match="no task 'never'"):
        call_command("preview", "oil_npt", "--task", "never")


def first_delivery() -> tuple[Any, Any]:
    """The training scenario's original and its people."""
    scenario = get_scenario("first_delivery")
    return ensure_world(scenario, "original"), compiled_script(scenario.id, "original", scenario.release)


def takes_all_for(topic: str) -> Any:
    """A matcher that hears this topic in everything."""
    return lambda script, text, person: Match((MatchedPart(topic, text, 1.0),), None, False, ())


@pytest.mark.sandbox
def test_a_gate_that_stayed_shut_says_what_the_message_has_of_the_record() -> None:
    task, script = first_delivery()
    late = set(task.meta.record_groups["late"]["order"])
    other = next(order for order in sorted(task.meta.records["order"]) if order not in late)
    preview = Preview(task, script, takes_all_for("jory/cutoff"))

    def told(text: str) -> str:
        return "\n".join(preview.say("jory", text))

    assert "cites_record order: no order is cited" in told("When is it too late?")
    assert "this task's data has none such" in told("When is it too late for B-00000?")
    assert f"{other} is in this task's data and not among late" in told(f"When is it too late for {other}?")
    answer = told(f"When is it too late for {min(late)}?")
    assert "facts  F1" in answer
    assert "cites_record" not in answer


@pytest.mark.sandbox
def test_a_record_of_each_group_is_there_to_be_tried() -> None:
    task, script = first_delivery()
    said = list(Preview(task, script, takes_all_for("")).people())
    assert f"record group late: for example order {min(task.meta.record_groups['late']['order'])}" in said
