"""A person's own runs after they were handed in: the list, grading as it happens, the debrief, giving up, the export."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe
from django_htmx.http import HttpResponseClientRedirect

from fdegym.accounts.access import login_required_for_parts, signed_in
from fdegym.accounts.buckets import EXPORTS
from fdegym.catalog.scenarios import get_scenario, scenarios
from fdegym.delivery.retention import kept_in_words
from fdegym.delivery.submit import abandon_run
from fdegym.lib.errors import RunStateConflict
from fdegym.pages.customer import directory
from fdegym.pages.debrief import debrief_context
from fdegym.pages.exports import run_export
from fdegym.pages.rows import progress_of, rows_of
from fdegym.runs.access import get_run_for_user, runs_of
from fdegym.runs.models import Run, RunState
from grading.models import Submission
from grading.services import current_grade, queue_position
from scenarios.kit.errors import ScenarioInvalid, ScenarioUnknown
from scenarios.kit.load import Scenario

#: After this long in the queue or in one step, the page says that something is slow.
SLOW_AFTER_S = 600


def customers() -> dict[str, str]:
    return {card.id: card.customer for card in scenarios()}


@login_required
@require_safe
def runs(request: HttpRequest) -> HttpResponse:
    rows = rows_of(runs_of(signed_in(request)), customers())
    return render(request, "pages/runs.html", {"runs": rows, "progress": progress_of(rows)})


# ---- grading ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Step:
    name: str
    state: str  #: done, now, ahead
    detail: str = ""
    figure: str = ""


#: Steps of ``Submission.progress`` in order, with their words.
STEPS = {
    "queued": "In the queue",
    "anchors": "First the system as found, then the reference, each counted from the start; once per task and release",
    "copy": "Copy of the frozen system",
    "start": "Start in a fresh sandbox",
    "replay": "Production, on data nobody has seen",
    "score": "The customer’s number",
}
#: What only some gradings go through: shown while it happens.
SOMETIMES = {"anchors"}


def steps_of(submission: Submission) -> tuple[list[Step], int]:
    """The steps with the one at work, and how far it is in percent (0: unknown)."""
    progress: Mapping[str, Any] = submission.progress or {}
    at = {"taken": "copy", "graded": "score"}.get(str(progress.get("step")), str(progress.get("step")))
    at = at if at in STEPS else "queued"
    done, total = int(progress.get("done") or 0), int(progress.get("total") or 0)
    steps, state = [], "done"
    for key, name in STEPS.items():
        if key == at:
            figure = f"{done} of {total}" if total else ""
            if key == "queued" and (place := queue_position(submission)):
                figure = f"place {place}"
            steps.append(Step(name, "now", str(progress.get("what") or ""), figure))
            state = "ahead"
        elif key not in SOMETIMES:
            steps.append(Step(name, state))
    return steps, round(100 * done / total) if total else 0


def _why_slow(submission: Submission) -> str:
    if submission.is_over or (timezone.now() - submission.created_at).total_seconds() < SLOW_AFTER_S:
        return ""
    if submission.attempts > 1:
        return f"the grader was interrupted and is at try {submission.attempts} of 3. The operator sees this."
    if submission.attempts == 0:
        return "no grader has taken it yet. The operator sees this; it is graded as soon as one runs."
    return "the replay itself is long."


@login_required_for_parts
@never_cache
@require_safe
def grading(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    """Where a handed-in run stands. The same address gives the page, and to htmx the part that moves."""
    run = get_run_for_user(request.user, run_id)
    if run.state == RunState.GRADED:
        target = reverse("debrief", args=[run.id])
        return HttpResponseClientRedirect(target) if request.htmx else redirect(target)  # type: ignore[attr-defined]
    if run.state not in (RunState.SUBMITTED, RunState.VOID):
        return redirect("run", run_id=run.id)
    submission = Submission.objects.filter(run=run).first()
    waiting = run.state == RunState.SUBMITTED
    steps, share = steps_of(submission) if submission else ([], 0)
    context = {
        "run": run,
        "card": _customer_of(run),
        "submission": submission,
        "waiting": waiting,
        "heading": "Being graded" if waiting else "Void: our fault",
        "steps": steps,
        "share": share,
        "slow": _why_slow(submission) if submission else "",
        "void_reason": "" if waiting else (submission.void_reason if submission else "") or run.state_reason,
        "kept": kept_in_words(run),
    }
    part = request.htmx  # type: ignore[attr-defined]
    return render(request, "pages/grading_progress.html" if part else "pages/grading.html", context)


# ---- debrief ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Withdrawn:
    """What stands for a scenario that is no longer installed: its runs keep their pages."""

    id: str
    customer: str


def _scenario_of(run: Run) -> Scenario | None:
    try:
        return get_scenario(run.scenario_id)
    except (ScenarioUnknown, ScenarioInvalid):
        return None


def _customer_of(run: Run) -> _Withdrawn:
    scenario = _scenario_of(run)
    return _Withdrawn(run.scenario_id, scenario.config.customer if scenario else run.scenario_id)


@login_required
@require_safe
def debrief(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    run = get_run_for_user(request.user, run_id)
    grade = current_grade(run)
    if grade is None:
        return redirect("run", run_id=run.id)
    scenario = get_scenario(run.scenario_id)
    people = {person.id: (person.name, person.role) for person in directory(scenario)}
    context = debrief_context(run, grade, scenario, people)
    context |= {"run": run, "card": _customer_of(run), "other_customers": len(scenarios()) > 1}
    context["kept"] = kept_in_words(run)
    return render(request, "pages/debrief.html", context)


@login_required
@require_safe
def export(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    """The run as JSON, once it is graded: before, it would tell the task."""
    run = get_run_for_user(request.user, run_id)
    grade = current_grade(run)
    if grade is None:
        raise RunStateConflict("A run can be exported once it is graded. Your runs’ list can be exported at any time.")
    EXPORTS.take(signed_in(request).pk)
    answer = JsonResponse(run_export(run, grade), json_dumps_params={"ensure_ascii": False, "indent": 1})
    answer["Content-Disposition"] = f'attachment; filename="run-{run.id}.json"'
    return answer


# ---- giving up -------------------------------------------------------------------------------------------------------


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def give_up(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    """End an open run as it stands. Asked for once more first: there is no way back."""
    run = get_run_for_user(request.user, run_id)
    if run.state != RunState.OPEN:
        return redirect("run", run_id=run.id)
    if request.method == "POST":
        abandon_run(run.id)
        return redirect("grading", run_id=run.id)
    return render(request, "pages/give_up.html", {"run": run, "card": _customer_of(run)})
