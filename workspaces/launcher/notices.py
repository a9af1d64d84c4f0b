"""Words at the terminals when a limit of the workspace is met: the shell's own are a bare "Killed"."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping

from .memory import Victim
from .work import Terminal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

WAITING_MAX = 8  #: notices that a flooded terminal does not take yet
CLEAR_SHARE = 0.9  #: a limit is met anew when it was left below this share of it


class Notices:
    """Tells each limit once, until it is no longer met. A notice waits while its terminal is flooded by a program."""

    def __init__(self, terminals: Mapping[int, Terminal], settings: Mapping[str, Any]) -> None:
        self._terminals = terminals
        self._bounds: Mapping[str, int] = settings["bounds"]
        self._folders: list[str] = settings["writable"]
        self._met: set[str] = set()
        self._said: set[str] = set()
        self._waiting: list[tuple[Terminal, bytes]] = []

    def say(self, text: str) -> None:
        """Show this on every open terminal, once in the life of the sandbox."""
        if text not in self._said and self._open():
            self._said.add(text)
            self._tell(self._open(), text)

    def memory_kills(self, victims: list[Victim]) -> None:
        """Programs were ended for memory: their own terminals are told, or all, of those that belong to none."""
        limit = f"the workspace's programs may hold {self._bounds['memory_mb']:,} MB of memory together."
        for terminal in self._open():
            own = [each for each in victims if each.session == terminal.pid or each.session not in self._sessions()]
            if own:
                which = own[0].name + (f" (process {own[0].pid})" if own[0].pid else "")
                others = f" and {len(own) - 1:,} more" if len(own) > 1 else ""
                self._tell([terminal], f"{which}{others} {'were' if others else 'was'} ended: {limit}")

    def look(self, tasks: int) -> None:
        """Compare what is used with the limits. ``tasks``: processes with all their threads, the launcher included."""
        waiting, self._waiting = self._waiting, []
        for terminal, data in waiting:
            self._write(terminal, data)
        if not self._terminals:
            return
        processes = self._bounds["processes"]
        text = (
            f"The workspace may run {processes:,} processes and threads, and does: others cannot start before some end."
        )
        # a little less than all: who is refused often ends at once, and was one of them
        self._once("processes", tasks, processes - max(1, processes // 32), text)
        for folder in self._folders:
            storage = os.statvfs(folder)
            size = _megabytes(storage.f_blocks * storage.f_frsize)
            text = f"{folder} is full, it may hold {size}: nothing more can be saved there before something is deleted."
            self._once(f"bytes of {folder}", storage.f_blocks - storage.f_bfree, storage.f_blocks, text)
            text = f"{folder} holds {storage.f_files:,} files and folders, all it may: delete some to make others."
            self._once(f"inodes of {folder}", storage.f_files - storage.f_ffree, storage.f_files, text)

    def _once(self, what: str, used: int, limit: int, text: str) -> None:
        if used >= limit and what not in self._met:
            self._met.add(what)
            self._tell(self._open(), text)
        elif used < limit * CLEAR_SHARE:
            self._met.discard(what)

    def _sessions(self) -> set[int]:
        return {terminal.pid for terminal in self._open()}

    def _open(self) -> list[Terminal]:
        return [each for each in self._terminals.values() if each.status is None and each.master >= 0]

    def _tell(self, terminals: list[Terminal], text: str) -> None:
        shown = "".join(letter if letter.isprintable() else "?" for letter in text)  # it may name hostile files
        data = f"\r\n\x1b[33m{shown}\x1b[0m\r\n".encode()
        for terminal in terminals:
            self._write(terminal, data)

    def _write(self, terminal: Terminal, data: bytes) -> None:
        """To the terminal's own side, as a program inside would: so it is part of its stream and of its record."""
        if terminal.status is not None or terminal.master < 0:
            return
        with contextlib.suppress(OSError):
            descriptor = os.open(terminal.path, os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
            try:
                os.write(descriptor, data)
            except BlockingIOError:
                if len(self._waiting) < WAITING_MAX:
                    self._waiting.append((terminal, data))
            finally:
                os.close(descriptor)


def _megabytes(count: int) -> str:
    megabytes = count / (1 << 20)
    return f"{megabytes:,.0f} MB" if megabytes >= 10 else f"{megabytes:.1f} MB"
