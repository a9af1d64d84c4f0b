"""What a person does in the browser: sign up, begin, type, write, hand in. Words and places as they stand on the page."""

from __future__ import annotations

import base64
import itertools
import os
import re
import time
from collections.abc import Callable, Mapping
from typing import Any

from tests.e2e.stack import Stack

PASSWORD = "correct-horse-battery-9"
SCENARIO = "oil_npt"
SOON_GRADED = "fund_recon"  #: for tests of handing in and grading, whatever is delivered
_numbers = itertools.count(1)

#: The text of a terminal with lines that were wrapped put together again; ``n`` is the terminal's number.
SCREEN = """n => { const view = window.Workbench && Workbench.terminals && Workbench.terminals.open.get(n);
  if (!view) return ""; const buffer = view.term.buffer.active; const lines = [];
  for (let at = 0; at < buffer.length; at += 1) { const line = buffer.getLine(at);
    const text = line.translateToString(!(buffer.getLine(at + 1)?.isWrapped));
    if (line.isWrapped && lines.length) lines[lines.length - 1] += text; else lines.push(text); }
  return lines.join("\\n").trimEnd(); }"""


#: What the browser does with Ctrl+V, at what has the focus.
PASTE = """text => { const data = new DataTransfer(); data.setData("text/plain", text);
  const options = {clipboardData: data, bubbles: true, cancelable: true};
  document.activeElement.dispatchEvent(new ClipboardEvent("paste", options)); }"""


