"""The leaderboard's pages."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.urls import reverse

from fdegym.accounts.models import User
from fdegym.leaderboard import boards
from fdegym.leaderboard.evidence import SHOWN_FROM
from tests.site.conftest import BAKERY, NOON

BOARD = ("leaderboard-scenario", [BAKERY])


def page(browser, name="leaderboard", args=(), **query):
    answer = browser.get(reverse(name, args=args), query)
    assert answer.status_code == 200
    return answer.content.decode()


def names_in_order(html):
    cells = re.findall(r'<th scope="row">(.*?)</th>', html)
    return [re.sub(r"<[^>]*>.*", "", cell).strip() for cell in cells]


def people(number):
    return [User.objects.create(username=f"person-{index:04d}") for index in range(number)]


def test_only_the_first_begun_run_ranks(alice, bob, visit, graded):
    graded(alice, kpi=700.0)
    graded(alice, kpi=240.0)
    graded(bob, kpi=500.0)
    assert names_in_order(page(visit(None), *BOARD)) == ["bob", "alice"]
    assert names_in_order(page(visit(None), *BOARD, view="best")) == ["alice", "bob"]


def test_of_equal_scores_the_one_handed_in_earlier_stands_first(alice, bob, charlie, visit, graded):
    """FC-103."""
    graded(alice, begun_at=NOON + timedelta(hours=2))
    graded(bob, begun_at=NOON)
    graded(charlie, begun_at=NOON + timedelta(hours=1))
    html = page(visit(None), *BOARD)
    assert names_in_order(html) == ["bob", "charlie", "alice"]
    assert html.count("the earlier one stands first") == 3


def test_a_run_that_is_graded_later_does_not_overtake_an_earlier_one_of_equal_score(alice, bob, visit, graded):
    """FC-103, FC-113: the time of handing in decides, not the grader's."""
    graded(bob, begun_at=NOON + timedelta(minutes=5))
    graded(alice, begun_at=NOON)
    assert names_in_order(page(visit(None), *BOARD)) == ["alice", "bob"]


def test_a_regrade_moves_nobody(alice, bob, visit, graded):
    """FC-99, FC-108: later grades of a submission are for audit and replace nothing."""
    from grading.models import Grade

    graded(alice, kpi=300.0)
    run = graded(bob, kpi=600.0)
    first = Grade.objects.get(submission__run=run)
    first.pk, first.number, first.score, first.uplift_adjusted = None, 2, 9, 9
    first._state.adding = True
    first.save()
    html = page(visit(None), *BOARD)
    assert names_in_order(html) == ["alice", "bob"]
    assert "+9.00" not in html


def test_the_view_of_the_agents_limit_leaves_longer_runs_out(alice, bob, visit, graded):
    graded(alice, minutes=151)
    graded(bob, minutes=150, kpi=800.0)
    assert names_in_order(page(visit(None), *BOARD, view="150")) == ["bob"]


def test_runs_that_are_open_void_or_of_a_command_stand_nowhere(
    alice, bob, charlie, visit, graded, submitted, runs_at_bakery
):
    runs_at_bakery(alice)
    submitted(bob, state="void", submission_state="void")
    graded(charlie, origin="command")
    html = page(visit(None), *BOARD, view="best")
    assert "Nobody stands here yet" in html


@pytest.mark.parametrize("view", ["ranked", "150", "best"])
@pytest.mark.parametrize("address", [("leaderboard", ()), BOARD])
def test_hidden_means_hidden_on_every_board(address, view, alice, bob, visit, graded):
    """FC-107."""
    alice.display_name, alice.on_leaderboard = "Alice Nakamura", False
    alice.save()
    graded(alice)
    graded(bob)
    for visitor in (None, bob):
        assert "Alice" not in page(visit(visitor), *address, view=view)
    assert "You are on no board" in page(visit(alice), *address, view=view)


