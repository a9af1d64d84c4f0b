"""Requests that no page of ours sends: each gets words, in the form it asked for, and changes nothing."""

from __future__ import annotations

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

pytestmark = pytest.mark.django_db

BY_JSON = ("terminals/ticket/", "messages/", "wait/", "file/")
NO_OBJECTS = {
    "nothing": b"",
    "a list": b"[]",
    "nested without end": b"[" * 200_000,
    "objects without end": b'{"a":' * 100_000,
    "no UTF-8": b'{"a":"\xff"}',
    "a number of 5,000 digits": b'{"terminal":' + b"9" * 5000 + b"}",
    "not a number": b'{"terminal":NaN}',
    "17 MB": b'"' + b"x" * 17_000_000 + b'"',
}
ODD_PATHS = ("\0", "system/\0", "\ud800", "system/\ud800", "x" * 5000, "/etc/passwd", "../x", "docs/../../facts.toml")


@pytest.fixture
def bench(alice, runs_at_bakery, visit):
    """``bench("file/")``: the address of alice's open run; ``bench.browser``: hers."""
    run = runs_at_bakery(alice)

    def address(name: str) -> str:
        return f"/runs/{run.id}/{name}"

    address.browser = visit(alice)
    address.browser.raise_request_exception = False
    return address


@pytest.fixture(autouse=True)
def _workspace_that_only_knows_what_it_is_told(monkeypatch):
    """No keeper: these requests must end before anything is asked of it."""
    from fdegym.pages import workbench

    def refuse(*_of_what, **_how):
        raise AssertionError("a request that says nothing reached the workspace")

    for name in ("put_file", "read_file", "read_beginning", "delete_path", "rename_path", "list_directory"):
        monkeypatch.setattr(workbench.workspace, name, refuse)
    monkeypatch.setattr(workbench.workspace, "touch", lambda run_id: None)


def assert_words(answer) -> None:
    assert 400 <= answer.status_code < 500
    assert answer.json()["error"].endswith(".")


@pytest.mark.parametrize("body", NO_OBJECTS.values(), ids=NO_OBJECTS)
@pytest.mark.parametrize("name", BY_JSON)
def test_a_body_that_is_no_object_is_refused_in_words(bench, name, body):
    answer = bench.browser.post(
        bench(name), body, content_type="application/json", headers={"Accept": "application/json"}
    )
    assert_words(answer)


@pytest.mark.parametrize("terminal", [True, False, 0, -1, 1.0, "1", [1], {}, None, 100])
def test_a_terminal_is_named_by_a_small_number_and_nothing_else(bench, terminal):
    body = json.dumps({"terminal": terminal})
    assert_words(bench.browser.post(bench("terminals/ticket/"), body, content_type="application/json"))


@pytest.mark.parametrize("path", ODD_PATHS)
@pytest.mark.parametrize("action", ["save", "delete", "rename"])
def test_a_path_that_no_file_can_have_is_refused_in_words(bench, path, action):
    body = json.dumps({"path": path, "action": action, "text": "x", "to": path})
    assert_words(bench.browser.post(bench("file/"), body, content_type="application/json"))


@pytest.mark.parametrize(
    "path", ["%00", "docs/%00", "x" * 300, "x" * 5000, "%ff", "../briefs", "docs/../../facts.toml"]
)
def test_a_document_that_cannot_be_is_not_found(bench, path, monkeypatch, tmp_path):
    from types import SimpleNamespace

    from fdegym.pages import workbench

    (tmp_path / "docs").mkdir()
    (tmp_path / "briefs").mkdir()
    monkeypatch.setattr(workbench, "ensure_world", lambda *_: SimpleNamespace(visible=tmp_path))
    answer = bench.browser.get(f"{bench('document/')}?path={path}")
    assert answer.status_code == 404
    assert_words(answer)


def test_a_text_with_half_a_character_is_not_written_and_says_where_it_is(bench):
    body = json.dumps({"path": "system/x", "action": "save", "text": "ab\ud800c"})
    answer = bench.browser.post(bench("file/"), body, content_type="application/json")
    assert_words(answer)
    assert "Character 3" in answer.json()["error"]


def test_an_upload_of_nothing_or_of_too_many_files_is_refused_in_words(bench):
    json_please = {"Accept": "application/json"}
    assert_words(bench.browser.post(bench("file/"), {"path": "deliverables"}, headers=json_please))
    many = [SimpleUploadedFile(f"f{number}", b"x") for number in range(150)]
    answer = bench.browser.post(bench("file/"), {"path": "deliverables", "files": many}, headers=json_please)
    assert_words(answer)
    assert "100" in answer.json()["error"]


def test_a_refused_request_for_a_page_gets_a_page(bench):
    many = [SimpleUploadedFile(f"f{number}", b"x") for number in range(150)]
    answer = bench.browser.post(bench("file/"), {"files": many}, headers={"Accept": "text/html"})
    assert answer.status_code == 400
    assert b"could not be understood" in answer.content


def test_a_run_that_is_being_prepared_says_that_it_cannot_be_worked_in_yet(alice, runs_at_bakery, visit):
    run = runs_at_bakery(alice, state="preparing")
    words = visit(alice).get(f"/runs/{run.id}/survey/").json()["error"]
    assert words == "This run is being prepared: it cannot be worked in yet."