class Person:
    """Somebody with a browser (a context) of her own; ``page`` is the tab she looks at."""

    def __init__(self, stack: Stack, chromium: Any, name: str, **options: Any) -> None:
        self.stack = stack
        self.name = f"{name}{os.getpid()}x{next(_numbers)}"
        options = {"viewport": {"width": 1440, "height": 900}} | options
        self.browser = chromium.new_context(base_url=stack.address, **options)
        self.browser.set_default_timeout(30_000)
        self.problems: list[str] = []
        self.page = self.new_tab()
        self.run = ""

    def new_tab(self) -> Any:
        page = self.browser.new_page()
        page.on("pageerror", lambda error: self.problems.append(f"{page.url}: {error}"))
        page.on("console", lambda line: self._console(page, line))
        return page

    def _console(self, page: Any, line: Any) -> None:
        # the browser itself reports every request that failed: being offline is no fault of the page
        if line.type == "error" and "Failed to load resource" not in line.text and "WebSocket" not in line.text:
            self.problems.append(f"{page.url}: {line.text}")

    def until(self, look: Callable[[], Any], what: str, *, within_s: float = 30.0, page: Any = None) -> Any:
        """What ``look`` finds as soon as it finds something; the browser goes on meanwhile."""
        page = page or self.page
        deadline = time.monotonic() + within_s
        while True:
            if found := look():
                return found
            if time.monotonic() > deadline:
                seen = self.screen(page=page) or page.locator("main").inner_text()
                raise AssertionError(
                    f"not within {within_s:.0f} s: {what}; at {page.url}\n--- seen ---\n{seen[-3000:]}"
                )
            page.wait_for_timeout(60)

    # ---- arriving

    def sign_up(self) -> Person:
        self.page.goto("/account/sign-up/")
        self.page.get_by_label("Username").fill(self.name)
        self.page.locator("[name=password1]").fill(PASSWORD)
        self.page.locator("[name=password2]").fill(PASSWORD)
        self.page.get_by_role("button", name="Create the account").click()
        mine = self.page.get_by_role("banner").get_by_role("link", name="My runs")
        self.until(mine.is_visible, "signed in")
        return self

    def begin(self, level: str = "L3", scenario: str = SCENARIO) -> Person:
        """Choose the scenario in the catalogue and begin; ends when the first terminal has a prompt."""
        self.page.goto("/scenarios/")
        self.page.locator(f"a[href='/scenarios/{scenario}/']").first.click()
        self.page.locator(f"input[name=level][value={level}]").check()
        self.page.get_by_role("button", name=re.compile("^Begin")).click()
        self.until(
            lambda: self.page.locator(".xterm-screen").first.is_visible(),
            "the workbench opens",
            within_s=60,
        )
        self.run = self.page.url.rstrip("/").rpartition("/")[2]
        self.until_connected()
        self.until(self.screen, "the shell's first prompt")
        return self

    def come_back(self) -> Any:
        """A new tab at the run's address."""
        self.page = self.new_tab()
        self.page.goto(f"/runs/{self.run}/")
        self.until_connected()
        return self.page

    def until_connected(self, *, page: Any = None, within_s: float = 60.0) -> None:
        page = page or self.page
        line = page.locator("#wb-connection")
        self.until(lambda: line.text_content() == "Connected", "the page says Connected", within_s=within_s, page=page)

    def lose_network(self) -> None:
        self.browser.set_offline(True)

    def find_network(self) -> None:
        self.browser.set_offline(False)

    # ---- terminal

    def screen(self, number: int = 1, *, page: Any = None) -> str:
        return str((page or self.page).evaluate(SCREEN, number))

    def focus_terminal(self, *, page: Any = None) -> None:
        (page or self.page).locator(".wb-terminal:not([hidden]) .xterm-screen").click()

    def type(self, text: str, *, page: Any = None) -> None:
        """Key by key into the terminal in sight."""
        self.focus_terminal(page=page)
        (page or self.page).keyboard.type(text)

    def paste(self, text: str, *, page: Any = None) -> None:
        """What the browser does with Ctrl+V: one paste event with the clipboard's text, at what has the focus."""
        self.focus_terminal(page=page)
        (page or self.page).evaluate(
            PASTE,
            text,
        )

    def run_command(self, command: str, *, within_s: float = 60.0, page: Any = None, number: int = 1) -> str:
        """Type a command and give what it printed; ends when its exit status shows."""
        mark = f"m{next(_numbers)}"
        # the mark in what is typed is split, so that only the output has it in one piece
        self.type(f"{command}; echo {mark[0]}'{mark[1:]}' $?\n", page=page)
        pattern = re.compile(rf"^{mark} (\d+)$", re.MULTILINE)
        self.until(
            lambda: pattern.search(self.screen(number, page=page)), f"{command} ends", within_s=within_s, page=page
        )
        text = self.screen(number, page=page)
        return text[text.rindex(f"{mark[0]}'{mark[1:]}' $?") :].partition("\n")[2].rpartition(f"{mark} ")[0]

    def go_home(self) -> None:
        """Into the one directory below which anything may be written that is not handed in."""
        self.run_command("cd")

    def read_into(self, name: str) -> None:
        """Start a program that writes what it reads into a file; ends when it reads (keys before that are the shell's)."""
        mark = f"m{next(_numbers)}"
        self.type(f"echo {mark[0]}'{mark[1:]}'; cat > {name}\n")
        self.until(lambda: re.search(f"^{mark}$", self.screen(), re.MULTILINE), f"cat reads into {name}")

    def put_into_system(self, files: Mapping[str, bytes]) -> None:
        """Paste files through the terminal as a person with a clipboard does: as text that the shell decodes."""
        for path, content in files.items():
            lines = base64.encodebytes(content).decode()
            self.type(f"mkdir -p system/$(dirname {path}); base64 -d > system/{path} <<'EOF'\n")
            self.paste(f"{lines}EOF\n")
            out = self.run_command(f"wc -c < system/{path}")
            assert out.split()[-1] == str(len(content)), f"{path}: {out}"

    # ---- people

    def write(self, who: str, text: str) -> None:
        """Write to a person in the chat pane (opens her conversation first)."""
        page = self.page
        if page.locator("#wb-talk-back").is_visible():
            page.locator("#wb-talk-back").click()
        page.locator(f"[data-person={who}]").click()
        page.locator("#wb-text").fill(text)
        page.locator("#wb-text").press("Control+Enter")

    def conversation(self) -> list[str]:
        """The words in the conversation that is open, in order."""
        return [text.strip() for text in self.page.locator("#wb-messages .words").all_text_contents()]

    def answered(self, text: str) -> bool:
        """Whether the conversation shows the message once, and after it an answer of the person's."""
        spoken = self.page.locator("#wb-messages li").evaluate_all(
            "items => items.map(item => [item.className.trim(), item.querySelector('.words').textContent])"
        )
        mine = [at for at, (side, words) in enumerate(spoken) if side == "mine" and words.strip() == text.strip()]
        return len(mine) == 1 and mine[0] + 1 < len(spoken) and spoken[mine[0] + 1][0] == "theirs"

    # ---- handing in

    def open_submit(self) -> Any:
        """The confirmation, read through: it has listed what changed."""
        self.page.locator("#wb-submit-open").click()
        self.until(lambda: self.page.locator("#wb-submit-go").is_enabled(), "the survey is there", within_s=90)
        return self.page.locator("#wb-submit")

    def submit(self) -> None:
        self.page.locator("#wb-submit-go").click()
        self.page.wait_for_url("**/grading/", timeout=60_000)

    def await_debrief(self, within_s: float = 240.0) -> None:
        self.page.wait_for_url("**/debrief/", timeout=within_s * 1000)
