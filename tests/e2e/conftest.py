"""The whole product, started once for the tests that drive it, and people who use it in a real Chromium.

Each process of the test session has a stack of its own; the tests of a file stay in one (``--dist loadfile``).
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.person import Person
from tests.e2e.stack import Stack, own_directory

CHROMIUM = Path("/usr/bin/chromium")
SWITCHES = ("gpu", "quic", "background-networking", "component-update", "sync")
FLAGS = ["--headless", "--no-sandbox", "--no-first-run", *(f"--disable-{switch}" for switch in SWITCHES)]


#: Its tests say what differs for root; nobody else can try them.
collect_ignore = [] if os.geteuid() == 0 else ["test_as_root.py"]


def need(present: bool, what: str) -> None:
    """Where something is missing a test is skipped with the reason; in CI nothing may be missing."""
    if not present:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(f"needs {what}")


@pytest.fixture(scope="session")
def sandboxes_work() -> None:
    bubblewrap = shutil.which("bwrap")
    need(bubblewrap is not None, "bubblewrap")
    tried = subprocess.run(["bwrap", "--unshare-all", "--ro-bind", "/", "/", "true"], capture_output=True, check=False)
    need(tried.returncode == 0, "user namespaces for bubblewrap")


@pytest.fixture(scope="session")
def stack(sandboxes_work: None) -> Iterator[Stack]:
    """The running product. ``E2E_DIRECTORY`` names a directory to keep: a second session there starts sooner."""
    kept = os.environ.get("E2E_DIRECTORY")
    running = Stack(Path(kept) if kept else own_directory("fde2e-"))
    try:
        running.prepare()
        running.start()
        yield running
    finally:
        running.end_workspaces()
        running.stop()
        if not kept:
            running.remove()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A browser for the tests of one file: as long as it lives, its event loop counts as running in this process, and
    tests of others that need one of their own could not have it.
    """
    from playwright.sync_api import sync_playwright

    need(CHROMIUM.exists(), "Debian's chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def people(stack: Stack, chromium: Any) -> Iterator[Callable[..., Person]]:
    """``people("alice")``: somebody with a browser of her own who has just signed up. What goes wrong in her pages'
    scripts fails the test.
    """
    made: list[Person] = []

    def arrive(name: str, **browser_options: Any) -> Person:
        person = Person(stack, chromium, name, **browser_options)
        made.append(person)
        return person

    yield arrive
    for person in made:
        person.browser.close()
    assert [problem for person in made for problem in person.problems] == []
