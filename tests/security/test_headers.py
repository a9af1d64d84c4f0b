"""What every answer carries: the same walk over all routes, and files that are not answers of a view."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client, override_settings
from django.urls import reverse

from fdegym.middleware import DOWNLOAD_POLICY, ResponseHeadersMiddleware
from fdegym.runs.models import Run
from tests.security.conftest import address_arguments
from tests.security.rights import rows

ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
POLICY = ("default-src 'none'", "base-uri 'none'", "frame-ancestors 'none'", "form-action 'self'", "connect-src 'self'")


def directives(answer: Any) -> dict[str, str]:
    parts = (part.strip().partition(" ") for part in answer.headers["Content-Security-Policy"].split(";"))
    return {name: value for name, _, value in parts}


def test_every_answer_is_guarded(browsers: Callable[[str], Client], runs_of_alice: dict[str, Run]) -> None:
    known = {name: browsers(name) for name in ("anonymous", "alice", "operator")}
    for row in rows():
        if row.how == "SOCKET":
            continue
        address = reverse(row.name, args=address_arguments(row.name, runs_of_alice["graded"].id))
        for name in known:
            browser = browsers(name) if row.name == "account_logout" else known[name]
            assert_guarded(browser.get(address) if row.how == "GET" else browser.post(address), f"{row.name}, {name}")


def assert_guarded(answer: Any, what: str) -> None:
    for header, value in ALWAYS.items():
        assert answer.headers.get(header) == value, (what, header)
    assert "camera=()" in answer.headers["Permissions-Policy"], what
    assert "no-cache" in answer.headers["Cache-Control"], what
    policy = answer.headers["Content-Security-Policy"]
    if answer.headers.get("Content-Disposition"):
        assert policy == DOWNLOAD_POLICY, what
        return
    for part in POLICY:
        assert part in policy, what
    scripts = directives(answer)["script-src"].split()
    assert all(word == "'self'" or word.startswith("'nonce-") for word in scripts), what


def test_the_nonce_of_the_policy_is_another_each_time(browsers: Callable[[str], Client]) -> None:
    policies = {browsers("anonymous").get(reverse("home")).headers["Content-Security-Policy"] for _ in range(5)}
    assert len(policies) == 5 or not any("nonce-" in policy for policy in policies)


def test_pages_that_are_not_there_are_guarded_too(browsers: Callable[[str], Client]) -> None:
    answer = browsers("anonymous").get("/nowhere/")
    assert answer.status_code == 404
    assert {header: answer.headers.get(header) for header in ALWAYS} == ALWAYS
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]


def test_a_download_gets_a_sandbox_whatever_the_view_says(rf: Any) -> None:
    def view(_request: Any) -> HttpResponse:
        return HttpResponse(
            "<script>",
            content_type="text/html",
            headers={"Content-Disposition": 'attachment; filename="x"', "Content-Security-Policy": "default-src *"},
        )

    answer = ResponseHeadersMiddleware(view)(rf.get("/"))
    assert answer.headers["Content-Security-Policy"] == DOWNLOAD_POLICY


def test_over_https_browsers_are_told_to_come_back_so_to_this_host_alone(client: Client) -> None:
    with override_settings(SECURE_HSTS_SECONDS=365 * 24 * 3600):
        assert client.get("/health/", secure=True).headers["Strict-Transport-Security"] == "max-age=31536000"
        assert "Strict-Transport-Security" not in client.get("/health/").headers


@pytest.mark.parametrize("https", [True, False])
def test_cookies_are_for_this_site_and_over_https_for_https_alone(https: bool, alice: Any, settings: Any) -> None:
    settings.SESSION_COOKIE_SECURE = settings.CSRF_COOKIE_SECURE = https
    browser = Client()
    page = browser.get(reverse("account_login"), secure=https)
    assert page.status_code == 200
    fields = {"login": "alice", "password": "alice-has-a-long-password"}
    answer = browser.post(reverse("account_login"), fields, secure=https)
    for cookies, name in ((page.cookies, "csrftoken"), (answer.cookies, "sessionid")):
        assert bool(cookies[name]["secure"]) is https
        assert cookies[name]["samesite"] == "Lax"
        assert cookies[name]["domain"] == ""
    assert answer.cookies["sessionid"]["httponly"]


def test_the_key_of_a_session_is_another_after_signing_in(alice: Any) -> None:
    browser = Client()
    session = browser.session
    session["planted"] = True
    session.save()
    before = session.session_key
    browser.post(reverse("account_login"), {"login": "alice", "password": "alice-has-a-long-password"})
    assert browser.session.session_key != before
