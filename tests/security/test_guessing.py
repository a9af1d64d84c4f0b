"""Signing in, signing up and everything else that can be done too often: where it ends, for whom, and in which words."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from axes.models import AccessAttempt
from django.core.cache import cache
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from fdegym.accounts import buckets
from fdegym.accounts.buckets import Bucket, TooOften
from fdegym.accounts.guessing import address_of
from fdegym.accounts.models import User
from fdegym.accounts.services import erase_account
from fdegym.lib.errors import FdegymError
from fdegym.runs.models import Run

RIGHT = "alice-has-a-long-password"


@pytest.fixture(autouse=True)
def _fresh_buckets(db: None) -> None:
    cache.clear()


def sign_in(name: str, password: str, address: str = "192.0.2.1") -> Any:
    browser = Client(REMOTE_ADDR=address, raise_request_exception=False)
    answer = browser.post(reverse("account_login"), {"login": name, "password": password})
    answer.signed_in = "_auth_user_id" in browser.session
    return answer


def main_text(answer: Any) -> str:
    return str(answer.content.decode().partition("<main")[2].partition("</main>")[0])


# ---- one account -----------------------------------------------------------------------------------------------------


def test_after_five_wrong_passwords_not_even_the_right_one_is_tried_from_there(alice: User) -> None:
    for _ in range(4):
        assert sign_in("alice", "wrong").status_code == 200
    shut = sign_in("alice", "wrong")
    assert shut.status_code == 429
    assert shut.headers["Retry-After"] == "900"
    assert "failed 5 times from here. It is not tried again for 15 minutes" in main_text(shut)
    right = sign_in("alice", RIGHT)
    assert (right.status_code, right.signed_in) == (429, False)


def test_every_spelling_of_a_name_is_the_same_name(alice: User) -> None:
    for name in ("alice", "Alice", "ALICE", " alice ", "\uff41lice"):
        sign_in(name, "wrong")
    assert sign_in("alice", RIGHT).status_code == 429


def test_who_guesses_keeps_nobody_else_from_signing_in(alice: User, bob: User) -> None:
    """From another address alice comes in; from the same address bob does."""
    for _ in range(6):
        sign_in("alice", "wrong")
    assert sign_in("alice", RIGHT, address="192.0.2.2").signed_in
    assert sign_in("bob", "bob-has-a-long-password").signed_in


def test_a_success_forgets_the_failures_before_it(alice: User) -> None:
    for _ in range(3):
        for _ in range(4):
            sign_in("alice", "wrong")
        assert sign_in("alice", RIGHT).signed_in


def test_after_the_pause_it_is_tried_again_and_trying_meanwhile_does_not_prolong_it(alice: User) -> None:
    for _ in range(5):
        sign_in("alice", "wrong")
    AccessAttempt.objects.update(attempt_time=timezone.now() - timedelta(minutes=14))
    assert sign_in("alice", RIGHT).status_code == 429
    AccessAttempt.objects.update(attempt_time=timezone.now() - timedelta(minutes=16))
    assert sign_in("alice", RIGHT).signed_in


def test_a_name_that_no_account_has_is_answered_in_the_same_way(alice: User) -> None:
    def story(name: str) -> list[tuple[int, str]]:
        answers = [sign_in(name, "wrong") for _ in range(7)]
        return [(answer.status_code, " ".join(main_text(answer).replace(name, "NAME").split())) for answer in answers]

    def without_tokens(told: list[tuple[int, str]]) -> list[tuple[int, str]]:
        return [
            (status, text.partition("csrfmiddlewaretoken")[0] + text.partition("</form>")[2]) for status, text in told
        ]

    assert without_tokens(story("alice")) == without_tokens(story("nobody"))


def test_what_is_kept_of_an_attempt_holds_no_password_and_goes_with_the_account(alice: User) -> None:
    sign_in("alice", "my-other-password")
    (attempt,) = AccessAttempt.objects.values()
    assert "my-other-password" not in str(attempt)
    assert "csrfmiddlewaretoken" not in attempt["post_data"] or "****" in attempt["post_data"]
    erase_account(alice)
    assert not AccessAttempt.objects.exists()


# ---- many accounts ---------------------------------------------------------------------------------------------------


def test_who_tries_one_account_after_the_other_is_stopped_and_a_class_behind_one_address_is_not(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = Bucket("failed sign-in", 5, 600, buckets.FAILED_SIGN_INS.words)
    monkeypatch.setattr("fdegym.accounts.views.FAILED_SIGN_INS", small)
    for _ in range(20):  # signing in rightly costs nothing
        assert sign_in("alice", RIGHT).signed_in
    for number in range(5):
        assert sign_in(f"name{number}", "wrong").status_code == 200
    stopped = sign_in("name6", "wrong")
    assert stopped.status_code == 429
    assert "failed too often from this address" in main_text(stopped)
    assert sign_in("alice", RIGHT, address="192.0.2.9").signed_in


def test_accounts_are_made_so_often_from_an_address_and_what_was_refused_does_not_count(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.SIGNUP = "open"
    monkeypatch.setattr("fdegym.accounts.views.SIGN_UPS", Bucket("sign-up", 2, 3600, buckets.SIGN_UPS.words))

    def sign_up(name: str, again: str = RIGHT) -> int:
        fields = {"username": name, "password1": RIGHT, "password2": again}
        return Client(REMOTE_ADDR="192.0.2.1").post(reverse("account_signup"), fields).status_code

    assert [sign_up("dora", again="another") for _ in range(4)] == [200] * 4
    assert [sign_up(f"dora{number}") for number in range(3)] == [302, 302, 429]
    assert User.objects.count() == 2


@pytest.mark.parametrize(
    ("given", "counted"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:aaaa::1", "2001:db8:1:2::"),
        ("2001:db8:1:2:bbbb::9", "2001:db8:1:2::"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("", "0.0.0.0"),
        ("not an address", "0.0.0.0"),
    ],
)
def test_an_address_counts_as_whoever_has_all_of_it(rf: Any, given: str, counted: str) -> None:
    request = rf.get("/")
    request.META["REMOTE_ADDR"] = given
    assert address_of(request) == counted


async def test_behind_a_proxy_it_is_the_visitors_address_and_nobody_elses_word_counts() -> None:
    """What uvicorn does with the options that ``fdegym.serve`` gives it for FDEGYM_PROXIES."""
    from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

    seen = []

    async def site(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope["client"][0])

    application = ProxyHeadersMiddleware(site, trusted_hosts="10.0.0.0/24")  # type: ignore[arg-type]
    headers = [(b"x-forwarded-for", b"203.0.113.9, 198.51.100.7")]
    for client in ("10.0.0.5", "198.51.100.1"):
        await application({"type": "http", "client": (client, 1), "headers": headers}, None, None)  # type: ignore[arg-type]
    assert seen == ["198.51.100.7", "198.51.100.1"]


# ---- buckets ---------------------------------------------------------------------------------------------------------

FEW = Bucket("thing", 3, 60, "That was often.")


def test_a_bucket_gives_so_many_tokens_to_each_and_takes_them_back() -> None:
    tokens = [FEW.take("alice") for _ in range(3)]
    with pytest.raises(TooOften, match="That was often"):
        FEW.take("alice")
    FEW.take("bob")
    tokens[1].put_back()
    FEW.take("alice")
    with pytest.raises(TooOften):
        FEW.take("alice")


def test_a_token_comes_back_by_itself() -> None:
    brief = Bucket("brief", 1, -1, "…")  # to every cache: over already
    for _ in range(3):
        brief.take("alice")


@pytest.mark.django_db(transaction=True)
def test_many_at_once_get_no_more_than_there_are() -> None:
    from concurrent.futures import ThreadPoolExecutor

    from django.db import connection

    def take(_number: int) -> bool:
        try:
            FEW.take("alice")
        except TooOften:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(6) as pool:
        assert sum(pool.map(take, range(12))) == 3


def test_while_the_cache_is_away_nothing_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from django.core.cache.backends.redis import RedisCache

    monkeypatch.setattr(buckets, "cache", RedisCache("unix:///nowhere/redis.sock", {}))
    for _ in range(5):
        FEW.take("alice").put_back()


# ---- what is limited -------------------------------------------------------------------------------------------------


def emptied(monkeypatch: pytest.MonkeyPatch, place: str) -> str:
    """Leave no token in a bucket; gives its words."""
    bucket: Bucket = getattr(buckets, place.rpartition(".")[2])
    monkeypatch.setattr(place, Bucket(bucket.name, 0, 60, bucket.words))
    return bucket.words


@pytest.mark.parametrize(
    ("bucket", "address", "body"),
    [
        ("MESSAGES", "messages/", {"person": "ada", "text": "Hello", "id": "m-1"}),
        ("TICKETS", "terminals/ticket/", {"terminal": 1}),
        ("TICKETS", "feed/ticket/", {}),
    ],
)
def test_the_workbench_says_so_in_words(
    bucket: str, address: str, body: dict[str, Any], alice: User, client: Client, runs_at_bakery: Callable[..., Run],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    words = emptied(monkeypatch, f"fdegym.pages.workbench.{bucket}")
    run = runs_at_bakery(alice)
    client.force_login(alice)
    answer = client.post(f"/runs/{run.id}/{address}", body, content_type="application/json")
    assert (answer.status_code, answer.json()["error"]) == (429, words)


@pytest.mark.parametrize("name", ["profile-export-json", "profile-export-csv"])
def test_exports_are_counted(name: str, alice: User, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    client.force_login(alice)
    assert client.get(reverse(name)).status_code == 200
    emptied(monkeypatch, "fdegym.pages.profile.EXPORTS")
    assert client.get(reverse(name)).status_code == 429


def test_a_stolen_session_does_not_find_the_password_by_trying_to_delete_the_account(
    alice: User, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fdegym.accounts.forms.PASSWORD_CHECKS", Bucket("password check", 2, 600, "Too often."))
    client.force_login(alice)
    statuses = [
        client.post(reverse("profile-erase"), {"username": "alice", "password": guess}).status_code
        for guess in ("one", "two", RIGHT)
    ]
    assert statuses == [422, 422, 429]
    assert User.objects.filter(pk=alice.pk, is_active=True).exists()


def test_what_all_people_begin_together_has_an_end_and_a_failed_start_does_not_count(
    alice: User, bob: User, charlie: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """FC-70, FC-71: also not after signing out and in; the cap of each person is ``tests/delivery/test_run_after_run``'s."""
    from fdegym.delivery import begin
    from tests.site.conftest import BAKERY

    monkeypatch.setattr(begin, "RUN_STARTS", Bucket("run start", 2, 60, buckets.RUN_STARTS.words))
    monkeypatch.setattr(begin, "_prepare_now_or_later", lambda run, scenario: run)

    def fails(*_of_what: Any) -> None:
        raise FdegymError("The log is away.")

    with monkeypatch.context() as broken:
        broken.setattr(begin, "_note_begun", fails)
        for _ in range(5):
            with pytest.raises(FdegymError, match="away"):
                begin.begin_run(alice, BAKERY, "L3")
    first = begin.begin_run(alice, BAKERY, "L3")
    assert begin.begin_run(alice, BAKERY, "L3") == first  # the same run, and no further token
    begin.begin_run(bob, BAKERY, "L3")
    with pytest.raises(TooOften, match="try again in a minute"):
        begin.begin_run(charlie, BAKERY, "L3")
    assert Run.objects.count() == 2
