"""Dialogs and panes of the workbench in a real Chromium, the site answering as a test says.

"Try it": asked for once, progress, reports kept in order, words where none is left. Waiting: confirmed where it leads far.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.site.test_site_browser import CHROMIUM, FLAGS

pytestmark = pytest.mark.browser
ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ("server", "panes", "files", "people", "trial", "submit")
UNSAVED = "window.Workbench.unsaved = () => window.unsaved || [];"
REPORT = "Ada: three totals did not fit the cash box.\nAda: I had two evenings without any total."


class Bench:
    """The workbench's page with the scripts of the dialog; the site answers as a test says."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.posted: list[dict[str, Any]] = []
        self.answers: list[tuple[int, dict[str, Any]]] = []
        self.now: dict[str, Any] = {"progress": None, "left": True}
        page.route("**/*", self._serve)
        page.goto("http://bench.test/")

    def _serve(self, route: Any) -> None:
        request = route.request
        path = request.url.removeprefix("http://bench.test")
        if path == "/":
            route.fulfill(body=_html(), content_type="text/html")
        elif path.startswith("/static/"):
            route.fulfill(path=str(ROOT / path.lstrip("/")))
        elif path == "/people/":
            route.fulfill(json={"directory": [], "clock": None})
        elif path == "/feed_ticket/":
            route.fulfill(json={"ticket": "t", "url": "/feed/?ticket=t"})  # where nobody answers
        elif path.startswith("/document/"):
            route.fulfill(body="<h1>Terms</h1>", content_type="text/html")
        elif path == "/survey/":
            route.fulfill(json={"changes": [], "more": 0, "entryPoints": [], "leftOut": {"count": 0, "first": []}})
        elif path in ("/trial/", "/wait/") and request.method == "POST":
            self.posted.append(json.loads(request.post_data))
            status, body = self.answers.pop(0)
            route.fulfill(status=status, json=body)
        elif path == "/trial/":
            route.fulfill(json=self.now)
        else:
            route.fulfill(status=404, body="")

    def report(self, **item: Any) -> None:
        """What the feed brings of a trial."""
        whole = {"kind": "trial", "running": False, "said": [], "words": "", "sent": "Monday 5 October, 08:00", **item}
        self.page.evaluate("item => dispatchEvent(new CustomEvent('workbench:trial', {detail: item}))", whole)

    def says(self, selector: str, words: str) -> None:
        self.page.wait_for_function(
            "([selector, words]) => document.querySelector(selector).textContent.includes(words)", arg=[selector, words]
        )


