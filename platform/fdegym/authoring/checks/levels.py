"""The levels of a task differ only in the instruction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from fdegym.authoring.admission.findings import Check, Finding
from fdegym.delivery.materials import INSIDE, desk_directory, materials_of
from fdegym.runs.models import Run, RunOrigin
from grading.worlds import ensure_world
from scenarios.kit.format import LEVELS
from scenarios.kit.load import Scenario, Task
from workspaces.materials import WorkspaceMaterials

INSTRUCTION = f"{INSIDE}/TASK.md"
FOOTER = "\n### Practical\n"  #: from here on the kit's own words, the same for every level


def unsaved_run(task: Task, level: str) -> Run:
    """A run that nobody begins: what its workspace would be made of."""
    return Run(scenario_id=task.scenario.id, task_id=task.task_id, level=level, origin=RunOrigin.COMMAND)


def materials_by_level(task: Task) -> dict[str, WorkspaceMaterials]:
    found = {}
    for level in LEVELS:
        run = unsaved_run(task, level)
        found[level] = materials_of(run, task)
        desk_directory(run).rmdir()
    return found


def instruction_problems(briefs: Mapping[str, str], *, l2_is_l3: bool) -> list[str]:
    """What is wrong with the four instructions of a task, in words."""
    found = []
    for one, other in combinations(briefs, 2):
        same = briefs[one].partition(FOOTER)[0] == briefs[other].partition(FOOTER)[0]
        if same and not (l2_is_l3 and {one, other} == {"L2", "L3"}):
            hint = "; say l2_is_l3 = true in scenario.toml if that is meant" if {one, other} == {"L2", "L3"} else ""
            found.append(f"briefs/{one}.md and briefs/{other}.md say the same{hint}")
        if not same and l2_is_l3 and {one, other} == {"L2", "L3"}:
            found.append("scenario.toml says l2_is_l3, and briefs/L2.md and briefs/L3.md differ")
    if len({brief.partition(FOOTER)[2] for brief in briefs.values()}) > 1:
        found.append("the practical part at the end of TASK.md is not the same at every level")
    return found


def other_differences(materials: Mapping[str, WorkspaceMaterials]) -> list[str]:
    """What besides the instruction differs between the levels' workspaces."""
    first, *others = materials
    found = []
    for level in others:
        one, other = materials[first], materials[level]
        if _besides(one) != _besides(other):
            found.append(f"the workspace of {level} is made of other things than that of {first}")
    return found


def _besides(materials: WorkspaceMaterials) -> object:
    shown = {target: source for target, source in materials.read_only.items() if target != INSTRUCTION}
    return shown, materials.seed, materials.hostname, materials.limits, materials.environment


def check_levels(scenario: Scenario, tasks: Sequence[str]) -> Iterator[Finding]:
    for task_id in tasks:
        task = ensure_world(scenario, task_id)
        briefs = {level: task.brief(level) for level in LEVELS}
        found = instruction_problems(briefs, l2_is_l3=scenario.config.l2_is_l3)
        found += other_differences(materials_by_level(task))
        figures = {"words": {level: len(brief.split()) for level, brief in briefs.items()}}
        yield Finding("levels", task_id, not found, figures, f"{'; '.join(found)}." if found else "")


LEVELS_CHECK = Check("levels", "L0 to L3 differ only in the instruction", check_levels, seconds=1)
