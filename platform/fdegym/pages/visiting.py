"""Pages that anybody may read: home, the catalogue, a scenario, method, help; and beginning a run."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.contrib.staticfiles import finders
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from fdegym.accounts.access import signed_in
from fdegym.accounts.models import User
from fdegym.catalog.scenarios import ScenarioCard, card, get_scenario, is_offered, scenarios
from fdegym.delivery.begin import begin_run
from fdegym.delivery.errors import WorkspacesTooMany
from fdegym.delivery.retention import keeping
from fdegym.leaderboard.evidence import evidence_by_scenario, evidence_of
from fdegym.lib.errors import FdegymError
from fdegym.pages.customer import LEVEL_WORDS, directory, sign_off, sources, sponsors_request
from fdegym.pages.news import latest_news
from fdegym.pages.rows import progress_of, rows_of
from fdegym.runs.access import live_run_of, runs_of
from fdegym.runs.models import BEGUN, Run, RunState
from grading.anchoring import admitted_evidence
from grading.score import RESOLVED_AT, adjusted, score_run
from scenarios.kit.errors import ScenarioUnknown
from scenarios.kit.load import ORIGINAL, Scenario
from workspaces.runtime.base import SandboxState
from workspaces.services import workspace_state


def _runs(request: HttpRequest) -> list[Run]:
    return runs_of(request.user) if isinstance(request.user, User) else []


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    cards = scenarios()
    runs = _runs(request)
    customers = {one.id: one.customer for one in cards}
    begun = {run.scenario_id for run in runs}
    first = next((one for one in cards if one.id not in begun), cards[0] if cards else None)
    context = {
        "live": rows_of([run for run in runs if run.is_live], customers),
        "first": first,
        "guided": first is not None and first.training and first.id not in begun,
        "news": latest_news(),
        "has_picture": finders.find("img/workbench.png") is not None,
    }
    return render(request, "pages/home.html", context)


def _words_of(one: ScenarioCard) -> str:
    return " ".join((one.customer, one.title, one.sector, one.stakes, one.engineering, one.kpi_name)).casefold()


@require_safe
def catalogue(request: HttpRequest) -> HttpResponse:
    """The table filters as one types in the browser; without JavaScript the form asks the server for the same."""
    cards = scenarios()
    evidence = evidence_by_scenario(one.id for one in cards)
    mine = {one.scenario_id: one for one in progress_of(rows_of(_runs(request), {}))}
    find = request.GET.get("find", "")[:200]
    wanted = find.casefold().split()
    rows = [
        {
            "card": one,
            "evidence": evidence[one.id],
            "mine": mine.get(one.id),
            # there all the same: the page shows it again when other words are typed
            "hidden": not all(word in _words_of(one) for word in wanted),
        }
        for one in cards
    ]
    several_tasks = any(one.tasks > 1 for one in cards)
    found = any(not row["hidden"] for row in rows)
    context = {"rows": rows, "found": found, "find": find, "several_tasks": several_tasks}
    return render(request, "pages/scenarios.html", context)


def _ready(scenario_id: str) -> Scenario:
    """The scenario if it is on offer; a draft is known to its authors alone, and so is one that cannot be loaded."""
    scenario = get_scenario(scenario_id)
    if not is_offered(scenario):
        raise ScenarioUnknown("It is a draft.")
    return scenario


def _levels(one: ScenarioCard) -> list[dict[str, str]]:
    return [
        {"id": level, "name": name, "hint": hint} for level, (name, hint) in LEVEL_WORDS.items() if level in one.levels
    ]


@require_safe
def scenario(request: HttpRequest, scenario_id: str) -> HttpResponse:
    found = _ready(scenario_id)
    one = card(found)
    own = [run for run in _runs(request) if run.scenario_id == one.id]
    context = {
        "card": one,
        "kpi": found.config.kpi,
        "levels": _levels(one),
        "request_text": sponsors_request(found),
        "people": directory(found),
        "first_runs": evidence_of(one.id),
        "admitted": admitted_evidence(found),
        "release": found.release[:12],
        "salted": bool(settings.WORLD_SALT),
        "keeping": keeping().sentence,
        "sign_off": sign_off(found),
        "sources": sources(found),
        "my_runs": rows_of(own, {one.id: one.customer}),
        "has_begun": any(run.state in BEGUN for run in own),
        "live_run": next((run for run in own if run.is_live), None),
    }
    return render(request, "pages/scenario.html", context)


@login_required
@require_POST
def begin(request: HttpRequest, scenario_id: str) -> HttpResponse:
    """Begin, or go on with the run that is open here: pressing twice begins once."""
    found = _ready(scenario_id)
    user = signed_in(request)
    live = live_run_of(user, found.id)
    try:
        run = live or begin_run(user, found.id, request.POST.get("level", ""))
    except WorkspacesTooMany as problem:
        return _show_workspaces(request, user, problem)
    return redirect("run", run_id=run.id)


@login_required
@require_safe
def workspaces(request: HttpRequest) -> HttpResponse:
    return _show_workspaces(request, signed_in(request))


def _workspaces_now(run_ids: Iterable[uuid.UUID]) -> dict[uuid.UUID, str]:
    """Each ``open``, ``stopped``, or ``unknown`` where the keeper does not say: it is waited for once, not for each."""
    now, away = {}, False
    for run_id in run_ids:
        if not away:
            try:
                state = workspace_state(str(run_id))
            except FdegymError:
                away = True
        now[run_id] = "unknown" if away else "open" if state == SandboxState.RUNNING else "stopped"
    return now


def _show_workspaces(request: HttpRequest, user: User, problem: WorkspacesTooMany | None = None) -> HttpResponse:
    """The person's workspaces, open or stopped, and the button that stops one; ``problem``: why no other can be begun."""
    runs = [run for run in runs_of(user) if run.is_live]
    rows = rows_of(runs, {one.id: one.customer for one in scenarios()})
    now = _workspaces_now(row.id for row in rows if row.state != RunState.PREPARING)
    context = {
        "rows": [(row, now.get(row.id, "waits")) for row in rows],
        "most": settings.WORKSPACES_PER_USER,
        "problem": problem,
    }
    return render(request, "pages/workspaces.html", context, status=problem.http_status if problem else 200)


