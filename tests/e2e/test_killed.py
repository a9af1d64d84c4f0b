"""`kill -9` of each process at a bad moment: nothing is lost, nothing happens twice, and it goes on within a minute."""

from __future__ import annotations

import os
import re
import shutil
import signal

import pytest

from tests.e2e.person import SOON_GRADED
from tests.e2e.test_terminal import COUNTER, counts_on, numbers

pytestmark = [pytest.mark.browser, pytest.mark.sandbox]
RECOVERED_WITHIN_S = 60


def test_the_site_killed_while_somebody_types(people, stack):
    """FC-41, FC-62."""
    alice = people("alice").sign_up().begin()
    shell = alice.run_command("echo $$").split()[-1]
    alice.type(f"{COUNTER}\n")
    counts_on(alice, 20)
    stack.kill("site")
    last = numbers(alice)[-1]
    alice.until_connected(within_s=RECOVERED_WITHIN_S)
    seen = counts_on(alice, last + 50)
    assert seen == list(range(seen[-1] + 1))
    alice.page.locator("#wb-interrupt").click()
    assert alice.run_command("echo $$").split()[-1] == shell


def test_a_site_that_says_nothing_is_left_and_found_again(people, stack):
    """FC-35, FC-37: a connection that is open and dead is noticed by its silence (the page has its clock moved)."""
    alice = people("alice").sign_up().begin()
    page = alice.new_tab()
    page.clock.install()
    page.goto(f"/runs/{alice.run}/")
    page.clock.resume()
    alice.until_connected(page=page)
    site = stack.processes()["site"]
    os.kill(site, signal.SIGSTOP)
    try:
        page.clock.fast_forward(60_000)
        line = page.locator("#wb-connection")
        alice.until(lambda: "Reconnecting" in line.inner_text(), "the silence is noticed", page=page)
    finally:
        os.kill(site, signal.SIGCONT)
    alice.until_connected(within_s=RECOVERED_WITHIN_S, page=page)
    assert alice.run_command("echo found-again", page=page).split() == ["found-again"]


def test_the_keeper_killed_while_somebody_types(people, stack):
    """FC-62: the shell goes on, and of its output no line is missing and none comes twice."""
    alice = people("alice").sign_up().begin()
    shell = alice.run_command("echo $$").split()[-1]
    alice.type(f"{COUNTER}\n")
    counts_on(alice, 20)
    stack.kill("keeper")
    last = numbers(alice)[-1]
    alice.until(lambda: numbers(alice)[-1] > last + 50, "the counter goes on", within_s=RECOVERED_WITHIN_S)
    alice.until_connected(within_s=RECOVERED_WITHIN_S)
    seen = numbers(alice)
    assert seen == list(range(seen[-1] + 1))
    alice.page.locator("#wb-interrupt").click()
    alice.until(lambda: re.search(r"\^C[^\n]*\n?[^\n]*\$ ?$", alice.screen()), "the counter ends")
    assert alice.run_command("echo $$").split()[-1] == shell


def test_the_desk_killed_when_a_message_is_sent_answers_it_once(people, stack):
    alice = people("alice").sign_up().begin()
    for text, kill_first in (("Good morning.", True), ("Who are you?", False)):
        if kill_first:
            stack.kill("desk")
            alice.write("molefe", text)
        else:
            alice.write("molefe", text)
            stack.kill("desk")
        alice.until(lambda text=text: alice.answered(text), "the answer", within_s=RECOVERED_WITHIN_S)
        said = [event["payload"].get("text") for event in stack.events(alice.run, "contact.message")]
        assert said.count(text) == 1
    # the same from the shell: `ask` waits for the desk instead of failing
    stack.kill("desk")
    out = alice.run_command('ask molefe "Thank you, that helps."', within_s=RECOVERED_WITHIN_S + 30)
    assert out.strip()
    said = [event["payload"].get("text") for event in stack.events(alice.run, "contact.message")]
    assert said.count("Thank you, that helps.") == 1


def test_the_site_killed_while_somebody_submits_and_the_worker_while_it_grades(people, stack):
    """FC-88, FC-93: one submission and one grade."""
    alice = people("alice").sign_up().begin(scenario=SOON_GRADED)
    alice.open_submit()
    alice.page.evaluate("setTimeout(() => document.getElementById('wb-submit-go').click(), 0)")
    stack.kill("site")
    stack.until_everything_answers()

    def handed_in() -> bool:
        if "/grading/" in alice.page.url:
            return True
        if alice.page.locator("#wb-submit-problem").is_visible() and alice.page.locator("#wb-submit-go").is_enabled():
            assert "Nothing is lost" in alice.page.locator("#wb-submit-problem").inner_text()
            alice.page.locator("#wb-submit-go").click()
        return False

    alice.until(handed_in, "handed in", within_s=RECOVERED_WITHIN_S)
    assert len(stack.submissions(alice.run)) == 1

    alice.until(lambda: stack.submissions(alice.run)[0]["attempts"] > 0, "a worker has taken it", within_s=120)
    stack.kill("worker")
    taken_again = "another worker has taken it, or the first was done"
    alice.until(
        lambda: (row := stack.submissions(alice.run)[0])["attempts"] > 1 or row["state"] == "graded",
        taken_again,
        within_s=RECOVERED_WITHIN_S,
    )
    alice.await_debrief()
    alice.until(lambda: not stack.orphans(), "nothing of the killed worker stays behind", within_s=RECOVERED_WITHIN_S)
    assert len(stack.grades(alice.run)) == 1
    assert float(stack.grades(alice.run)[0]["score"]) == 0.0


def test_a_worker_killed_while_it_prepares_a_run_leaves_it_to_be_prepared(people, stack):
    """The first run of a release whose world is not built yet: the page waits and opens the workbench by itself."""
    alice = people("alice").sign_up()
    for world in (stack.var / "worlds").iterdir():
        if world.is_dir():
            shutil.rmtree(world)
    alice.page.goto("/scenarios/oil_npt/")
    alice.page.get_by_role("button", name="Begin the ranked run").click(no_wait_after=True)
    alice.page.get_by_role("heading", name="Preparing your workspace").wait_for()
    stack.kill("worker")
    alice.until(lambda: alice.page.locator(".xterm-screen").first.is_visible(), "the workbench opens", within_s=150)
    alice.run = alice.page.url.rstrip("/").rpartition("/")[2]
    alice.until_connected()
    assert len(stack.events(alice.run, "run.prepared")) == 1
    assert "system" in alice.run_command("ls")
