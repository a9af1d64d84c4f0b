"""Files of the sandbox, opened one path component at a time without ever following a link.

Paths are absolute and hostile. Everything here runs inside the sandbox, as its user, on its own storage.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
LIST_MAX = 10_000
NAMES_BYTES_MAX = 400_000  #: of all names in one answer: escaped they are six times as long, and must fit a message


class FileProblem(Exception):
    """A path cannot be used. ``kind`` is one word for programs, the text is for people."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind = kind


def components(path: str) -> list[str]:
    """The parts of an absolute path; refuses what is not one."""
    if not path.startswith("/") or "\0" in path or len(os.fsencode(path)) > 4000:
        raise FileProblem("name", "A path must be absolute, without a zero byte and shorter than 4,000 bytes.")
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if ".." in parts or any(len(os.fsencode(part)) > 255 for part in parts):
        raise FileProblem("name", "A path may not contain '..' or a name longer than 255 bytes.")
    return parts


def _translate(error: OSError, path: str) -> FileProblem:
    kinds = {
        errno.ENOENT: ("missing", f"{path} does not exist."),
        errno.ELOOP: ("link", f"{path} leads through a symbolic link, which is not followed."),
        errno.ENOTDIR: ("link", f"{path} leads through something that is not a folder."),
        errno.EROFS: ("read_only", f"{path} is not in a folder that can be written."),
        errno.EACCES: ("read_only", f"{path} may not be written."),
        errno.ENOSPC: ("full", "This folder of the workspace is full: delete something in it first."),
        errno.EISDIR: ("not_a_file", f"{path} is a folder."),
        errno.ENOTEMPTY: ("exists", f"{path} is a folder that is not empty."),
        errno.EEXIST: ("exists", f"{path} exists already."),
        errno.ENXIO: ("not_a_file", f"{path} is not a regular file."),
        errno.EXDEV: ("other_storage", f"{path} cannot be moved from one top folder to another: copy it, then delete."),
        errno.EINVAL: ("name", f"{path} cannot be moved into itself."),
        errno.EBUSY: ("kept", f"{path} is part of the workspace and stays."),
        errno.EDQUOT: ("full", "This folder of the workspace is full: delete something in it first."),
    }
    kind, text = kinds.get(error.errno or 0, ("failed", f"{path}: {error.strerror}."))
    return FileProblem(kind, text)


def open_directory(parts: list[str], *, create: bool = False) -> int:
    """A descriptor of the directory, walked without following links. The caller closes it."""
    current = os.open("/", DIRECTORY)
    try:
        for part in parts:
            if create:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(part, 0o755, dir_fd=current)
            following = os.open(part, DIRECTORY, dir_fd=current)
            os.close(current)
            current = following
    except BaseException:
        os.close(current)
        raise
    return current


@contextlib.contextmanager
def parent_of(path: str, *, create: bool = False) -> Any:
    """Yield (descriptor of the parent directory, last name), with errors told in words."""
    parts = components(path)
    if not parts:
        raise FileProblem("name", "The root folder itself cannot be used here.")
    try:
        directory = open_directory(parts[:-1], create=create)
        try:
            yield directory, parts[-1]
        finally:
            os.close(directory)
    except OSError as error:
        raise _translate(error, path) from error


def put(path: str, data: bytes, mode: int = 0o644) -> None:
    """Write a file in one move: readers see the old content or the new one, never half."""
    with parent_of(path, create=True) as (directory, name):
        with contextlib.suppress(FileNotFoundError):
            existing = os.stat(name, dir_fd=directory, follow_symlinks=False)
            if not stat.S_ISREG(existing.st_mode):
                raise FileProblem("not_a_file", f"{path} exists and is not a regular file.")
            mode = stat.S_IMODE(existing.st_mode) & 0o777
        temporary = f".{name[:200]}.{os.urandom(6).hex()}"
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600, dir_fd=directory)
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(descriptor, view) :]
            os.fchmod(descriptor, mode)
            os.rename(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary, dir_fd=directory)
            raise
        finally:
            os.close(descriptor)


