"""The operators' pages: how it goes now, runs, queues, hosts, and what operators did."""

from __future__ import annotations

import uuid

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_http_methods, require_safe

from fdegym.accounts.access import signed_in
from fdegym.catalog.scenarios import scenarios
from fdegym.lib.errors import FdegymError
from fdegym.operations import listing, readiness
from fdegym.operations.access import operators_only
from fdegym.operations.acts import ACTS, perform
from fdegym.operations.models import OperatorAct
from fdegym.operations.stuck import stuck_things
from fdegym.runs.models import Run, RunState
from grading.models import Grade, Submission


@operators_only
@require_safe
def overview(request: HttpRequest) -> HttpResponse:
    """What needs somebody: dependencies that are not as they should be, and what is stuck, each with what helps."""
    checks = readiness.look()
    database_answers = all(check.ok for check in checks if check.name in ("database", "migrations"))
    stuck = stuck_things() if database_answers else []
    context = {"checks": checks, "stuck": stuck, "acts": ACTS, "unknown": not database_answers}
    return render(request, "operations/overview.html", context)


@operators_only
@require_safe
def runs(request: HttpRequest) -> HttpResponse:
    wanted = listing.RunFilter.of(request.GET)
    context = {
        "wanted": wanted,
        "page": listing.page_of_runs(wanted, request.GET.get("page", "1")),
        "states": RunState.choices,
        "cards": scenarios(),
        "ages": [(name, words) for name, (words, _, _) in listing.AGES.items()],
        "marks": listing.MARKS,
        "now": timezone.now(),
    }
    return render(request, "operations/runs.html", context)


@operators_only
@require_safe
def run(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    found = Run.objects.select_related("user").filter(pk=run_id).first()
    if found is None:
        raise Http404
    context = {
        "run": found,
        "mark": listing.MARKS[found.state],
        "submission": Submission.objects.filter(run=found).first(),
        "grades": Grade.objects.filter(submission__run=found).only("number", "score", "differs", "created_at"),
        "events": listing.events_of(found),
        "events_shown": listing.EVENTS_SHOWN,
        "own_acts": OperatorAct.objects.filter(run_id=found.pk).select_related("operator"),
        "stuck": [thing for thing in stuck_things() if thing.run is not None and thing.run.pk == found.pk],
        "acts": ACTS,
    }
    return render(request, "operations/run.html", context)


@operators_only
@require_safe
def queues(request: HttpRequest) -> HttpResponse:
    return render(request, "operations/queues.html", {"queues": listing.queues(), "acts": ACTS, "now": timezone.now()})


@operators_only
@require_safe
def hosts(request: HttpRequest) -> HttpResponse:
    context = {"keeper": listing.keeper(), "processes": listing.processes(), "now": timezone.now()}
    return render(request, "operations/hosts.html", context)


@operators_only
@require_safe
def operator_log(request: HttpRequest) -> HttpResponse:
    rows = OperatorAct.objects.select_related("operator")
    page = Paginator(rows, listing.ON_A_PAGE).get_page(request.GET.get("page", "1"))
    return render(request, "operations/log.html", {"page": page, "acts": ACTS})


@operators_only
@require_http_methods(["GET", "HEAD", "POST"])
def act(request: HttpRequest, name: str, subject: str) -> HttpResponse:
    """Asked first what it costs somebody, then done. What it came to is said on the page that it was asked from."""
    if name not in ACTS:
        raise Http404
    back = _back(request)
    if request.method != "POST":
        context = {"name": name, "act": ACTS[name], "subject": subject, "back": back}
        return render(request, "operations/act.html", context)
    try:
        messages.success(request, perform(signed_in(request), name, subject).words)
    except FdegymError as problem:
        messages.error(request, str(problem))
    return redirect(back)


def _back(request: HttpRequest) -> str:
    """Where the act was asked from."""
    wanted = request.POST.get("back") or request.GET.get("back") or ""
    if wanted and url_has_allowed_host_and_scheme(wanted, allowed_hosts={request.get_host()}):
        return wanted
    return reverse("operations")
