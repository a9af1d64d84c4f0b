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
LOOKS_AT_ONCE = 16  #: half of the keeper's threads: people's own requests always find one
BUSY_SHARE = 0.02  #: CPU seconds per second that count as activity: a build that prints nothing is not idle


class Upkeep:
    """Looks at every workspace, again and again. One that cannot be looked at, or never answers, keeps no other waiting."""

    def __init__(self, keeper: Keeper) -> None:
        self.keeper = keeper
        self._saved_at: dict[str, float] = {}
        self._looks: dict[str, asyncio.Task[None]] = {}
        self._at_once = asyncio.Semaphore(LOOKS_AT_ONCE)

    async def run(self) -> None:
        while True:
            await asyncio.sleep(self.keeper.settings.look_every_s)
            self._looks = {run_id: look for run_id, look in self._looks.items() if not look.done()}
            for run_id, workspace in list(self.keeper.workspaces.items()):
                if run_id not in self._looks:
                    self._looks[run_id] = asyncio.create_task(self._look_whatever_comes(workspace))

    async def _look_whatever_comes(self, workspace: Workspace) -> None:
        async with self._at_once:
            try:
                await self.look(workspace)
            except (SandboxError, OSError):
                logger.exception("looking after the workspace of run %s failed", workspace.run_id)
            except Exception:  # a fault of ours with one workspace must not end the looking after all others
                logger.exception("looking after the workspace of run %s failed by a fault of ours", workspace.run_id)

    async def look(self, workspace: Workspace) -> None:
        """Count CPU as activity, save what changed, stop what nobody uses."""
        state = await workspace.state()
        if state is not SandboxState.RUNNING:
            self._saved_at.pop(workspace.run_id, None)
            needed = workspace.lock.locked() or self.keeper.starts.holds(workspace.run_id)
            if state is SandboxState.GONE and not needed:
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
            await self.keeper.stop(workspace.run_id, "idle")
            return
        saved_at = self._saved_at.setdefault(workspace.run_id, now)
        if now - saved_at >= settings.save_every_s:
            self._saved_at[workspace.run_id] = now
            await workspace.save()
        left_s = settings.idle_stop_s - idle_s
        if left_s < min(300.0, settings.idle_stop_s / 2):
            for session in workspace.terminals.values():
                session.announce({"type": "idle", "stops_in_s": int(left_s)})
