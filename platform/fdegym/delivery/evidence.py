"""What an audit of a run works with: the run and all that belongs to it, read once, without changing anything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.core.exceptions import ValidationError

from fdegym.catalog.scenarios import get_scenario
from fdegym.delivery.given import is_of_this_salt
from fdegym.lib.errors import FdegymError
from fdegym.runs import audit as logs
from fdegym.runs import log
from fdegym.runs.models import Run, RunEvent
from grading.contacts import Conversation, fold_contacts
from grading.models import Grade, Submission
from grading.worlds import ensure_world, world_is_built
from scenarios.kit.load import Scenario, Task

READ_AGAIN = 5
#: What reading raises where a row holds something that the site never writes there, a word for a moment, say.
UNREADABLE = (ValidationError, TypeError, ValueError, AttributeError, LookupError, ArithmeticError)


class NotChecked(Exception):
    """A check that cannot be made here and now; the text says why."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A run as it was read, once, for all checks."""

    run: Run
    events: Sequence[RunEvent]
    submission: Submission | None
    grades: Sequence[Grade]
    scenario: Scenario | None  #: as it is now; None where it is no longer installed
    conversation: Conversation = field(init=False)

    def __post_init__(self) -> None:
        handed_in = logs.submission_event(self.events)
        before = (event for event in self.events if handed_in is None or event.seq < handed_in.seq)
        object.__setattr__(self, "conversation", fold_contacts((event.kind, event.payload) for event in before))

    def of_kind(self, kind: str) -> list[RunEvent]:
        return [event for event in self.events if event.kind == kind]

    def same_scenario(self, release: str) -> Scenario:
        """The scenario, if it is still what it was under that release."""
        if self.scenario is None:
            raise NotChecked(f"The scenario {self.run.scenario_id} is not installed here any more.")
        if self.scenario.release != release:
            raise NotChecked(
                f"The scenario has changed since: then release {release[:12]}, now {self.scenario.release[:12]}. "
                "An installation with the release of then can check it."
            )
        return self.scenario

    def task(self, release: str) -> Task:
        """The run's task with its world, if that is still what it was under that release."""
        scenario = self.same_scenario(release)
        if not all(is_of_this_salt(prepared) for prepared in self.of_kind("run.prepared")[-1:]):
            raise NotChecked(
                "The site salts its worlds otherwise than then; with the WORLD_SALT of then it can be checked."
            )
        if not world_is_built(scenario, self.run.task_id):
            raise NotChecked("The run's world does not lie on this host; beginning such a run, or `play`, builds it.")
        return ensure_world(scenario, self.run.task_id)


def read_evidence(run_id: Any) -> Evidence:
    """The run with all that belongs to it, read again where it grew meanwhile.

    Raises ``Run.DoesNotExist``, or one of ``UNREADABLE``.
    """
    for _ in range(READ_AGAIN):
        run = Run.objects.get(pk=run_id)
        submission = Submission.objects.filter(run=run).first()
        grades = list(Grade.objects.filter(submission__run=run).order_by("number"))
        events = log.events(run.id)
        if log.head(run)[0] == len(events) and Run.objects.get(pk=run_id).state == run.state:
            break
    try:
        scenario = get_scenario(run.scenario_id)
    except FdegymError:
        scenario = None
    return Evidence(run, events, submission, grades, scenario)
