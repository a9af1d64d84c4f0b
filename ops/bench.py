"""`make bench`: how quick and how large the product is, beside peers where there are any, as ratios of one run.

    python3 ops/bench.py [--quick]

Terminals are measured from a WebSocket client: this product, terminado (from PyPI) and a bare PTY without any network,
in turns, so that a busy machine disturbs all alike. Nothing here passes or fails; numbers are printed and kept in
``FDEGYM_VAR/bench.json``.
"""

from __future__ import annotations

import asyncio
import json
import os
import pty
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import place

KEYS = 300
BULK_LINES = 400_000
ROUNDS = 3


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


class Wire:
    """One terminal connection, whatever the kind: raw bytes in, raw bytes out."""

    def __init__(self, kind: str, url: str, headers: dict[str, str]) -> None:
        self.kind, self.url, self.headers = kind, url, headers

    async def __aenter__(self) -> Wire:
        import websockets

        self.socket = await websockets.connect(
            self.url, max_size=None, compression=None, additional_headers=self.headers, ping_interval=None
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.socket.close()

    async def send(self, text: str) -> None:
        await self.socket.send(json.dumps(["stdin", text]) if self.kind == "terminado" else text.encode())

    async def receive(self) -> bytes:
        message = await self.socket.recv()
        if self.kind == "terminado":
            what, *values = json.loads(message)
            return values[0].encode() if what == "stdout" else b""
        return bytes(message) if isinstance(message, bytes) else b""

    async def until(self, mark: bytes, patience_s: float = 120) -> int:
        seen, count = b"", 0
        async with asyncio.timeout(patience_s):
            while mark not in seen:
                data = await self.receive()
                count += len(data)
                seen = seen[-len(mark) :] + data
        return count


async def echo(wire: Wire) -> list[float]:
    """Milliseconds from a key sent to its echo received."""
    await wire.send("stty raw -echo; printf 'RE''ADY'; exec cat\n")
    await wire.until(b"READY")
    times = []
    for number in range(KEYS):
        key = chr(97 + number % 26)
        started = time.perf_counter()
        await wire.send(key)
        while key.encode() not in await wire.receive():
            pass
        times.append((time.perf_counter() - started) * 1e3)
        await asyncio.sleep(0.002)
    return times


async def bulk(wire: Wire) -> float:
    """MB/s of a long output."""
    await asyncio.sleep(0.3)
    started = time.perf_counter()
    await wire.send(f"seq 1 {BULK_LINES}; printf 'DO''NE'\n")
    count = await wire.until(b"DONE")
    return count / 1e6 / (time.perf_counter() - started)


async def interrupt(wire: Wire) -> float:
    """Seconds from Ctrl-C to the next prompt while ``yes`` floods."""
    await wire.send("PS1='PRO''MPT '; yes\n")
    flooded = time.perf_counter() + 2
    while time.perf_counter() < flooded:
        await wire.receive()
    started = time.perf_counter()
    await wire.send("\x03")
    await wire.until(b"PROMPT ")
    return time.perf_counter() - started


def bare_pty() -> tuple[list[float], float]:
    """The machine's own limit: the same work on a PTY without any network."""

    def shell() -> int:
        process, master = pty.fork()
        if process == 0:
            os.execvp("bash", ["bash", "--norc"])
        return master

    def until(master: int, mark: bytes) -> int:
        seen, count = b"", 0
        while mark not in seen:
            data = os.read(master, 65536)
            count += len(data)
            seen = seen[-len(mark) :] + data
        return count

    master = shell()
    os.write(master, b"stty raw -echo; printf 'RE''ADY'; exec cat\n")
    until(master, b"READY")
    times = []
    for _ in range(KEYS):
        started = time.perf_counter()
        os.write(master, b"a")
        os.read(master, 10)
        times.append((time.perf_counter() - started) * 1e3)
        time.sleep(0.002)
    master = shell()
    time.sleep(0.3)
    started = time.perf_counter()
    os.write(master, f"seq 1 {BULK_LINES}; printf 'DO''NE'\n".encode())
    count = until(master, b"DONE")
    return times, count / 1e6 / (time.perf_counter() - started)


TERMINADO = """
import sys, tornado.ioloop, tornado.web, terminado
manager = terminado.UniqueTermManager(shell_command=["bash", "--norc"])
application = tornado.web.Application([(r"/ws", terminado.TermSocket, {"term_manager": manager})])
application.listen(int(sys.argv[1]), "127.0.0.1")
tornado.ioloop.IOLoop.current().start()
"""


async def terminals(visitor: object, run: str, rounds: int) -> dict[str, dict[str, float]]:
    from bench_site import Visitor, free_port

    assert isinstance(visitor, Visitor)
    port = free_port()
    peer = subprocess.Popen([sys.executable, "-c", TERMINADO, str(port)], stderr=subprocess.DEVNULL)
    echoes: dict[str, list[float]] = {"product": [], "terminado": [], "bare PTY": []}
    speeds: dict[str, list[float]] = {name: [] for name in echoes}
    breaks: list[float] = []
    number = 0

    def product() -> Wire:
        nonlocal number
        number += 1
        return Wire("product", visitor.terminal(run, number), {"Cookie": visitor.cookie, "Origin": visitor.address})

    openers: dict[str, Callable[[], Wire]] = {
        "product": product,
        "terminado": lambda: Wire("terminado", f"ws://127.0.0.1:{port}/ws", {"Origin": f"http://127.0.0.1:{port}"}),
    }
    try:
        await asyncio.sleep(1.5)
        for _ in range(rounds):
            for name, opened in openers.items():
                async with opened() as wire:
                    echoes[name] += await echo(wire)
                    if name == "product":
                        await wire.send("\x04")
                async with opened() as wire:
                    speeds[name].append(await bulk(wire))
                    if name == "product":
                        breaks.append(await interrupt(wire))
                        await wire.send("exit\n")
            times, speed = await asyncio.to_thread(bare_pty)
            echoes["bare PTY"] += times
            speeds["bare PTY"].append(speed)
    finally:
        peer.send_signal(signal.SIGTERM)
        peer.wait(10)
    figures = {
        name: {
            "echo p50 ms": statistics.median(values),
            "echo p99 ms": percentile(values, 0.99),
            "bulk MB/s": statistics.median(speeds[name]),
        }
        for name, values in echoes.items()
    }
    figures["product"]["Ctrl-C under yes s"] = max(breaks)
    return figures


def timed(act: Callable[[], object], times: int) -> list[float]:
    values = []
    for _ in range(times):
        started = time.perf_counter()
        act()
        values.append((time.perf_counter() - started) * 1e3)
    return values


def main(arguments: list[str]) -> int:
    place.settle("ops/bench.py", refresh=False)
    from bench_site import Visitor, resident_mb, running_site

    quick = "--quick" in arguments
    found: dict[str, object] = {}
    with running_site() as (address, _var, supervisor):
        visitor = Visitor(address)
        visitor.sign_up("bench0")
        visitor.get("/scenarios/")
        time.sleep(3)
        found["memory of all processes, idle, MB"] = {k: round(v) for k, v in sorted(resident_mb(supervisor).items())}
        pages = {path: timed(lambda path=path: visitor.get(path), 20) for path in ("/", "/scenarios/", "/leaderboard/")}
        found["page p95 ms"] = {path: round(percentile(values, 0.95), 1) for path, values in pages.items()}
        ready = []
        for number in range(3 if quick else 10):
            other = Visitor(address)
            other.sign_up(f"bench{number + 1}")
            other.get("/scenarios/oil_npt/")
            ready += timed(lambda other=other: other.begin("oil_npt"), 1)
        found["workspace ready from a cached world ms"] = {
            "p50": round(statistics.median(ready)), "p95": round(percentile(ready, 0.95)),
        }  # fmt: skip
        run = visitor.begin("oil_npt")
        people = [f"/runs/{run}/messages/", {"person": "vandeputte", "text": "What may a claim contain?"}]
        replies = timed(lambda: visitor.post_json(people[0], {**people[1], "id": os.urandom(8).hex()}), 10)  # type: ignore[arg-type, dict-item]
        found["a person's reply ms"] = {
            "p50": round(statistics.median(replies), 1), "max of 10": round(max(replies), 1),
        }  # fmt: skip
        figures = asyncio.run(terminals(visitor, run, 1 if quick else ROUNDS))
        found["terminal"] = figures
        found["terminal ratios"] = {
            "echo p50, product / terminado": figures["product"]["echo p50 ms"] / figures["terminado"]["echo p50 ms"],
            "bulk, product / bare PTY": figures["product"]["bulk MB/s"] / figures["bare PTY"]["bulk MB/s"],
            "bulk, product / terminado": figures["product"]["bulk MB/s"] / figures["terminado"]["bulk MB/s"],
        }
    text = json.dumps(found, indent=2, default=lambda value: round(value, 3))
    print(text)
    var = Path(os.environ.get("FDEGYM_VAR") or place.CHECKOUT / "var")
    var.mkdir(exist_ok=True)
    (var / "bench.json").write_text(text + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
