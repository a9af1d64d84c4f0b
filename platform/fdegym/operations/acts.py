"""What an operator can do about what is stuck. Each act looks again before it does anything, and is written down.

``costs`` says what it costs somebody; such an act is asked for twice. Where it is about a run, the run's log has it too:
whoever audits the run later sees that a person of the site had a hand in it.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from fdegym.accounts.models import User
from fdegym.catalog.scenarios import scenarios
from fdegym.delivery.begin import wake
from fdegym.delivery.models import TrialRun, TrialState
from fdegym.delivery.submit import submit_run
from fdegym.delivery.tasks import prepare, try_systems
from fdegym.delivery.trials import hand_back as hand_back_trial
from fdegym.lib.errors import FdegymError
from fdegym.operations.models import OperatorAct
from fdegym.operations.stuck import orphan_reason
from fdegym.operations.tasks import build_worlds
from fdegym.runs import log
from fdegym.runs.models import Run, RunState
from grading.models import Submission, SubmissionState
from grading.queue import hand_back, requeue
from grading.tasks import grade_next
from workspaces.services import destroy_workspace, keeper_workspaces, stop_workspace

ACTED = "operator.acted"


class ActRefused(FdegymError):
    """What was to be helped is no longer as it was, or was never there. Nothing was done."""

    http_status = 409


@dataclass(frozen=True, slots=True)
class Done:
    """What came of an act, in words; ``run_id`` of the run that it was about."""

    words: str
    run_id: uuid.UUID | None = None


@dataclass(frozen=True, slots=True)
class Act:
    of: str  #: what its subject names
    button: str
    title: str
    perform: Callable[[str], Done]
    costs: str = ""


def perform(operator: User, name: str, subject: str) -> Done:
    """Do it and write it down. Raises ``ActRefused``, or what the doing raises; then nothing is written."""
    act = ACTS.get(name)
    if act is None:
        raise ActRefused("There is no such act.")
    done = act.perform(subject)
    OperatorAct.objects.create(
        operator=operator, act=name, subject=subject[:200], run_id=done.run_id, words=done.words[:500]
    )
    if done.run_id is not None:
        log.append(done.run_id, ACTED, {"act": name, "operator": operator.pk, "words": done.words[:500]})
    return done


def _submission(subject: str, state: SubmissionState, otherwise: str) -> Submission:
    found = Submission.objects.filter(pk=int(subject)).first() if subject.isdecimal() and len(subject) < 19 else None
    if found is None or found.state != state:
        raise ActRefused(f"{otherwise} Nothing was done.")
    return found


def _run(subject: str, state: RunState, otherwise: str) -> Run:
    run = _any_run(subject)
    if run is None or run.state != state:
        raise ActRefused(f"{otherwise} Nothing was done.")
    return run


def _any_run(subject: str) -> Run | None:
    try:
        return Run.objects.filter(pk=uuid.UUID(subject)).first()
    except ValueError:
        return None


# ---- grades and trials -----------------------------------------------------------------------------------------------


def _grade_again(subject: str) -> Done:
    submission = _submission(subject, SubmissionState.VOID, "This submission is not void any more.")
    requeue(submission)
    wake(grade_next)
    return Done("The submission has its three attempts again and is in the queue.", submission.run_id)


def _give_back(subject: str) -> Done:
    submission = _submission(subject, SubmissionState.GRADING, "Nobody is grading this submission.")
    hand_back(submission)
    wake(grade_next)
    return Done("The lease was given back: what the former worker still finds is dropped.", submission.run_id)


def _wake(subject: str) -> Done:
    submission = _submission(subject, SubmissionState.QUEUED, "This submission does not wait any more.")
    wake(grade_next)
    return Done("A worker was told to take the next submission.", submission.run_id)


def _try_again(subject: str) -> Done:
    trials = TrialRun.objects.exclude(state=TrialState.OVER)
    trial = trials.filter(pk=int(subject)).first() if subject.isdecimal() and len(subject) < 19 else None
    if trial is None:
        raise ActRefused("This trial is over. Nothing was done.")
    if trial.state == TrialState.RUNNING:
        hand_back_trial(trial)
    wake(try_systems)
    return Done("The trial is back in the queue, and a worker was told.", trial.run_id)


# ---- runs and workspaces ---------------------------------------------------------------------------------------------


def _prepare_again(subject: str) -> Done:
    run = _run(subject, RunState.PREPARING, "This run is not being prepared any more.")
    wake(prepare, str(run.pk))
    return Done("A worker was told to prepare the run.", run.pk)


def _submit(subject: str) -> Done:
    run = _run(subject, RunState.OPEN, "This run is not open any more.")
    if not log.events(run.pk, kinds=["contact.deadline"]):
        raise ActRefused("The customer's deadline has not passed. Nothing was done.")
    submit_run(run.pk, cause="deadline")
    return Done("The run was handed in as it stood and is in the queue.", run.pk)


def _stop(subject: str) -> Done:
    run = _run(subject, RunState.OPEN, "This run is not open any more.")
    stop_workspace(str(run.pk))
    return Done("The workspace was stopped; its files are kept.", run.pk)


def _destroy(subject: str) -> Done:
    found = next((row for row in keeper_workspaces() if row["run"] == subject), None)
    if found is None:
        raise ActRefused("There is no such workspace on this host. Nothing was done.")
    run = _any_run(subject)
    if not orphan_reason(run, datetime.fromtimestamp(found["opened_at"], UTC)):
        raise ActRefused("A run owns this workspace, or it will be cleared away by itself. Nothing was done.")
    destroy_workspace(subject)
    return Done("The workspace was destroyed.", run.pk if run else None)


def _build_worlds(subject: str) -> Done:
    if subject not in {card.id for card in scenarios()}:
        raise ActRefused("No such scenario is offered. Nothing was done.")
    wake(build_worlds, subject)
    return Done(f"A worker was told to build what is missing of {subject}.")


ACTS: Mapping[str, Act] = {
    "grade-again": Act("submission", "Grade again", "Grade this submission again", _grade_again),
    "give-back": Act(
        "submission",
        "Give the lease back",
        "Take this grading from its worker",
        _give_back,
        "If the worker is still at it, what it has done so far is lost and the next one begins anew. The person waits "
        "longer; the grade comes out the same.",
    ),
    "wake": Act("submission", "Wake a worker", "Tell a worker to take the next submission", _wake),
    "try-again": Act("trial", "Try again", "Put this trial back into the queue", _try_again),
    "prepare-again": Act("run", "Prepare again", "Have a worker prepare this run", _prepare_again),
    "submit": Act(
        "run",
        "Hand it in",
        "Hand this run in as it stands",
        _submit,
        "It is final: the run is graded as its files are now, and the person cannot go on with it. The customer's deadline "
        "has passed, so nothing else can become of it.",
    ),
    "stop": Act(
        "run",
        "Stop the workspace",
        "Stop this workspace",
        _stop,
        "Everything that runs in it ends, terminals included. Its files are kept, and the person can open it again.",
    ),
    "destroy": Act(
        "workspace of run",
        "Destroy it",
        "Destroy this workspace",
        _destroy,
        "Its files are gone for good. What was handed in, the log and the recordings of terminals stay.",
    ),
    "build-worlds": Act("scenario", "Build them", "Have a worker build these worlds", _build_worlds),
}
