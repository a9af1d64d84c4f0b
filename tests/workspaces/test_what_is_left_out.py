"""A person is told before handing in what a submission cannot hold, and it is just what the freezing leaves out."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fdegym.delivery import submit
from fdegym.delivery.left_out import left_out_of, visible_name, would_be_left_out
from fdegym.pages.debrief import Names, timeline_of
from fdegym.runs import log
from fdegym.runs.models import Run
from workspaces import services

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.sandbox]

#: Done in ``system/`` by the person: everything a folder can hold, under every name that it can have.
ODD = r"""
import os, socket
os.chdir("/workspace/system")
for name in (b"line\nbreak", b"\xff\xfe", "\u202egpj.exe".encode(), b"x" * 255, b" ", b"-rf", b"{{ 7 * 7 }}", b"<b>"):
    open(name, "w").close()
    os.symlink(b"/etc/passwd", b"to_" + name[:200])
os.mkfifo("pipe")
socket.socket(socket.AF_UNIX).bind("socket")
os.link("main.py", "the same")
open("setuid", "w").close(); os.chmod("setuid", 0o6755)
open("closed", "w").close(); os.chmod("closed", 0)
os.mkdir("shut"); os.symlink("a", "shut/link"); os.mkdir("__pycache__"); os.symlink("a", "__pycache__/link")
os.symlink("/workspace", "everything"); os.symlink("nowhere", "dangling"); os.symlink(".", "loop")
folder = os.open(".", os.O_RDONLY)
for number in range(70):
    os.mkdir("d" * 200, dir_fd=folder)
    folder = os.open("d" * 200, os.O_RDONLY, dir_fd=folder)
"""


@pytest.fixture
def run(alice: Any, make_run: Callable[..., Run], open_run: Callable[[], str], tmp_path: Path, settings: Any) -> Run:
    settings.SUBMISSION_DIR = tmp_path / "submissions"
    return make_run(alice, id=open_run())


def do(run: Run, program: str) -> None:
    done = services.run_in_workspace(str(run.id), ["python3", "-c", program])
    assert done.exit_status == 0, done.stderr.decode()


def test_nothing_is_said_of_a_system_as_it_should_be(run: Run) -> None:
    do(run, "import os; os.makedirs('/workspace/system/a/b'); open('/workspace/system/a/b/plain.txt', 'w').close()")
    assert would_be_left_out(run).count == 0


def test_what_is_told_before_is_what_the_freezing_leaves_out(run: Run, tmp_path: Path) -> None:
    do(run, ODD)
    told = would_be_left_out(run)
    frozen = services.freeze_system(str(run.id), tmp_path / "frozen.tar")
    assert told == left_out_of(frozen.skipped)
    assert told.count == 15
    assert dict(told.first)["everything"] == "a link: put the file itself there"
    assert dict(told.first)["pipe"] == "a pipe, socket or device"
    assert "deeper than 64 folders" in {words for _, words in told.first}
    assert all(path.isprintable() for path, _ in told.first)
    with tarfile.open(frozen.path) as tar:
        modes = {member.name: (member.type, member.mode) for member in tar}
    assert modes["setuid"] == (tarfile.REGTYPE, 0o755)
    assert modes["the same"] == modes["closed"] == (tarfile.REGTYPE, 0o644)


def test_of_very_many_the_first_are_named_and_all_are_counted(run: Run, tmp_path: Path) -> None:
    do(run, "import os\nfor n in range(900): os.symlink('x', f'/workspace/system/link_{n:04}')")
    told = would_be_left_out(run)
    assert (told.count, len(told.first), told.first[0][0]) == (900, 20, "link_0000")


def test_the_log_and_the_timeline_say_what_was_left_out(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    do(run, "import os; os.symlink('/tmp/x.py', '/workspace/system/rule.py')")
    monkeypatch.setattr(submit, "wake", lambda *_: None)
    submit.submit_run(run.id)
    (frozen,) = log.events(run.id, kinds=["run.frozen"])
    assert frozen.payload["left_out"] == {
        "count": 1,
        "first": [{"path": "rule.py", "words": "a link: put the file itself there"}],
    }
    words = [entry.words for entry in timeline_of([frozen], Names({}))]
    assert words == ["System frozen: 1 files; 1 left out: rule.py (a link: put the file itself there)"]


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a b.py", "a b.py"),
        ("报告.csv", "报告.csv"),
        ("x\ny", r"x\ny"),
        ("\u202egpj", r"\u202egpj"),
        ("\udcff", r"\udcff"),
    ],
)
def test_a_name_is_shown_so_that_it_hides_nothing(name: str, shown: str) -> None:
    assert visible_name(name) == shown
    assert json.loads(json.dumps(visible_name(name))) == shown
