"""Taking an archive apart that anybody may have made: only plain files come out, below one folder, and not too much.

``.tar.gz`` and ``.zip`` alike are read as a stream of entries that are judged before a byte of them is written. Whatever
is refused is refused as a whole; ``ArchiveRefused`` says which entry and why.
"""

from __future__ import annotations

import errno
import gzip
import io
import stat
import struct
import tarfile
import unicodedata
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Protocol

from fdegym.lib.errors import FdegymError

LARGEST_ARCHIVE = 32 << 20  #: bytes, as it lies on the disk
MOST_BYTES = 256 << 20  #: bytes of all its files together
LARGEST_FILE = 64 << 20
MOST_ENTRIES = 10_000
DEEPEST = 12  #: folders in one another
LONGEST_NAME = 120  #: bytes of one part of a path
_CHUNK = 1 << 20
#: What interpreters, file managers and an admission elsewhere leave in a folder. It is no part of a scenario's content.
LEFT_OUT = frozenset({"__pycache__", "__MACOSX", ".DS_Store", "anchors.json", "matcher.npz"})
_GZIP = b"\x1f\x8b"
#: How the standard library meets an archive that is none. Its own words are for programmers: the first line is enough.
_BROKEN = (
    tarfile.TarError,
    zipfile.BadZipFile,
    gzip.BadGzipFile,
    zlib.error,
    struct.error,
    EOFError,
    ValueError,
    RuntimeError,
)


class ArchiveRefused(FdegymError):
    """An archive that is not taken. Nothing outside a temporary place was touched."""


def refused(entry: str, why: str) -> ArchiveRefused:
    """``entry`` is shown as it is safe to print: a name may hold anything."""
    return ArchiveRefused(f"{ascii(entry)[1:-1]}: {why}" if entry else why)


@dataclass(frozen=True, slots=True)
class _Entry:
    name: str
    is_folder: bool
    size: int
    data: IO[bytes] | None  #: None for a folder


class _Metered(io.RawIOBase):
    """What an archive unfolds to, cut off where it is more than any scenario has: also what lies between entries."""

    def __init__(self, stream: io.BufferedIOBase) -> None:
        self._stream, self._left = stream, MOST_BYTES + MOST_ENTRIES * 2048

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(min(size, _CHUNK) if size >= 0 else _CHUNK)
        self._left -= len(data)
        if self._left < 0:
            raise refused("", f"it unfolds to more than {MOST_BYTES >> 20} MB; no scenario needs as much")
        return data


@dataclass(frozen=True, slots=True)
class _Names:
    """The names taken so far, each folder's too. No two may be one on a disk that folds capitals or accents."""

    taken: dict[str, tuple[str, bool]] = field(default_factory=dict)  #: folded name → name, whether it is a folder

    def take(self, parts: tuple[str, ...], *, is_folder: bool) -> None:
        for depth in range(1, len(parts) + 1):
            path, folder = "/".join(parts[:depth]), is_folder or depth < len(parts)
            key = unicodedata.normalize("NFKC", path).casefold()
            if key not in self.taken:
                self.taken[key] = path, folder
                continue
            before, was_folder = self.taken[key]
            if before != path:
                raise refused(
                    path, f"differs from {ascii(before)[1:-1]} in capitals or accents alone; rename one of them"
                )
            if not (folder and was_folder):
                raise refused(path, "is there twice; which of the two is meant cannot be told")


def unpack(archive: Path, into: Path) -> None:
    """Write the archive's files below the empty directory ``into``, readable by everybody, without what is left out.

    Raises ``ArchiveRefused``, or ``OSError`` where the disk fails.
    """
    try:
        found = archive.stat()
        if not stat.S_ISREG(found.st_mode):
            raise refused("", "it is no file")
        if found.st_size > LARGEST_ARCHIVE:
            raise refused("", f"it has more than {LARGEST_ARCHIVE >> 20} MB")
        with archive.open("rb") as stream:
            _write(_entries(stream), into)
    except _BROKEN as broken:
        raise _damaged(broken) from broken
    except OSError as problem:
        if problem.errno == errno.EINVAL:  # a place in the archive that cannot be: zipfile looks there all the same
            raise _damaged(problem) from problem
        if problem.filename == str(archive):
            raise refused("", f"it cannot be read by this user: {problem.strerror}") from problem
        raise


def _damaged(broken: Exception) -> ArchiveRefused:
    words = str(broken).partition("\n")[0]
    return refused("", f"it is damaged, or no archive at all ({words}); make it anew")


