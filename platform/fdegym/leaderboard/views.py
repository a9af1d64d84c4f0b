"""The pages of the leaderboard: all scenarios together, and each of its own."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from fdegym.accounts.models import User
from fdegym.catalog.scenarios import ScenarioCard, ranked_scenarios
from fdegym.leaderboard.boards import VIEWS, overall_board, scenario_board
from scenarios.kit.errors import ScenarioUnknown


def _view_of(request: HttpRequest) -> str:
    wanted = request.GET.get("view", "ranked")
    return wanted if wanted in VIEWS else "ranked"


def _page_of(request: HttpRequest) -> int:
    wanted = request.GET.get("page", "1")
    return int(wanted) if wanted.isascii() and wanted.isdigit() and len(wanted) < 7 else 1


@require_safe
def overall(request: HttpRequest) -> HttpResponse:
    if wanted := request.GET.get("scenario"):
        return redirect(f"{reverse('leaderboard-scenario', args=[_known(wanted).id])}?view={_view_of(request)}")
    cards = ranked_scenarios()
    return _board_page(request, cards, None)


@require_safe
def of_scenario(request: HttpRequest, scenario_id: str) -> HttpResponse:
    return _board_page(request, ranked_scenarios(), _known(scenario_id))


def _known(scenario_id: str) -> ScenarioCard:
    for card in ranked_scenarios():
        if card.id == scenario_id:
            return card
    raise ScenarioUnknown("It has no board.")


def _board_page(request: HttpRequest, cards: list[ScenarioCard], card: ScenarioCard | None) -> HttpResponse:
    view, page = _view_of(request), _page_of(request)
    viewer = request.user if isinstance(request.user, User) else None
    if card is None:
        board = overall_board([one.id for one in cards], view, page, viewer)
    else:
        board = scenario_board(card.id, view, page, viewer)
    context = {
        "card": card,
        "cards": cards,
        "offered": len(cards),
        "view": view,
        "view_words": VIEWS[view][1],
        "tabs": [{"id": key, "name": name} for key, (name, _) in VIEWS.items()],
        "rows": board.rows,
        "page": board.page,
        "pages": board.pages,
        "summary": board.summary,
        "hidden": viewer is not None and not viewer.on_leaderboard,
        "unsalted": not settings.WORLD_SALT,
        "empty_words": "The first graded run opens this board.",
    }
    return render(request, "leaderboard/board.html", context)
