"""The editor beside the terminal: both write the same files, and neither loses what the other wrote."""

from __future__ import annotations

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.sandbox]

CONTRACT = "system/config/contract.toml"


def _open(person, name, *folders):
    page = person.page
    page.locator("#tab-files").click()
    for folder in folders:
        page.locator(".wb-entry.directory", has_text=f"{folder}/").last.click()
    page.locator(".wb-entry", has_text=name).click()
    person.until(
        lambda: name in page.locator(".wb-editor:not([hidden]) .wb-editor-bar").inner_text(), "an editor opens"
    )


def _shown(person):
    return person.page.locator(".wb-editor:not([hidden]) .cm-content").inner_text()


def _to(person, title):
    person.page.locator("#wb-centre-tabs [role=tab]", has_text=title).click()


def test_an_open_editor_shows_what_the_shell_wrote_meanwhile(people):
    alice = people("alice").sign_up().begin()
    _open(alice, "contract.toml", "system", "config")
    assert "written by the shell" not in _shown(alice)
    _to(alice, "Terminal 1")
    alice.run_command(f"echo '# written by the shell' >> {CONTRACT}")
    _to(alice, "contract.toml")
    alice.until(lambda: "written by the shell" in _shown(alice), "the file is read again")
    assert alice.page.locator("#wb-centre-tabs .dirty").count() == 0


def test_what_is_not_saved_is_neither_read_over_nor_written_over_without_asking(people):
    alice = people("alice").sign_up().begin()
    asked = []
    alice.page.on("dialog", lambda dialog: (asked.append(dialog.message), dialog.dismiss()))
    _open(alice, "contract.toml", "system", "config")
    alice.page.locator(".wb-editor:not([hidden]) .cm-content").click()
    alice.page.keyboard.press("Control+End")
    alice.page.keyboard.type("# of the editor")
    _to(alice, "Terminal 1")
    alice.run_command(f"echo '# of the shell' >> {CONTRACT}")
    _to(alice, "contract.toml")
    assert "# of the editor" in _shown(alice)
    alice.page.get_by_role("button", name="Save").click()
    alice.until(lambda: asked, "the person is asked")
    assert "has changed on disk" in asked[0]
    assert "# of the editor" in _shown(alice)
    _to(alice, "Terminal 1")
    assert alice.run_command(f"tail -n 1 {CONTRACT}").strip() == "# of the shell"


def test_a_new_file_stands_in_the_tree_and_on_disk_at_once_and_only_where_one_may_write(people):
    alice = people("alice").sign_up().begin()
    answers = ["docs/mine.md", "system/npt/fresh.py"]
    alice.page.on("dialog", lambda dialog: dialog.accept(answers.pop(0)))
    alice.page.locator("#tab-files").click()
    for folder in ("system", "npt"):
        alice.page.locator(".wb-entry.directory", has_text=f"{folder}/").last.click()
    alice.page.get_by_role("button", name="New file").click()
    alice.until(lambda: "Nothing was made" in alice.page.locator("#wb-notice").inner_text(), "the refusal in words")
    alice.page.get_by_role("button", name="New file").click()
    alice.until(lambda: alice.page.locator("#wb-tree", has_text="fresh.py").count(), "the new file in the tree")
    _to(alice, "Terminal 1")
    assert alice.run_command("wc -c < system/npt/fresh.py").strip() == "0"


def test_the_directory_and_the_systems_readme_stand_first_among_the_documents(people):
    alice = people("alice").sign_up().begin()
    alice.page.locator("#tab-documents").click()
    paths = alice.page.locator("#wb-documents small").all_inner_texts()
    assert paths[:2] == ["directory.md", "system/README.md"]
    alice.page.locator("[data-document='system/README.md']").click()
    alice.until(
        lambda: "How production calls it" in alice.page.locator("#wb-document").inner_text(), "the rendered README"
    )
