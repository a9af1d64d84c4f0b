"""The rest of the workbench in a browser: handing in once, markup in names, phones, the keyboard alone, two tabs."""

from __future__ import annotations

import re

import pytest

from tests.e2e.person import PASSWORD

pytestmark = [pytest.mark.browser, pytest.mark.sandbox]

MARKUP = "<img src=x onerror=window.hurt=1>"


def test_two_tabs_and_double_clicks_hand_in_once(people, stack):
    """FC-83."""
    alice = people("alice").sign_up().begin()
    first = alice.page
    alice.open_submit()
    second = alice.come_back()
    alice.open_submit()
    # both tabs at the same moment, each twice
    twice = "document.getElementById('wb-submit-go').click(); document.getElementById('wb-submit-go').click()"
    for page in (first, second):
        page.evaluate(f"setTimeout(() => {{ {twice} }}, 0)")
    for page in (first, second):
        page.wait_for_url(re.compile("/(grading|debrief)/"))
    # and the request once more, as a proxy would repeat it
    repeated = second.evaluate(
        """async url => { const token = document.cookie.match(/csrftoken=([^;]+)/)[1];
        return (await fetch(url, {method: "POST", body: "{}", headers: {"X-CSRFToken": token}})).status; }""",
        f"/runs/{alice.run}/submit/",
    )
    assert repeated == 200
    assert len(stack.submissions(alice.run)) == 1
    assert len(stack.events(alice.run, "run.frozen")) == 1


def test_beginning_in_two_tabs_is_one_run_and_the_second_tab_goes_to_it(people, stack):
    """FC-85, FC-102: a person has one open run of a scenario; every page names it in its address."""
    alice = people("alice").sign_up()
    first, second = alice.page, alice.new_tab()
    for page in (first, second):
        page.goto("/scenarios/oil_npt/")
    for page in (first, second):
        page.get_by_role("button", name="Begin the ranked run").click(no_wait_after=True)
    for page in (first, second):
        page.wait_for_url("**/runs/**")
        alice.until_connected(page=page)
    assert first.url == second.url
    assert (
        len(
            stack.rows(
                "SELECT r.id FROM runs_run r JOIN accounts_user u ON r.user_id = u.id WHERE u.username = ?", alice.name
            )
        )
        == 1
    )
    first.goto("/scenarios/oil_npt/")
    assert first.get_by_role("button", name=re.compile("^Begin")).count() == 0
    first.get_by_role("complementary").get_by_role("link", name="Go on").click()
    assert first.url == second.url


def test_markup_in_names_is_text_everywhere(people):
    """FC-47: display name, message, file name, terminal title."""
    alice = people("alice").sign_up()
    page = alice.page
    page.goto("/account/")
    shown = f"{MARKUP} {alice.name}"
    page.locator("#id_display_name").fill(shown)
    page.get_by_role("button", name="Save").click()
    page.get_by_role("banner").get_by_text(shown).wait_for()
    alice.begin()
    alice.run_command(f"touch 'deliverables/{MARKUP.replace('/', '')}'; printf '\\033]0;{MARKUP}\\007'")
    alice.write("molefe", MARKUP)
    alice.until(lambda: MARKUP in alice.conversation(), "the message is shown as it was written")
    page.get_by_role("tab", name="Files").click()
    page.get_by_role("button", name="deliverables/").click()
    page.get_by_role("button", name=MARKUP, exact=True).wait_for()
    for tab in (page, alice.new_tab()):
        if tab is not page:
            tab.goto("/leaderboard/oil_npt/")
        assert tab.evaluate("window.hurt") is None
        assert tab.locator("img[src=x]").count() == 0


def test_a_letter_that_comes_in_unasked_shows_in_chat_and_shell_alike(people):
    """FC-122: what was said while the page was away is there afterwards, in the same words as `ask --history` gives."""
    alice = people("alice").sign_up().begin()
    alice.page.close()
    page = alice.new_tab()
    page.goto("/runs/")  # the workbench is closed
    token = page.evaluate("document.cookie.match(/csrftoken=([^;]+)/)[1]")
    asked = page.request.post(
        f"/runs/{alice.run}/messages/",
        data={"person": "molefe", "text": "Good morning, I am new here.", "id": "e2e-while-away-1"},
        headers={"X-CSRFToken": token, "Referer": page.url},
    )
    assert asked.ok, asked.text()
    alice.come_back()
    alice.page.locator("[data-person=molefe]").click()
    alice.until(lambda: alice.answered("Good morning, I am new here."), "the conversation is there")
    answer = " ".join(alice.conversation()[-1].split())
    told = " ".join(alice.run_command("ask --history").split())
    assert answer in told