@pytest.mark.backend
def test_a_board_follows_at_once_who_hides_who_is_back_and_who_is_graded(alice, bob, charlie, visit, graded):
    """FC-107: nothing that was drawn before lingers."""
    graded(alice, kpi=300.0)
    graded(bob, kpi=400.0)
    for address in (BOARD, ("leaderboard", ())):
        assert names_in_order(page(visit(None), *address)) == ["alice", "bob"]
        User.objects.filter(pk=alice.pk).update(on_leaderboard=False)
        assert names_in_order(page(visit(None), *address)) == ["bob"]
        User.objects.filter(pk=alice.pk).update(on_leaderboard=True)
        assert names_in_order(page(visit(None), *address)) == ["alice", "bob"]
    graded(charlie, kpi=250.0)
    assert names_in_order(page(visit(None), *BOARD)) == ["charlie", "alice", "bob"]


def test_a_name_that_is_markup_is_shown_as_text(alice, visit, graded):
    """FC-47."""
    alice.display_name = '<img src=x onerror="alert(1)">'
    alice.save()
    graded(alice)
    for name, args in (("leaderboard", ()), BOARD, ("profile", ()), ("home", ())):
        html = page(visit(alice), name, args)
        assert "<img src=x" not in html
        assert "&lt;img src=x" in html


def test_my_row_is_in_sight_on_every_page(visit, graded, alice):
    for index, person in enumerate(people(boards.ROWS_PER_PAGE * 2)):
        graded(person, kpi=300.0 + index)
    graded(alice, kpi=899.0)
    first, last = page(visit(alice), *BOARD), page(visit(alice), *BOARD, page=3)
    assert names_in_order(first)[-1] == "alice"
    assert 'class="mine"' in first
    assert len(names_in_order(first)) == boards.ROWS_PER_PAGE + 1
    assert names_in_order(last) == ["alice"]
    assert "alice" not in names_in_order(page(visit(None), *BOARD))


@pytest.mark.parametrize("wanted", ["0", "-1", "99", "x", "", "9" * 40, "١"])
def test_a_page_that_does_not_exist_is_the_nearest_that_does(wanted, alice, visit, graded):
    graded(alice)
    assert names_in_order(page(visit(None), *BOARD, page=wanted)) == ["alice"]


@pytest.mark.backend
def test_the_number_of_queries_does_not_grow_with_people_and_runs(visit, graded, alice, django_assert_max_num_queries):
    """FC-107."""
    for person in people(3):
        graded(person)
    with django_assert_max_num_queries(7):
        page(visit(None), *BOARD, view="best")
    for person in people_more(30):
        graded(person)
        graded(person)
    for name, args in (("leaderboard", ()), BOARD):
        with django_assert_max_num_queries(7):
            page(visit(None), name, args, view="best")


def people_more(number):
    return [User.objects.create(username=f"later-{index:04d}") for index in range(number)]


def test_the_overall_board_draws_an_interval_from_two_scenarios_on(alice, visit, graded, settings, tmp_path):
    graded(alice)
    html = page(visit(None))
    assert names_in_order(html) == ["alice"]
    assert "1 of 1" in html
    assert 'class="interval"' not in html


def test_a_scenario_that_is_not_on_offer_has_no_board(visit, db):
    for name in ("nowhere", "..", "bakery"):
        assert visit(None).get(f"/leaderboard/{name}/").status_code == 404
    assert visit(None).get(reverse("leaderboard"), {"scenario": "nowhere"}).status_code == 404


def test_the_chooser_leads_to_the_board_and_keeps_the_view(visit, db):
    answer = visit(None).get(reverse("leaderboard"), {"scenario": BAKERY, "view": "best"})
    assert answer.headers["Location"] == reverse("leaderboard-scenario", args=[BAKERY]) + "?view=best"


def test_averages_are_shown_only_when_no_single_run_can_be_read_from_them(visit, graded, db):
    first, *others = people(SHOWN_FROM)
    for person in others:
        graded(person)
    scenario = ("scenario", [BAKERY])
    assert "too few" in page(visit(None), "scenarios")
    assert "Mean S" not in page(visit(None), *scenario)
    first.on_leaderboard = False
    first.save()
    graded(first, kpi=900.0)
    assert "Mean S" in page(visit(None), *scenario)  # somebody hidden counts, without a name
    assert "4 of 5" in page(visit(None), "scenarios")


def test_boards_of_unsalted_sites_say_so(visit, db, settings):
    settings.WORLD_SALT = ""
    assert "published worlds" in page(visit(None))
    settings.WORLD_SALT = "sea"
    assert "published worlds" not in page(visit(None))
