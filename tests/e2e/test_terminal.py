"""Terminals as people meet them: closed tabs, lost networks, floods, odd characters, pastes, two tabs, signing out."""

from __future__ import annotations

import re

import pytest

from tests.e2e.person import Person

pytestmark = [pytest.mark.browser, pytest.mark.sandbox]

#: Counts for ever, a line every 20 ms: a line that is lost or doubled shows. A program of its own, because a Ctrl+C that
#: comes between two commands of an interactive shell's loop reaches neither of them.
COUNTER = "sh -c 'i=0; while :; do echo n$i; i=$((i+1)); sleep 0.02; done'"


def numbers(person: Person, *, page=None) -> list[int]:
    return [int(found) for found in re.findall(r"^n(\d+)$", person.screen(page=page), re.MULTILINE)]


def counts_on(person: Person, beyond: int, *, page=None) -> list[int]:
    return person.until(
        lambda: (found := numbers(person, page=page)) and found[-1] > beyond and found,
        f"the counter goes beyond {beyond}",
        page=page,
    )


def test_a_closed_tab_finds_the_same_shell_with_every_line_once(people):
    """FC-27, FC-29, FC-30."""
    alice = people("alice").sign_up().begin()
    shell = alice.run_command("echo $$").split()[-1]
    alice.type(f"{COUNTER}\n")
    before = counts_on(alice, 30)[-1]
    alice.page.close()
    alice.come_back()
    # what happened in between is not missing
    seen = counts_on(alice, before + 60)
    assert seen == list(range(seen[-1] + 1))
    alice.page.locator("#wb-interrupt").click()
    assert alice.run_command("echo $$").split()[-1] == shell


def test_a_lost_network_loses_and_doubles_no_line(people, stack):
    """FC-27, FC-28, FC-29, FC-35: the words on the page follow the connection, and go away with it."""
    alice = people("alice").sign_up().begin()
    alice.type(f"{COUNTER}\n")
    counts_on(alice, 20)
    for _ in range(2):
        alice.lose_network()
        alice.until(
            lambda: "Reconnecting" in alice.page.locator("#wb-connection").inner_text(), "the page says that it is away"
        )
        assert "files are kept" in alice.page.locator("#wb-connection").inner_text()
        last = numbers(alice)[-1]
        alice.find_network()
        alice.until_connected()
        seen = counts_on(alice, last + 20)
        assert seen == list(range(seen[-1] + 1))


def test_two_tabs_show_one_shell(people):
    alice = people("alice").sign_up().begin()
    first = alice.page
    second = alice.come_back()
    assert alice.run_command("echo from-the-second", page=second)
    alice.until(lambda: "\nfrom-the-second" in alice.screen(page=first), "the first tab shows it too", page=first)
    assert alice.run_command("echo from-the-first", page=first)
    alice.until(lambda: "\nfrom-the-first" in alice.screen(page=second), "the second tab shows it too", page=second)
    shells = {alice.run_command("echo $$", page=page).split()[-1] for page in (first, second)}
    assert len(shells) == 1


def test_a_narrow_tab_that_closes_gives_the_width_back(people):
    """FC-25."""
    alice = people("alice").sign_up().begin()
    first = alice.page
    wide = alice.run_command("stty size").split()[-1]
    second = alice.new_tab()
    second.set_viewport_size({"width": 1100, "height": 700})
    second.goto(f"/runs/{alice.run}/")
    alice.until_connected(page=second)
    alice.run_command("echo narrow", page=second)
    second.close()
    alice.until(lambda: alice.run_command("stty size", page=first).split()[-1] == wide, "the first tab's width is back")


def test_signing_out_in_another_tab_closes_the_terminal_with_words(people):
    """FC-38: with a way to sign in again, and without trying for ever."""
    alice = people("alice").sign_up().begin()
    other = alice.new_tab()
    other.goto("/")
    other.get_by_role("button", name="Sign out").click()
    other.get_by_role("banner").get_by_role("link", name="Sign in").wait_for()
    line = alice.page.locator("#wb-connection")
    alice.until(lambda: "Signed out" in line.inner_text(), "the terminal says that she is signed out")
    asked: list[str] = []
    alice.page.on("request", lambda request: asked.append(request.url))
    alice.page.on("websocket", lambda socket: asked.append(socket.url))
    alice.page.evaluate("new Promise(done => setTimeout(done, 1500))")  # time in which a loop would show
    assert asked == []
    line.get_by_role("link", name="Sign in").click()
    alice.page.locator("[name=login]").fill(alice.name)
    alice.page.locator("[name=password]").fill("correct-horse-battery-9")
    alice.page.locator("main form button").first.click()
    alice.page.wait_for_url(f"**/runs/{alice.run}/")
    alice.until_connected()


