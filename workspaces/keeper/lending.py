"""Containers that the keeper makes for gradings: a worker has no way to the Docker daemon, and asks for each by its id.

A grading is started beside others and behind some of them, never beside a workspace: it has threads of its own here, so
that neither a slow daemon nor many workers hold up anybody who wants to work.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from workspaces.runtime.asked import FOLDER
from workspaces.runtime.choice import RuntimeChoice
from workspaces.runtime.errors import RuntimeUnusable
from workspaces.runtime.lent import LentContainers

logger = logging.getLogger(__name__)
T = TypeVar("T")
STARTS_AT_ONCE = 2
LOOK_EVERY_S = 60.0


class Lending:
    """``var`` is the site's directory and ``sockets`` that of its sockets, as the workers of this host know them."""

    def __init__(self, choice: RuntimeChoice, var: Path, sockets: Path) -> None:
        # what a grading's sandbox is shown: production's drops, and the socket of the model gateway
        self._containers = choice.make_lent(var / FOLDER, [var / "grading-scratch", sockets / "gateway"])
        self._starts = ThreadPoolExecutor(STARTS_AT_ONCE, thread_name_prefix="lend")
        self._others = ThreadPoolExecutor(2, thread_name_prefix="take-back")

    def _lent(self) -> LentContainers:
        if self._containers is None:
            raise RuntimeUnusable("The keeper of this host makes no containers: set FDEGYM_RUNTIME=docker for it.")
        return self._containers

    async def _blocking(self, threads: Executor, call: Callable[..., T], *arguments: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(threads, call, *arguments)

    async def start(self, sandbox_id: str) -> None:
        """Start the container of a sandbox. Raises ``SandboxError``."""
        await self._blocking(self._starts, self._lent().launch, sandbox_id)

    async def end(self, sandbox_id: str) -> None:
        """Remove it, from any state."""
        await self._blocking(self._others, self._lent().end, sandbox_id)

    async def report(self) -> dict[str, Any]:
        """``RuntimeReport`` of what is lent, as JSON can hold it."""
        report = await self._blocking(self._others, self._lent().report)
        return {**asdict(report), "limits_enforced_by": dict(report.limits_enforced_by)}

    async def look_after(self) -> NoReturn:
        """Remove what nobody will any more, now and again. Runs until cancelled."""
        while True:
            if self._containers is not None:
                try:
                    await self._blocking(self._others, self._containers.remove_left)
                except Exception:  # whatever one look met must not end the looking
                    logger.exception("looking after the containers of gradings failed; the next look tries again")
            await asyncio.sleep(LOOK_EVERY_S)
