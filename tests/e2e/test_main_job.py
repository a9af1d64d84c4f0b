"""The main job, as a person does it: begin, read, ask, change the system, hand in, learn the score. And doing nothing."""

from __future__ import annotations

import json
import re

import pytest

from scenarios.kit.solutions import Solution
from tests.e2e.person import SOON_GRADED, Person
from tests.e2e.stack import files_of

pytestmark = [pytest.mark.browser, pytest.mark.sandbox, pytest.mark.timeout(600)]


def figure(text: str) -> float:
    """A figure as the site writes it: with a true minus."""
    return float(text.replace("−", "-").replace(",", "").strip().split()[-1])


def begun_where_people_are_asked(people, stack) -> tuple[Person, Solution]:
    """The site draws the task; of one whose request is right as it stands nobody needs to be asked. So: draw again."""
    for _ in range(8):
        alice = people("alice").sign_up().begin("L3")
        reference = stack.solution(alice.run, "reference")
        if reference.conversation.steps:
            return alice, reference
    pytest.fail("eight runs were begun, and for none of them anybody needs to be asked")


def test_a_person_does_the_whole_job_in_the_browser_and_resolves_it(people, stack):
    alice, reference = begun_where_people_are_asked(people, stack)
    page = alice.page
    *before, last = reference.conversation.steps  # which task was drawn decides whether there is a day to wait

    # brief and a document
    assert page.locator("#panel-brief").inner_text().strip()
    page.get_by_role("tab", name="Documents").click()
    page.locator("[data-document='docs/contracts/amendment_2.md']").click()
    page.locator("#wb-document").get_by_text("14.2").first.wait_for()

    # the shell stands in the workspace, and knows what the brief speaks of
    assert "system" in alice.run_command("ls")
    assert "molefe" in alice.run_command("ask --who")

    # people: all but the last in the chat pane, the last one by `ask`; both are one conversation
    for step in before:
        if step.wait:
            assert alice.run_command(f'ask --wait "{step.wait}"', within_s=90)
            continue
        alice.write(step.to, step.text)
        alice.until(lambda text=step.text: alice.answered(text), f"{step.to} answers", within_s=60)
    who, text = last.to, last.text
    answer = " ".join(alice.run_command(f'ask {who} "{text}"', within_s=90).split())
    assert answer
    page.locator("#wb-talk-back").click()
    page.locator(f"[data-person={who}]").click()
    alice.until(lambda: alice.answered(text), "what was said by `ask` stands in the chat too")
    assert alice.conversation()[-1].split()[0] in answer

    # the delivery, by way of the terminal
    files = files_of(reference)
    alice.put_into_system(files)
    assert "usage" in alice.run_command("cd system && python -m npt.ingest --help && cd ..")

    # handing in: the confirmation lists what changed
    survey = alice.open_submit()
    for path in files:
        assert survey.get_by_text(path, exact=True).is_visible(), path
    assert survey.get_by_text("✓ starts").count() == 4
    alice.submit()
    page.get_by_role("heading", name="Being graded").wait_for()
    assert page.locator(".steps [aria-current=step]").count() == 1
    alice.await_debrief()

    # the debrief
    text = page.locator("main").inner_text()
    score = figure(page.locator("p.score").inner_text())
    assert score >= 0.95
    assert "✓ resolved" in text
    assert page.locator("main .tag.bad").count() == 0, "an incident is marked"
    assert json.loads(stack.grades(alice.run)[0]["incidents"]) == []
    delivered, found, goal = (
        figure(page.locator(f"li.{name} .num").first.inner_text().replace("h", ""))
        for name in ("delivered", "baseline", "reference")
    )
    assert found < delivered
    assert delivered == pytest.approx(goal, rel=0.05)
    charges = [figure(cell) for cell in page.locator("tbody td:nth-child(3)").all_inner_texts() if "−" in cell]
    assert sum(charges) == pytest.approx(-float(stack.grades(alice.run)[0]["contact_cost"]))
    assert sum(charges) < -0.02
    charged = page.locator("section[aria-labelledby=contacts] tbody tr").count()
    assert charged == len({step.to or "waiting" for step in reference.conversation.steps})
    assert "What was true here" in text

    # it is kept, and it ranks
    page.goto("/runs/")
    row = page.locator("tbody tr").first
    assert re.search("Tessaly", row.inner_text())
    assert figure(row.locator("[data-label=Score]").inner_text()) == score
    page.goto("/leaderboard/oil_npt/")
    assert page.locator("tr", has_text=alice.name).count() == 1


def test_who_changes_nothing_gets_exactly_nothing_and_is_told_so_before(people, stack):
    bob = people("bob").sign_up().begin("L0", scenario=SOON_GRADED)
    survey = bob.open_submit()
    assert "Nothing changed" in survey.inner_text()
    bob.submit()
    bob.await_debrief()
    main = bob.page.locator("main")
    assert bob.page.locator("p.score").inner_text().split()[-1] == "0.00"
    assert "not resolved" in main.inner_text()
    assert "Nobody was asked" in main.inner_text()
    (grade,) = stack.grades(bob.run)
    assert float(grade["score"]) == 0.0
    assert float(grade["uplift"]) == 0.0

    # graded again it gives the same number, appended
    again = stack.manage("regrade", bob.run)
    assert again.returncode == 0, again.stderr
    first, second = stack.grades(bob.run)
    assert (first["score"], first["kpi"]) == (second["score"], second["kpi"])
