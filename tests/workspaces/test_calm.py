"""A workspace whose person reads or thinks leaves the processor alone, and its limits hold when something begins."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.workspaces.inside import python, read_terminal
from workspaces.launcher.calm import Bell
from workspaces.runtime.base import Limits, SandboxSpec
from workspaces.runtime.bubblewrap import BubblewrapRuntime
from workspaces.runtime.limits import Watcher
from workspaces.runtime.sandbox import LaunchedSandbox

pytestmark = pytest.mark.sandbox
PATIENT_S = 60.0
WINDOW_S = 1.5

#: Run inside, where nothing else begins or ends by itself.
LOOKS = """
import subprocess, sys, threading, time
sys.path.insert(0, "/opt/fdegym/launcher")
from fdegym_launcher.calm import Calm
calm, found = Calm(60 << 20), []
def look_at(what):
    found.append((what, calm.lasts()))
    calm.look()
    assert calm.lasts(), what + ": calm again, once it was seen"
calm.look()
grown = subprocess.Popen([sys.executable, "-c", "input(); x = bytearray(80 << 20); print(); input()"],
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
look_at("a process began")
thread = threading.Event()
threading.Thread(target=thread.wait).start()
look_at("a thread began")
other = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
look_at("a process began")
other.communicate()
look_at("a process ended")
grown.stdin.write("\\n"), grown.stdin.flush(), grown.stdout.readline()
found.append(("they hold too much", calm.lasts()))
calm.look()
found.append(("they still do", calm.lasts()))
grown.kill(), thread.set()
print([what for what, lasts in found if lasts])
"""


def test_what_begins_ends_or_grows_is_seen_without_looking_at_everything(inside: LaunchedSandbox) -> None:
    assert python(inside, LOOKS) == "[]\n", "nothing of this may pass for calm"


def test_whatever_moves_at_a_terminal_rings_although_the_keeper_was_quicker() -> None:
    master, slave = os.openpty()
    bell = Bell()

    def rings() -> bool:
        assert bell.epoll is not None
        return bool(bell.epoll.poll(PATIENT_S))

    try:
        bell.hang([master])
        assert bell.epoll is not None
        assert bell.epoll.poll(0.05) == []
        os.write(slave, b"printed")
        assert os.read(master, 100) == b"printed"
        assert rings()
        bell.take_down()
        bell.hang([master])
        assert bell.epoll.poll(0.05) == [], "what was before it was hung up does not ring"
        os.write(master, b"typed\n")
        assert os.read(slave, 100) == b"typed\n"
        os.read(master, 100)
        assert rings()
    finally:
        bell.take_down()
        os.close(master)
        os.close(slave)


def wakes_in_a_window(pid: int) -> int:
    def wakes() -> int:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("voluntary_ctxt_switches"))

    before = wakes()
    time.sleep(WINDOW_S)
    return wakes() - before


def within_patience(holds: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + PATIENT_S
    while not holds():
        if time.monotonic() > deadline:
            return False
    return True


def test_a_waiting_shell_lets_its_launcher_sleep_until_a_key_is_pressed(state_dir: Path) -> None:
    """A launcher that does not sleep wakes seven times in the window, one that sleeps twice at most."""
    runtime = BubblewrapRuntime(state_dir, enforcement=Watcher())
    runtime.create("one", SandboxSpec(limits=Limits(memory_mb=150)))
    sandbox = runtime.start("one")
    try:
        master, _ = sandbox.open_terminal(columns=200, rows=40)
        read_terminal(master, b"$ ")
        sandbox.put("/tmp/hog.py", b"import time\nx = bytearray(b'x') * (60 << 20)\ntime.sleep(60)")
        launcher = runtime._living("one")[-1]

        def woken_by_a_key() -> bool:
            os.write(master, b"x")
            return wakes_in_a_window(launcher) >= 4

        assert within_patience(lambda: wakes_in_a_window(launcher) <= 2)
        assert within_patience(woken_by_a_key)
        assert within_patience(lambda: wakes_in_a_window(launcher) <= 2)
        os.write(master, b"\x15for n in 1 2 3 4; do python /tmp/hog.py & done\n")
        read_terminal(master, b"150 MB of memory together", PATIENT_S)
        os.close(master)
    finally:
        runtime.destroy("one")


def test_programs_in_the_background_that_grow_late_are_ended_though_nobody_types(
    start: Callable[..., LaunchedSandbox],
) -> None:
    """No process begins and nothing is printed when they do."""
    sandbox = start("one", SandboxSpec(limits=Limits(memory_mb=150)))
    late = "import time\ntime.sleep(4)\nx = bytearray(b'x') * (80 << 20)\ntime.sleep(60)"
    sandbox.put("/tmp/late.py", late.encode())
    master, _ = sandbox.open_terminal(columns=200, rows=40)
    try:
        read_terminal(master, b"$ ")
        os.write(master, b"python /tmp/late.py & python /tmp/late.py &\n")
        read_terminal(master, b"150 MB of memory together", PATIENT_S)
    finally:
        os.close(master)
