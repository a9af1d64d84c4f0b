"""``python -m workspaces.keeper --state-dir DIR --socket PATH``"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from fdegym.env import EnvironmentProblem, log_style, workspace_capacity, workspace_runtime, workspaces_each
from fdegym.lib import logs
from workspaces.keeper.capacity import capacity_of, machine_memory_mb
from workspaces.keeper.server import Keeper, KeeperRunning, KeeperSettings
from workspaces.keeper.upkeep import Upkeep
from workspaces.runtime.choice import RuntimeChoice


def parse_arguments(argv: list[str] | None = None) -> KeeperSettings:
    """Settings from the command line; times in seconds."""
    parser = argparse.ArgumentParser(prog="workspaces.keeper", description="Owns sandboxes and terminals of this host.")
    parser.add_argument("--state-dir", type=Path, required=True, help="directory of the sandboxes")
    parser.add_argument("--socket", type=Path, required=True, help="where the site reaches the keeper")
    parser.add_argument("--terminals-max", type=int, default=8, help="open shells of one workspace")
    parser.add_argument("--starts-at-once", type=int, default=4)
    parser.add_argument("--idle-stop-s", type=float, default=3600.0)
    parser.add_argument("--save-every-s", type=float, default=60.0)
    parser.add_argument("--look-every-s", type=float, default=15.0)
    workspaces, memory_mb = workspace_capacity()
    parser.add_argument("--workspaces", type=int, default=workspaces, help="that may be open (FDEGYM_WORKSPACES)")
    parser.add_argument("--workspaces-mb", type=int, default=memory_mb, help="they may hold (FDEGYM_WORKSPACES_MB)")
    each = workspaces_each()
    parser.add_argument("--each-person", type=int, default=each, help="may have open (FDEGYM_WORKSPACES_PER_USER)")
    given = vars(parser.parse_args(argv))
    capacity = capacity_of(
        machine_memory_mb(), workspaces=given.pop("workspaces"), memory_mb=given.pop("workspaces_mb")
    )
    return KeeperSettings(**given, capacity=capacity, runtime=RuntimeChoice(**workspace_runtime()))


async def keep(settings: KeeperSettings) -> None:
    """Serve until SIGTERM or SIGINT. Shells and sandboxes live on."""
    keeper = Keeper(settings)
    serving = asyncio.ensure_future(keeper.serve())
    upkeep = [asyncio.ensure_future(each) for each in (Upkeep(keeper).run(), keeper.lending.look_after())]
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, serving.cancel)
    try:
        with contextlib.suppress(asyncio.CancelledError):
            await serving
    except KeeperRunning as problem:
        raise SystemExit(str(problem)) from problem
    finally:
        for each in upkeep:
            each.cancel()


def _fast_loop() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """uvloop's, where it is installed: a terminal's output passes the loop some thousand times a second."""
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


def main() -> None:
    try:
        logs.set_up("keeper", log_style())
        settings = parse_arguments()
    except EnvironmentProblem as problem:
        print(f"fdegym: {problem}", file=sys.stderr)
        raise SystemExit(78) from problem
    with asyncio.Runner(loop_factory=_fast_loop()) as runner:
        runner.run(keep(settings))


if __name__ == "__main__":
    main()
