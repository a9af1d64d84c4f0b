"""The solutions of a scenario: scripted deliveries that admission plays, and what each of them is made of on a task."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scenarios.kit.errors import Problem, ScenarioInvalid, ScenarioUnknown
from scenarios.kit.format import Conversation, SolutionNote
from scenarios.kit.load import ORIGINAL, Scenario, Task, content_hash, read_toml, validate
from scenarios.kit.render import TextProblem, render_tree

#: Groups of solutions: folder → kind.
SOLUTION_GROUPS = {"shortcuts": "shortcut", "bypasses": "bypass", "ablations": "ablation"}
#: The original's reference and conversation on a variant: no folder, played as what it is, whatever people say to it.
ORIGINAL_SOLUTION = "original_solution"


@dataclass(frozen=True, slots=True)
class Solution:
    """A scripted delivery: overlays on ``system/`` (applied in order) and the messages that go with it."""

    name: str
    kind: str  #: do_nothing | reference | literal | original_solution | shortcut | bypass | ablation
    note: SolutionNote
    overlays: tuple[Path, ...]
    conversation: Conversation

    @property
    def strict(self) -> bool:
        """Whether a message that does not release what it says it must is an error, or simply what happens."""
        return self.kind != ORIGINAL_SOLUTION


def _conversation(scenario: Scenario, path: Path, facts: Mapping[str, Any]) -> Conversation:
    name = path.relative_to(scenario.folder).as_posix()
    try:
        rendered = render_tree(read_toml(scenario.folder, name), facts, file=name)
    except TextProblem as error:
        raise ScenarioInvalid(scenario.id, [error.problem]) from error
    return validate(Conversation, rendered, scenario.folder, name)


def solution_names(scenario: Scenario) -> dict[str, str]:
    """Name → kind of every solution in the folder; ``do_nothing`` is always there."""
    root = scenario.folder / "solutions"
    names = {"do_nothing": "do_nothing"}
    names |= {name: name for name in ("reference", "literal") if (root / name).is_dir()}
    if scenario.facts.variants:
        names[ORIGINAL_SOLUTION] = ORIGINAL_SOLUTION
    for group, kind in SOLUTION_GROUPS.items():
        for path in sorted((root / group).glob("*")):
            if path.is_dir() and path.name in names:
                place = f"solutions/{group}/{path.name}"
                raise ScenarioInvalid(scenario.id, [Problem(place, "", "another solution has this name")])
            if path.is_dir():
                names[path.name] = kind
    return names


def solutions_on(scenario: Scenario, task_id: str) -> dict[str, str]:
    """Name → kind of the solutions that are played on a task, in the order of ``solution_names``."""
    return {
        name: kind
        for name, kind in solution_names(scenario).items()
        if (kind != ORIGINAL_SOLUTION or task_id != ORIGINAL) and task_id in played_on(scenario, name)
    }


def played_on(scenario: Scenario, name: str) -> tuple[str, ...]:
    """The tasks that a solution's note names, or all; what the note says is checked."""
    kind = _kind_of(scenario, name)
    return tuple(solution_note(scenario, name, kind).on) or scenario.task_ids


def _kind_of(scenario: Scenario, name: str) -> str:
    kinds = solution_names(scenario)
    if name not in kinds:
        raise ScenarioUnknown(f"Scenario {scenario.id} has no solution {name!r}; it has {', '.join(kinds)}.")
    return kinds[name]


def _solution_folder(scenario: Scenario, name: str, kind: str) -> Path:
    groups = {kind: group for group, kind in SOLUTION_GROUPS.items()}
    return scenario.folder / "solutions" / groups.get(kind, "") / name


