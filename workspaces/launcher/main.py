"""The launcher: one small event loop that is PID 1 of a sandbox.

It inherits two descriptors: 0, the stored files to restore, and a listening socket that only the runtime outside can
reach. Nothing inside can signal it (PID 1), trace it or read its descriptors (not dumpable).
"""

from __future__ import annotations

import contextlib
import os
import resource
import selectors
import signal
import socket
import time
from collections.abc import Callable
from functools import partial

from . import archive, children, files, python_steps
from .calm import Bell, Calm
from .connection import Connection
from .memory import MemoryWatch
from .notices import Notices
from .requests import Requests
from .wire import encode
from .work import Capture, Command, Terminal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

TICK_S = 0.2
CALM_TICK_S = 2.0  #: while nothing moves, and nobody could take much memory before the next look
CALM_AFTER_S = 2.0
LOOK_S = 2.0  #: a thorough look, however little moves: a program that fills a folder begins and ends no process
TERMINAL_GRACE_S = 1.0
JOB_WALL_S = 180.0  #: longer than anybody outside waits for one


class Launcher:
    """All state of PID 1."""

    def __init__(self, settings: dict[str, Any], listening: socket.socket) -> None:
        self.settings = settings
        self.environment = dict(os.environ)
        self.selector = selectors.DefaultSelector()
        self.commands: dict[int, Command] = {}
        self.jobs: dict[int, Connection] = {}
        self.job_deadlines: dict[int, float] = {}
        self.terminals: dict[int, Terminal] = {}
        self.later: list[tuple[float, Callable[[], None]]] = []
        self.quiet = False  #: no new process may start
        self.leaving = False
        self.reaped_cpu_s = 0.0
        self.memory = MemoryWatch(settings["watch_memory_mb"], settings.get("memory_events"))
        self.calm = Calm(settings["watch_memory_mb"] << 20)
        self.bell = Bell()
        self.next_tick = self.next_look = self.moved_at = time.monotonic()
        self.notices = Notices(self.terminals, settings)
        self.connections = 0
        self.asked_at = time.monotonic()
        self.populated = False  #: processes may be alive, so memory must be watched
        self.requests = Requests(self)
        self.listening = listening
        self.waker, waked = socket.socketpair()
        for end in (self.waker, waked):
            end.setblocking(False)
        signal.set_wakeup_fd(waked.fileno(), warn_on_full_buffer=False)
        self._waked = waked
        # a signal without a handler cannot reach PID 1 from inside; Python's own for Ctrl-C would
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self.watch(self.waker, lambda _: self._drain_waker())
        self.watch(self.listening, lambda _: self._accept())

    # the loop

    def watch(self, source: Any, call: Callable[[int], None], *, write: bool = False, read: bool = True) -> None:
        events = (selectors.EVENT_READ if read else 0) | (selectors.EVENT_WRITE if write else 0)
        try:
            if self.selector.get_key(source).events != events:
                self.selector.modify(source, events, call)
        except KeyError:
            self.selector.register(source, events, call)

    def unwatch(self, source: Any) -> None:
        with contextlib.suppress(KeyError, ValueError):
            self.selector.unregister(source)

    def run(self) -> None:
        while not self.leaving:
            wait = self.settings["abandon_after_s"] + 0.1
            if self.commands or self.jobs or self.later or self.populated:
                wait = max(0.0, min([self.next_tick, *(when for when, _ in self.later)]) - time.monotonic())
            for key, mask in self.selector.select(wait):
                if self.selector.get_map().get(key.fd) is not None:
                    key.data(mask)
            self.reap()
            now = time.monotonic()
            due = [call for when, call in self.later if when <= now]
            self.later = [(when, call) for when, call in self.later if when > now]
            for call in due:
                call()
            if self._abandoned(now):
                return
            for command in [each for each in self.commands.values() if now >= each.deadline]:
                self.stop_command(command, "wall_limit")
            if now >= self.next_tick:
                self._tick(now)

    def _abandoned(self, now: float) -> bool:
        """Nobody has asked anything for long: whoever made this sandbox is gone and cannot find it any more."""
        if self.jobs or self.connections:
            self.asked_at = now
        return bool(now - self.asked_at > self.settings["abandon_after_s"])

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            stream, _ = self.listening.accept()
            stream.setblocking(False)
            connection = Connection(self, stream)
            self.connections += 1
            self.watch(stream, connection.ready)

    def _drain_waker(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while self.waker.recv(4096):
                pass

    def _tick(self, now: float) -> None:
        for pid in [pid for pid, deadline in self.job_deadlines.items() if now >= deadline]:
            with contextlib.suppress(ProcessLookupError):  # stopped from inside, it uses no CPU and would stay for ever
                os.kill(pid, signal.SIGKILL)
        if not self.calm.lasts():
            self.moved_at = self.next_look = now
        if now >= self.next_look or any(command.is_step for command in self.commands.values()):
            self._look()
            self.next_look = now + LOOK_S
        if self._may_wait(now):
            self._hang_bell()
            self.next_tick = now + CALM_TICK_S
        else:
            self.next_tick = now + TICK_S

    def _may_wait(self, now: float) -> bool:
        """Whether only what wakes the launcher could begin something: a request, or somebody at a terminal.

        Where the kernel holds all programs to a total, others than shells may be there: it does so between two looks.
        """
        if now - self.moved_at < CALM_AFTER_S or self.commands or self.jobs:
            return False
        shells = {terminal.pid for terminal in self.terminals.values() if terminal.status is None}
        return self.memory.kernel_holds or self.calm.pids <= shells

    def _hang_bell(self) -> None:
        if self.bell.epoll is None:
            with contextlib.suppress(OSError):  # a kernel out of descriptors: the next look comes all the same
                masters = [each.master for each in self.terminals.values() if each.master >= 0]
                self.watch(self.bell.hang(masters), self.stir)

    def begun(self) -> None:
        """A process was started on somebody's request."""
        self.populated = True
        self.stir()

    def stir(self, _: int = 0) -> None:
        """Something begins: look soon, and for a while often."""
        if self.bell.epoll is not None:
            self.unwatch(self.bell.epoll)
            self.bell.take_down()
        now = time.monotonic()
        self.moved_at, self.next_tick = now, min(self.next_tick, now + TICK_S)

    def _look(self) -> None:
        """Hold the processes to the limits of all together, and tell who works here which of them were met."""
        alive = self.calm.look()
        self.populated = bool(self.commands or alive)
        victims = self.memory.look(sum(process.resident_bytes for process in alive.values()))
        for victim in victims:
            if victim.pid in self.commands:
                self.commands[victim.pid].stopped_by = "memory_limit"
        self.notices.memory_kills(victims)
        self.notices.look(1 + sum(process.threads for process in alive.values()))
        for command in list(self.commands.values()):
            if command.cpu_limit_s is not None:
                used = self.reaped_cpu_s + sum(process.cpu_s for process in alive.values())
                if used > command.cpu_limit_s:
                    self.stop_command(command, "cpu_limit")

    # children

    def spawn(self, run: Callable[[], object], connection: Connection, stdin: bytes, output_bytes: int) -> Command:
        """Fork a child whose output is captured. ``run`` is called in the child and must not return."""
        kernel_kills = self.memory.kernel_kills
        pid, child_stdin, stdout, stderr = children.fork_with_pipes(run)
        command = Command(
            pid=pid,
            stdin=child_stdin,
            stdout=Capture(stdout, output_bytes),
            stderr=Capture(stderr, output_bytes),
            to_write=bytearray(stdin),
            connection=connection,
            kernel_kills_before=kernel_kills,
        )
        self.commands[pid] = command
        self.begun()
        connection.busy = True
        self._feed(command)
        for capture in (command.stdout, command.stderr):
            self.watch(capture.descriptor, partial(self._hear, capture))
        return command

    def _feed(self, command: Command) -> None:
        if command.stdin is None:
            return
        if command.write_stdin():
            self.watch(command.stdin, lambda _: self._feed(command), write=True, read=False)
        else:
            self.unwatch(command.stdin)
            command.close_stdin()

    def _hear(self, capture: Capture, _: int) -> None:
        if not capture.read():
            self.unwatch(capture.descriptor)
            capture.close()

    def stop_command(self, command: Command, why: str) -> None:
        command.stopped_by = command.stopped_by or why
        command.deadline = float("inf")
        if command.is_step:
            children.kill_everything()
        else:
            children.kill_session(command.pid)

    def reap(self) -> None:
        """Collect every child that ended: commands, shells, jobs, and orphans that were handed to PID 1."""
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            cpu_s = usage.ru_utime + usage.ru_stime
            self.reaped_cpu_s += cpu_s
            code = os.waitstatus_to_exitcode(status)
            command = self.commands.get(pid)
            if command is not None:
                command.status = code
                command.max_rss_mb = usage.ru_maxrss / 1024
                self._finish(command)
            elif pid in self.jobs:
                self.jobs.pop(pid).close()
                del self.job_deadlines[pid]
            else:
                for terminal in self.terminals.values():
                    if terminal.pid == pid and terminal.status is None:
                        terminal.status = code
                        children.kill_session(pid)

    def _finish(self, command: Command) -> None:
        if command.is_step:
            children.kill_everything()
            with contextlib.suppress(ChildProcessError):
                while True:
                    usage = os.wait4(-1, 0)[2]
                    self.reaped_cpu_s += usage.ru_utime + usage.ru_stime
        command.cpu_s = self.reaped_cpu_s
        if command.status == -signal.SIGKILL and self.memory.kernel_kills > command.kernel_kills_before:
            command.stopped_by = command.stopped_by or "memory_limit"
        del self.commands[command.pid]
        for capture in (command.stdout, command.stderr):
            capture.drain()
            if capture.descriptor is not None:
                self.unwatch(capture.descriptor)
            capture.close()
        if command.stdin is not None:
            self.unwatch(command.stdin)
            command.close_stdin()
        command.connection.busy = False
        command.connection.answer(*command.result())
        command.connection.advance()

    def abandon(self, connection: Connection) -> None:
        """The client is gone: end what it was waiting for."""
        for command in self.commands.values():
            if command.connection is connection:
                self.stop_command(command, "abandoned")

    def fork_job(self, connection: Connection, work: Callable[[socket.socket], None], cpu_s: float) -> None:
        """Hand the connection to a fork that does the work, answers on it, and ends."""
        pid = os.fork()
        if pid:
            self.jobs[pid] = connection
            connection.busy = True
            self.unwatch(connection.stream)
            self.job_deadlines[pid] = time.monotonic() + JOB_WALL_S
            return
        try:
            signal.set_wakeup_fd(-1)
            resource.setrlimit(resource.RLIMIT_CPU, (int(cpu_s), int(cpu_s) + 1))
            resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
            connection.stream.setblocking(True)
            try:
                work(connection.stream)
            except (OSError, files.FileProblem, MemoryError) as error:
                kind = error.kind if isinstance(error, files.FileProblem) else "failed"
                connection.stream.sendall(encode({"ok": False, "kind": kind, "error": str(error) or "out of memory"}))
        except BaseException:  # noqa: BLE001 - a fork of PID 1 must never return into its loop
            os._exit(1)
        os._exit(0)

    def let_go(self) -> None:
        """In the fork of a step: drop every descriptor without a later surprise.

        A socket object that outlives its closed descriptor would close whatever file the step opens under that number.
        """
        sources = [key.fileobj for key in self.selector.get_map().values()]
        sources += [connection.stream for connection in self.jobs.values()]
        for source in [*sources, self._waked]:
            if isinstance(source, socket.socket):
                source.detach()
        self.bell.take_down()
        self.selector.close()

    def close_terminal(self, terminal: Terminal) -> None:
        """Hang up, and end what is left of the session a second later."""
        self.stir()
        for number in (signal.SIGHUP, signal.SIGCONT):
            children.kill_session(terminal.pid, number)
        terminal.close()
        self.later.append((time.monotonic() + TERMINAL_GRACE_S, lambda: children.kill_session(terminal.pid)))


def _restore(folders: list[str]) -> None:
    """Unpack the stored files, in a fork: what that takes does not stay. Without them the sandbox does not start."""
    pid = os.fork()
    if pid == 0:
        status = 3
        try:
            with os.fdopen(os.dup(0), "rb") as stored:
                archive.unpack(stored, folders)
            status = 0
        except OSError as error:
            os.write(2, f"The stored files do not fit into this sandbox: {error.strerror}\n".encode())
        except Exception as error:  # noqa: BLE001 - a fork of PID 1 must never return
            os.write(2, f"The stored files cannot be unpacked: {error!r}\n".encode("utf-8", "backslashreplace"))
        finally:
            os._exit(status)
    if os.waitpid(pid, 0)[1]:
        os._exit(3)


def _prepare(settings: dict[str, Any]) -> socket.socket:
    children.set_dumpable(False)
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    for directory in settings["writable"]:
        os.makedirs(directory, exist_ok=True)  # noqa: PTH103
    if os.fstat(0).st_size:
        _restore(settings["writable"])
    null = os.open("/dev/null", os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    os.close(null)
    listening = socket.socket(fileno=settings["listening"])
    listening.setblocking(False)
    listening.set_inheritable(False)
    os.umask(0o022)
    return listening


def main(settings: dict[str, Any]) -> None:
    """Run as PID 1 until told to leave. In the fork of a replay step this function returns by the step's own end."""
    step: list[str] | None = None
    launcher = Launcher(settings, _prepare(settings))
    try:
        launcher.run()
    except python_steps.ChildMustRun as asked:
        step = asked.argv
    del launcher
    if step is not None:
        python_steps.run_as_python(step)
