"""What the launcher has under way: commands and replay steps with captured output, terminals, packing jobs."""

from __future__ import annotations

import contextlib
import os
import signal
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

READ_BYTES = 65536
TAIL_BYTES = 256


class Capture:
    """One output pipe: keeps the first ``limit`` bytes, counts and drops the rest, remembers the very last ones."""

    def __init__(self, descriptor: int, limit: int) -> None:
        self.descriptor: int | None = descriptor
        self.limit = limit
        self.kept = bytearray()
        self.tail = b""
        self.truncated = False

    def read(self) -> bool:
        """Take what is there; ``False`` when the pipe has ended and is closed."""
        if self.descriptor is None:
            return False
        try:
            data = os.read(self.descriptor, READ_BYTES)
        except BlockingIOError:
            return True
        except OSError:
            data = b""
        if not data:
            return False
        room = self.limit - len(self.kept)
        self.kept += data[:room]
        self.truncated = self.truncated or len(data) > room
        self.tail = (self.tail + data)[-TAIL_BYTES:]
        return True

    def drain(self) -> None:
        """Take at most what a full pipe can hold: its writers may be alive and never stop."""
        if self.descriptor is None:
            return
        for _ in range(32):
            try:
                data = os.read(self.descriptor, READ_BYTES)
            except OSError:
                return
            if not data:
                return
            room = self.limit - len(self.kept)
            self.kept += data[:room]
            self.truncated = self.truncated or len(data) > room
            self.tail = (self.tail + data)[-TAIL_BYTES:]

    def close(self) -> None:
        if self.descriptor is not None:
            os.close(self.descriptor)
            self.descriptor = None


class Command:
    """A command or a step: one child with its three streams, and who waits for it."""

    def __init__(
        self,
        pid: int,
        stdin: int | None,
        stdout: Capture,
        stderr: Capture,
        to_write: bytearray,
        connection: Any,
        kernel_kills_before: int,
    ) -> None:
        self.pid = pid
        self.stdin = stdin
        self.stdout = stdout
        self.stderr = stderr
        self.to_write = to_write
        self.connection = connection
        self.kernel_kills_before = kernel_kills_before  #: programs that the kernel had ended for memory at its start
        self.deadline = float("inf")
        self.is_step = False
        self.cpu_limit_s: float | None = None
        self.started = time.monotonic()
        self.status: int | None = None  #: exit status, negative for a signal
        self.cpu_s = 0.0
        self.max_rss_mb = 0.0
        self.stopped_by: str | None = None  #: wall_limit, cpu_limit or memory_limit, if the launcher ended it

    def write_stdin(self) -> bool:
        """Feed the child; ``False`` when there is nothing more to write or nobody reads."""
        if self.stdin is None:
            return False
        try:
            written = os.write(self.stdin, self.to_write[:READ_BYTES])
            del self.to_write[:written]
        except BlockingIOError:
            return True
        except OSError:
            self.to_write.clear()
        return bool(self.to_write)

    def close_stdin(self) -> None:
        if self.stdin is not None:
            os.close(self.stdin)
            self.stdin = None

    def result(self) -> tuple[dict[str, Any], bytes]:
        """Header and body of the answer: stdout and stderr follow one another in the body."""
        status = self.status if self.status is not None else -signal.SIGKILL
        header = {
            "ok": True,
            "status": status,
            "failure": self._failure(status) if self.is_step else None,
            "timed_out": self.stopped_by == "wall_limit",
            "wall_s": time.monotonic() - self.started,
            "cpu_s": self.cpu_s,
            "max_rss_mb": self.max_rss_mb,
            "stdout_bytes": len(self.stdout.kept),
            "truncated": self.stdout.truncated or self.stderr.truncated,
        }
        return header, bytes(self.stdout.kept + self.stderr.kept)

    def _failure(self, status: int) -> str | None:
        if self.stopped_by is not None:
            return self.stopped_by
        if status == 0:
            return None
        spent = self.cpu_limit_s is not None and self.cpu_s >= self.cpu_limit_s * 0.98
        if status == -signal.SIGXCPU or (status == -signal.SIGKILL and spent):
            return "cpu_limit"
        if status < 0:
            return "signal"
        last_line = self.stderr.tail.rstrip().rpartition(b"\n")[2]
        return "memory_limit" if last_line.startswith(b"MemoryError") else "exit"


class Terminal:
    """A PTY and its shell. The launcher keeps the master too, so that a killed keeper hangs nothing up."""

    def __init__(self, number: int, pid: int, master: int, columns: int, rows: int, path: str) -> None:
        self.number = number
        self.pid = pid
        self.master = master
        self.columns = columns
        self.rows = rows
        self.path = path  #: of its other side, below /dev/pts
        self.status: int | None = None

    def close(self) -> None:
        if self.master >= 0:
            with contextlib.suppress(OSError):
                os.close(self.master)
            self.master = -1

    def facts(self) -> dict[str, Any]:
        return {
            "number": self.number,
            "pid": self.pid,
            "columns": self.columns,
            "rows": self.rows,
            "status": self.status,
            "open": self.master >= 0,
        }