def _write(entries: Iterator[_Entry], into: Path) -> None:
    names, total = _Names(), 0
    for number, entry in enumerate(entries):
        if number >= MOST_ENTRIES:
            raise refused("", f"it has more than {MOST_ENTRIES} entries")
        parts = _parts(entry.name)
        if not parts:
            continue  # the folder that was packed, as "./"
        names.take(parts, is_folder=entry.is_folder)
        total += entry.size
        if not 0 <= entry.size <= LARGEST_FILE or total > MOST_BYTES:
            raise refused(entry.name, f"a file has at most {LARGEST_FILE >> 20} MB, all together {MOST_BYTES >> 20} MB")
        if LEFT_OUT & set(parts) or parts[-1].endswith((".pyc", ".pyo")) or parts[-1].startswith("._"):
            continue
        target = into.joinpath(*parts)
        _make_folder(target if entry.is_folder else target.parent, into)
        if entry.data is not None:
            _copy(entry, target)


def _parts(name: str) -> tuple[str, ...]:
    """A name as path below the place where it is unpacked. Raises ``ArchiveRefused`` for what leads elsewhere."""
    if name.startswith("/") or "\\" in name or (len(name) > 1 and name[1] == ":"):
        raise refused(name, "is an absolute path, or one of another system; names are relative, with /")
    parts = tuple(part for part in name.split("/") if part not in ("", "."))
    if ".." in parts:
        raise refused(name, "leads out of the folder")
    if not all(part.isprintable() and part == part.strip() for part in parts):
        raise refused(name, "has characters that cannot be seen")
    if len(parts) > DEEPEST or any(len(part.encode()) > LONGEST_NAME for part in parts):
        raise refused(name, f"is too long: {DEEPEST} folders in one another, {LONGEST_NAME} bytes a name")
    return parts


def _make_folder(folder: Path, into: Path) -> None:
    for part in folder.relative_to(into).parts:
        into = into / part
        into.mkdir(exist_ok=True)
        into.chmod(0o755)  # whatever this user's umask is


def _copy(entry: _Entry, target: Path) -> None:
    assert entry.data is not None  # noqa: S101 - folders have none
    left = entry.size
    with target.open("xb") as file:
        while left > 0 and (chunk := entry.data.read(min(left, _CHUNK))):
            left -= len(chunk)
            file.write(chunk)
    if left:
        raise refused(entry.name, "ends before its end: the archive is damaged; make it anew")
    target.chmod(0o644)


# ---- the two kinds of archive ----------------------------------------------------------------------------------------


def _entries(stream: IO[bytes]) -> Iterator[_Entry]:
    beginning = stream.read(4)
    stream.seek(0)
    if beginning[:2] == _GZIP:
        return _of_tar(stream)
    if zipfile.is_zipfile(stream):
        return _of_zip(stream)
    raise refused("", "it is neither a .tar.gz nor a .zip")


def _of_tar(stream: IO[bytes]) -> Iterator[_Entry]:
    metered = _Metered(gzip.GzipFile(fileobj=stream))
    with tarfile.open(fileobj=metered, mode="r|", errors="surrogateescape") as archive:
        for member in archive:
            if member.issym() or member.islnk():
                raise refused(member.name, "is a link; put the file itself there")
            if not (member.isdir() or member.isreg()) or member.issparse():
                raise refused(member.name, "is a device, a pipe or a file with holes; only plain files are taken")
            data = archive.extractfile(member) if member.isreg() else None
            yield _Entry(member.name, member.isdir(), member.size if data else 0, data)
        _read_out(archive.fileobj)


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


def _read_out(rest: _Readable | None) -> None:
    """Read what follows the last entry. Raises where it is more than padding, or where the whole does not add up.

    ``tarfile`` takes a header that it cannot read for the archive's end, and the checksum of ``gzip`` stands at the very
    end, where nobody who stops early meets it: without this, half an archive would pass for a small one.
    """
    while rest is not None and (data := rest.read(_CHUNK)):
        if data.strip(b"\0"):
            raise refused("", "it is damaged: something that is no file stands between its files; make it anew")


def _of_zip(stream: IO[bytes]) -> Iterator[_Entry]:
    with zipfile.ZipFile(stream) as archive:
        for info in archive.infolist():
            kind = stat.S_IFMT(info.external_attr >> 16)
            if stat.S_ISLNK(kind):
                raise refused(info.filename, "is a link; put the file itself there")
            if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
                raise refused(info.filename, "is a device or a pipe; only plain files are taken")
            if info.flag_bits & 0x1:
                raise refused(info.filename, "is encrypted")
            if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise refused(info.filename, "is packed in an unusual way; make a common .zip")
            if info.orig_filename != info.filename:
                raise refused(info.orig_filename, "has characters that cannot be seen")
            if info.is_dir():
                yield _Entry(info.filename, is_folder=True, size=0, data=None)
                continue
            with archive.open(info) as data:
                yield _Entry(info.filename, is_folder=False, size=info.file_size, data=data)
