"""One sandbox, as its launcher answers for it. Which runtime made its namespaces does not matter here."""

from __future__ import annotations

import contextlib
import os
import posixpath
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO

from workspaces.runtime.base import CallLimits, ExecResult, SandboxSpec, SandboxState, SnapshotReport, StepResult
from workspaces.runtime.control import Control
from workspaces.runtime.errors import SandboxError, SandboxGone, SandboxSpecProblem, SandboxTooLarge

PUT_BYTES_MAX = 64 << 20
KEPT_IDLE = 2  #: connections to a launcher that are kept for the next caller; each is a descriptor at both ends


class LaunchedSandbox:
    """Implements ``workspaces.runtime.base.Sandbox``. Thread-safe: every call has a connection of its own.

    ``stopper`` is the runtime's part of stopping: saving the files and ending the namespaces.
    """

    def __init__(self, sandbox_id: str, control: Path, spec: SandboxSpec, state: Callable[[str], SandboxState]) -> None:
        self.id = sandbox_id
        self.spec = spec
        self._control = control
        self._state = state
        self._idle: list[Control] = []  #: connections that can be used again
        self.stopper: Callable[[str], None] = lambda _: None

    def __repr__(self) -> str:
        return f"<sandbox {self.id}>"

    def state(self) -> SandboxState:
        return self._state(self.id)

    @contextlib.contextmanager
    def connection(self) -> Iterator[Control]:
        """A connection to the launcher, given back for the next caller if it served well."""
        control = None
        while self._idle and control is None:
            with contextlib.suppress(IndexError):
                control = self._idle.pop()
                if not control.alive():
                    control.close()
                    control = None
        control = control or Control(self._control)
        try:
            yield control
        finally:
            if control.stream.fileno() >= 0:
                if len(self._idle) < KEPT_IDLE:
                    self._idle.append(control)
                else:
                    control.close()

    def close_connections(self) -> None:
        """Let go of the launcher."""
        while self._idle:
            self._idle.pop().close()

    def ask(
        self, header: dict[str, Any], body: bytes = b"", *, timeout_s: float = 30.0
    ) -> tuple[dict[str, Any], bytes]:
        """Any request of the launcher's wire."""
        with self.connection() as control:
            return control.request(header, body, timeout_s=timeout_s)

    def exec(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes = b"",
        environment: Mapping[str, str] | None = None,
        working_directory: str | None = None,
        timeout_s: float = 30.0,
        output_bytes: int = 1_000_000,
    ) -> ExecResult:
        if not argv:
            raise SandboxSpecProblem("A command needs at least its name.")
        header = {
            "op": "exec",
            "argv": list(argv),
            "environment": dict(environment or {}),
            "working_directory": working_directory or self.spec.working_directory,
            "timeout_s": timeout_s,
            "output_bytes": output_bytes,
        }
        answer, body = self.ask(header, stdin, timeout_s=timeout_s + 15)
        cut = answer["stdout_bytes"]
        return ExecResult(
            answer["status"], body[:cut], body[cut:], answer["wall_s"], answer["timed_out"], answer["truncated"]
        )

    def step(
        self,
        argv: Sequence[str],
        *,
        limits: CallLimits,
        stdin: bytes = b"",
        working_directory: str = "/workspace/system",
    ) -> StepResult:
        if len(argv) < 2 or argv[0] not in ("python", "python3") or (argv[1] == "-m" and len(argv) < 3):
            raise SandboxSpecProblem("A step is python -m MODULE … or python FILE …")
        header = {
            "op": "step",
            "argv": list(argv),
            "working_directory": working_directory,
            "timeout_s": limits.wall_s,
            "output_bytes": limits.output_bytes,
            "bounds": {
                "memory_mb": limits.memory_mb,
                "processes": limits.processes,
                "file_mb": limits.file_mb,
                "cpu_s": limits.cpu_s,
            },
        }
        with self.connection() as control:  # a sandbox that is not running at all is the caller's to know
            try:
                answer, body = control.request(header, stdin, timeout_s=limits.wall_s + 15)
            except SandboxGone:
                return StepResult(-9, "server_lost", 0.0, 0.0, 0.0, b"", b"")
        cut = answer["stdout_bytes"]
        return StepResult(
            exit_status=answer["status"],
            failure=answer["failure"],
            cpu_s=answer["cpu_s"],
            wall_s=answer["wall_s"],
            max_rss_mb=answer["max_rss_mb"],
            stdout=body[:cut],
            stderr=body[cut:],
            truncated=answer["truncated"],
        )

    # terminals

    def open_terminal(
        self, *, columns: int, rows: int, argv: Sequence[str] = ("bash", "-l"), number: int = 1
    ) -> tuple[int, int]:
        header = {
            "op": "terminal_open",
            "number": number,
            "argv": list(argv),
            "columns": columns,
            "rows": rows,
            "working_directory": self.spec.working_directory,
        }
        with self.connection() as control:
            answer, descriptor = control.request_descriptor(header)
        return descriptor, int(answer["pid"])

    def take_terminal(self, number: int) -> int:
        """The master of a terminal that is open already: its former holder was killed. The caller owns it."""
        with self.connection() as control:
            return control.request_descriptor({"op": "terminal_take", "number": number})[1]

    def terminals(self) -> list[dict[str, Any]]:
        """number, pid, columns, rows, status (``None`` while the shell lives) and open, for each terminal."""
        return list(self.ask({"op": "terminal_list"})[0]["terminals"])

    def close_terminal(self, number: int) -> None:
        """Hang up and end its session. Quiet for one that ended by itself."""
        self.ask({"op": "terminal_close", "number": number})

    def say(self, text: str) -> None:
        """Show this on every open terminal, once in the life of the sandbox."""
        self.ask({"op": "say", "text": text})

    # files

    def put(self, path: str, data: bytes, *, mode: int = 0o644) -> None:
        if len(data) > PUT_BYTES_MAX:
            raise SandboxSpecProblem(f"At most {PUT_BYTES_MAX >> 20} MB can be put at once.")
        self.ask({"op": "put", "path": path, "mode": mode}, data, timeout_s=60)

    def read(self, path: str, *, max_bytes: int) -> bytes:
        return self.ask({"op": "read", "path": path, "max_bytes": min(max_bytes, PUT_BYTES_MAX)}, timeout_s=60)[1]

    def read_beginning(self, path: str, *, max_bytes: int) -> bytes:
        """The first ``max_bytes`` of a regular file of any size."""
        header = {"op": "read", "path": path, "max_bytes": min(max_bytes, PUT_BYTES_MAX), "beginning": True}
        return self.ask(header, timeout_s=60)[1]

    def listing(self, path: str) -> list[dict[str, Any]]:
        """Entries of a folder: name, kind (file, directory, link, special), size, modified_at."""
        return list(self.ask({"op": "list", "path": path})[0]["entries"])

    def make_directory(self, path: str) -> None:
        self.ask({"op": "make_directory", "path": path})

    def delete(self, path: str) -> None:
        self.ask({"op": "delete", "path": path}, timeout_s=60)

    def rename(self, path: str, target: str) -> None:
        self.ask({"op": "rename", "path": path, "target": target})

    def usage(self) -> dict[str, Any]:
        """processes, cpu_s, memory_bytes, memory_kills, disk_bytes, inodes at this moment."""
        return self.ask({"op": "usage"})[0]

    def signature(self, paths: Sequence[str]) -> str:
        """A hash that changes with any change of the files below ``paths``."""
        with Control(self._control) as control:
            return str(control.request({"op": "signature", "paths": list(paths)}, timeout_s=30)[0]["signature"])

    def compare(self, path: str, original_tar: bytes) -> list[dict[str, Any]]:
        """How files below ``path`` differ from the tar's, line counts included; computed inside, with limits."""
        with Control(self._control) as control:
            answer = control.request({"op": "compare", "path": path}, original_tar, timeout_s=45)[0]
        return list(answer["changes"])

    def snapshot(
        self, target: Path, *, paths: Sequence[str], max_bytes: int, faithful: bool = False, base: str | None = None
    ) -> SnapshotReport:
        """See the contract. ``faithful`` keeps links and times, and leaves out instead of failing: for restoring."""
        paths = [posixpath.normpath(path) for path in paths]
        base = base or posixpath.commonpath(paths)
        header = {
            "op": "snapshot",
            "paths": list(paths),
            "base": base,
            "max_bytes": max_bytes,
            "faithful": faithful,
        }
        temporary = target.with_name(f".{target.name}.{os.getpid()}.{threading.get_ident()}")
        try:
            with temporary.open("wb") as output:
                answer = self._receive_tar(header, output, max_bytes + max_bytes // 4 + (512 << 20))
                output.flush()
                os.fsync(output.fileno())
            if not faithful and any(entry["reason"] == "too large" for entry in answer["skipped"]):
                raise SandboxTooLarge(f"The files of {', '.join(paths)} are larger than {max_bytes >> 20} MB together.")
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)
        skipped = tuple((entry["path"], entry["reason"]) for entry in answer["skipped"])
        return SnapshotReport(answer["files"], answer["bytes"], skipped)

    def _receive_tar(self, header: dict[str, Any], output: BinaryIO, ceiling: int) -> dict[str, Any]:
        answer: dict[str, Any] = {}
        with Control(self._control) as control:
            for answer, content in control.chunks(header):  # noqa: B007 - the last one is the summary
                output.write(content)
                ceiling -= len(content)
                if ceiling < 0:
                    raise SandboxError("The sandbox's files are more than it may hold; nothing was saved.")
        return answer

    def quiesce(self) -> None:
        """End every process; none may start until ``resume``."""
        self.ask({"op": "quiesce"})

    def resume(self) -> None:
        self.ask({"op": "resume"})

    def stop(self) -> None:
        self.stopper(self.id)


def limits_for_children(spec: SandboxSpec) -> dict[str, int]:
    """rlimits of every process inside, from the totals of the sandbox."""
    limits = asdict(spec.limits)
    return {
        "memory_mb": limits["memory_mb"],
        "processes": limits["processes"],
        "file_mb": limits["disk_mb"],
        "open_files": limits["open_files"],
    }
