"""What may be asked of the launcher, one method for each operation."""

from __future__ import annotations

import os
import time
from functools import partial
from io import BufferedWriter, RawIOBase

from . import archive, children, files, python_steps
from .wire import encode
from .work import Terminal

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from typing import Any

    from .connection import Connection
    from .main import Launcher

CHUNK_BYTES = 1 << 18


class Refused(Exception):
    """The launcher cannot do that now."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind = kind


class _Chunks(RawIOBase):
    """A stream whose writes go out as messages, so that the reader knows a finished tar from a broken one."""

    def __init__(self, stream: socket.socket) -> None:
        self.stream = stream

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.stream.sendall(encode({"more": True}, bytes(data)))
        return len(data)


class Requests:
    """Dispatch of the wire's operations. A method answers at once, or leaves the connection busy and answers later."""

    def __init__(self, launcher: Launcher) -> None:
        self.launcher = launcher

    def handle(self, connection: Connection, header: dict[str, Any], body: bytes) -> None:
        operation = getattr(self, "do_" + str(header.get("op")), None)
        if operation is None:
            connection.answer({"ok": False, "kind": "unknown", "error": "The launcher does not know this operation."})
            return
        try:
            operation(connection, header, body)
        except (files.FileProblem, Refused) as problem:
            connection.answer({"ok": False, "kind": problem.kind, "error": str(problem)})
        except OSError as error:
            connection.answer({"ok": False, "kind": "failed", "error": error.strerror or str(error)})
        except (KeyError, TypeError, ValueError) as error:
            connection.answer({"ok": False, "kind": "request", "error": f"The request is malformed: {error!r}"})

    def do_hello(self, connection: Connection, header: dict[str, Any], body: bytes) -> None:
        connection.answer({"ok": True, "version": 1, "sandbox": self.launcher.settings.get("id")})

    # processes

    def _bounds(self, header: dict[str, Any]) -> children.Bounds:
        return children.Bounds(**{**self.launcher.settings["bounds"], **header.get("bounds", {})})

    def _must_not_be_quiet(self) -> None:
        if self.launcher.quiet:
            raise Refused("stopping", "The sandbox is being stopped: no process may start.")
        if any(command.is_step for command in self.launcher.commands.values()):
            raise Refused("busy", "A replay step is running: it has the sandbox for itself.")

    def do_exec(self, connection: Connection, header: dict[str, Any], body: bytes) -> None:
        self._must_not_be_quiet()
        environment = {**self.launcher.environment, **header.get("environment", {})}
        bounds, directory, argv = self._bounds(header), header["working_directory"], header["argv"]
        run = partial(children.execute, argv, environment, directory, bounds)
        command = self.launcher.spawn(run, connection, body, int(header["output_bytes"]))
        command.deadline = time.monotonic() + float(header["timeout_s"])

    def do_step(self, connection: Connection, header: dict[str, Any], body: bytes) -> None:
        self._must_not_be_quiet()
        if self.launcher.commands or self.launcher.jobs or self.launcher.terminals:
            raise Refused("busy", "A replay step needs the sandbox for itself: a command, job or terminal is open.")
        python_steps.preload()
        bounds, directory, argv = self._bounds(header), header["working_directory"], list(header["argv"])
        self.launcher.reaped_cpu_s = 0.0

        def run() -> None:
            try:
                self.launcher.let_go()
                children.become_ordinary()
                os.chdir(directory)
                children.apply_bounds(bounds)
            except OSError as error:
                os.write(2, f"{directory}: {error.strerror}\n".encode("utf-8", "surrogateescape"))
                os._exit(126)
            raise python_steps.ChildMustRun(argv)

        command = self.launcher.spawn(run, connection, body, int(header["output_bytes"]))
        command.is_step = True
        command.cpu_limit_s = bounds.cpu_s
        command.deadline = time.monotonic() + float(header["timeout_s"])

    def do_quiesce(self, connection: Connection, header: dict[str, Any], body: bytes) -> None:
        """End every process; none may start until ``resume``."""
        self.launcher.quiet = True
        children.kill_everything()
        deadline = time.monotonic() + 5
        while children.processes() and time.monotonic() < deadline:
            self.launcher.reap()
            children.kill_everything()
            time.sleep(0.005)
        connection.answer({"ok": True, "left": len(children.processes())})

    def do_resume(self, connection: Connection, header: dict[str, Any], body: bytes) -> None:
        self.launcher.quiet = False
        connection.answer({"ok": True})

    def do_exit(self, connection: Connection, header: dict[str, Any], body: bytes) -> None:
        self.launcher.leaving = True
        connection.answer({"ok": True})

    def do_usage(self, connection: Connection, header: dict[str, Any], body: bytes) -> None:
        alive = children.processes()
        storages = [os.statvfs(directory) for directory in self.launcher.settings["writable"]]
        connection.answer(
            {
                "ok": True,
                "processes": len(alive),
                "cpu_s": self.launcher.reaped_cpu_s + sum(process.cpu_s for process in alive.values()),
                "memory_bytes": sum(children.held_bytes().values()),
                "memory_kills": self.launcher.memory.kills,
                "disk_bytes": sum((each.f_blocks - each.f_bfree) * each.f_frsize for each in storages),
                "inodes": sum(each.f_files - each.f_ffree for each in storages),
            }
        )

    # files

    def do_put(self, connection: Connection, header: dict[str, Any], body: bytes) -> None:
        files.put(header["path"], body, int(header.get("mode", 0o644)))
        connection.answer({"ok": True})

    def do_read(self, connection: Connection, header: dict[str, Any], body: bytes) -> None:
        connection.answer(
            {"ok": True}, files.read(header["path"], int(header["max_bytes"]), bool(header.get("beginning")))
        )

    def do_list(self, connection: Connection, header: dict[str, Any], body: bytes) -> None:
        connection.answer({"ok": True, "entries": files.listing(header["path"])})

    def do_make_directory(self, connection: Connection, header: dict[str, Any], body: bytes) -> None:
        files.make_directory(header["path"])
        connection.answer({"ok": True})

    def do_delete(self, connection: Connection, header: dict[str, Any], body: bytes) -> None:
        files.delete(header["path"])
        connection.answer({"ok": True})

    def do_rename(self, connection: Connection, header: dict[str, Any], body: bytes) -> None:
        files.rename(header["path"], header["target"])
        connection.answer({"ok": True})

    def do_say(self, connection: Connection, header: dict[str, Any], body: bytes) -> None:
        """Words of the product for the people at the terminals."""
        self.launcher.notices.say(str(header["text"]))
        connection.answer({"ok": True})

    # jobs in a fork

    def do_snapshot(self, connection: Connection, header: dict[str, Any], body: bytes) -> None:
        paths, base = [str(path) for path in header["paths"]], str(header["base"])
        max_bytes, faithful = int(header["max_bytes"]), bool(header["faithful"])

        def work(stream: socket.socket) -> None:
            with BufferedWriter(_Chunks(stream), CHUNK_BYTES) as output:
                counts = archive.pack(output, paths, base, max_bytes=max_bytes, faithful=faithful)
            stream.sendall(encode({"ok": True, **counts}))

        self.launcher.fork_job(connection, work, cpu_s=120)

    def do_compare(self, connection: Connection, header: dict[str, Any], body: bytes) -> None:
        def work(stream: socket.socket) -> None:
            stream.sendall(encode({"ok": True, "changes": archive.compare(header["path"], body)}))

        self.launcher.fork_job(connection, work, cpu_s=20)

    def do_signature(self, connection: Connection, header: dict[str, Any], body: bytes) -> None:
        def work(stream: socket.socket) -> None:
            stream.sendall(encode({"ok": True, "signature": archive.signature(list(header["paths"]))}))

        self.launcher.fork_job(connection, work, cpu_s=20)

    # terminals

    def do_terminal_open(self, connection: Connection, header: dict[str, Any], body: bytes) -> None:
        self._must_not_be_quiet()
        number = int(header["number"])
        old = self.launcher.terminals.get(number)
        if old is not None and old.status is None:
            raise Refused("exists", f"Terminal {number} is open already.")
        if old is not None:
            old.close()
        environment = {**self.launcher.environment, "TERM": "xterm-256color", **header.get("environment", {})}
        run = partial(children.execute, header["argv"], environment, header["working_directory"], self._bounds(header))
        columns, rows = int(header["columns"]), int(header["rows"])
        pid, master, path = children.fork_on_terminal(columns, rows, run)
        terminal = Terminal(number, pid, master, columns, rows, path)
        self.launcher.terminals[number] = terminal
        self.launcher.begun()
        connection.answer({"ok": True, **terminal.facts()}, descriptors=(master,))

    def do_terminal_list(self, connection: Connection, header: dict[str, Any], body: bytes) -> None:
        connection.answer({"ok": True, "terminals": [each.facts() for each in self.launcher.terminals.values()]})

    def _terminal(self, header: dict[str, Any]) -> Terminal:
        terminal = self.launcher.terminals.get(int(header["number"]))
        if terminal is None:
            raise Refused("missing", f"There is no terminal {header['number']}.")
        return terminal

    def do_terminal_take(self, connection: Connection, header: dict[str, Any], body: bytes) -> None:
        """Hand out the master again: the keeper that held it was killed."""
        terminal = self._terminal(header)
        if terminal.master < 0:
            raise Refused("missing", f"Terminal {terminal.number} is closed.")
        connection.answer({"ok": True, **terminal.facts()}, descriptors=(terminal.master,))

    def do_terminal_close(self, connection: Connection, header: dict[str, Any], body: bytes) -> None:
        terminal = self._terminal(header)
        self.launcher.close_terminal(terminal)
        if header.get("forget"):
            self.launcher.terminals.pop(terminal.number, None)
        connection.answer({"ok": True, **terminal.facts()})
