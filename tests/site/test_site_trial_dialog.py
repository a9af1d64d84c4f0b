""" "Try it" in a real Chromium: asked for once, progress, reports kept in order, words where none is left."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.site.test_site_browser import CHROMIUM, FLAGS

pytestmark = pytest.mark.browser
ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ("server", "panes", "trial")
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
        elif path == "/trial/" and request.method == "POST":
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
        "hasCalendar": False,
        "run": "r",
        "urls": {"trial": "/trial/", "grading": "/", "login": "/"},
    }
    page = render_to_string(
        "workbench/workbench.html", {"boot": boot, "run": {"level": "L3"}, "scenario": {"customer": "Stall"}}
    )
    head = page[: page.index("<script src")] if "<script src" in page else page
    scripts = [f'<script src="/static/js/workbench/{name}.js"></script>' for name in SCRIPTS]
    return head + scripts[0] + scripts[1] + f"<script>{UNSAVED}</script>" + scripts[2]


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
    page.evaluate("window.unsaved = []")
    page.click("#wb-trial-open")
    made.says("#wb-trial-reports", "It did not run: total failed 3 of 3 times.")
    assert page.is_hidden("#wb-trial-unsaved")
