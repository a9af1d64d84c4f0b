"""A client of the keeper's terminals, as the site is one."""

from __future__ import annotations

import asyncio
from typing import Any

from keeper_process import KeeperProcess

from workspaces.keeper.client import TerminalStream


async def attach(keeper: KeeperProcess, run_id: str, number: int = 1, **fields: Any) -> TerminalStream:
    fields = {"role": "owner", "columns": 100, "rows": 30, **fields}
    return await TerminalStream.attach(keeper.socket, run=run_id, number=number, **fields)


async def until(stream: TerminalStream, mark: bytes, timeout_s: float = 60) -> bytes:
    """Output up to ``mark``; control frames are left out."""
    seen = b""
    try:
        async with asyncio.timeout(timeout_s):
            while mark not in seen:
                frame = await stream.frame()
                assert frame is not None, "the keeper closed the connection"
                if isinstance(frame, bytes):
                    seen += frame
    except TimeoutError:
        raise AssertionError(f"{mark!r} did not come; the end of what came: {seen[-2000:]!r}") from None
    return seen
