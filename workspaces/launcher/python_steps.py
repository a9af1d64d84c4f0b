"""Running ``python -m module`` or ``python file.py`` in a fork of the launcher, as a fresh interpreter would.

The standard modules that deliveries commonly use are imported once, before the first step; a step is then a fork
and a run, some milliseconds instead of an interpreter's start. The child leaves as the interpreter would: threads are
awaited, exit handlers run, what the delivered modules held is let go, so that files nobody closed are flushed. Only the
preloaded modules are not taken apart one by one, which is half of the time of a short step.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import io
import os
import signal
import sys
import time
from collections.abc import Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

PRELOADED = [
    "abc",
    "argparse",
    "array",
    "base64",
    "bisect",
    "calendar",
    "codecs",
    "collections",
    "configparser",
    "contextlib",
    "copy",
    "csv",
    "dataclasses",
    "datetime",
    "decimal",
    "difflib",
    "email",
    "email.message",
    "email.parser",
    "email.utils",
    "enum",
    "fractions",
    "functools",
    "glob",
    "gzip",
    "hashlib",
    "heapq",
    "html",
    "inspect",
    "io",
    "itertools",
    "json",
    "json.decoder",
    "json.encoder",
    "locale",
    "logging",
    "math",
    "operator",
    "os",
    "pathlib",
    "pickle",
    "pprint",
    "queue",
    "random",
    "re",
    "sched",
    "secrets",
    "shutil",
    "signal",
    "sqlite3",
    "statistics",
    "string",
    "struct",
    "subprocess",
    "sys",
    "tempfile",
    "textwrap",
    "threading",
    "time",
    "tomllib",
    "traceback",
    "types",
    "typing",
    "unicodedata",
    "uuid",
    "warnings",
    "weakref",
    "xml.etree.ElementTree",
    "zipfile",
    "zlib",
    "zoneinfo",
]


class ChildMustRun(BaseException):
    """Raised in the forked child to leave the launcher's loop; ``main`` catches it and runs the step.

    Not an ``Exception``: nothing on the way out may mistake it for a failure and handle it.
    """

    def __init__(self, argv: Sequence[str]) -> None:
        super().__init__()
        self.argv = list(argv)


def preload() -> None:
    """Import what steps commonly need, once."""
    if gc.get_freeze_count():
        return
    for name in PRELOADED:
        try:
            importlib.import_module(name)
        except ImportError:  # a trimmed system Python lacks some: the step will say so itself
            continue
    gc.collect()
    gc.freeze()


def _forget_the_launcher() -> None:
    package = __name__.rpartition(".")[0]
    for name in [name for name in sys.modules if name == package or name.startswith(package + ".")]:
        del sys.modules[name]
    main = sys.modules["__main__"].__dict__
    builtins = main["__builtins__"]
    main.clear()
    main.update({"__name__": "__main__", "__builtins__": builtins, "__doc__": None, "__package__": None})
    main.update({"__spec__": None, "__loader__": None, "__annotations__": {}})


def _run(argv: Sequence[str]) -> None:
    import runpy

    sys.orig_argv = list(argv)
    sys.dont_write_bytecode = False
    main = sys.modules["__main__"].__dict__
    if len(argv) > 2 and argv[1] == "-m":
        sys.path.insert(0, os.getcwd())  # noqa: PTH109 - as the interpreter does
        sys.argv = ["-m", *argv[3:]]
        runpy._run_module_as_main(argv[2])  # type: ignore[attr-defined]
    else:
        script = os.path.abspath(argv[1])  # noqa: PTH100
        sys.argv = list(argv[1:])
        sys.path.insert(0, os.path.dirname(os.path.realpath(script)))  # noqa: PTH120
        try:
            with open(script, "rb") as source:  # noqa: PTH123
                code = compile(source.read(), script, "exec", dont_inherit=True)
        except OSError as error:
            reason = f"[Errno {error.errno}] {error.strerror}"
            sys.stderr.write(f"{argv[0]}: can't open file {script!r}: {reason}\n")
            raise SystemExit(2) from None
        main.update({"__file__": script, "__cached__": None})
        exec(code, main)  # noqa: S102 - running delivered code is the purpose, inside the sandbox


def _status_of(leaving: SystemExit) -> int:
    code = leaving.code
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF
    print(code, file=sys.stderr)
    return 1


def _report(error: BaseException) -> None:
    """Print the traceback as the interpreter does, without the launcher's own frames."""
    import traceback

    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    try:
        sys.excepthook(type(error), error.with_traceback(trace), trace)
    except BaseException:  # noqa: BLE001 - a hook of the delivered code may itself fail
        traceback.print_exc()


def _flush_open_files() -> None:
    """Flush before anything is collected: in a cycle the collector may close a file below its unwritten text."""
    for kind in (io.TextIOWrapper, io.BufferedWriter):
        for file in [each for each in gc.get_objects() if type(each) is kind]:
            with contextlib.suppress(OSError, ValueError):
                file.flush()


def _let_go_of(names: set[str]) -> None:
    """Empty the modules that the step brought, as the interpreter does at its end, then collect what is in cycles."""
    for name in ["__main__", *names]:
        module = sys.modules.get(name)
        namespace = getattr(module, "__dict__", None)
        if isinstance(namespace, dict):
            for key in [key for key in namespace if key != "__builtins__"]:
                namespace[key] = None
    for attribute in ("last_type", "last_value", "last_traceback"):
        if hasattr(sys, attribute):
            delattr(sys, attribute)
    _flush_open_files()
    gc.collect()


def _leave(status: int, known: set[str]) -> NoReturn:
    import threading

    with contextlib.suppress(BaseException):
        threading._shutdown()  # type: ignore[attr-defined]
    with contextlib.suppress(BaseException):
        atexit._run_exitfuncs()
    with contextlib.suppress(BaseException):
        _let_go_of(set(sys.modules) - known)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            status = status or (120 if getattr(stream, "closed", True) is False else 0)
    if status < 0:
        signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status)


def run_as_python(argv: Sequence[str]) -> NoReturn:
    """Run the step in the calling child, and end the process with the status that ``python`` would give."""
    time.tzset()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(ignored, signal.SIG_IGN)
    _forget_the_launcher()
    known = set(sys.modules)
    status = 0
    try:
        _run(argv)
    except SystemExit as leaving:
        status = _status_of(leaving)
    except BaseException as error:  # noqa: BLE001 - whatever delivered code raises is reported as the interpreter would
        _report(error)
        status = -signal.SIGINT if isinstance(error, KeyboardInterrupt) else 1
    _leave(status, known)
