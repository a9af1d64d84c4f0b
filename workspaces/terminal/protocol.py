"""The terminal's wire between browser and site: what a text frame may say. ``docs/terminal-protocol.md`` explains it."""

from __future__ import annotations

import json
from typing import Any

COLUMNS_MIN, ROWS_MIN, SIDE_MAX = 2, 1, 1000
TEXT_BYTES_MAX = 4096
INPUT_BYTES_MAX = 1 << 20  #: one binary frame of input

# close codes of a terminal; those that every socket has are in ``fdegym.accounts.sockets``
CLOSE_RESTARTED = 1012
CLOSE_BAD_FRAME = 1008
CLOSE_NOT_YOURS = 4403
CLOSE_NO_TERMINAL = 4404
CLOSE_RUN_OVER = 4409
CLOSE_TOO_MANY = 4429

PING_EVERY_S = 20.0


def size_or_none(columns: Any, rows: Any) -> tuple[int, int] | None:
    """A size that a terminal can have; a hidden tab's zeros, fractions and absurd values are nothing to act on."""
    for value in (columns, rows):
        if isinstance(value, bool) or not isinstance(value, int):
            return None
    if COLUMNS_MIN <= columns <= SIDE_MAX and ROWS_MIN <= rows <= SIDE_MAX:
        return columns, rows
    return None


def parse_control(text: str) -> dict[str, Any] | None:
    """What a client's text frame asks for, reduced to what is known and valid; ``None`` if nothing is."""
    if len(text) > TEXT_BYTES_MAX:
        return None
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(said, dict):
        return None
    kind = said.get("type")
    if kind == "size":
        size = size_or_none(said.get("columns"), said.get("rows"))
        return {"type": "size", "columns": size[0], "rows": size[1]} if size else None
    if kind == "ack":
        seq = said.get("seq")
        valid = isinstance(seq, int) and not isinstance(seq, bool) and 0 <= seq < 1 << 62
        return {"type": "ack", "seq": seq} if valid else None
    if kind == "pong":
        return {"type": "pong"}
    return None
