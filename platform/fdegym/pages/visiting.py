"""Pages that anybody may read: home, the catalogue, a scenario, method, help; and beginning a run."""

from __future__ import annotations

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
from fdegym.leaderboard.evidence import evidence_by_scenario, evidence_of
from fdegym.pages.customer import LEVEL_WORDS, directory, sign_off, sources, sponsors_request
from fdegym.pages.news import latest_news
from fdegym.pages.rows import progress_of, rows_of
from fdegym.pages.templatetags import figures
from fdegym.runs.access import live_run_of, runs_of
from fdegym.runs.models import BEGUN, Run
from grading.anchoring import admitted_evidence
from grading.score import RESOLVED_AT, score_run, uplift
from scenarios.kit.errors import ScenarioUnknown
from scenarios.kit.load import Scenario


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
        {"card": one, "evidence": evidence[one.id], "mine": mine.get(one.id)}
        for one in cards
        if all(word in _words_of(one) for word in wanted)
    ]
    several_tasks = any(one.tasks > 1 for one in cards)
    context = {"rows": rows, "all_rows": cards, "find": find, "several_tasks": several_tasks}
    return render(request, "pages/scenarios.html", context)


def _ready(scenario_id: str) -> Scenario:
    """The scenario if it is on offer; a draft is known to its authors alone."""
    scenario = get_scenario(scenario_id)
    if not is_offered(scenario):
        raise ScenarioUnknown("There is no such scenario on this site.")
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
    run = live or begin_run(user, found.id, request.POST.get("level", ""))
    return redirect("run", run_id=run.id)


def _example() -> list[dict[str, str]]:
    """The method's invented case, computed by the code that computes real ones."""
    found, delivered, reference = 4_800.0, 1_580.0, 1_300.0
    cost = Decimal("0.045")
    gained = uplift(delivered, found, reference)
    clean = score_run(gained, contact_cost=cost, incident=False)
    spoiled = score_run(gained, contact_cost=cost, incident=True)
    minus = figures.MINUS

    def row(name: str, arithmetic: str, result: str) -> dict[str, str]:
        return {"name": name, "arithmetic": arithmetic.replace("-", minus), "result": result}

    return [
        row("KPI as found, delivered, reference", "4,800 → 1,580; reference 1,300", ""),
        row("U", "(1,580 - 4,800) / (1,300 - 4,800)", figures.signed(gained)),
        row("C", "five messages at 0.008, one at 0.005", figures.charge(cost)),
        row("S without an incident", f"{gained:.3f} - {cost}", figures.signed(clean.score)),
        row("Resolved", f"{clean.score:.3f} ≥ {RESOLVED_AT}", "yes" if clean.resolved else "no"),
        row("S with an incident", f"min({gained:.3f}, 0) - {cost}", figures.signed(spoiled.score, 3)),
    ]


@require_safe
def method(request: HttpRequest) -> HttpResponse:
    context: dict[str, Any] = {"example": _example(), "resolved_at": RESOLVED_AT}
    return render(request, "pages/method.html", context)


@require_safe
def help_page(request: HttpRequest) -> HttpResponse:
    return render(request, "pages/help.html")
