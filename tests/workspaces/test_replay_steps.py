"""The fork server: a step is what a fresh ``python`` would have done, whatever the delivered code does to it."""

from __future__ import annotations

import resource
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace

import pytest

from workspaces.runtime.base import CallLimits, Limits, SandboxSpec, StepResult
from workspaces.runtime.errors import SandboxBusy, SandboxSpecProblem
from workspaces.runtime.sandbox import LaunchedSandbox

pytestmark = pytest.mark.sandbox
QUICK = CallLimits(cpu_s=2, wall_s=3, memory_mb=300, processes=30, output_bytes=4096)

PATIENT = replace(QUICK, cpu_s=1, wall_s=40)  #: a busy machine gives a second of CPU time late


def run(
    sandbox: LaunchedSandbox, code: str, *arguments: str, limits: CallLimits = QUICK, stdin: bytes = b""
) -> StepResult:
    sandbox.put("/workspace/system/job.py", code.encode())
    return sandbox.step(["python", "-m", "job", *arguments], limits=limits, stdin=stdin)


TELLING = """
import sys, os, signal, threading
print(sys.argv, __name__, __file__, sys.path[0], os.getcwd(), __spec__ is None, __package__)
print(hash("x"), sorted(os.environ), os.environ["TZ"], sys.stdout.encoding, sys.stdout.line_buffering, sys.stdin.read())
print(signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGPIPE), signal.getsignal(signal.SIGCHLD))
print(threading.active_count(), sorted(os.listdir("/proc/self/fd"))[:4], os.getsid(0) == os.getpid())
print([name for name in sys.modules if "launcher" in name], sorted(globals()))
"""


@pytest.mark.parametrize("form", [["-m", "telling"], ["telling.py"], ["-m", "pkg"], ["pkg/inner.py"]])
def test_a_step_sees_what_a_fresh_interpreter_sees(sandbox: LaunchedSandbox, form: list[str]) -> None:
    for name in ("telling.py", "pkg/__main__.py", "pkg/inner.py"):
        sandbox.put("/workspace/system/" + name, TELLING.encode())
    sandbox.put("/workspace/system/pkg/__init__.py", b"")
    argv = ["python", *form, "a", "--b"]
    fresh = sandbox.exec(argv, stdin=b"in", working_directory="/workspace/system").stdout.decode()
    step = sandbox.step(argv, limits=QUICK, stdin=b"in").stdout.decode()
    assert step == fresh


@pytest.mark.parametrize(
    "code",
    [
        "raise SystemExit",
        "raise SystemExit(7)",
        "raise SystemExit('in words')",
        "import sys; sys.exit(300)",
        "import os; os._exit(9)",
        "1 / 0",
        "raise KeyboardInterrupt",
        "import os, signal; os.kill(os.getpid(), signal.SIGTERM)",
        "import atexit; atexit.register(lambda: print('at exit')); print('end')",
        "import threading, time; threading.Thread(target=lambda: (time.sleep(0.2), print('thread'))).start()",
        "f = open('unflushed', 'w'); f.write('kept'); g = [f]; g.append(g)",
        "import sys; sys.stdout.write('no newline')",
        "class A:\n    def __del__(self): print('deleted')\na = A()",
        "import sys; sys.excepthook = lambda *a: print('hook', a[0]); raise ValueError",
        "import concurrent.futures as c\nwith c.ThreadPoolExecutor() as p: print(list(p.map(abs, [-1, 2])))",
        "import multiprocessing as m\nif __name__ == '__main__':\n    with m.Pool(2) as p: print(p.map(abs, [-1, 2]))",
        "import subprocess; print(subprocess.run(['echo', 'x'], capture_output=True).stdout)",
        "this is not python",
        "import no_such_module",
        "import sys; print('\\ud800')",
        "import sqlite3; print(sqlite3.connect(':memory:').execute('select 1 + 1').fetchall())",
    ],
)
def test_a_step_ends_as_a_fresh_interpreter_would(sandbox: LaunchedSandbox, code: str) -> None:
    sandbox.put("/workspace/system/job.py", code.encode())
    fresh = sandbox.exec(["python", "-m", "job"], working_directory="/workspace/system")
    left = sandbox.exec(["bash", "-c", "cat unflushed; rm -f unflushed"], working_directory="/workspace/system").stdout
    step = sandbox.step(["python", "-m", "job"], limits=QUICK)
    assert (step.exit_status, step.stdout, step.stderr) == (fresh.exit_status, fresh.stdout, fresh.stderr)
    again = sandbox.exec(["bash", "-c", "cat unflushed; rm -f unflushed"], working_directory="/workspace/system").stdout
    assert left == again


