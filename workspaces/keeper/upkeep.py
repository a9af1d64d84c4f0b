"""What the keeper does by itself: save files, stop idle workspaces, notice dead ones."""

from __future__ import annotations

import asyncio
import logging
import time

from workspaces.keeper.server import Keeper
from workspaces.keeper.workspace import Workspace
from workspaces.runtime.base import SandboxState
from workspaces.runtime.errors import SandboxError

logger = logging.getLogger(__name__)
BUSY_SHARE = 0.02  #: CPU seconds per second that count as activity: a build that prints nothing is not idle


class Upkeep:
    """Looks at every workspace in turn, for ever. One that cannot be looked at never stops the others."""

    def __init__(self, keeper: Keeper) -> None:
        self.keeper = keeper
        self._saved_at: dict[str, float] = {}

    async def run(self) -> None:
        while True:
            await asyncio.sleep(self.keeper.settings.look_every_s)
            for workspace in list(self.keeper.workspaces.values()):
                try:
                    await self.look(workspace)
                except (SandboxError, OSError):
                    logger.exception("looking after the workspace of run %s failed", workspace.run_id)

    async def look(self, workspace: Workspace) -> None:
        """Count CPU as activity, save what changed, stop what nobody uses."""
        state = await workspace.state()
        if state is not SandboxState.RUNNING:
            self._saved_at.pop(workspace.run_id, None)
            if state is SandboxState.GONE and not workspace.lock.locked():
                self.keeper.workspaces.pop(workspace.run_id, None)  # known only because somebody asked
            return
        settings, now = self.keeper.settings, time.monotonic()
        usage = await workspace.blocking(workspace.sandbox.usage)
        if usage["cpu_s"] - workspace.cpu_s > BUSY_SHARE * settings.look_every_s:
            workspace.touch()
        workspace.cpu_s = usage["cpu_s"]
        idle_s = now - workspace.used_at()
        if idle_s > settings.idle_stop_s:
            logger.info("stopping the workspace of run %s, idle for %.0f s", workspace.run_id, idle_s)
            await workspace.stop("idle")
            return
        saved_at = self._saved_at.setdefault(workspace.run_id, now)
        if now - saved_at >= settings.save_every_s:
            self._saved_at[workspace.run_id] = now
            await workspace.save()
        left_s = settings.idle_stop_s - idle_s
        if left_s < min(300.0, settings.idle_stop_s / 2):
            for session in workspace.terminals.values():
                session.announce({"type": "idle", "stops_in_s": int(left_s)})
