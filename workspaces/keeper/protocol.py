"""Frames between the keeper and its clients: a type byte, a length (4 bytes, big-endian), the content.

A connection begins with one JSON request. Its answer is one JSON frame with ``ok``; content of files follows in byte
frames and is announced as ``parts`` before it ends with an empty byte frame. After an ``attach`` the connection is a
terminal: byte frames are output and input, JSON frames are control.
"""

from __future__ import annotations

import json
import struct
from typing import Any

HEAD = struct.Struct("!cI")
JSON, BYTES = b"J", b"B"
FRAME_BYTES_MAX = 96 << 20


class FrameBroken(Exception):
    """What arrived is not a frame."""


def json_frame(said: dict[str, Any]) -> bytes:
    text = json.dumps(said, separators=(",", ":")).encode()
    return HEAD.pack(JSON, len(text)) + text


def byte_head(count: int) -> bytes:
    """What goes before ``count`` raw bytes."""
    return HEAD.pack(BYTES, count)


def parse_head(head: bytes | bytearray, at: int = 0) -> tuple[bytes, int]:
    """(type, length) of the frame that follows."""
    kind, length = HEAD.unpack_from(head, at)
    if kind not in (JSON, BYTES) or length > FRAME_BYTES_MAX:
        raise FrameBroken("not a frame of the keeper's protocol")
    return kind, length


def parse_json(content: bytes) -> dict[str, Any]:
    try:
        said = json.loads(content)
    except ValueError as error:
        raise FrameBroken("a JSON frame does not hold JSON") from error
    if not isinstance(said, dict):
        raise FrameBroken("a JSON frame does not hold an object")
    return said


class Splitter:
    """Finds the frames in what a socket gives, however it cuts them."""

    def __init__(self) -> None:
        self._rest = bytearray()

    def feed(self, data: bytes) -> list[tuple[bytes, bytes]]:
        """(type, content) of every frame that ``data`` completes."""
        if self._rest:
            self._rest += data
        given = self._rest or data
        found, at, end = [], 0, len(given)
        with memoryview(given) as view:
            while end - at >= HEAD.size:
                kind, length = parse_head(given, at)
                begins, ends = at + HEAD.size, at + HEAD.size + length
                if ends > end:
                    break
                found.append((kind, bytes(view[begins:ends])))
                at = ends
        if self._rest:
            del self._rest[:at]
        elif at < end:
            self._rest += data[at:]
        return found