def test_on_a_phone_one_pane_at_a_time_is_reached_by_the_bottom_bar(people):
    alice = people("alice", viewport={"width": 390, "height": 844}).sign_up().begin()
    page = alice.page
    bar = page.get_by_role("navigation", name="Panes")
    panes = {"Brief": "#panel-brief", "Terminal": ".xterm-screen", "People": "#wb-directory"}
    for name in ("People", "Brief", "Terminal"):
        bar.get_by_role("button", name=name).click()
        for other, place in panes.items():
            assert page.locator(place).first.is_visible() == (other == name), (name, other)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert "system" in alice.run_command("ls")
    bar.get_by_role("button", name="People").click()
    page.locator("[data-person=molefe]").click()
    page.locator("#wb-text").fill("Good morning.")
    page.get_by_role("button", name="Send").click()
    alice.until(lambda: alice.answered("Good morning."), "the answer is there")
    alice.open_submit()
    box = page.locator("#wb-submit").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    assert page.locator("#wb-submit-go").is_visible()


class Keyboard:
    """A person who uses nothing else; she goes where Tab leads."""

    def __init__(self, page) -> None:
        self.page, self.keys = page, page.keyboard

    def tab_to(self, selector: str, *, key: str = "Tab") -> None:
        for _ in range(60):
            if self.page.evaluate("selector => document.activeElement.matches(selector)", selector):
                return
            self.keys.press(key)
        pytest.fail(f"Tab never reaches {selector}")


def test_the_keyboard_alone_leads_from_signing_in_to_handing_in(people, stack):
    """FC-124: the terminal keeps Tab for the shell, and Ctrl+Shift+arrows lead out of it."""
    alice = people("alice").sign_up()
    page = alice.page
    page.context.clear_cookies()
    keyboard = Keyboard(page)
    page.goto("/account/sign-in/?next=/scenarios/oil_npt/")
    keyboard.tab_to("[name=login]")
    keyboard.keys.type(alice.name)
    keyboard.tab_to("[name=password]")
    keyboard.keys.type(PASSWORD)
    keyboard.keys.press("Enter")
    page.get_by_role("heading", name="Rules of the run").wait_for()
    keyboard.tab_to("input[name=level]")
    keyboard.tab_to("form[action*=begin] button")
    keyboard.keys.press("Enter")
    page.wait_for_url("**/runs/**")
    alice.run = page.url.rstrip("/").rpartition("/")[2]
    alice.until_connected()

    # the terminal has the focus; Tab completes
    alice.until(lambda: "$" in alice.screen(), "the prompt")
    alice.until(
        lambda: page.evaluate("document.activeElement.matches('.xterm-helper-textarea')"), "the terminal has the focus"
    )
    keyboard.keys.type("ls sys")
    keyboard.keys.press("Tab")
    alice.until(lambda: "ls system/" in alice.screen(), "Tab completes in the shell")
    keyboard.keys.press("Enter")

    # out of it to the people, a message, an answer
    keyboard.keys.press("Control+Shift+ArrowRight")
    keyboard.tab_to("[data-person=molefe]")
    keyboard.keys.press("Enter")
    keyboard.tab_to("#wb-text")
    keyboard.keys.type("Good morning.")
    keyboard.keys.press("Control+Enter")
    alice.until(lambda: alice.answered("Good morning."), "the answer")

    # and back into the terminal, and out again
    keyboard.keys.press("Control+Shift+ArrowLeft")
    keyboard.keys.type("echo back-in-the-shell\n")
    alice.until(lambda: "\nback-in-the-shell" in alice.screen(), "the terminal has the keys again")
    keyboard.keys.press("Control+Shift+ArrowLeft")
    keyboard.tab_to("#wb-submit-open", key="Shift+Tab")
    keyboard.keys.press("Enter")
    alice.until(lambda: page.locator("#wb-submit-go").is_enabled(), "the survey is there", within_s=90)
    keyboard.tab_to("#wb-submit-go")
    keyboard.keys.press("Enter")
    page.wait_for_url(re.compile("/(grading|debrief)/"))
    assert len(stack.submissions(alice.run)) == 1