def test_a_flood_ends_with_ctrl_c_and_the_page_stays_usable(people):
    """FC-5, FC-7."""
    alice = people("alice").sign_up().begin()
    alice.type("yes flood\n")
    alice.until(lambda: alice.screen().count("flood") > 1000, "the flood is on")
    alice.page.keyboard.press("Control+C")
    alice.until(lambda: re.search(r"\^C[^\n]*\n?[^\n]*\$ ?$", alice.screen()), "the prompt is back")
    assert "still-here" in alice.run_command("echo still-here")


def test_the_interrupt_button_ends_a_flood_without_the_keyboard(people):
    """FC-9, and a fresh terminal opens while the first is flooded."""
    alice = people("alice").sign_up().begin()
    alice.type("cat /dev/zero | tr '\\0' 'z'\n")
    alice.until(lambda: "zzzzzzzz" in alice.screen(), "the flood is on")
    alice.page.get_by_role("button", name="+ terminal").click()
    alice.until(lambda: "$" in alice.screen(2), "the second terminal has a prompt")
    assert "second" in alice.run_command("echo second", number=2)
    alice.page.get_by_role("tab", name="Terminal 1").click()
    alice.page.locator("#wb-interrupt").click()
    alice.until(lambda: alice.screen().endswith("$"), "the prompt is back")
    assert "still-here" in alice.run_command("echo still-here")


@pytest.mark.parametrize("reader", [False, True], ids=["plain", "screen reader"])
def test_every_script_arrives_typed_and_pasted(people, reader):
    """What an input method, an emoji panel or dictation inserts arrives as typed keys do, also for screen readers."""
    alice = people("alice").sign_up().begin()
    alice.go_home()
    if reader:
        alice.page.get_by_role("button", name="Reader").click()
    words = "你好，钻井 日报 🛢️👷🏽‍♀️ Größe — “x”"
    alice.read_into("typed")
    alice.type(words + "\n")
    alice.page.keyboard.press("Control+D")
    alice.read_into("inserted")
    alice.page.keyboard.insert_text(words)
    alice.page.keyboard.press("Enter")
    alice.page.keyboard.press("Control+D")
    alice.read_into("pasted")
    alice.paste(words + "\n")
    alice.page.keyboard.press("Control+D")
    expected = words.encode().hex()
    for name in ("typed", "inserted", "pasted"):
        out = alice.run_command(f"head -c -1 {name} | xxd -p | tr -d '\\n'; echo")
        assert "".join(out.split()) == expected, name


def test_a_composition_of_an_input_method_arrives_once(people):
    """Chinese as an input method makes it: letters, a choice, the word; through the browser's own composition events."""
    alice = people("alice").sign_up().begin()
    alice.go_home()
    alice.read_into("composed")
    keyboard = alice.browser.new_cdp_session(alice.page)
    for part in ("n", "ni", "ni h", "你好"):
        keyboard.send("Input.imeSetComposition", {"text": part, "selectionStart": len(part), "selectionEnd": len(part)})
    keyboard.send("Input.insertText", {"text": "你好"})
    alice.page.keyboard.press("Enter")
    alice.page.keyboard.press("Control+D")
    assert alice.run_command("cat composed").split() == ["你好"]


def test_characters_that_straddle_two_reads_are_drawn_whole(people):
    """FC-1, FC-4: also the one whose first part ends in 0x80."""
    alice = people("alice").sign_up().begin()
    shown = alice.run_command(
        "printf 'A\\xe2'; sleep 0.3; printf '\\x94\\x80B '; printf 'C\\xe2\\x80'; sleep 0.3; printf '\\x94D\\n'"
    )
    assert "A─B C—D" in shown


def test_a_paste_arrives_exactly_once_and_ctrl_v_stays_the_shells(people):
    """FC-15: Ctrl+Shift+V pastes, as in every terminal; Ctrl+V is a key that programs want."""
    alice = people("alice", permissions=["clipboard-write"]).sign_up().begin()
    alice.go_home()
    alice.page.evaluate("navigator.clipboard.writeText('once-only ')")
    alice.read_into("pasted")
    alice.page.keyboard.press("Control+Shift+V")
    alice.until(lambda: "once-only" in alice.screen(), "the paste arrives")
    alice.page.keyboard.press("Control+V")  # the terminal's own: the next key is taken as it is
    alice.page.keyboard.press("Control+D")
    alice.page.keyboard.press("Enter")
    alice.page.keyboard.press("Control+D")
    assert alice.run_command("cat -A pasted").split() == ["once-only", "^D$"]


