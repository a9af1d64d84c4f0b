"""The site in a real Chromium: what JavaScript adds, that nothing needs it, small screens, the keyboard alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.urls import reverse

from tests.site.conftest import BAKERY

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
CHROMIUM = Path("/usr/bin/chromium")
SWITCHES = ("sandbox", "first-run")
FLAGS = [f"--no-{switch}" for switch in SWITCHES] + [
    f"--disable-{switch}" for switch in ("gpu", "quic", "background-networking", "component-update", "sync")
]
PHONE = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def chromium(django_db_setup):
    """One browser for this file; each test gets a context of its own.

    Playwright's synchronous interface keeps an event loop in this thread, which Django takes for a mistake.
    """
    from playwright.sync_api import sync_playwright

    if not CHROMIUM.exists():
        pytest.skip("needs Debian's chromium")
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def open_page(chromium, live_server):
    """``open_page(**context)``: a page whose problems (errors, refused by the policy) fail the test at its end."""
    contexts, problems = [], []

    def make(**options):
        context = chromium.new_context(base_url=live_server.url, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda line: problems.append(line.text) if line.type == "error" else None)
        return page

    yield make
    for context in contexts:
        context.close()
    assert problems == []


def sign_in(page, user):
    page.goto(reverse("account_login"))
    page.fill("#id_login", user.username)
    page.fill("#id_password", f"{user.username}-has-a-long-password")
    page.click("main button")


def test_the_catalogue_filters_as_one_types(open_page):
    page = open_page()
    page.goto(reverse("scenarios"))
    row, nothing = page.locator("#scenarios tbody tr"), page.locator("#none-found")
    page.fill("#find", "bread food")
    assert row.is_visible()
    assert nothing.is_hidden()
    page.fill("#find", "bread rigs")
    assert row.is_hidden()
    assert nothing.is_visible()
    page.press("#find", "Enter")
    page.wait_for_url("**/?find=bread+rigs")  # what is searched for can be linked
    row.wait_for(state="hidden")
    page.fill("#find", "bread")
    page.wait_for_url("**/?find=bread")
    row.get_by_role("link").click()
    page.go_back()
    assert page.input_value("#find") == "bread"
    page.goto(reverse("scenarios") + "?find=rigs")
    assert row.is_hidden()
    page.fill("#find", "")
    assert row.is_visible()


def test_without_javascript_the_catalogue_the_theme_and_the_profile_still_work(open_page, alice):
    page = open_page(java_script_enabled=False)
    sign_in(page, alice)
    page.goto(reverse("scenarios"))
    page.fill("#find", "bread rigs")
    page.press("#find", "Enter")
    assert page.locator("#none-found").is_visible()
    page.get_by_role("button", name="Dark colours").click()
    assert page.locator("html").get_attribute("data-theme") == "dark"
    page.goto(reverse("profile"))
    page.fill("#id_display_name", "Alice N.")
    page.get_by_role("button", name="Save").click()
    assert page.get_by_role("link", name="Alice N.").is_visible()
    page.get_by_role("button", name="Sign out").click()
    assert page.get_by_role("banner").get_by_role("link", name="Sign in").is_visible()


def test_the_theme_changes_at_once_and_is_kept(open_page, alice):
    page = open_page(color_scheme="light")
    sign_in(page, alice)
    page.goto(reverse("method"))
    with page.expect_response(lambda answer: answer.url.endswith(reverse("theme"))):
        page.get_by_role("button", name="Dark colours").click()
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(20, 23, 26)"
    page.reload()
    assert page.locator("html").get_attribute("data-theme") == "dark"
    alice.refresh_from_db()
    assert alice.theme == "dark"


def test_the_page_learns_the_browsers_time_zone(open_page, alice, graded):
    graded(alice)
    page = open_page(timezone_id="America/New_York")
    sign_in(page, alice)
    page.goto(reverse("runs"))
    assert "5 Oct 2026, 08:00" in page.locator("main").inner_text()


def test_who_waits_for_a_grade_is_taken_to_the_debrief(open_page, alice, submitted, graded):
    from fdegym.runs.models import Run, RunState
    from grading.models import Grade

    run = submitted(alice, progress={"step": "replay", "done": 1, "total": 9, "what": "week 1"})
    page = open_page()
    sign_in(page, alice)
    page.goto(reverse("grading", args=[run.id]))
    assert "1 of 9" in page.locator("#progress").inner_text()
    run.submission.progress = {"step": "replay", "done": 5, "total": 9, "what": "week 5"}
    run.submission.save()
    page.get_by_text("5 of 9").wait_for(timeout=8000)
    other = Grade.objects.get(submission__run=graded(alice))
    other.pk, other.submission = None, run.submission
    other._state.adding = True
    other.save()
    Run.objects.filter(pk=run.pk).update(state=RunState.GRADED)
    page.wait_for_url(f"**{reverse('debrief', args=[run.id])}", timeout=8000)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_is_wider_than_a_phone(open_page, alice, graded, submitted, runs_at_bakery, scheme):
    alice.display_name = "A" * 60
    alice.save()
    done, waiting, live = graded(alice), submitted(alice), runs_at_bakery(alice)
    page = open_page(viewport=PHONE, color_scheme=scheme)
    sign_in(page, alice)
    names = ("home", "scenarios", "runs", "workspaces", "leaderboard", "method", "help", "profile", "profile-erase")
    addresses = [reverse(name) for name in names]
    addresses += [reverse(name, args=[BAKERY]) for name in ("scenario", "leaderboard-scenario")]
    addresses += [reverse("debrief", args=[done.id]), reverse("grading", args=[waiting.id])]
    addresses += [reverse("run-give-up", args=[live.id])]
    for address in addresses:
        page.goto(address)
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= PHONE["width"], (address, width)


def test_the_keyboard_alone_leads_from_signing_in_to_beginning(open_page, alice, monkeypatch, make_run):
    """FC-124: every step is reached by Tab, shows where it is, and is done by Enter or an arrow."""
    begun = []

    def begin(user, scenario_id, level):
        begun.append(level)
        return make_run(user, scenario_id, level=level, state="void")

    monkeypatch.setattr("fdegym.pages.visiting.begin_run", begin)
    page = open_page()

    def tab_to(description):
        for _ in range(40):
            page.keyboard.press("Tab")
            focused = "(e => [e.name, e.innerText, e.value].join(' '))(document.activeElement)"
            if description in page.evaluate(focused):
                outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
                assert outline != "none"
                return
        pytest.fail(f"Tab never reaches {description!r}")

    page.goto(reverse("account_login") + "?next=" + reverse("scenario", args=[BAKERY]))
    tab_to("login")
    page.keyboard.type("alice")
    page.keyboard.press("Tab")
    page.keyboard.type("alice-has-a-long-password")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Rules of the run").wait_for()
    tab_to("level")
    page.keyboard.press("ArrowDown")
    tab_to("Begin the ranked run")
    page.keyboard.press("Enter")
    page.wait_for_url("**/grading/")
    assert begun == ["L2"]


def test_pressing_begin_twice_begins_once(open_page, alice, monkeypatch, make_run):
    """FC-83, FC-85."""
    import time

    begun = []

    def begin(user, scenario_id, level):
        begun.append(level)
        time.sleep(0.3)
        return make_run(user, scenario_id, level=level, state="void")

    monkeypatch.setattr("fdegym.pages.visiting.begin_run", begin)
    page = open_page()
    sign_in(page, alice)
    page.goto(reverse("scenario", args=[BAKERY]))
    page.get_by_role("button", name="Begin the ranked run").dblclick()
    page.wait_for_url("**/grading/")
    assert begun == ["L3"]


def test_who_waits_for_a_workspace_sees_her_place_move_without_reloading(open_page, alice, monkeypatch, make_run):
    """FC-79."""
    from fdegym.runs.models import Run
    from workspaces.places import Place, Why

    places = [Place(Why.TURN, 2)]
    monkeypatch.setattr("fdegym.pages.workbench.go_on", lambda run: places[-1])
    run = make_run(alice, BAKERY, state="preparing")
    page = open_page()
    sign_in(page, alice)
    page.goto(reverse("run", args=[run.id]))
    page.get_by_text("2 others are before you").wait_for()
    page.evaluate("window.notReloaded = true")
    own = page.get_by_role("link", name="My workspaces")
    assert not own.is_visible()
    places.append(Place(Why.TURN, 0))
    page.get_by_text("You are next").wait_for()
    places.append(Place(Why.OWN, 0, ("another",)))
    own.wait_for()
    assert page.evaluate("window.notReloaded")
    Run.objects.update(state="void")
    page.wait_for_url("**/grading/")


def test_who_is_signed_out_while_she_waits_for_a_workspace_is_led_to_sign_in_and_back(
    chromium, live_server, alice, monkeypatch, make_run
):
    """FC-38: her page neither asks for ever nor shows a place that she has lost."""
    from django.contrib.sessions.models import Session

    from workspaces.places import Place, Why

    monkeypatch.setattr("fdegym.pages.workbench.go_on", lambda run: Place(Why.TURN, 2))
    address = reverse("run", args=[make_run(alice, BAKERY, state="preparing").id])
    context = chromium.new_context(base_url=live_server.url)  # its refused request stands in the console as an error
    try:
        page = context.new_page()
        sign_in(page, alice)
        page.goto(address)
        page.get_by_text("2 others are before you").wait_for()
        Session.objects.all().delete()
        page.wait_for_url(f"**{reverse('account_login')}?next={address}")
    finally:
        context.close()


def test_my_row_stays_in_sight_while_the_board_scrolls(open_page, alice, graded):
    from fdegym.accounts.models import User

    for index in range(40):
        graded(User.objects.create(username=f"person-{index:02d}"), kpi=300.0 + 10 * index)
    graded(alice, kpi=505.0)
    page = open_page(viewport={"width": 1440, "height": 500})
    sign_in(page, alice)
    page.goto(reverse("leaderboard-scenario", args=[BAKERY]))
    for position in ("0", "document.body.scrollHeight / 2", "document.body.scrollHeight"):
        page.evaluate(f"scrollTo(0, {position})")
        box = page.locator("#me").bounding_box()
        assert box is not None
        assert -1 <= box["y"] <= 500 - box["height"] + 1, (position, box)
