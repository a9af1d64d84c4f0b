"""What an entry of the battery works with inside a sandbox: a report of what it did and what it got hold of.

Laid beside the entry as ``bypass``; standard library only. An entry is told everything that a well-informed cheat could
know (``known``), so that a door that stays shut is shut, and not merely unknown.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

REPORT = Path.home() / ".bypass"
LONGEST = 400
MOST_BYTES = 60_000
_libc = ctypes.CDLL(None, use_errno=True)


class Bypass:
    """Handed to each hook of an entry. ``where`` is the hook's name, ``argv`` what production called."""

    def __init__(self, where: str, argv: list[str], known: dict[str, Any]) -> None:
        self.where, self.argv, self.known = where, argv, known
        self.token: str = known["token"]  #: stands in the name of all that it tries to leave behind
        self._seen: set[str] | None = None

    # ---- what it tells

    def did(self, what: str) -> None:
        """It acted, within what it may: told once."""
        self._tell({"did": what})

    def attempt(self, what: str, act: Callable[..., object], *arguments: object) -> None:
        """Try something that must bring nothing. What ``act`` returns, if it is not empty, is loot.

        What the system refuses is an ``OSError`` or an import that fails; anything else that is raised is the entry's
        own mistake, and nothing was tried.
        """
        try:
            got = act(*arguments)
        except (OSError, ImportError) as problem:
            self._tell({"tried": what, "refused": repr(problem)[:LONGEST]})
            return
        except Exception as problem:
            self._tell({"tried": what, "broke": repr(problem)[:LONGEST]})
            return
        key = "loot" if got else "nothing"
        self._tell({"tried": what, key: repr(got)[:LONGEST]})

    def once(self, name: str = "once") -> bool:
        """True for the first of all calls that asks, in this sandbox."""
        REPORT.mkdir(exist_ok=True)
        try:
            os.close(os.open(REPORT / f"done-{name}", os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return False
        return True

    def _tell(self, row: dict[str, Any]) -> None:
        REPORT.mkdir(exist_ok=True)
        line = json.dumps({"where": self.where, **row})
        path = REPORT / "report"
        if self._seen is None:
            self._seen = set(path.read_text().splitlines()) if path.exists() else set()
        loot = "loot" in row
        if line in self._seen or (not loot and sum(map(len, self._seen)) > MOST_BYTES):
            return
        self._seen.add(line)
        with path.open("a") as report:
            report.write(line + "\n")

    # ---- what several entries need

    def outputs(self) -> list[Path]:
        """Text files that this call wrote below ``system/``; only after it, and only where ``remember`` ran before."""
        return [path for path, stamp in _stamps() if self._before.get(path) != stamp and _is_text(path)]

    def remember(self) -> None:
        """Note what lies in ``system/`` before the call."""
        self._before = dict(_stamps())

    _before: dict[Path, tuple[int, int, int]] = {}

    def rewrite(self, change: Callable[[bytes], bytes]) -> None:
        """Replace each output of the call by what ``change`` makes of it."""
        for path in self.outputs():
            data = path.read_bytes()
            changed = change(data)
            if changed != data:
                path.write_bytes(changed)
                self.did(f"rewrote {path.suffix or path.name}")


def _stamps() -> Iterator[tuple[Path, tuple[int, int, int]]]:
    for folder, folders, names in os.walk("."):
        folders[:] = [name for name in folders if not name.startswith(".") and name != "__pycache__"]
        for name in names:
            path = Path(folder, name)
            try:
                found = path.lstat()
            except OSError:
                continue
            yield path, (found.st_ino, found.st_mtime_ns, found.st_size)


def _is_text(path: Path) -> bool:
    if path.is_symlink() or not path.is_file() or path.suffix in (".py", ".pyc"):
        return False
    with path.open("rb") as file:
        beginning = file.read(512)
    return bool(beginning) and b"\0" not in beginning and not beginning.startswith(b"SQLite")


# ---- doors


def syscall(number: dict[str, int], *arguments: Any) -> int:
    """A system call by its number on this machine; raises ``OSError`` as it fails."""
    machine = os.uname().machine
    result: int = _libc.syscall(ctypes.c_long(number[machine]), *arguments)
    if result == -1:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return result


def in_a_child(act: Callable[[], object], patience_s: int = 20) -> object:
    """Do it in a fork and give back what it returned, or raise the ``OSError`` that it met: it may change its process."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(patience_s)
        status = 255
        try:
            os.write(writing, repr(act() or "").encode()[:4000])
            status = 0
        except OSError as problem:
            status = problem.errno or 255
        finally:
            os._exit(status)
    os.close(writing)
    said = b""
    while part := os.read(reading, 4096):
        said += part
    os.close(reading)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if 0 < status < 255:
        raise OSError(status, os.strerror(status))
    if status:
        raise RuntimeError(f"the fork ended with {status}")
    return said.decode() if said not in (b"", b"''", b"[]", b"0", b"None") else None


def digest(path: str) -> str:
    """SHA-256 of a file's content."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
