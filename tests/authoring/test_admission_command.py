"""``manage.py admit`` as an author types it, on a toy with real sandboxes: admitted, kept, interrupted, killed, resumed."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from grading.anchors import read_anchors
from scenarios.kit.load import load_scenario
from stakeholders.matcher.fitted import SHIPPED
from tests.authoring.toy import NAME, write_toy
from tests.e2e.stack import CHECKOUT, clean_environment, own_directory
from tests.sampling import in_turn
from tests.waiting import until

pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(1200)]
PATIENCE_S = 600.0
SOME = ("--task", "kept", "--task", "fee", "--only", "always_net", "--only", "letter")
IN_ALL = 8  #: plays of them, with the two ends of U


#: Each begins an admission of its own and stops it in the middle: one with every commit.
INTERRUPTED = ("by Ctrl-C", "killed", "a worker killed")


def interrupted(how: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(not in_turn(how, INTERRUPTED), reason="another commit interrupts in this way")


class Author:
    """Somebody with a directory, a toy in it, and a shell."""

    def __init__(self, directory: Path) -> None:
        self.var = directory / "var"
        self.folder = write_toy(directory)
        self.environment = clean_environment(FDEGYM_VAR=str(self.var), SCENARIO_DIRS=str(directory))

    def begin(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "manage.py", "admit", NAME, *arguments],
            cwd=CHECKOUT,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            # whoever runs the tests in the background has Ctrl-C switched off, and all they start
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )

    def admit(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        process = self.begin(*arguments)
        said, errors = process.communicate(timeout=PATIENCE_S)
        return subprocess.CompletedProcess(process.args, process.returncode, said, errors)

    @property
    def place(self) -> Path:
        return self.var / "admission"

    def kept(self) -> list[Path]:
        return list((self.place / "kept").glob("*.json"))

    def processes(self) -> list[int]:
        """Processes of admission in this place, the command itself not among them."""
        mark = f"FDEGYM_VAR={self.place}\0".encode()
        return [int(path.parent.name) for path in Path("/proc").glob("[0-9]*/environ") if mark in _bytes(path)]

    def workers(self) -> list[int]:
        return [pid for pid in self.processes() if b"admission.worker" in _bytes(Path(f"/proc/{pid}/cmdline"))]

    def is_quiet(self) -> bool:
        """Nobody of admission is left, and no workspace."""
        return not self.processes() and not self.workspaces()

    def workspaces(self) -> list[Path]:
        return list((self.place / "sandboxes").glob("[0-9a-f]*-*"))


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def played(done: subprocess.CompletedProcess[str]) -> list[str]:
    """The pieces of work that a command did, by its progress in a pipe."""
    return re.findall(r"^\[ *\d+/\d+\] (.+?), \d+ s", done.stderr, flags=re.M)


def plays_among(pieces: list[str]) -> list[str]:
    return [piece for piece in pieces if "both ends" not in piece]


@pytest.fixture(scope="module")
def directory() -> Iterator[Path]:
    made = own_directory("fa-")
    yield made
    shutil.rmtree(made, ignore_errors=True)


@pytest.fixture(scope="module")
def author(directory: Path) -> Author:
    return Author(directory)


@pytest.fixture
def beginner() -> Iterator[Author]:
    """An author who has played nothing yet."""
    made = own_directory("fb-")
    author = Author(made)
    yield author
    until(author.is_quiet, "admission's processes are gone", within_s=120)
    shutil.rmtree(made, ignore_errors=True)


def test_what_was_played_is_kept_and_only_what_changed_is_played_again(author: Author, tmp_path: Path) -> None:
    found = tmp_path / "found.json"
    first = author.admit("--only", "plays", "--json", str(found))
    assert first.returncode == 0, first.stdout + first.stderr
    assert len(plays_among(played(first))) == len(author.kept()) == 20
    tasks = json.loads(found.read_text())["scenarios"][NAME]["tasks"]
    assert list(tasks) == ["original", "kept", "fee"]
    scores = {name: row["score"] for name, row in tasks["fee"]["solutions"].items()}
    assert scores == {
        "reference": 1.0, "do_nothing": 0.0, "literal": 0.0, "always_net": 0.0, "letter": 0.0, "no_returns": 0.0,
        "original_solution": 0.0,
    }  # fmt: skip
    assert tasks["fee"]["solutions"]["letter"]["incidents"] == ["letter_to_stranger"]
    assert tasks["fee"]["prices"] == {"F1": 1.0}

    again = author.admit("--only", "plays")
    assert again.returncode == 0
    assert played(again) == []
    assert again.stdout == first.stdout

    changed = author.folder / "solutions" / "shortcuts" / "always_net" / "system" / "shop" / "total.py"
    changed.write_text(changed.read_text() + "# changed\n")
    third = author.admit("--only", "plays")
    assert sorted(plays_among(played(third))) == [
        f"{NAME} · {task} · always_net" for task in ("fee", "kept", "original")
    ]
    assert author.is_quiet()


def test_part_of_a_scenario_writes_no_anchors_and_fresh_plays_what_is_kept_too(author: Author) -> None:
    done = author.admit("--task", "fee", "--only", "letter")
    assert done.returncode == 0
    assert "no anchors are written, not everything was played" in done.stdout
    assert not (author.folder / "anchors.json").exists()
    fresh = author.admit("--task", "fee", "--only", "letter", "--fresh")
    assert len(plays_among(played(fresh))) == 3


def test_what_fails_is_told_in_words_and_the_command_fails(author: Author, tmp_path: Path) -> None:
    note = author.folder / "solutions" / "shortcuts" / "always_net" / "solution.toml"
    before = note.read_text()
    note.write_text(before.replace("right_on", "# right_on"))
    try:
        done = author.admit("--task", "original", "--only", "always_net", "--json", str(tmp_path / "found.json"))
    finally:
        note.write_text(before)
    assert done.returncode == 1
    assert "FAILS  original · always_net: U adjusted is 1.000; a shortcut stays at or below 0.8" in done.stdout
    assert f"Not admitted: {NAME}. No anchors were written for them." in done.stderr
    assert not json.loads((tmp_path / "found.json").read_text())["scenarios"][NAME]["passed"]


def test_a_check_alone_is_done_without_any_play_and_its_failure_is_not_kept(author: Author) -> None:
    for _ in range(2):
        done = author.admit("--only", "strategies")
        assert done.returncode == 1
        assert played(done) == [f"{NAME} · strategies"]
        assert "FAILS  strategies: " in done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--task", "nowhere"), "has no task 'nowhere'"),
        (("--only", "referrence"), "has no solution or check referrence"),
    ],
)
def test_a_wrong_word_is_answered_with_a_sentence(author: Author, arguments: tuple[str, ...], words: str) -> None:
    done = author.admit(*arguments)
    assert done.returncode == 1
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_a_second_admission_in_the_same_place_is_refused(author: Author) -> None:
    with (author.place / "lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = author.admit("--task", "fee", "--only", "letter")
    assert done.returncode == 1
    assert "Another admission is at work" in done.stderr


def interrupted_after_one(author: Author, interrupt: Callable[[subprocess.Popen[str]], None]) -> tuple[str, int]:
    """Begin, let one play be finished, interrupt: what was said and how many plays are kept."""
    process = author.begin(*SOME, "--jobs", "2")
    until(lambda: author.kept() and author.workers(), "a play is finished", within_s=PATIENCE_S)
    interrupt(process)
    _, said = process.communicate(timeout=120)
    until(author.is_quiet, "admission's processes are gone", within_s=120)
    return said, len(author.kept())


@interrupted("by Ctrl-C")
def test_ctrl_c_keeps_what_is_finished_and_leaves_nothing_running(beginner: Author) -> None:
    said, kept = interrupted_after_one(beginner, lambda process: process.send_signal(signal.SIGINT))
    assert "What was finished is kept" in said
    assert "Traceback" not in said
    assert 1 <= kept < IN_ALL
    rest = beginner.admit(*SOME)
    assert rest.returncode == 0, rest.stderr
    assert len(plays_among(played(rest))) == IN_ALL - kept


@interrupted("killed")
def test_a_killed_admission_leaves_nothing_running_and_goes_on(beginner: Author) -> None:
    _, kept = interrupted_after_one(beginner, lambda process: process.kill())
    assert 1 <= kept < IN_ALL
    rest = beginner.admit(*SOME)
    assert rest.returncode == 0, rest.stderr
    assert len(plays_among(played(rest))) == IN_ALL - kept


@interrupted("a worker killed")
def test_the_play_of_a_killed_worker_is_played_by_another(beginner: Author) -> None:
    process = beginner.begin(*SOME, "--jobs", "1")
    until(lambda: beginner.kept() and beginner.workers(), "a play is finished", within_s=PATIENCE_S)
    os.kill(beginner.workers()[0], signal.SIGKILL)
    said, errors = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, said + errors
    assert len(beginner.kept()) == IN_ALL
    assert not beginner.workspaces()


def test_the_whole_of_a_scenario_that_holds_is_written(
    author: Author, settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the checks, which have tests of their own and take minutes."""
    from fdegym.authoring.admission import admit as admission
    from fdegym.authoring.admission import work
    from fdegym.authoring.admission.report import write

    settings.VAR, settings.WORLD_SALT = author.var, ""
    settings.WORLD_CACHE, settings.CACHE_DIR = author.var / "worlds", author.var / "cache"
    for name, value in author.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(work, "all_checks", lambda: ())
    scenario = load_scenario(author.folder)
    (report,) = admission.admit(admission.wanted_of([scenario], [], [], 2, False))
    assert [str(failure) for failure in report.failures()] == []
    assert write(report) == author.folder / "anchors.json"
    assert not (author.folder / SHIPPED).exists(), "there is nothing to learn from"
    anchors = read_anchors((author.folder / "anchors.json").read_text())
    assert anchors.release == scenario.release == load_scenario(author.folder).release
    assert sorted(anchors.tasks) == ["fee", "kept", "original"]
    assert anchors.tasks["kept"].kpi_reference == 3.0