def read(path: str, max_bytes: int, beginning: bool = False) -> bytes:
    """The whole content of a regular file, or its beginning."""
    with parent_of(path) as (directory, name):
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        descriptor = os.open(name, flags, dir_fd=directory)
        try:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode):
                raise FileProblem("not_a_file", f"{path} is not a regular file.")
            if found.st_size > max_bytes and not beginning:
                raise FileProblem(
                    "too_large", f"{path} has {found.st_size:,} bytes; at most {max_bytes:,} can be read."
                )
            content = bytearray()
            while len(content) <= max_bytes:
                part = os.read(descriptor, min(1 << 20, max_bytes + 1 - len(content)))
                if not part or (beginning and len(content) + len(part) >= max_bytes):
                    return bytes(content + part)[:max_bytes]
                content += part
            raise FileProblem("too_large", f"{path} grew beyond {max_bytes:,} bytes while it was read.")
        finally:
            os.close(descriptor)


def kind_of(mode: int) -> str:
    """``file``, ``directory``, ``link`` or ``special``."""
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "directory"
    return "link" if stat.S_ISLNK(mode) else "special"


def listing(path: str) -> list[dict[str, Any]]:
    """Entries of a directory by name, at most 10,000: name, kind, size in bytes, modified_at in epoch seconds.

    Fewer where their names are long: all together have 400,000 bytes at most.
    """
    try:
        directory = open_directory(components(path))
    except OSError as error:
        raise _translate(error, path) from error
    entries = []
    bytes_left = NAMES_BYTES_MAX
    try:
        for name in sorted(os.listdir(directory))[:LIST_MAX]:  # noqa: PTH208
            bytes_left -= len(os.fsencode(name))
            if bytes_left < 0:
                break
            with contextlib.suppress(OSError):
                found = os.stat(name, dir_fd=directory, follow_symlinks=False)
                kind = kind_of(found.st_mode)
                entries.append({"name": name, "kind": kind, "size": found.st_size, "modified_at": found.st_mtime})
    finally:
        os.close(directory)
    return entries


def make_directory(path: str) -> None:
    """Create a directory with its parents; one that exists is fine."""
    try:
        os.close(open_directory(components(path), create=True))
    except OSError as error:
        raise _translate(error, path) from error


def _remove(directory: int, name: str) -> None:
    """Remove a tree without recursion, since a hostile one may be nested deeper than Python's stack."""
    stack: list[tuple[int, str, int | None]] = [(directory, name, None)]
    try:
        while stack:
            parent, entry, own = stack.pop()
            if own is not None:
                os.close(own)
                os.rmdir(entry, dir_fd=parent)
            elif not stat.S_ISDIR(os.stat(entry, dir_fd=parent, follow_symlinks=False).st_mode):
                os.unlink(entry, dir_fd=parent)
            else:
                own = os.open(entry, DIRECTORY, dir_fd=parent)
                stack.append((parent, entry, own))
                stack.extend((own, child, None) for child in os.listdir(own))  # noqa: PTH208
    finally:
        for _, _, own in stack:
            if own is not None:
                os.close(own)


def delete(path: str) -> None:
    """Delete a file, a link itself, or a directory with all it holds. A top folder stays, with all it holds."""
    with parent_of(path) as (directory, name):
        if os.stat(name, dir_fd=directory, follow_symlinks=False).st_dev != os.fstat(directory).st_dev:
            raise OSError(errno.EBUSY, "a storage of its own")
        _remove(directory, name)


def rename(path: str, target: str) -> None:
    """Rename within the writable storage. Refuses to replace anything."""
    with parent_of(path) as (directory, name), parent_of(target) as (other, new_name):
        with contextlib.suppress(FileNotFoundError):
            os.stat(new_name, dir_fd=other, follow_symlinks=False)
            raise FileProblem("exists", f"{target} exists already.")
        os.rename(name, new_name, src_dir_fd=directory, dst_dir_fd=other)
