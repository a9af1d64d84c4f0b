"""Frames between the worker and a scenario's process: a JSON head and raw bytes, both bounded, over a pair of pipes.

``u32 head length · u32 body length · head (JSON object, UTF-8) · body``, big-endian. Standard library only: the child
that speaks it starts without Django.
"""

from __future__ import annotations

import json
import os
import select
import struct
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

MAX_HEAD_BYTES = 8 * 1024 * 1024
MAX_BODY_BYTES = 64 * 1024 * 1024
_PREFIX = struct.Struct(">II")
_CHUNK = 1 << 18


class FrameProblem(ValueError):
    """Bytes that are no frame, or a frame that is too large."""


class ChannelTimeout(Exception):
    """The other side neither sent nor took anything within the time given to it."""


class ChannelClosed(Exception):
    """The other side is gone."""


@dataclass(frozen=True, slots=True)
class Frame:
    head: Mapping[str, Any]
    body: bytes = b""


def encode(head: Mapping[str, Any], body: bytes = b"") -> bytes:
    """One frame's bytes. Raises ``FrameProblem`` when it is too large or its head is not JSON (NaN included)."""
    try:
        text = json.dumps(head, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode("utf-8")
    except (TypeError, ValueError) as problem:
        raise FrameProblem(f"a frame's head must be JSON: {problem}") from problem
    if len(text) > MAX_HEAD_BYTES or len(body) > MAX_BODY_BYTES:
        raise FrameProblem(f"a frame of {len(text)} + {len(body)} bytes is too large")
    return _PREFIX.pack(len(text), len(body)) + text + body


def _reject_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


class FrameDecoder:
    """Cuts a byte stream into frames, however it was split on the way."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> None:
        self._buffer += data

    def next_frame(self) -> Frame | None:
        """The next whole frame, or None until more bytes come; raises ``FrameProblem``."""
        if len(self._buffer) < _PREFIX.size:
            return None
        head_bytes, body_bytes = _PREFIX.unpack_from(self._buffer)
        if head_bytes > MAX_HEAD_BYTES or body_bytes > MAX_BODY_BYTES:
            raise FrameProblem(f"a frame of {head_bytes} + {body_bytes} bytes is too large")
        end = _PREFIX.size + head_bytes + body_bytes
        if len(self._buffer) < end:
            return None
        with memoryview(self._buffer) as view:
            text = bytes(view[_PREFIX.size : _PREFIX.size + head_bytes])
            body = bytes(view[_PREFIX.size + head_bytes : end])
        del self._buffer[:end]
        try:
            head = json.loads(text, parse_constant=_reject_constant)
        except (ValueError, RecursionError) as problem:
            raise FrameProblem(f"a frame's head is not JSON: {problem}") from problem
        if not isinstance(head, dict):
            raise FrameProblem("a frame's head is not an object")
        return Frame(head, body)


class Channel:
    """One side of the conversation. ``timeout_s`` None waits for ever (the child's side: its end is its parent's)."""

    def __init__(self, read_fd: int, write_fd: int, *, timeout_s: float | None) -> None:
        self._read_fd, self._write_fd, self._timeout_s = read_fd, write_fd, timeout_s
        self._decoder = FrameDecoder()
        self._readable, self._writable = select.poll(), select.poll()
        self._readable.register(read_fd, select.POLLIN)
        self._writable.register(write_fd, select.POLLOUT)
        os.set_blocking(write_fd, False)

    def _wait(self, poll: select.poll, deadline: float | None) -> None:
        left_ms = None if deadline is None else max(0.0, deadline - time.monotonic()) * 1000
        if not poll.poll(left_ms):
            raise ChannelTimeout(f"nothing moved for {self._timeout_s} s")

    def _deadline(self) -> float | None:
        return None if self._timeout_s is None else time.monotonic() + self._timeout_s

    def send(self, head: Mapping[str, Any], body: bytes = b"") -> None:
        """Send one frame; raises ``ChannelTimeout``, ``ChannelClosed`` or ``FrameProblem``."""
        deadline = self._deadline()
        left = memoryview(encode(head, body))
        while left:
            try:
                left = left[os.write(self._write_fd, left[:_CHUNK]) :]
            except BlockingIOError:
                self._wait(self._writable, deadline)
            except OSError as problem:
                raise ChannelClosed("the other side closed the channel") from problem

    def receive(self) -> Frame:
        """The next frame; raises ``ChannelTimeout``, ``ChannelClosed`` (also in the middle of one) or ``FrameProblem``."""
        deadline = self._deadline()
        while (frame := self._decoder.next_frame()) is None:
            if deadline is not None:
                self._wait(self._readable, deadline)
            try:
                data = os.read(self._read_fd, _CHUNK)
            except OSError as problem:
                raise ChannelClosed("the other side closed the channel") from problem
            if not data:
                raise ChannelClosed("the other side closed the channel")
            self._decoder.feed(data)
        return frame
