"""What open sockets ask every few seconds is asked for all of them at once, and says of each what is true of it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from fdegym.accounts import sockets
from fdegym.accounts.models import User
from fdegym.accounts.sessions import standings_of
from fdegym.lib.together import Together
from fdegym.runs.access import live_among


class Oracle:
    """Answers with the number of its question, and notes what it was asked."""

    def __init__(self) -> None:
        self.questions: list[set[str]] = []

    def __call__(self, keys: Collection[str]) -> dict[str, int]:
        self.questions.append(set(keys))
        if "what nobody knows" in keys:
            raise LookupError("nobody knows")
        return dict.fromkeys(keys, len(self.questions))


def test_a_fresh_answer_is_not_asked_for_again() -> None:
    oracle = Oracle()
    asked = Together(oracle, fresh_s=3600)
    assert [asked("alice"), asked("alice"), asked("bob"), asked("alice"), asked("bob")] == [1, 1, 2, 1, 2]
    assert oracle.questions == [{"alice"}, {"bob"}], "who comes new is asked for alone"


def test_an_old_answer_is_renewed_for_all_who_asked_lately() -> None:
    oracle = Oracle()
    asked = Together(oracle, fresh_s=0)
    assert [asked("alice"), asked("bob"), asked("alice")] == [1, 2, 3]
    assert oracle.questions == [{"alice"}, {"alice", "bob"}, {"alice", "bob"}]


def test_who_does_not_ask_any_more_is_not_asked_for_any_more() -> None:
    oracle = Oracle()
    asked = Together(oracle, fresh_s=0, kept_s=0)
    asked("alice")
    asked("bob")
    assert oracle.questions == [{"alice"}, {"bob"}]


def test_a_question_that_failed_is_put_again() -> None:
    oracle = Oracle()
    asked = Together(oracle, fresh_s=3600, kept_s=0)
    with pytest.raises(LookupError):
        asked("what nobody knows")
    assert asked("alice") == 2


def signed_in(user: User) -> str:
    browser = Client()
    browser.force_login(user)
    return browser.cookies["sessionid"].value


def test_of_any_number_of_sockets_sessions_and_people_are_asked_for_in_two_queries(
    alice: User, bob: User, charlie: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    pairs = [(signed_in(user), str(user.pk)) for user in (alice, alice, bob, charlie)]
    User.objects.filter(pk=charlie.pk).update(is_active=False)
    strange = [(pairs[2][0], str(alice.pk)), ("no such session", str(alice.pk)), (pairs[0][0], "987654321")]
    with django_assert_num_queries(2):
        found = standings_of([*pairs, *strange])
    said = [(standing.problem, standing.rights) for standing in found.values()]
    assert said[:3] == [("", alice.rights), ("", alice.rights), ("", bob.rights)]
    assert said[3:] == [("this account is switched off", ""), *[("signed out", "")] * 3]


def test_of_any_number_of_terminals_runs_are_asked_for_in_one_query(
    alice: User, bob: User, make_run: Callable[..., Any], django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    open_run, over = str(make_run(alice).pk), str(make_run(alice, state="graded").pk)
    none = "00000000-0000-4000-8000-000000000000"
    pairs = [(str(user.pk), run_id) for user in (alice, bob) for run_id in (open_run, over, none)]
    with django_assert_num_queries(1):
        assert list(live_among(pairs).values()) == [True, False, None, None, None, None]


def test_open_sockets_ask_together(
    alice: User, bob: User, django_assert_num_queries: DjangoAssertNumQueries, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sockets, "_standing_of_open", Together(standings_of, fresh_s=3600))
    visitors = [
        sockets.Visitor(str(user.pk), key, user.rights, "owner")
        for user, key in ((alice, signed_in(alice)), (bob, signed_in(bob)))
    ]
    for visitor in visitors:
        visitor.check()
    with django_assert_num_queries(0):
        for visitor in visitors * 20:
            visitor.check()
    User.objects.filter(pk=alice.pk).update(is_active=False)
    with django_assert_num_queries(2), pytest.raises(sockets.SocketRefused, match="switched off"):
        visitors[0].check_now()
