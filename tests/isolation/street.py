"""A hostile workspace beside a neighbour who types: both at a real keeper, as people at the site are."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import shutil
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

from tests.isolation.programs.pressing import MET, Pressure
from tests.isolation.sandboxes import ATTACK, spec
from tests.waiting import until
from tests.workspaces.holders import hold_by
from tests.workspaces.keeper_process import KeeperProcess
from tests.workspaces.runtimes import DAEMON, runtime_of
from workspaces.keeper.client import TerminalStream
from workspaces.runtime.base import Limits
from workspaces.runtime.bubblewrap import BubblewrapRuntime
from workspaces.runtime.errors import SandboxError
from workspaces.runtime.launched import LauncherRuntime

PATIENT_S = 120.0
#: Letters come back from a program that reads and writes them, not from the terminal's own echo.
ECHO = b"stty raw -echo; printf 'RE''ADY'; exec cat\n"


class Street:
    """Use as a context manager. ``neighbour`` and ``hostile`` are sandboxes of one runtime and one keeper.

    ``holder`` is who holds a bubblewrap sandbox to its totals (``tests/workspaces/holders.py``).
    """

    def __init__(self, runtime: str, limits: Limits, *, holder: str | None = None) -> None:
        self.directory = Path(tempfile.mkdtemp(prefix="fw-", dir="/tmp"))
        self.limits = limits
        self.runtime: LauncherRuntime = runtime_of(runtime, self.directory / "s")
        if holder is not None:
            self.runtime = BubblewrapRuntime(self.directory / "s", enforcement=hold_by(holder))
        environment = {"FDEGYM_RUNTIME": "docker", "FDEGYM_DOCKER": os.environ[DAEMON]} if runtime == "docker" else {}
        self.keeper = KeeperProcess(self.directory, **environment)
        self._echoes, self._numbers = False, 100

    def __enter__(self) -> Street:
        try:
            self.keeper.start()
            for name in ("neighbour", "hostile"):
                limits = self.limits if name == "hostile" else None
                self.runtime.create(name, spec(limits=limits, labels={"kind": "workspace", "run": name}))
            self.neighbour, self.hostile = self.runtime.start("neighbour"), self.runtime.start("hostile")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.keeper.end()
        for sandbox in self.runtime.adopt({}):
            self.runtime.destroy(sandbox.id)
        shutil.rmtree(self.directory, ignore_errors=True)

    @contextlib.asynccontextmanager
    async def terminal(self, run: str, number: int = 1) -> AsyncIterator[TerminalStream]:
        stream = await TerminalStream.attach(
            self.keeper.socket, run=run, number=number, role="owner", columns=100, rows=30, timeout_s=PATIENT_S
        )
        try:
            yield stream
        finally:
            stream.close()

    @contextlib.asynccontextmanager
    async def typing(self) -> AsyncIterator[TerminalStream]:
        """The neighbour's terminal, which gives letters back. What was printed before has passed by."""
        async with self.terminal("neighbour") as stream:
            if not self._echoes:
                await stream.type(ECHO)
                await until_printed(stream, b"READY")
                self._echoes = True
            token = secrets.token_hex(8).encode()
            await stream.type(token)
            await until_printed(stream, token)
            yield stream

    def open_another_terminal(self) -> None:
        """Of the neighbour's, and close it again. Raises ``SandboxError`` where there is none to be had."""
        self._numbers += 1
        os.close(self.neighbour.open_terminal(columns=80, rows=24, number=self._numbers)[0])
        self.neighbour.close_terminal(self._numbers)

    @contextlib.asynccontextmanager
    async def under(self, pressure: Pressure) -> AsyncIterator[None]:
        """While the hostile workspace presses, from when it met what it is held by. Everything of it ends afterwards."""
        with contextlib.suppress(SandboxError):
            self.hostile.delete(MET)
        async with contextlib.AsyncExitStack() as stack:
            if pressure.in_a_terminal:
                stream = await stack.enter_async_context(self.terminal("hostile"))
                await stream.type(
                    f"cd {ATTACK}; python3 -m tests.isolation.programs.pressing {pressure.name}\n".encode()
                )
                reading = asyncio.create_task(drained(stream))
                stack.callback(reading.cancel)
            else:
                stack.enter_context(self._command(pressure.name))
            try:
                await asyncio.to_thread(until, self._met, f"{pressure.name} meets its limit", within_s=PATIENT_S)
                yield
            finally:
                await asyncio.to_thread(self._end_everything)

    @contextlib.contextmanager
    def _command(self, name: str) -> Iterator[None]:
        argv = ["python3", "-m", "tests.isolation.programs.pressing", name]

        def run() -> None:
            with contextlib.suppress(SandboxError):
                self.hostile.exec(argv, working_directory=ATTACK, timeout_s=10 * PATIENT_S)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        yield
        thread.join(PATIENT_S)
        assert not thread.is_alive(), "the command did not end with everything else"

    def _met(self) -> bool:
        with contextlib.suppress(SandboxError):
            return self.hostile.read(MET, max_bytes=20).startswith(b"met")
        return False

    def _end_everything(self) -> None:
        self.hostile.quiesce()
        self.hostile.resume()
        for folder in ("/workspace/system", "/workspace/deliverables", "/home/engineer", "/tmp"):
            for entry in self.hostile.listing(folder):
                with contextlib.suppress(SandboxError):
                    self.hostile.delete(f"{folder}/{entry['name']}")


async def drained(stream: TerminalStream) -> None:
    """As a page that shows everything as fast as it comes."""
    while await stream.frame() is not None:
        await asyncio.sleep(0)


async def until_printed(stream: TerminalStream, mark: bytes) -> None:
    """Read on until this has come; fail when the terminal is gone, or after a long time."""
    seen = b""
    async with asyncio.timeout(PATIENT_S):
        while mark not in seen:
            frame = await stream.frame()
            assert frame is not None, "the keeper closed the connection"
            if isinstance(frame, bytes):
                seen = seen[-len(mark) :] + frame


async def echo_s(stream: TerminalStream, letter: bytes) -> float:
    """From a letter typed to the same letter back, in seconds."""
    began = time.perf_counter()
    await stream.type(letter)
    await until_printed(stream, letter)
    return time.perf_counter() - began