@pytest.mark.parametrize(
    ("code", "failure"),
    [
        ("while True: pass", "cpu_limit"),
        ("import signal\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass", "cpu_limit"),
        ("import os\nfor n in range(4): os.fork()\nwhile True: pass", "cpu_limit"),
        ("import time; time.sleep(60)", "wall_limit"),
        ("import signal, time\nfor n in (1, 2, 15): signal.signal(n, signal.SIG_IGN)\ntime.sleep(60)", "wall_limit"),
        ("x = bytearray(1 << 30)", "memory_limit"),
        ("import os; os.kill(os.getpid(), 9)", "signal"),
        ("import os; os.abort()", "signal"),
        ("import ctypes; ctypes.string_at(0)", "signal"),
        ("f = open('/tmp/big', 'wb')\nwhile True: f.write(b'x' * 1000000)", "exit"),
        ("raise SystemExit(1)", "exit"),
        (
            "import os, sys\nfor n in range(3, 300):\n  try: os.write(n, b'forged')\n  except OSError: pass\nsys.exit(4)",
            "exit",
        ),
    ],
)
def test_every_way_to_fail_is_that_steps_own(sandbox: LaunchedSandbox, code: str, failure: str) -> None:
    limits = QUICK if failure == "wall_limit" else PATIENT
    result = run(sandbox, code, limits=limits)
    assert result.failure == failure
    assert result.exit_status != 0
    assert run(sandbox, "print('next')").stdout == b"next\n"


def test_a_fork_bomb_is_one_failed_step(start: Callable[..., LaunchedSandbox]) -> None:
    """FC-75, FC-91."""
    sandbox = start("one", SandboxSpec(limits=Limits(processes=60)))
    result = run(sandbox, "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass")
    assert result.failure in ("wall_limit", "cpu_limit", "memory_limit")
    assert sandbox.usage()["processes"] == 0
    assert run(sandbox, "print('next')").stdout == b"next\n"


def test_nothing_that_a_step_left_running_sees_the_next_one(sandbox: LaunchedSandbox) -> None:
    """FC-95: a background job that rewrites results afterwards."""
    daemon = (
        "import os, time\nif os.fork() == 0:\n  os.setsid()\n  if os.fork() == 0:\n    os.closerange(0, 9)\n"
        "    while True: open('/workspace/system/result', 'w').write('forged'); time.sleep(0.01)\n  os._exit(0)\nprint('ok')"
    )
    assert run(sandbox, daemon).failure is None
    sandbox.put("/workspace/system/result", b"true")
    time.sleep(0.2)
    assert sandbox.read("/workspace/system/result", max_bytes=99) == b"true"
    assert sandbox.usage()["processes"] == 0


def test_a_step_cannot_poison_the_next_one(sandbox: LaunchedSandbox) -> None:
    poison = (
        "import sys, json, builtins, os, resource\njson.dumps = lambda x: 'forged'\nbuiltins.print = None\n"
        "os.environ['PYTHONPATH'] = '/tmp'\nsys.path.insert(0, '/tmp')\nos.chdir('/tmp')\nos.umask(0o777)\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))\nopen('/workspace/system/sitecustomize.py', 'w').write('1/0')\n"
    )
    run(sandbox, poison)
    result = run(sandbox, "import json, os; print(json.dumps([1]), os.getcwd(), os.umask(0)); open('f', 'w').close()")
    assert result.stdout == b"[1] /workspace/system 18\n"


def test_planted_modules_are_not_taken_for_the_standard_library_of_the_launcher(sandbox: LaunchedSandbox) -> None:
    sandbox.put("/workspace/system/colorsys.py", b"print('planted')")
    sandbox.put("/workspace/system/wire.py", b"print('own wire')")
    assert run(sandbox, "import colorsys, wire").stdout == b"planted\nown wire\n"


def test_output_is_kept_from_its_beginning_and_counted(sandbox: LaunchedSandbox) -> None:
    result = run(sandbox, "print('begin'); print('x' * 10_000_000)")
    assert (result.stdout[:6], len(result.stdout), result.truncated, result.failure) == (b"begin\n", 4096, True, None)


def test_a_step_needs_the_sandbox_for_itself(sandbox: LaunchedSandbox) -> None:
    sandbox.open_terminal(columns=80, rows=24)
    with pytest.raises(SandboxBusy):
        run(sandbox, "print(1)")


@pytest.mark.parametrize("argv", [["bash", "-c", "id"], ["python"], ["python", "-m"], []])
def test_only_python_can_be_a_step(sandbox: LaunchedSandbox, argv: list[str]) -> None:
    with pytest.raises(SandboxSpecProblem):
        sandbox.step(argv, limits=QUICK)


def test_a_trivial_step_is_much_cheaper_than_an_interpreters_start(sandbox: LaunchedSandbox) -> None:
    run(sandbox, "pass")
    steps = [sandbox.step(["python", "-m", "job"], limits=PATIENT) for _ in range(50)]
    assert {step.failure for step in steps} == {None}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    for _ in range(10):
        subprocess.run(["/usr/bin/python3", "-c", "import csv, json, sqlite3, datetime, argparse"], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    starts_cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert sum(step.cpu_s for step in steps) / 50 < starts_cpu_s / 10 / 2
