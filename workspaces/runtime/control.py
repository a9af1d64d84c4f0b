"""Talking to a launcher: one connection to its socket, requests with a time-out each, errors in the runtime's terms."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workspaces.launcher import wire
from workspaces.runtime.errors import SandboxBusy, SandboxError, SandboxFileProblem, SandboxGone

SOCKET_NAME = "launcher.sock"
FILE_KINDS = frozenset(
    {"missing", "link", "not_a_file", "too_large", "read_only", "full", "exists", "name", "other_storage", "kept"}
)


@contextlib.contextmanager
def _short_path(directory: Path) -> Iterator[str]:
    """The socket's path through a descriptor of its directory: a socket's path may have 107 bytes at most."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{descriptor}/{SOCKET_NAME}"
    finally:
        os.close(descriptor)


def listen(directory: Path) -> socket.socket:
    """A listening socket in ``directory``; replaces one that is left over."""
    directory.mkdir(mode=0o700, exist_ok=True)
    (directory / SOCKET_NAME).unlink(missing_ok=True)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    with _short_path(directory) as path:
        listening.bind(path)
    listening.listen(64)
    return listening


def raise_refusal(header: dict[str, Any]) -> None:
    """Raise what a refusing answer stands for."""
    kind, text = str(header.get("kind")), str(header.get("error"))
    if kind in FILE_KINDS:
        raise SandboxFileProblem(text, kind)
    if kind in ("busy", "stopping"):
        raise SandboxBusy(text)
    raise SandboxError(f"The sandbox could not do that: {text}")


class Control:
    """One connection to a launcher. Not for use by two threads at once. Use as a context manager."""

    def __init__(self, directory: Path, *, connect_timeout_s: float = 5.0) -> None:
        self.stream = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.stream.settimeout(connect_timeout_s)
        try:
            with _short_path(directory) as path:
                self.stream.connect(path)
        except (FileNotFoundError, ConnectionError, NotADirectoryError) as error:
            self.stream.close()
            raise SandboxGone("The sandbox is not running.") from error
        except TimeoutError as error:
            self.stream.close()
            raise SandboxError("The sandbox does not answer.") from error

    def __enter__(self) -> Control:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def alive(self) -> bool:
        """Whether an idle connection still has its other side."""
        try:
            self.stream.settimeout(0)
            return bool(self.stream.recv(1, socket.MSG_PEEK))
        except BlockingIOError:
            return True
        except OSError:
            return False

    def close(self) -> None:
        self.stream.close()

    def request(
        self, header: dict[str, Any], body: bytes = b"", *, timeout_s: float = 30.0
    ) -> tuple[dict[str, Any], bytes]:
        """Send a request and wait for its answer."""
        answer, content, _ = self._exchange(header, body, timeout_s, 0)
        return answer, content

    def request_descriptor(self, header: dict[str, Any], *, timeout_s: float = 30.0) -> tuple[dict[str, Any], int]:
        """The same for an answer that brings one descriptor; the caller owns it."""
        answer, _, descriptors = self._exchange(header, b"", timeout_s, 1)
        if not descriptors:
            raise SandboxError("The sandbox answered without the terminal's descriptor.")
        return answer, descriptors[0]

    def _exchange(
        self, header: dict[str, Any], body: bytes, timeout_s: float, count: int
    ) -> tuple[dict[str, Any], bytes, list[int]]:
        self.stream.settimeout(timeout_s)
        try:
            self.stream.sendall(wire.encode(header, body))
            answer, content, descriptors = self._receive(count)
        except TimeoutError as error:
            self.close()
            raise SandboxError(f"The sandbox did not answer within {timeout_s:g} seconds.") from error
        except BaseException as error:
            self.close()  # whatever happened, an answer may still come: nobody else may get it
            if not isinstance(error, OSError | wire.WireBroken):
                raise
            raise SandboxGone("The sandbox ended while it was asked for something.") from error
        if not answer.get("ok") and not answer.get("more"):
            raise_refusal(answer)
        return answer, content, descriptors

    def _receive(self, count: int) -> tuple[dict[str, Any], bytes, list[int]]:
        descriptors: list[int] = []
        if count:
            prefix, descriptors, _, _ = socket.recv_fds(self.stream, wire.PREFIX.size, count)
            if not prefix:
                raise wire.WireBroken("closed")
            prefix += wire.receive_exactly(self.stream, wire.PREFIX.size - len(prefix))
        else:
            prefix = wire.receive_exactly(self.stream, wire.PREFIX.size)
        header_length, body_length = wire.PREFIX.unpack(prefix)
        rest = bytearray(wire.receive_exactly(self.stream, header_length + body_length))
        message = wire.decode(bytearray(prefix) + rest)
        if message is None:  # pragma: no cover - exactly one message was read
            raise wire.WireBroken("short message")
        return *message, descriptors

    def chunks(self, header: dict[str, Any], *, timeout_s: float = 60.0) -> Iterator[tuple[dict[str, Any], bytes]]:
        """The answers to a request that answers in parts; the last has ``ok``. ``timeout_s`` holds between parts."""
        answer, content = self.request(header, timeout_s=timeout_s)
        yield answer, content
        while not answer.get("ok"):
            try:
                answer, content, _ = self._receive(0)
            except TimeoutError as error:
                raise SandboxError("The sandbox stopped answering while its files were read.") from error
            except (OSError, wire.WireBroken) as error:
                raise SandboxError("Reading the sandbox's files was cut short; nothing was changed.") from error
            if not answer.get("ok") and not answer.get("more"):
                raise_refusal(answer)
            yield answer, content
