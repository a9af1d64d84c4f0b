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


def parse_head(head: bytes) -> tuple[bytes, int]:
    """(type, length) of the frame that follows."""
    kind, length = HEAD.unpack(head)
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