EXAMPLE = "first_delivery"  #: the scenario to train on: its figures give nothing of a ranked one away
EXAMPLES_SHORTCUT = "kiosks_only"


def _example() -> dict[str, Any] | None:
    """What deliveries of the training scenario came to at admission, by the code that scores runs; None: not admitted.

    What they did is not said: whoever reads this may still want to train there.
    """
    try:
        found = get_scenario(EXAMPLE)
    except FdegymError:
        return None
    admitted = admitted_evidence(found)
    anchors = admitted.tasks.get(ORIGINAL) if admitted else None
    named = {"do_nothing": "Nothing is changed", "literal": "What the sponsor asked for, to the letter"}
    named |= {EXAMPLES_SHORTCUT: "A shortcut that finds half of what is wrong", "reference": "The reference"}
    if anchors is None or not named.keys() <= anchors.solutions.keys():
        return None
    rows = []
    for name, title in named.items():
        figures = anchors.solutions[name]
        happened = bool(figures.incidents)
        earned = adjusted(figures.uplift, incident=happened)
        cost = Decimal(0) if figures.score is None else earned - figures.score
        rows.append(
            {
                "title": title,
                "kpi": figures.kpi,
                "scored": score_run(figures.uplift, contact_cost=cost, incident=happened),
            }
        )
    unasked = score_run(anchors.solutions["reference"].uplift, contact_cost=Decimal(0), incident=True)
    return {"scenario": found, "kpi": found.config.kpi, "ends": anchors, "rows": rows, "unasked": unasked}


@require_safe
def method(request: HttpRequest) -> HttpResponse:
    context: dict[str, Any] = {"example": _example(), "resolved_at": RESOLVED_AT}
    return render(request, "pages/method.html", context)


@require_safe
def help_page(request: HttpRequest) -> HttpResponse:
    return render(request, "pages/help.html")