def solution_note(scenario: Scenario, name: str, kind: str) -> SolutionNote:
    """``solution.toml`` of a solution, checked against the scenario. Raises ``ScenarioInvalid``."""
    if kind == "do_nothing":
        return SolutionNote(why="Leaves everything as found.")
    if kind == ORIGINAL_SOLUTION:
        return SolutionNote(why="What is right on the original, on a variant.", conversation="own")
    file = (_solution_folder(scenario, name, kind) / "solution.toml").relative_to(scenario.folder).as_posix()
    note = validate(SolutionNote, read_toml(scenario.folder, file), scenario.folder, file)
    problems = [
        Problem(file, place, f"there is no task {task}")
        for place, tasks in (("on", note.on), ("right_on", note.right_on))
        for task in tasks
        if task not in scenario.task_ids
    ]
    if note.ablates is not None and note.ablates not in scenario.facts.texts:
        problems.append(Problem(file, "ablates", f"{note.ablates} is not a fact of facts.toml"))
    if kind == "ablation" and note.ablates is None:
        problems.append(Problem(file, "ablates", "an ablation names the key fact whose rule it lacks"))
    if kind in ("reference", "literal") and (note.ablates is not None or note.on):
        problems.append(Problem(file, "", f"the {kind} delivery is played on every task and ablates nothing"))
    if problems:
        raise ScenarioInvalid(scenario.id, problems)
    return note


def load_solution(task: Task, name: str) -> Solution:
    """A solution as it is played on this task; ``ScenarioUnknown`` names the ones there are."""
    scenario = task.scenario
    kind = _kind_of(scenario, name)
    note = solution_note(scenario, name, kind)
    conversation = conversation_file(scenario, task.task_id, name)
    return Solution(
        name,
        kind,
        note,
        overlays_of(scenario, task.task_id, name),
        _conversation(scenario, conversation, task.facts) if conversation else Conversation(),
    )


def overlays_of(scenario: Scenario, task_id: str, name: str) -> tuple[Path, ...]:
    """The folders that a solution lays over ``system/`` on a task, in this order."""
    kind = _kind_of(scenario, name)
    reference = scenario.folder / "solutions" / "reference"
    if kind == "do_nothing":
        return ()
    if kind == ORIGINAL_SOLUTION:
        return (reference / "system",)
    folder, base = _solution_folder(scenario, name, kind), []
    if kind == "ablation":
        base = [reference / "system", reference / task_id / "system"]
    elif solution_note(scenario, name, kind).extends:
        base = [reference / "system"]
    return tuple(path for path in (*base, folder / "system", folder / task_id / "system") if path.is_dir())


def conversation_file(scenario: Scenario, task_id: str, name: str) -> Path | None:
    """The conversation that goes with a solution on a task; None where nobody is written to."""
    kind = _kind_of(scenario, name)
    reference = scenario.folder / "solutions" / "reference"
    source = {
        "own": reference if kind == ORIGINAL_SOLUTION else _solution_folder(scenario, name, kind),
        "reference": reference,
        "none": None,
    }[solution_note(scenario, name, kind).conversation]
    if source is None:
        return None
    candidates = [source / "conversation.toml"]
    if kind != ORIGINAL_SOLUTION:
        candidates.insert(0, source / task_id / "conversation.toml")
    return next((path for path in candidates if path.is_file()), None)


def ablated_fact(scenario: Scenario, task_id: str, name: str) -> str | None:
    """The key fact whose rule a solution lacks on a task, being otherwise the task's own reference; else None.

    A shortcut lies over the original's reference: on a variant whose reference differs it lacks more than one rule.
    """
    kind = _kind_of(scenario, name)
    note = solution_note(scenario, name, kind)
    if note.ablates is None or kind in ("reference", "literal", "do_nothing", ORIGINAL_SOLUTION):
        return None
    overlays, wanted = overlays_of(scenario, task_id, name), overlays_of(scenario, task_id, "reference")
    return note.ablates if overlays[: len(wanted)] == wanted else None


def solution_hash(scenario: Scenario, task_id: str, name: str) -> str:
    """SHA-256 of what a solution is made of on a task: its files, those it lies over, its note and its conversation."""
    kind = _kind_of(scenario, name)
    digest = hashlib.sha256(f"{kind}\0{solution_note(scenario, name, kind).model_dump_json()}\0".encode())
    for folder in overlays_of(scenario, task_id, name):
        digest.update(f"{content_hash(folder)}\0".encode())
    conversation = conversation_file(scenario, task_id, name)
    if conversation is not None:
        digest.update(conversation.read_bytes())
    return digest.hexdigest()
