"""Packing the sandbox's files into a tar, unpacking them again, and comparing them with an original.

Runs in forks of the launcher, each of which imports what it needs for that: the launcher itself keeps none of it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Callable, Iterator

from . import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    import tarfile
    from typing import Any, BinaryIO

DEPTH_MAX = 64
TOO_DEEP = f"deeper than {DEPTH_MAX} folders"
FILES_MAX = 200_000
DIFF_BYTES_MAX = 2_000_000
EARLIEST_S, LATEST_S = -(1 << 40), 1 << 40  #: a file may claim any time; beyond these no call can set it again


LeftOut = Callable[[str, str], None]  #: is told a path and the reason


def walk(
    root: str, *, locked: bool = False, left_out: LeftOut = lambda *_: None
) -> Iterator[tuple[str, int, os.stat_result]]:
    """Everything below ``root``, sorted by path: (path relative to root, descriptor of its directory, stat).

    Directories come before what they hold. Never follows a link. What lies deeper than 64 folders, and, unless
    ``locked``, in folders that their owner closed to himself, is ``left_out``: its folder is named.
    """
    parts = files.components(root)
    try:
        above = files.open_directory(parts[:-1])
    except OSError:
        return
    try:
        found = os.stat(parts[-1], dir_fd=above, follow_symlinks=False)
        with _unlocked(parts[-1], above, found, 0o500 if locked else 0):
            top = os.open(parts[-1], files.DIRECTORY, dir_fd=above)
            try:
                yield from _walk_directory(top, "", 0, locked, left_out)
            finally:
                os.close(top)
    except OSError as error:
        left_out("", error.strerror or "unreadable")
    finally:
        os.close(above)


def _walk_directory(
    directory: int, prefix: str, depth: int, locked: bool, left_out: LeftOut
) -> Iterator[tuple[str, int, os.stat_result]]:
    for name in sorted(os.listdir(directory)):
        try:
            found = os.stat(name, dir_fd=directory, follow_symlinks=False)
        except OSError:
            continue
        yield prefix + name, directory, found
        if stat.S_ISDIR(found.st_mode):
            try:
                with _unlocked(name, directory, found, 0o500 if locked else 0):
                    below = os.open(name, files.DIRECTORY, dir_fd=directory)
                    try:
                        if depth < DEPTH_MAX:
                            yield from _walk_directory(below, f"{prefix}{name}/", depth + 1, locked, left_out)
                        elif os.listdir(below):  # noqa: PTH208
                            left_out(prefix + name, TOO_DEEP)
                    finally:
                        os.close(below)
            except OSError as error:
                left_out(prefix + name, error.strerror or "unreadable")


@contextlib.contextmanager
def _unlocked(name: str, directory: int, found: os.stat_result, wanted: int) -> Iterator[None]:
    """Give the owner these rights for a moment: what he closed to himself is still his, and is kept."""
    mode = stat.S_IMODE(found.st_mode)
    if mode & wanted == wanted:
        yield
        return
    os.chmod(name, mode | wanted, dir_fd=directory)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            os.chmod(name, mode, dir_fd=directory)


class Packing:
    """One tar under way: what it counted and what it had to leave out."""

    def __init__(self, stream: BinaryIO, *, max_bytes: int, faithful: bool) -> None:
        import tarfile

        self.faithful = faithful  #: keep links and times (to restore) instead of zeroing them (to freeze)
        self.left = max_bytes
        self.files = 0
        self.bytes = 0
        self.skipped: list[dict[str, str]] = []
        self.names_left = files.NAMES_BYTES_MAX
        self.too_large = False
        self.seen: dict[tuple[int, int], str] = {}
        self.tar = tarfile.open(fileobj=stream, mode="w|", format=tarfile.GNU_FORMAT, bufsize=1 << 18)  # noqa: SIM115

    def skip(self, path: str, reason: str) -> None:
        self.names_left -= len(os.fsencode(path))
        first_too_large = reason == "too large" and not self.too_large
        self.too_large = self.too_large or first_too_large
        if first_too_large or (len(self.skipped) < 1000 and self.names_left >= 0):
            self.skipped.append({"path": path, "reason": reason})

    def add(self, name: str, directory: int, found: os.stat_result) -> None:
        """Add one entry, or note why not."""
        import tarfile

        info = tarfile.TarInfo(name)
        info.mode = (
            (stat.S_IMODE(found.st_mode) & 0o777) if self.faithful else (0o755 if found.st_mode & 0o100 else 0o644)
        )
        info.mtime = _kept_time(found.st_mtime_ns // 10**9) if self.faithful else 0
        leaf = name.rpartition("/")[2]
        if self.files >= FILES_MAX:
            self.skip(name, "too many files")
        elif stat.S_ISDIR(found.st_mode):
            info.type = tarfile.DIRTYPE
            info.mode |= 0o700
            self.tar.addfile(info)
        elif stat.S_ISLNK(found.st_mode) and self.faithful:
            info.type = tarfile.SYMTYPE
            with contextlib.suppress(OSError):
                info.linkname = os.readlink(leaf, dir_fd=directory)
                self.tar.addfile(info)
        elif stat.S_ISREG(found.st_mode):
            self._add_file(info, leaf, directory, found)
        else:
            self.skip(name, files.kind_of(found.st_mode))

    def _add_file(self, info: tarfile.TarInfo, leaf: str, directory: int, found: os.stat_result) -> None:
        import tarfile

        key = (found.st_dev, found.st_ino)
        if self.faithful and found.st_nlink > 1 and key in self.seen:
            info.type = tarfile.LNKTYPE
            info.linkname = self.seen[key]
            self.tar.addfile(info)
            return
        try:
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            with _unlocked(leaf, directory, found, 0o400):
                descriptor = os.open(leaf, flags, dir_fd=directory)
        except OSError as error:
            self.skip(info.name, error.strerror or "unreadable")
            return
        with os.fdopen(descriptor, "rb", buffering=0) as content:
            now = os.fstat(descriptor)
            info.size = now.st_size
            segments = _segments(descriptor, now) if self.faithful else None
            if segments is not None:
                info.size = sum(length for _, length in segments)
            if info.size > self.left or not stat.S_ISREG(now.st_mode):
                self.skip(info.name, "too large")
                return
            if segments is None:
                self.tar.addfile(info, _Exactly(content, info.size))  # type: ignore[arg-type]
            else:
                self._add_with_holes(info, content, segments, now.st_size)
        self.left -= info.size
        self.bytes += info.size
        self.files += 1
        self.seen[key] = info.name

    def _add_with_holes(
        self, info: tarfile.TarInfo, content: Any, segments: list[tuple[int, int]], real_size: int
    ) -> None:
        """Only what takes storage, in the form of GNU tar ("PAX sparse 0.1"): a file of nothing costs nothing."""
        import tarfile

        numbers = ",".join(f"{offset},{length}" for offset, length in segments)
        info.pax_headers = {"GNU.sparse.size": str(real_size), "GNU.sparse.map": numbers}
        self.tar.format = tarfile.PAX_FORMAT
        try:
            self.tar.addfile(info, _Pieces(content, segments))  # type: ignore[arg-type]
        finally:
            self.tar.format = tarfile.GNU_FORMAT


def _kept_time(epoch_s: float) -> int:
    return int(min(max(epoch_s, EARLIEST_S), LATEST_S))


def _segments(descriptor: int, found: os.stat_result) -> list[tuple[int, int]] | None:
    """(offset, length) of what a file with holes really stores, never empty; ``None`` for a file without."""
    if found.st_blocks * 512 >= found.st_size:
        return None
    segments, at = [], 0
    while at < found.st_size:
        try:
            begin = os.lseek(descriptor, at, os.SEEK_DATA)
            at = min(os.lseek(descriptor, begin, os.SEEK_HOLE), found.st_size)
        except OSError:  # nothing but a hole follows
            break
        if begin >= at:
            break
        segments.append((begin, at - begin))
    os.lseek(descriptor, 0, os.SEEK_SET)
    return segments or [(0, 0)]


class _Pieces:
    """The segments of a file one after another, each of exactly its length."""

    def __init__(self, content: Any, segments: list[tuple[int, int]]) -> None:
        self.content = content
        self.waiting = list(reversed(segments))
        self.now = _Exactly(content, 0)

    def read(self, count: int) -> bytes:
        data = bytearray()
        while len(data) < count and (self.now.left or self.waiting):
            if not self.now.left:
                offset, length = self.waiting.pop()
                self.content.seek(offset)
                self.now = _Exactly(self.content, length)
            data += self.now.read(count - len(data))
        return bytes(data)


class _Exactly:
    """A file that always yields ``size`` bytes, padded with zeros: it may shrink or grow while it is packed."""

    def __init__(self, content: Any, size: int) -> None:
        self.content = content
        self.left = size

    def read(self, count: int) -> bytes:
        wanted = min(count, self.left)
        data = bytearray()
        while len(data) < wanted:
            part = self.content.read(wanted - len(data))
            if not part:
                break
            data += part
        self.left -= wanted
        return bytes(data).ljust(wanted, b"\0")


def pack(stream: BinaryIO, roots: list[str], base: str, *, max_bytes: int, faithful: bool) -> dict[str, Any]:
    """Write a tar of ``roots`` with names relative to ``base``; return counts and what was left out."""
    import tarfile

    packing = Packing(stream, max_bytes=max_bytes, faithful=faithful)
    prefix_length = len(base.rstrip("/")) + 1
    for root in sorted(roots):
        prefix = root[prefix_length:].rstrip("/")
        if prefix:
            top = tarfile.TarInfo(prefix)
            top.type, top.mode = tarfile.DIRTYPE, 0o755
            packing.tar.addfile(top)
        above = f"{prefix}/" if prefix else ""

        def left_out(path: str, reason: str, above: str = above) -> None:
            packing.skip(above + path, reason)

        for path, directory, found in walk(root, locked=True, left_out=left_out):
            if not faithful and "__pycache__" in path.split("/"):
                continue  # compiled files could say something else than their sources
            packing.add(above + path, directory, found)
    packing.tar.close()
    return {"files": packing.files, "bytes": packing.bytes, "skipped": packing.skipped}


def unpack(stream: BinaryIO, roots: list[str]) -> None:
    """Restore a tar made by ``pack`` with base ``/``. Only called while nothing else runs in the sandbox."""
    import tarfile

    with tarfile.open(fileobj=stream, mode="r|", encoding="utf-8", errors="surrogateescape") as tar:
        for member in tar:
            path = "/" + member.name.strip("/")
            if not any(path == root or path.startswith(root + "/") for root in roots):
                continue
            try:
                _unpack_member(tar, member, path)
            except (OSError, ValueError, OverflowError, files.FileProblem) as error:
                if isinstance(error, OSError) and error.errno == errno.ENOSPC:
                    raise


def _unpack_member(tar: tarfile.TarFile, member: tarfile.TarInfo, path: str) -> None:
    if member.isdir():
        files.make_directory(path)
        return
    with files.parent_of(path, create=True) as (directory, name):
        if member.issym():
            os.symlink(member.linkname, name, dir_fd=directory)
        elif member.islnk():
            with files.parent_of("/" + member.linkname.strip("/")) as (other, original):
                os.link(original, name, src_dir_fd=other, dst_dir_fd=directory, follow_symlinks=False)
        elif member.isreg():
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
            descriptor = os.open(name, flags, member.mode & 0o777 | 0o600, dir_fd=directory)
            with os.fdopen(descriptor, "wb") as output:
                content = tar.extractfile(member)
                segments: Any = member.sparse or [(0, member.size)]
                # the buffer around it insists on a stream that can go back; segments only ever go on
                source = getattr(content, "raw", None)
                for offset, length in segments if source is not None else []:
                    _copy_segment(source, output, offset, length)
                output.flush()
                os.truncate(descriptor, member.size)
                when = _kept_time(member.mtime)
                os.utime(descriptor, (when, when))


def _copy_segment(content: Any, output: BinaryIO, offset: int, length: int) -> None:
    content.seek(offset)
    output.seek(offset)
    while length > 0 and (part := content.read(min(length, 1 << 18))):
        output.write(part)
        length -= len(part)


def _is_binary(data: bytes) -> bool:
    if b"\0" in data[:65536]:
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return True
    return False


def _line_counts(before: bytes, after: bytes) -> tuple[int, int]:
    import difflib

    old, new = before.splitlines(), after.splitlines()
    added = removed = 0
    for tag, old_start, old_end, new_start, new_end in difflib.SequenceMatcher(None, old, new).get_opcodes():
        if tag != "equal":
            removed += old_end - old_start
            added += new_end - new_start
    return added, removed


def compare(root: str, original_tar: bytes) -> list[dict[str, Any]]:
    """How the files below ``root`` differ from those in the tar: path, kind, lines added and removed, binary.

    By path; of changes without end, those whose paths have 400,000 bytes together.
    """
    import io
    import tarfile

    originals: dict[str, bytes] = {}
    with tarfile.open(fileobj=io.BytesIO(original_tar), mode="r:") as tar:
        for member in tar:
            if member.isreg() and (content := tar.extractfile(member)) is not None:
                originals[member.name] = content.read()
    changes = []
    for path, directory, found in walk(root):
        if stat.S_ISDIR(found.st_mode) or "__pycache__" in path.split("/"):
            continue
        before = originals.pop(path, None)
        after = _content(directory, path.rpartition("/")[2], found)
        if before is not None and after is not None and before == after:
            continue
        changes.append(_change(path, "added" if before is None else "changed", before or b"", after))
    changes += [_change(path, "removed", before, b"") for path, before in originals.items()]
    return list(_first_of(sorted(changes, key=lambda change: str(change["path"]))))


def _first_of(changes: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    bytes_left = files.NAMES_BYTES_MAX
    for change in changes:
        bytes_left -= len(os.fsencode(change["path"])) + 16
        if bytes_left < 0:
            return
        yield change


def _content(directory: int, name: str, found: os.stat_result) -> bytes | None:
    if not stat.S_ISREG(found.st_mode) or found.st_size > DIFF_BYTES_MAX * 4:
        return None
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=directory)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as content:
        return content.read(DIFF_BYTES_MAX * 4)


def _change(path: str, kind: str, before: bytes, after: bytes | None) -> dict[str, Any]:
    binary = after is None or len(before) + len(after) > DIFF_BYTES_MAX or _is_binary(before) or _is_binary(after)
    added, removed = (0, 0) if binary or after is None else _line_counts(before, after)
    return {"path": path, "kind": kind, "lines_added": added, "lines_removed": removed, "binary": binary}


def signature(roots: list[str]) -> str:
    """A hash that changes when any file below ``roots`` is changed, cheap enough to take every minute."""
    import hashlib

    digest = hashlib.sha256()
    for root in roots:
        for path, _, found in walk(root):
            line = f"{path}\0{found.st_mode}\0{found.st_size}\0{found.st_mtime_ns}\0{found.st_ino}\n"
            digest.update(line.encode("utf-8", "surrogateescape"))
    return digest.hexdigest()