def test_a_long_pasted_line_is_warned_of_and_a_long_paste_is_whole(people):
    """FC-10, FC-13."""
    alice = people("alice").sign_up().begin()
    alice.go_home()
    lines = "".join(f"{number:06d} the quick brown fox jumps over the lazy dog\n" for number in range(4000))
    alice.read_into("pasted")
    alice.paste(lines)
    assert alice.page.locator("#wb-notice").is_hidden()
    # Not the echo is waited for: while a reader is behind, the kernel may keep the rest of it until the next key.
    alice.page.keyboard.press("Control+D")
    size, last = alice.run_command("wc -c < pasted; tail -n 1 pasted | cut -c1-6").split()
    assert (int(size), last) == (len(lines), "003999")
    alice.read_into("long")
    alice.paste("x" * 6000 + "\n")
    notice = alice.page.locator("#wb-notice")
    notice.wait_for()
    assert "4,095" in notice.inner_text()
    assert "Upload" in notice.inner_text()


def test_a_pane_that_was_hidden_while_the_window_changed_fits_when_it_is_back(people):
    """FC-23, FC-24."""
    alice = people("alice", viewport={"width": 1000, "height": 800}).sign_up().begin()
    page = alice.page
    bar = page.get_by_role("navigation", name="Panes")
    bar.get_by_role("button", name="People").click()
    for width in (700, 500, 640, 900):
        page.set_viewport_size({"width": width, "height": 760})
    bar.get_by_role("button", name="Terminal").click()
    shape = "[Workbench.terminals.open.get(1).term.rows, Workbench.terminals.open.get(1).term.cols]"

    def fits() -> bool:
        rows, columns = page.evaluate(shape)
        cell = page.locator(".xterm-screen").bounding_box()
        return columns > 80 and cell["width"] <= 900 and rows > 10

    alice.until(fits, "the terminal has the pane's size again")
    alice.until(
        lambda: [int(part) for part in alice.run_command("stty size").split()[-2:]] == page.evaluate(shape),
        "the shell knows that size",
    )


def test_dead_programs_leave_no_mouse_codes_behind(people):
    """FC-32: a shell that ends with mouse tracking on is followed by a clean one."""
    alice = people("alice").sign_up().begin()
    alice.type("printf '\\033[?1000h\\033[?1006h'; exit\n")
    alice.until(lambda: "press Enter" in alice.screen(), "the page says that the shell has ended")
    alice.page.keyboard.press("Enter")
    alice.until(lambda: alice.screen().rstrip().endswith("$"), "a new shell is there")
    alice.until_connected()
    box = alice.page.locator(".xterm-screen").bounding_box()
    alice.page.mouse.click(box["x"] + 50, box["y"] + 50)
    assert alice.run_command("echo clean").split() == ["clean"]


def test_nothing_that_a_program_prints_or_somebody_copied_acts_by_itself(people):
    """FC-15, FC-17, FC-47: titles, clipboard and links of programs, control characters in a paste, copying without https."""
    alice = people("alice", permissions=["clipboard-write"]).sign_up().begin()
    page, opened = alice.page, []
    page.on("popup", lambda other: opened.append(other))
    title = page.title()
    alice.go_home()
    page.evaluate(
        "() => { window.written = []; navigator.clipboard.writeText = async text => { window.written.push(text); }; }"
    )
    alice.run_command(
        "printf '\\033]0;<img src=x onerror=alert(1)>\\007\\033]52;c;aGFja2Vk\\007"
        "\\033]8;;javascript:alert(1)\\007a-link\\033]8;;\\007\\n'"
    )
    assert page.title() == title
    assert page.evaluate("window.written") == [], "a program wrote into the clipboard"
    link = page.locator(".wb-terminal:not([hidden]) .xterm-rows span", has_text="a-link").last.bounding_box()
    page.mouse.click(link["x"] + link["width"] / 2, link["y"] + link["height"] / 2)
    assert opened == []

    # text that ends its own paste and goes on as keys: the shell shows it and waits
    alice.paste("echo first\x1b[201~\necho pressed > by-itself\n")
    assert "left out" in page.locator("#wb-notice").inner_text()
    page.keyboard.press("Control+C")
    assert alice.run_command("ls by-itself").strip().endswith("No such file or directory")

    # on plain http the browser has no clipboard to offer: the older way takes the selection
    page.evaluate("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    page.evaluate(
        "window.copied = []; addEventListener('copy', () => copied.push(document.activeElement.value), true);"
        "Workbench.terminals.open.get(1).term.selectAll()"
    )
    page.keyboard.press("Control+Shift+C")
    alice.until(lambda: page.evaluate("copied.some(text => text && text.includes('a-link'))"), "the copy by selection")
