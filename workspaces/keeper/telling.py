"""What the keeper tells of itself: figures for whoever measures, and its workspaces one by one for an operator."""

from __future__ import annotations

import asyncio
import os
import time
from typing import TYPE_CHECKING, Any

from fdegym.lib import counts
from workspaces.runtime.base import SandboxState

if TYPE_CHECKING:
    from workspaces.keeper.server import Keeper

BEGUN_AT = time.time()


async def figures(keeper: Keeper) -> dict[str, Any]:
    """Answered from memory but for one look at each workspace's state; asked every few seconds it costs nothing."""
    known = list(keeper.workspaces.values())
    states = await asyncio.gather(*(workspace.state() for workspace in known))
    running = [workspace for workspace, state in zip(known, states, strict=True) if state is SandboxState.RUNNING]
    return {
        "pid": os.getpid(),
        "begun_at": BEGUN_AT,
        "running": len(running),
        "terminals": sum(len(workspace.live_terminals()) for workspace in running),
        "workspaces_max": keeper.settings.capacity.workspaces,
        "memory_mb_max": keeper.settings.capacity.memory_mb,
        "memory_mb": keeper.room.held_mb(),
        "starts_waiting": len(keeper.starts.waiting()),
        "starts_oldest_s": keeper.starts.oldest_s(),
        "idle_stop_s": keeper.settings.idle_stop_s,
        "counts": counts.as_rows(counts.totals()),
    }


async def workspaces(keeper: Keeper) -> list[dict[str, Any]]:
    """Every workspace on this host, found there and not from memory: ``run``, ``state``, ``terminals`` (how many shells
    live), ``idle_s`` (None where nobody knows) and ``opened_at`` (seconds of the epoch)."""
    found = await asyncio.to_thread(keeper.runtime.adopt, {"kind": "workspace"})
    rows = []
    for sandbox in found:
        known = keeper.workspaces.get(sandbox.id)
        rows.append(
            {
                "run": sandbox.id,
                "state": str(await asyncio.to_thread(keeper.runtime.state, sandbox.id)),
                "terminals": len(known.live_terminals()) if known else 0,
                "idle_s": time.monotonic() - known.used_at() if known else None,
                "opened_at": keeper.runtime.specified_at(sandbox.id),
            }
        )
    return rows
