"""The pager's solutions: what each ablation lacks, and that a bypass loses no minute less than nothing done.

Bypasses play three days without a sandbox; the figures of the whole period are admission's business.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scenarios.kit.format import Conversation
from scenarios.kit.solutions import ablated_fact, overlays_of, played_on, solution_names, solutions_on
from scenarios.oncall_incident.grader.replay import Observed, observe
from scenarios.oncall_incident.world.clock import DAY, SHADOW
from tests.sampling import sampled
from tests.scenarios import oncall_worlds
from tests.scenarios.oncall_worlds import deployed, scenario

SCENARIO = scenario()
SOLUTIONS = oncall_worlds.FOLDER / "solutions"
UNTIL = SHADOW[0] + 3 * DAY
RULES = Path("config/rules.toml")


def names_of(kind: str) -> list[str]:
    return [name for name, found in solution_names(SCENARIO).items() if found == kind]


def play(solution: str, folder: Path) -> Observed:
    return observe(oncall_worlds.production("original", UNTIL), deployed(solution, "original", folder))


def lost(observed: Observed) -> float:
    return sum(one.lost for one in observed.played)


@pytest.fixture(scope="module")
def as_found(tmp_path_factory: pytest.TempPathFactory) -> Observed:
    return play("do_nothing", tmp_path_factory.mktemp("as_found"))


@pytest.mark.parametrize("name", sampled(names_of("bypass"), 3, seed=SCENARIO.release))
def test_a_bypass_loses_no_minute_less_than_nothing_done(name: str, as_found: Observed, tmp_path: Path) -> None:
    observed = play(name, tmp_path)
    assert lost(observed) >= lost(as_found)
    assert len(observed.played) == len(as_found.played)


def test_what_is_forged_in_the_feed_and_beside_it_changes_no_page(as_found: Observed, tmp_path: Path) -> None:
    forged = play("event_forgery", tmp_path)
    assert [one.pages for one in forged.played] == [one.pages for one in as_found.played]


def test_a_program_that_ends_with_an_error_keeps_only_what_its_last_table_said_at_its_end(tmp_path: Path) -> None:
    observed = play("backdated_rows", tmp_path)
    assert observed.unread == oncall_worlds.production("original", UNTIL).calls[1:]
    rung = {page.person for one in observed.played if one.alert.severity == 2 for page in one.pages}
    assert len(rung) <= 24  # the pairs of one instant


@pytest.mark.parametrize("task", SCENARIO.task_ids)
def test_every_key_fact_has_the_reference_without_its_rule(task: str) -> None:
    lacking = {ablated_fact(SCENARIO, task, name) for name in solutions_on(SCENARIO, task)}
    assert set(SCENARIO.key_facts(task)) <= lacking


@pytest.mark.parametrize("name", names_of("ablation"))
def test_an_ablation_is_the_reference_of_its_tasks_but_for_one_rule(name: str) -> None:
    for task in played_on(SCENARIO, name):
        overlays, wanted = overlays_of(SCENARIO, task, name), overlays_of(SCENARIO, task, "reference")
        own = overlays[len(wanted) :]
        assert overlays[: len(wanted)] == wanted
        if not own:
            assert name == "nobody_consented", "it changes no file: what it lacks is the consent"
        elif not any(path.suffix == ".py" for path in files(own)):
            assert len(set(rules(overlays)) ^ set(rules(wanted))) == 2, task


def files(overlays: tuple[Path, ...]) -> list[Path]:
    found = [path for overlay in overlays for path in overlay.rglob("*") if path.is_file()]
    return [path for path in found if "__pycache__" not in path.parts]


def rules(overlays: tuple[Path, ...]) -> Iterator[tuple[str, str]]:
    """(name, value) of the rules that hold with these overlays."""
    last = [overlay / RULES for overlay in overlays if (overlay / RULES).is_file()][-1]
    tables: dict[str, dict[str, Any]] = tomllib.loads(last.read_text(encoding="utf-8"))
    return ((f"{table}.{name}", str(value)) for table, values in tables.items() for name, value in values.items())


@pytest.mark.parametrize("path", sorted(SOLUTIONS.rglob("conversation.toml")), ids=lambda path: path.parent.name)
def test_every_conversation_has_the_form_that_the_engine_plays(path: Path) -> None:
    Conversation.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