def _html() -> str:
    from django.template.loader import render_to_string

    boot = {
        "hasTrial": True,
        "hasCalendar": True,
        "run": "r",
        "urls": {name: f"/{name}/" for name in ("trial", "wait", "people", "feed_ticket", "survey", "document")}
        | {"grading": "/", "login": "/"},
    }
    page = render_to_string(
        "workbench/workbench.html",
        {
            "boot": boot,
            "run": {"level": "L3"},
            "scenario": {"customer": "Stall"},
            "documents": [{"path": "docs/terms.md", "title": "Terms of the market"}],
        },
    )
    head = page[: page.index("<script src")] if "<script src" in page else page
    scripts = [f'<script src="/static/js/workbench/{name}.js"></script>' for name in SCRIPTS]
    return head + "".join(scripts) + f"<script>{UNSAVED}</script>"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    if not CHROMIUM.exists():
        pytest.skip("needs Debian's chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def bench(chromium: Any) -> Iterator[Callable[[], Bench]]:
    problems: list[str] = []
    context = chromium.new_context(viewport={"width": 1440, "height": 900})

    def open_bench() -> Bench:
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        return Bench(page)

    yield open_bench
    context.close()
    assert problems == []


def running(client_id: str) -> dict[str, Any]:
    return {"trial": {"id": client_id, "running": True, "said": [], "words": "", "sent": "Monday 5 October, 08:00"}}


def test_a_trial_is_confirmed_watched_and_its_report_kept(bench: Callable[[], Bench]) -> None:
    made = bench()
    page = made.page
    page.click("#wb-trial-open")
    page.wait_for_selector("#wb-trial-go:enabled")
    assert made.posted == []  # opening asks for nothing
    made.answers, made.now = (
        [(200, running("t1"))],
        {"progress": {"step": "replay", "done": 1, "total": 3}, "left": True},
    )
    page.click("#wb-trial-go")
    made.says("#wb-trial-state", "Running, 1 of 3. You may go on working")
    assert page.is_disabled("#wb-trial-go")
    assert set(made.posted[0]) == {"id"}
    made.now = {"progress": None, "left": False}
    made.report(id="t1", said=REPORT.split("\n"))
    made.says("#wb-trial-reports", REPORT)
    made.says("#wb-trial-state", "there is no trial left")
    assert page.is_disabled("#wb-trial-go")
    assert page.locator("#wb-trial-reports li").count() == 1


def test_a_request_that_got_no_answer_is_made_again_under_the_same_id(bench: Callable[[], Bench]) -> None:
    made = bench()
    made.page.click("#wb-trial-open")
    made.page.wait_for_selector("#wb-trial-go:enabled")
    made.answers = [(503, {"error": "The desk does not answer."}), (500, {"error": "?"}), (200, running("t1"))]
    made.page.click("#wb-trial-go")
    made.says("#wb-trial-reports", "Running…")
    assert len({body["id"] for body in made.posted}) == 1
    assert len(made.posted) == 3


def test_a_refusal_is_said_and_the_button_is_there_again(bench: Callable[[], Bench]) -> None:
    made = bench()
    made.page.click("#wb-trial-open")
    made.page.wait_for_selector("#wb-trial-go:enabled")
    made.answers = [(409, {"error": "A trial is being run already."})]
    made.page.click("#wb-trial-go")
    made.says("#wb-trial-state", "A trial is being run already.")
    made.page.wait_for_selector("#wb-trial-go:enabled")


def test_what_is_not_saved_is_named_and_a_report_that_comes_later_is_announced(bench: Callable[[], Bench]) -> None:
    made = bench()
    page = made.page
    page.evaluate("window.unsaved = ['system/shop/total.py', 'deliverables/notes.md']")
    page.click("#wb-trial-open")
    made.says("#wb-trial-unsaved", "system/shop/total.py: what is in the editor")
    assert "notes.md" not in page.text_content("#wb-trial-unsaved")
    page.click("#wb-trial [data-close]")
    made.report(id="t1", running=True)
    made.report(id="t1", words="It did not run: total failed 3 of 3 times.")
    made.says("#wb-notice", "The trial of your system is over")
    again = bench()  # another tab: not read and not dismissed, so it is said there too
    again.report(id="t1", words="It did not run: total failed 3 of 3 times.")
    again.says("#wb-notice", "The trial of your system is over")
    again.page.get_by_role("button", name="Dismiss").click()
    assert again.page.is_hidden("#wb-notice")
    later = bench()
    later.report(id="t1", words="It did not run: total failed 3 of 3 times.")
    assert later.page.is_hidden("#wb-notice")
    page.evaluate("window.unsaved = []")
    page.click("#wb-trial-open")
    made.says("#wb-trial-reports", "It did not run: total failed 3 of 3 times.")
    assert page.is_hidden("#wb-trial-unsaved")
    assert page.is_hidden("#wb-notice")  # it is read now


def test_a_wait_that_leads_far_is_confirmed_first_and_a_refusal_is_marked(bench: Callable[[], Bench]) -> None:
    made = bench()
    page = made.page
    page.click("#tab-wait")
    page.fill("#wb-until", "Sun 03:00")
    made.answers = [(200, {"ahead": {"until": "Monday 12 October, 08:00", "working_days": "5"}})]
    page.click("#wb-wait-go")
    made.says("#wb-wait-state", "That leads to Monday 12 October, 08:00: 5 working days ahead. No time has passed yet.")
    page.click("#wb-wait-back")
    assert page.inner_text("#wb-wait-state") == ""
    made.answers = [
        (200, {"ahead": {"until": "Monday 12 October, 08:00", "working_days": "5"}}),
        (200, {"reply": {"clock": {"words": "Monday 12 October, 08:00"}}}),
        (422, {"error": "There is no 31:00 on a clock. Nothing was changed."}),
    ]
    page.click("#wb-wait-go")
    made.says("#wb-wait-state", "5 working days ahead")
    assert page.inner_text("#wb-wait-go") == "Wait until then"
    page.click("#wb-wait-go")
    made.says("#wb-wait-state", "It is now Monday 12 October, 08:00.")
    assert [body.get("confirmed", False) for body in made.posted] == [False, False, True]
    assert made.posted[1]["id"] == made.posted[2]["id"] != made.posted[0]["id"]
    page.fill("#wb-until", "Tue 31:00")
    page.press("#wb-until", "Enter")
    made.says("#wb-wait-state", "▲ There is no 31:00 on a clock. Nothing was changed.")
    assert "bad" in page.get_attribute("#wb-wait-state", "class")


def test_a_document_is_kept_while_another_tab_is_shown_and_its_own_tab_leads_back_to_the_list(
    bench: Callable[[], Bench],
) -> None:
    page = bench().page
    page.click("#tab-documents")
    page.click("[data-document='docs/terms.md']")
    page.get_by_role("heading", name="Terms", exact=True).wait_for()
    page.click("#tab-brief")
    page.click("#tab-documents")
    assert page.is_visible("#wb-document")
    page.click("#tab-documents")
    assert page.is_hidden("#wb-document")
    assert page.is_visible("#wb-documents")
