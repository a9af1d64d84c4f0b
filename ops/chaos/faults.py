"""The faults: what each does to the running product, when it is over, and on which installation it can be tried.

A kill is over the moment it is done: whoever looks after the process starts it again. What this test itself ends, servers
and networks, it brings back after a while, and that is when the fault is over.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import signal
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ops.chaos.network import Network
from ops.chaos.product import Product, processes

KILLED = ("site", "desk", "keeper", "worker", "scheduler", "grader", "gateway")
LASTS_S = (0.5, 4.0)
PAUSE_S = (1.0, 6.0)  #: of nothing, before a fault
FILL_PIECE = 4 << 20
SERVER_BACK_WITHIN_S = 30.0


@dataclass(frozen=True, slots=True)
class Planned:
    """One fault of a plan; seconds."""

    kind: str
    pause_s: float
    lasts_s: float


@dataclass(slots=True)
class Site:
    """Where faults happen. ``dockerd``: file with the process id of a Docker daemon that something starts again."""

    product: Product
    network: Network
    dockerd: Path | None = None


@dataclass(frozen=True, slots=True)
class Kind:
    """``impossible``: why it cannot be tried there, "" if it can. ``happen``: do it; returns when it is over."""

    impossible: Callable[[Site], str]
    happen: Callable[[Site, float], Awaitable[None]]


def plan(seed: int, count: int, kinds: Sequence[str]) -> list[Planned]:
    """So many faults, each kind as often as any other, in an order and at moments that follow from the seed."""
    chance, order = random.Random(seed), list[str]()
    while len(order) < count:
        order += chance.sample(list(kinds), len(kinds))
    return [Planned(kind, chance.uniform(*PAUSE_S), chance.uniform(*LASTS_S)) for kind in order[:count]]


# ---- each kind -------------------------------------------------------------------------------------------------------


def _always(_site: Site) -> str:
    return ""


def _killing(name: str) -> Kind:
    async def happen(site: Site, _lasts_s: float) -> None:
        # the one that a former fault killed may not be there again yet
        deadline = time.monotonic() + SERVER_BACK_WITHIN_S
        while True:
            with contextlib.suppress(KeyError, ProcessLookupError):
                os.kill(await asyncio.to_thread(site.product.pid_of, name), signal.SIGKILL)
                return
            if time.monotonic() > deadline:
                raise RuntimeError(f"there is no {name} to kill")
            await asyncio.sleep(0.2)

    return Kind(_always, happen)


def _needs_servers(site: Site) -> str:
    return "the embedded installation has no such server" if site.product.embedded else ""


async def _kill_redis(site: Site, lasts_s: float) -> None:
    redis = site.product.redis
    assert redis is not None
    await asyncio.to_thread(redis.stop)
    await asyncio.sleep(lasts_s)
    await asyncio.to_thread(redis.start)


async def _pause_redis(site: Site, lasts_s: float) -> None:
    redis = site.product.redis
    assert redis is not None
    assert redis.process is not None
    redis.process.send_signal(signal.SIGSTOP)
    try:
        await asyncio.sleep(lasts_s)
    finally:
        redis.process.send_signal(signal.SIGCONT)


async def _kill_postgres(site: Site, lasts_s: float) -> None:
    postgres = site.product.postgres
    assert postgres is not None
    assert postgres.process is not None
    backends = {each.id for each in processes() if each.parent == postgres.process.pid}
    postgres.process.kill()
    for backend in backends:
        with contextlib.suppress(ProcessLookupError):
            os.kill(backend, signal.SIGKILL)
    await asyncio.to_thread(postgres.process.wait, 20)
    await asyncio.sleep(lasts_s)
    deadline = time.monotonic() + SERVER_BACK_WITHIN_S
    while backends & {each.id for each in processes()} and time.monotonic() < deadline:
        await asyncio.sleep(0.1)
    await asyncio.to_thread(postgres.start)


def _needs_own_disk(site: Site) -> str:
    return "" if site.product.has_own_disk else "only root can make a file system to be filled"


async def _fill_disk(site: Site, lasts_s: float) -> None:
    ballast = site.product.var / "ballast"
    try:
        await asyncio.to_thread(fill, ballast)
        await asyncio.sleep(lasts_s)
    finally:
        ballast.unlink(missing_ok=True)


def fill(ballast: Path) -> None:
    """Write until nothing more fits, to the last page."""
    piece = b"\0" * FILL_PIECE
    with ballast.open("wb", buffering=0) as file:
        while piece:
            try:
                file.write(piece)
            except OSError:
                piece = piece[: len(piece) // 2]


async def _lose_network(site: Site, lasts_s: float) -> None:
    site.network.lose()
    try:
        await asyncio.sleep(lasts_s)
    finally:
        site.network.find_again()


async def _stall_network(site: Site, lasts_s: float) -> None:
    site.network.stall()
    try:
        await asyncio.sleep(lasts_s)
    finally:
        site.network.go_on()


async def _reset_network(site: Site, _lasts_s: float) -> None:
    site.network.reset()


def _needs_dockerd(site: Site) -> str:
    return "" if site.dockerd is not None else "no Docker daemon was named (--dockerd-pidfile)"


async def _kill_dockerd(site: Site, lasts_s: float) -> None:
    assert site.dockerd is not None
    os.kill(int(site.dockerd.read_text()), signal.SIGKILL)


KINDS: dict[str, Kind] = {
    **{name: _killing(name) for name in KILLED},
    "redis": Kind(_needs_servers, _kill_redis),
    "redis paused": Kind(_needs_servers, _pause_redis),
    "postgresql": Kind(_needs_servers, _kill_postgres),
    "full disk": Kind(_needs_own_disk, _fill_disk),
    "network lost": Kind(_always, _lose_network),
    "network stalled": Kind(_always, _stall_network),
    "network reset": Kind(_always, _reset_network),
    "dockerd": Kind(_needs_dockerd, _kill_dockerd),
}
