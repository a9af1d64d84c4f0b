"""Signing up, in and out; the profile; deleting an account."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse

from fdegym.accounts.adapter import is_from_this_machine
from fdegym.accounts.models import User

STRONG = "a-quiet-harbour-at-dusk"


def sign_up(browser, username="dora", **extra):
    fields = {"username": username, "password1": STRONG, "password2": STRONG}
    return browser.post(reverse("account_signup"), fields, **extra)


@pytest.mark.django_db
def test_a_refused_form_tells_all_that_is_wrong_and_puts_the_keyboard_on_the_first(settings):
    settings.SIGNUP = "open"
    fields = {"username": "dora", "password1": "1234", "password2": "12345"}
    html = Client().post(reverse("account_signup"), fields).content.decode()
    assert "too common" in html
    assert "The two passwords differ." in html
    (focused,) = re.findall(r"<input[^>]* autofocus[^>]*>", html)
    assert 'name="password1"' in focused
    alike = Client().post(reverse("account_signup"), fields | {"password2": "1234"}).content.decode()
    assert "The two passwords differ." not in alike
    differ = Client().post(reverse("account_signup"), fields | {"password1": STRONG}).content.decode()
    assert differ.count("errorlist") == 1
    assert " autofocus" not in Client().get(reverse("account_signup")).content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["127.0.0.1", "127.8.9.1", "::1"])
def test_somebody_at_the_machine_itself_may_create_an_account(settings, address):
    settings.SIGNUP = "loopback"
    assert sign_up(Client(REMOTE_ADDR=address, HTTP_HOST="localhost:8000")).status_code == 302
    assert User.objects.get(username="dora").role == "learner"


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["10.0.0.7", "192.168.1.4", "2001:db8::1"])
def test_somebody_elsewhere_may_not_unless_signing_up_is_open(settings, address):
    settings.SIGNUP = "loopback"
    closed = sign_up(Client(REMOTE_ADDR=address))
    assert b"made by the operator" in closed.content
    assert not User.objects.exists()
    settings.SIGNUP = "open"
    assert sign_up(Client(REMOTE_ADDR=address)).status_code == 302


@pytest.mark.parametrize("address", ["", "not an address", "127.0.0.1.evil.example", "0x7f.1", None])
def test_an_address_that_cannot_be_read_is_not_this_machine(rf, address):
    request = rf.get("/", headers={"host": "localhost"})
    request.META["REMOTE_ADDR"] = address
    assert not is_from_this_machine(request)


@pytest.mark.django_db
@pytest.mark.parametrize(
    "header", ["HTTP_X_FORWARDED_FOR", "HTTP_X_FORWARDED_PROTO", "HTTP_FORWARDED", "HTTP_X_REAL_IP", "HTTP_VIA"]
)
def test_a_visitor_whom_a_local_proxy_passes_on_is_not_at_the_machine(settings, header):
    settings.SIGNUP = "loopback"
    sign_up(Client(REMOTE_ADDR="127.0.0.1", HTTP_HOST="localhost", **{header: "127.0.0.1"}))
    assert not User.objects.exists()


@pytest.mark.django_db
def test_a_visitor_to_a_public_name_is_not_at_the_machine_even_through_a_silent_proxy(settings):
    settings.SIGNUP, settings.ALLOWED_HOSTS = "loopback", ["gym.example", "localhost", "127.0.0.1", "[::1]"]
    sign_up(Client(REMOTE_ADDR="127.0.0.1", HTTP_HOST="gym.example"))
    assert not User.objects.exists()
    assert sign_up(Client(REMOTE_ADDR="::1", HTTP_HOST="[::1]:8000")).status_code == 302


@pytest.mark.django_db
def test_no_header_opens_what_the_address_closes(settings):
    settings.SIGNUP = "loopback"
    sign_up(
        Client(
            REMOTE_ADDR="10.0.0.7", HTTP_HOST="localhost", HTTP_X_FORWARDED_FOR="127.0.0.1", HTTP_X_REAL_IP="127.0.0.1"
        )
    )
    assert not User.objects.exists()


@pytest.mark.django_db
def test_nobody_signs_up_where_signing_up_is_closed(settings):
    """FC-52: it is the server that refuses, whatever is posted."""
    settings.SIGNUP = "closed"
    assert b"made by the operator" in sign_up(Client(REMOTE_ADDR="127.0.0.1", HTTP_HOST="localhost")).content
    assert not User.objects.exists()


def test_alice_signs_in_changes_her_password_and_signs_out(alice):
    browser = Client()
    answer = browser.post(reverse("account_login"), {"login": "alice", "password": "alice-has-a-long-password"})
    assert answer.headers["Location"] == reverse("home")
    fields = {"oldpassword": "alice-has-a-long-password", "password1": STRONG, "password2": STRONG}
    changed = browser.post(reverse("account_change_password"), fields, follow=True)
    assert changed.redirect_chain[-1][0] == reverse("profile")
    assert "Your password is changed." in changed.content.decode()
    browser.post(reverse("account_logout"))
    assert browser.get(reverse("profile")).status_code == 302
    alice.refresh_from_db()
    assert alice.check_password(STRONG)


def test_guessing_a_password_is_slowed_down(alice):
    browser = Client()
    for _ in range(12):
        answer = browser.post(reverse("account_login"), {"login": "alice", "password": "wrong"})
    assert "Too many failed login attempts" in answer.content.decode() or answer.status_code == 429


def test_signing_out_takes_a_post(alice, visit):
    browser = visit(alice)
    browser.get(reverse("account_logout"))
    assert browser.get(reverse("profile")).status_code == 200


def profile_fields(**changed):
    return {"display_name": "", "email": "", "time_zone": "", "theme": "system", "on_leaderboard": "on"} | changed


def test_the_profile_keeps_name_zone_theme_and_privacy(alice, visit):
    fields = profile_fields(display_name="Alice N.", time_zone="Asia/Tokyo", theme="dark")
    del fields["on_leaderboard"]
    answer = visit(alice).post(reverse("profile"), fields)
    assert answer.status_code == 302
    assert answer.cookies["theme"].value == "dark"
    alice.refresh_from_db()
    kept = (alice.shown_name, alice.time_zone, alice.theme, alice.on_leaderboard)
    assert kept == ("Alice N.", "Asia/Tokyo", "dark", False)


@pytest.mark.parametrize(
    "refused",
    [{"time_zone": "Middle/Earth"}, {"theme": "neon"}, {"display_name": "Bob\u202egnp"}, {"email": "nowhere"}],
)
def test_what_the_profile_cannot_take_is_said_and_nothing_is_kept(alice, visit, refused):
    answer = visit(alice).post(reverse("profile"), profile_fields(display_name="New") | refused)
    assert answer.status_code == 422
    assert b"errorlist" in answer.content
    alice.refresh_from_db()
    assert alice.display_name == ""


@pytest.mark.parametrize("name", ["bob", "BOB", "Robert  Lindqvist", " robert lindqvist ", "\uff42ob"])
def test_nobody_takes_the_name_of_somebody_else(alice, bob, visit, name):
    bob.display_name = "Robert Lindqvist"
    bob.save()
    answer = visit(alice).post(reverse("profile"), profile_fields(display_name=name))
    assert "Somebody else here has this name." in answer.content.decode()
    assert visit(alice).post(reverse("profile"), profile_fields(display_name="Alice")).status_code == 302


def test_nobody_makes_themselves_an_operator_through_the_profile(alice, visit):
    visit(alice).post(reverse("profile"), profile_fields(role="operator", is_staff="on", is_superuser="on"))
    alice.refresh_from_db()
    assert (alice.role, alice.is_staff, alice.is_superuser) == ("learner", False, False)


def test_the_theme_switch_works_signed_in_and_not_and_returns_to_the_page(alice, visit):
    answer = visit(None).post(reverse("theme"), {"theme": "dark", "next": "/method/"})
    assert (answer.headers["Location"], answer.cookies["theme"].value) == ("/method/", "dark")
    visit(alice).post(reverse("theme"), {"theme": "light"})
    alice.refresh_from_db()
    assert alice.theme == "light"


@pytest.mark.django_db
@pytest.mark.parametrize("target", ["https://evil.example/", "//evil.example", "javascript:alert(1)"])
def test_the_theme_switch_leads_to_no_other_site(target):
    answer = Client().post(reverse("theme"), {"theme": "dark", "next": target})
    assert answer.headers["Location"] == reverse("home")


@pytest.mark.django_db
def test_the_page_comes_in_the_chosen_theme_without_javascript():
    browser = Client()
    browser.post(reverse("theme"), {"theme": "dark"})
    assert b'<html lang="en" data-theme="dark">' in browser.get(reverse("method")).content
    browser.cookies["theme"] = '"><script>'
    assert b"<script>" not in browser.get(reverse("method")).content.split(b"</head>")[0]


def erase_fields(**changed):
    return {"username": "alice", "password": "alice-has-a-long-password"} | changed


@pytest.mark.parametrize("wrong", [{"username": "bob"}, {"password": "guess"}, {"password": ""}])
def test_an_account_is_deleted_only_by_someone_who_knows_it(alice, visit, wrong):
    assert visit(alice).post(reverse("profile-erase"), erase_fields(**wrong)).status_code == 422
    alice.refresh_from_db()
    assert alice.is_active


def test_a_deleted_account_leaves_no_name_and_no_way_in_and_keeps_its_runs(alice, bob, visit, graded):
    alice.display_name, alice.email = "Alice Nakamura", "alice@example.org"
    alice.save()
    run = graded(alice)
    browser, other = visit(alice), visit(alice)
    assert browser.post(reverse("profile-erase"), erase_fields()).headers["Location"] == reverse("home")
    alice.refresh_from_db()
    assert not alice.has_usable_password()
    assert (alice.display_name, alice.email, alice.is_active) == ("", "", False)
    assert other.get(reverse("profile")).status_code == 302  # a session elsewhere ends too
    run.refresh_from_db()
    assert run.user_id == alice.pk
    board = visit(bob).get(reverse("leaderboard-scenario", args=["bakery_orders"])).content.decode()
    assert "Alice" not in board
    assert "erased-" not in board


def test_no_username_taken_beforehand_keeps_an_account_from_being_deleted(alice, visit):
    User.objects.create(username=f"erased-{alice.pk}")
    assert visit(alice).post(reverse("profile-erase"), erase_fields()).status_code == 302
    alice.refresh_from_db()
    assert not alice.is_active


def test_deleting_an_account_ends_open_runs_as_they_stand(alice, visit, runs_at_bakery, monkeypatch):
    ended = []
    monkeypatch.setattr("fdegym.pages.profile.abandon_run", ended.append)
    run = runs_at_bakery(alice)
    visit(alice).post(reverse("profile-erase"), erase_fields())
    assert ended == [run.id]


def test_while_a_run_is_being_prepared_the_account_stays(alice, visit, runs_at_bakery):
    runs_at_bakery(alice, state="preparing")
    answer = visit(alice).post(reverse("profile-erase"), erase_fields())
    assert answer.status_code == 409
    alice.refresh_from_db()
    assert alice.is_active
