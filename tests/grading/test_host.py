"""What grading asks its own host: is it too busy, and does the process that made a thing still live."""

import os
import subprocess
import sys
import time

import pytest

from grading import overload
from grading.measure import HALF_MADE_S, remove_leftovers
from grading.overload import host_overloaded
from grading.processes import MARKS, forget_the_dead, is_alive, process_name
from grading.worlds import grading_runtime


@pytest.mark.parametrize(
    ("runnable", "expected"), [([0], False), ([4], False), ([5], True), ([9, 0], True), ([6, 0], False)]
)
def test_more_than_two_runnable_processes_a_core_are_an_overload(monkeypatch, runnable, expected):
    samples = iter(range(10_000))
    monkeypatch.setattr(overload, "_runnable", lambda: runnable[next(samples) % len(runnable)])
    monkeypatch.setattr(overload.os, "sched_getaffinity", lambda pid: {0, 1})
    monkeypatch.setattr(overload, "INTERVAL_S", 0)
    assert host_overloaded() is expected


def test_the_host_can_be_asked():
    assert overload._runnable() >= 0


def test_this_process_lives():
    assert is_alive(process_name())
    assert process_name().startswith(f"{os.getpid()}-")


def test_a_process_that_ended_does_not_live_and_neither_does_its_number_under_another_start():
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    from grading.processes import _started

    name = f"{child.pid}-{_started(child.pid)}"
    assert is_alive(name)
    child.kill()  # not waited for yet: a zombie does no work
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert not is_alive(name)
    child.wait()
    child.stdin.close()
    assert not is_alive(name)
    assert not is_alive(f"{os.getpid()}-1")


def test_what_a_killed_worker_was_only_making_goes_a_day_later(stall):
    """FC-88: not at once, for who makes a sandbox in another container is not seen from here."""
    ended = subprocess.Popen(["true"])
    ended.wait()
    directory = grading_runtime().state_dir
    old, young, mine = (
        directory / f"_new-grade-{n}-{pid}-1" for n, pid in enumerate((ended.pid, ended.pid, os.getpid()))
    )
    for folder in (old, young, mine):
        folder.mkdir()
    for folder in (old, mine):
        os.utime(folder, (time.time() - HALF_MADE_S - 1,) * 2)
    remove_leftovers()
    assert [folder.exists() for folder in (old, young, mine)] == [False, True, True]


SHOWN_ELSEWHERE = """
import sys
from django.conf import settings
settings.configure(VAR=sys.argv[1])
from grading.processes import process_name
print(process_name(), flush=True)
input()
"""


@pytest.mark.sandbox
def test_a_process_of_another_container_lives_as_long_as_it_does(tmp_path, settings):
    """FC-88: a worker must not take the sandbox of another one for that of a dead one."""
    settings.VAR = tmp_path
    command = [
        "unshare",
        "--user",
        "--map-root-user",
        "--pid",
        "--fork",
        "--kill-child",
        "--mount-proc",
        sys.executable,
    ]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [*command, "-c", SHOWN_ELSEWHERE, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    ) as elsewhere:
        name = elsewhere.stdout.readline().strip()
        assert name.startswith("1-"), "it sees none of our processes, and we see it under another number"
        assert is_alive(name)
        forget_the_dead()
        assert is_alive(name)
        elsewhere.communicate("\n")
    assert not is_alive(name)
    assert list((tmp_path / MARKS).iterdir()) == []


@pytest.mark.parametrize("name", ["", "x", "-", "99999999-None", "12"])
def test_a_name_of_nobody_is_nobodys(name):
    assert not is_alive(name)
