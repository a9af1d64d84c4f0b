"""Playing a scripted solution through the same services that a person uses.

Begin a run, write to the people message by message, put the solution's files into ``system/``, submit, grade: nothing
here is a second implementation of any of these.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fdegym.catalog.scenarios import get_scenario
from fdegym.delivery.begin import begin_command_run
from fdegym.delivery.submit import clear_away, submit_run
from fdegym.delivery.trials import run_this_trial
from fdegym.lib.errors import FdegymError
from fdegym.runs import log
from fdegym.runs.models import Run, RunState
from fdegym.runs.services import transition
from grading.models import Grade, Submission
from grading.queue import MOST_ATTEMPTS
from grading.services import current_grade, grade_submission
from grading.worlds import ensure_world
from scenarios.kit.format import Say
from scenarios.kit.load import Task
from scenarios.kit.solutions import Solution, load_solution
from stakeholders.matching import matcher_of
from stakeholders.scripts import compiled_script
from stakeholders.services import ask_trial, contact_rows, released_facts, send_message, wait
from workspaces.services import put_file

logger = logging.getLogger(__name__)
Progress = Callable[[str], None]


class SolutionMisplayed(FdegymError):
    """A message of the solution did not release what it says it must: scenario, matcher or engine is wrong."""


class GradeMissing(FdegymError):
    """The submission ended void: our fault, with its reason. ``lasting``: another attempt would end in the same way."""

    def __init__(self, words: str, *, lasting: bool) -> None:
        super().__init__(words)
        self.lasting = lasting


@dataclass(frozen=True, slots=True)
class Played:
    """A graded run of a solution; ``as_json`` is what ``play --json`` writes."""

    run: Run
    task: Task
    solution: Solution
    submission: Submission
    grade: Grade

    def as_json(self) -> dict[str, Any]:
        """The same solution of the same release gives the same object: no ids, no times."""
        grade = self.grade
        return {
            "scenario": self.run.scenario_id,
            "task": self.run.task_id,
            "level": self.run.level,
            "solution": self.solution.name,
            "kpi": {"delivered": grade.kpi, "baseline": grade.kpi_baseline, "reference": grade.kpi_reference},
            "uplift": float(grade.uplift),
            "uplift_adjusted": float(grade.uplift_adjusted),
            "contact_cost": float(grade.contact_cost),
            "score": float(grade.score),
            "resolved": grade.resolved,
            "incidents": grade.incidents,
            "key_facts": {
                "released": sorted(set(self.task.key_facts) & set(released_facts(self.run.id))),
                "all": list(self.task.key_facts),
            },
            "contacts": contact_rows(self.run.id),
            "hashes": {
                "scenario_release": self.run.release,
                "world": self.task.meta.sha256,
                "system": self.submission.sha256,
            },
        }


def _say(run: Run, step: Say, solution: Solution) -> None:
    """One step of the conversation; what it must release is looked up in the run's log, not in the answer's words."""
    before = log.head(run)[0]
    if step.trial:
        _try(run, step, solution)
    elif step.wait is not None:
        wait(run.id, step.wait, uuid.uuid4().hex)
    elif step.to is not None and step.text is not None:
        send_message(run.id, step.to, step.text, uuid.uuid4().hex)
    if not solution.strict:
        return
    events = log.events(run.id, after=before, kinds=["contact."])
    for key, wanted in (("facts", step.releases), ("grants", step.grants)):
        got = {item for event in events for item in event.payload.get(key, [])}
        if missing := sorted(set(wanted) - got):
            raise SolutionMisplayed(
                f"{solution.name}: the message to {step.to} ({step.text!r}) was to release {', '.join(missing)} and did not."
            )


def _try(run: Run, step: Say, solution: Solution) -> None:
    """Ask for a trial as a person does, and run it here: a command has no worker beside it."""
    client_id = uuid.uuid4().hex
    ask_trial(run.id, client_id)
    report = run_this_trial(run, client_id)
    said = [sentence["id"] for sentence in report["said"]]
    missing = sorted(set(step.reports) - set(said))
    if solution.strict and (missing or not report["counted"]):
        told = ", ".join(said) or report["words"]
        raise SolutionMisplayed(f"{solution.name}: the trial was to report {', '.join(missing) or 'something'}: {told}")


def _overlay(run: Run, solution: Solution) -> int:
    count = 0
    for folder in solution.overlays:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                put_file(str(run.id), f"/workspace/system/{path.relative_to(folder).as_posix()}", path.read_bytes())
                count += 1
    return count


def play(
    scenario_id: str,
    solution_name: str,
    *,
    task_id: str = "original",
    level: str = "L3",
    progress: Progress = logger.info,
) -> Played:
    """Play one solution on one task and return its grade. Needs desk and keeper (``local_services``)."""
    scenario = get_scenario(scenario_id)
    task = ensure_world(scenario, task_id)
    solution = load_solution(task, solution_name)
    if any(step.to is not None for step in solution.conversation.steps):
        # An author has just changed a phrasing, say: fitted here and kept, it is there when the desk looks for it.
        matcher_of(scenario, compiled_script(scenario.id, task_id, scenario.release))
    progress("opening the workspace")
    run = begin_command_run(scenario_id, task_id, level, told=progress)
    try:
        _overlay(run, solution)  # first: a trial is of the solution's own system
        for number, step in enumerate(solution.conversation.steps, start=1):
            progress(f"message {number} of {len(solution.conversation.steps)}")
            _say(run, step, solution)
        progress("submitting")
        submission = submit_run(run.id)
        progress("grading")
        grade_submission(submission)
        run.refresh_from_db()
        grade = current_grade(run)
        if grade is None:
            submission.refresh_from_db()
            words = f"{solution.name} on {task_id} was not graded: {run.state_reason or run.state}"
            gist = _gist(submission.operator_detail)
            raise GradeMissing(f"{words} {gist}".strip(), lasting=submission.attempts < MOST_ATTEMPTS)
        submission.refresh_from_db()
        return Played(run, task, solution, submission, grade)
    finally:
        end_command_run(run)


def _gist(detail: str) -> str:
    """What an author needs first of an operator's detail: its first line, or what the traceback in it ends with."""
    lines = [line for line in detail.splitlines() if line.strip()]
    return next((line for line in lines if not line.startswith((" ", "Traceback"))), "")[:500]


def end_command_run(run: Run) -> None:
    """Leave nothing behind, also when the command was interrupted: such a run has failed, it is no submission."""
    run.refresh_from_db()
    if run.state == RunState.OPEN:
        run = transition(run.id, RunState.FAILED, "the command was interrupted")
    clear_away(run)
