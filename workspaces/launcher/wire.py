"""Messages between a runtime outside and the launcher inside: a JSON header, raw bytes, sometimes descriptors.

A message is two 4-byte big-endian lengths (header, body), the JSON header, the body. A connection carries requests
one after another; answers come in the same order. The listening socket lies in a directory of the host that the
sandbox never sees.
"""

from __future__ import annotations

import json
import socket
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PREFIX = struct.Struct("!II")
HEADER_BYTES_MAX = 4 << 20
BODY_BYTES_MAX = 96 << 20


class WireBroken(Exception):
    """The other side closed the connection or sent something that is not a message."""


def encode(header: dict[str, Any], body: bytes = b"") -> bytes:
    """One message, ready to send."""
    text = json.dumps(header, separators=(",", ":")).encode()
    return PREFIX.pack(len(text), len(body)) + text + body


def decode(buffer: bytearray) -> tuple[dict[str, Any], bytes] | None:
    """Take one message off the front of ``buffer``, or return ``None`` while it is incomplete."""
    if len(buffer) < PREFIX.size:
        return None
    header_length, body_length = PREFIX.unpack_from(buffer)
    if header_length > HEADER_BYTES_MAX or body_length > BODY_BYTES_MAX:
        raise WireBroken("a message is larger than any message may be")
    end = PREFIX.size + header_length + body_length
    if len(buffer) < end:
        return None
    try:
        header = json.loads(bytes(buffer[PREFIX.size : PREFIX.size + header_length]))
    except ValueError as error:
        raise WireBroken("a message's header is not JSON") from error
    if not isinstance(header, dict):
        raise WireBroken("a message's header is not an object")
    body = bytes(buffer[PREFIX.size + header_length : end])
    del buffer[:end]
    return header, body


def receive_exactly(connection: socket.socket, count: int) -> bytes:
    """Read ``count`` bytes or raise ``WireBroken``."""
    parts = bytearray()
    while len(parts) < count:
        data = connection.recv(min(count - len(parts), 1 << 20))
        if not data:
            raise WireBroken("the connection was closed in the middle of a message")
        parts += data
    return bytes(parts)
