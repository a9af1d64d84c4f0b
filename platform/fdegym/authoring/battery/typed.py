"""Typing into a real terminal of a workspace, as a person at the browser does, and reading until nothing more comes."""

from __future__ import annotations

import asyncio
from pathlib import Path

from django.conf import settings

from workspaces.keeper.client import TerminalStream

DONE = b"BYPASS-DONE"
KEPT_BYTES = 256 << 10


def type_into(run_id: str, text: str, *, number: int = 1, patience_s: float = 60.0) -> bytes:
    """Type a text line by line; the beginning and the end of what came back. Ends with ``BYPASS-DONE`` or the patience."""
    return asyncio.run(_type_into(run_id, text, number, patience_s))


async def _type_into(run_id: str, text: str, number: int, patience_s: float) -> bytes:
    stream = await TerminalStream.attach(
        Path(settings.KEEPER_SOCKET), run=run_id, number=number, role="owner", columns=100, rows=30
    )
    head, tail = bytearray(), bytearray()
    try:
        async with asyncio.timeout(patience_s):
            await stream.type(text.encode())
            while DONE not in tail:
                frame = await stream.frame()
                if frame is None:
                    break
                if isinstance(frame, bytes):
                    head += frame[: KEPT_BYTES - len(head)]
                    tail = (tail + frame)[-KEPT_BYTES:]
    except TimeoutError:
        pass
    finally:
        stream.close()
    return bytes(head + tail)
