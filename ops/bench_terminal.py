"""Terminals in `make bench`, measured from a WebSocket client: keys, floods, slow readers, pastes, reconnects.

Beside the product stand terminado (from PyPI) and a bare PTY without any network. They take turns, key by key and flood
by flood, so that a busy machine disturbs all alike.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
import pty
import random
import re
import signal
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from urllib.parse import urlsplit

import websockets
from bench_site import Processes, Visitor, free_port
from bench_table import Figure, percentile

KEYS = 1000
BULK_LINES = 400_000
BULK_ROUNDS = 7
SLOW_BYTES_PER_S = 10_000
SLOW_S = 60
PASTE_LINES = 20_000  #: of 52 bytes: more than a megabyte
RECONNECTS = 200

TERMINADO = """
import sys, tornado.ioloop, tornado.web, terminado
manager = terminado.UniqueTermManager(shell_command=["bash", "--norc"])
application = tornado.web.Application([(r"/ws", terminado.TermSocket, {"term_manager": manager})])
application.listen(int(sys.argv[1]), "127.0.0.1")
tornado.ioloop.IOLoop.current().start()
"""


class Wire:
    """One terminal connection of the product or of terminado: raw bytes in, raw bytes out."""

    def __init__(self, stream: websockets.ClientConnection, *, terminado: bool = False) -> None:
        self.stream, self.terminado = stream, terminado
        self.seq: int | None = None  #: of the product: the next byte's number

    async def send(self, text: str) -> None:
        await self.stream.send(json.dumps(["stdin", text]) if self.terminado else text.encode())

    async def receive(self) -> bytes:
        """Output; empty for a control frame."""
        message = await self.stream.recv()
        if self.terminado:
            what, *values = json.loads(message)
            return values[0].encode() if what == "stdout" else b""
        if isinstance(message, bytes):
            if self.seq is not None:
                self.seq += len(message)
            return message
        said = json.loads(message)
        if said["type"] == "hello":
            self.seq = said["seq"]
        elif said["type"] == "gap":
            raise RuntimeError(f"output was left out: {said}")
        return b""

    async def until(self, mark: bytes, patience_s: float = 120) -> bytes:
        seen = bytearray()
        async with asyncio.timeout(patience_s):
            while mark not in seen[-(1 << 17) :]:
                seen += await self.receive()
        return bytes(seen)


@contextlib.asynccontextmanager
async def connected(url: str, headers: dict[str, str], *, terminado: bool = False) -> AsyncIterator[Wire]:
    async with websockets.connect(
        url, max_size=None, compression=None, additional_headers=headers, ping_interval=None
    ) as stream:
        yield Wire(stream, terminado=terminado)


@contextlib.asynccontextmanager
async def product(person: Visitor, number: int, *, after: int | None = None) -> AsyncIterator[Wire]:
    """A terminal of the person's run."""
    url = await asyncio.to_thread(person.terminal, number)
    if after is not None:
        url += f"&after={after}"
    async with connected(url, {"Cookie": person.cookie, "Origin": person.address}) as wire:
        yield wire


@contextlib.contextmanager
def terminado_server() -> Iterator[tuple[str, int]]:
    """(address of its socket, its process)."""
    port = free_port()
    peer = subprocess.Popen([sys.executable, "-c", TERMINADO, str(port)], stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 30
        while socket.socket().connect_ex(("127.0.0.1", port)):
            if time.monotonic() > deadline:
                raise RuntimeError("terminado does not answer")
            time.sleep(0.1)
        yield f"ws://127.0.0.1:{port}/ws", peer.pid
    finally:
        peer.send_signal(signal.SIGTERM)
        peer.wait(10)


class BarePty:
    """The machine's own limit: the same work without any network."""

    def __init__(self) -> None:
        self.process, self.master = pty.fork()
        if self.process == 0:
            os.execvp("bash", ["bash", "--norc"])

    def send(self, text: str) -> None:
        os.write(self.master, text.encode())

    def until(self, mark: bytes) -> int:
        seen, count = b"", 0
        while mark not in seen:
            data = os.read(self.master, 65536)
            count += len(data)
            seen = seen[-len(mark) :] + data
        return count

    def end(self) -> None:
        os.kill(self.process, signal.SIGKILL)
        os.close(self.master)
        os.waitpid(self.process, 0)


#: Ten thousand lines a second, until Ctrl-C.
COUNTER = r"""import signal, time
going = [1]
signal.signal(signal.SIGINT, lambda *_: going.clear())
number = 0
while going:
    print(*("n%d" % (number + more) for more in range(50)), sep=chr(10))
    number += 50
    time.sleep(0.005)
print("END")
""".replace("\n", r"\n")
ECHO = "stty raw -echo; printf 'RE''ADY'; exec cat\n"


async def echo(person: Visitor, processes: Processes) -> list[Figure]:
    """From a key sent to its echo received."""
    times: dict[str, list[float]] = {"product": [], "terminado": [], "bare PTY": []}
    spent = {"product": 0.0, "terminado": 0.0}
    with terminado_server() as (url, peer):
        origin = {"Origin": "http://" + urlsplit(url).netloc}
        async with product(person, 1) as ours, connected(url, origin, terminado=True) as theirs:
            bare = BarePty()
            bare.send(ECHO)
            bare.until(b"READY")
            wires = {"product": ours, "terminado": theirs}
            pids = {"product": [*processes.named("site"), *processes.named("keeper")], "terminado": [peer]}
            for wire in wires.values():
                await wire.send(ECHO)
                await wire.until(b"READY")
            for number in range(KEYS):
                key = chr(97 + number % 26)
                for name, wire in wires.items():
                    before = processes.cpu_s(pids[name])
                    started = time.perf_counter()
                    await wire.send(key)
                    while key.encode() not in await wire.receive():
                        pass
                    times[name].append((time.perf_counter() - started) * 1e3)
                    await asyncio.sleep(0.002)
                    spent[name] += processes.cpu_s(pids[name]) - before
                started = time.perf_counter()
                bare.send(key)
                bare.until(key.encode())
                times["bare PTY"].append((time.perf_counter() - started) * 1e3)
                await asyncio.sleep(0.002)
            bare.end()
    p50 = {name: statistics.median(values) for name, values in times.items()}
    p99 = {name: percentile(values, 0.99) for name, values in times.items()}
    cpu = {name: seconds / KEYS * 1e6 for name, seconds in spent.items()}
    return [
        Figure(
            "echo of a key, p50",
            p50["product"],
            "ms",
            1.0,
            peer="terminado",
            peer_value=p50["terminado"],
            by_ratio=True,
        ),
        Figure("echo of a key, p99", p99["product"], "ms", 3.0, peer="terminado", peer_value=p99["terminado"]),
        Figure("echo of a key, CPU of the server", cpu["product"], "µs", peer="terminado", peer_value=cpu["terminado"]),
        Figure("echo of a key on a bare PTY, p50", p50["bare PTY"], "ms"),
    ]


async def bulk(person: Visitor, processes: Processes) -> list[Figure]:
    """A long output: the best of several turns each."""
    speeds: dict[str, list[float]] = {"product": [], "terminado": [], "bare PTY": []}
    command = f"seq 1 {BULK_LINES}; printf 'DO''NE'\n"
    with terminado_server() as (url, _):
        origin = {"Origin": "http://" + urlsplit(url).netloc}
        async with product(person, 1) as ours, connected(url, origin, terminado=True) as theirs:
            for _ in range(BULK_ROUNDS):
                bare = BarePty()
                await asyncio.sleep(0.3)
                started = time.perf_counter()
                bare.send(command)
                count = bare.until(b"DONE")
                speeds["bare PTY"].append(count / 1e6 / (time.perf_counter() - started))
                bare.end()
                for name, wire in {"product": ours, "terminado": theirs}.items():
                    await asyncio.sleep(0.3)
                    started = time.perf_counter()
                    await wire.send(command)
                    count = len(await wire.until(b"DONE"))
                    speeds[name].append(count / 1e6 / (time.perf_counter() - started))
    best = {name: max(values) for name, values in speeds.items()}
    return [
        Figure(
            "long output", best["product"], "MB/s", 0.9, at_least=True, peer="bare PTY", peer_value=best["bare PTY"],
            by_ratio=True,
        ),
        Figure("long output beside terminado", best["product"], "MB/s", peer="terminado", peer_value=best["terminado"]),
    ]  # fmt: skip


async def interrupt(person: Visitor, processes: Processes) -> list[Figure]:
    """From Ctrl-C to the next prompt while ``yes`` floods."""
    took = []
    async with product(person, 1) as wire:
        await wire.send("PS1='PRO''MPT '\n")
        await wire.until(b"PROMPT ")
        for _ in range(5):
            await wire.send("yes\n")
            flooded = time.perf_counter() + 2
            while time.perf_counter() < flooded:
                await wire.receive()
            started = time.perf_counter()
            await wire.send("\x03")
            await wire.until(b"PROMPT ")
            took.append((time.perf_counter() - started) * 1e3)
    return [Figure("Ctrl-C under a flood, slowest of 5", max(took), "ms", 1000)]


async def slow(person: Visitor, processes: Processes) -> list[Figure]:
    """What the server keeps for somebody who reads ten kilobytes a second of a flood, in memory of its own."""
    address = urlsplit(await asyncio.to_thread(person.terminal, 1))
    before = highest = processes.memory_mb("site", "keeper")
    with socket.create_connection((address.hostname, address.port)) as stream:
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16 << 10)
        stream.sendall(
            f"GET {address.path}?{address.query} HTTP/1.1\r\nHost: {address.netloc}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Key: {'A' * 22}==\r\nSec-WebSocket-Version: 13\r\n"
            f"Origin: {person.address}\r\nCookie: {person.cookie}\r\n\r\n".encode()
        )
        stream.sendall(bytes([0x82, 0x80 | 4, 0, 0, 0, 0]) + b"yes\n")  # a masked binary frame, with a mask of zeros
        stream.settimeout(10)
        read = 0
        for _ in range(SLOW_S):
            read += len(stream.recv(SLOW_BYTES_PER_S))
            await asyncio.sleep(1)
            highest = max(highest, processes.memory_mb("site", "keeper"))
    if read < SLOW_BYTES_PER_S * SLOW_S / 2:
        raise RuntimeError(f"the slow reader got {read} bytes only")
    return [Figure("growth under a reader of 10 KB/s, a minute", highest - before, "MB", 50, note="site and keeper")]


async def paste(person: Visitor, processes: Processes) -> list[Figure]:
    """A megabyte pasted into ``cat > file``, as a page sends it; the file is compared."""
    chance = random.Random(1)
    text = "".join(f"{number:07d} {chance.randbytes(22).hex()}\n" for number in range(PASTE_LINES))
    async with product(person, 1) as wire:
        await wire.send("cat > ~/pasted; sha256sum < ~/pasted; printf 'SU''MMED'\n")
        await asyncio.sleep(0.5)
        started = time.perf_counter()

        async def send() -> None:
            for at in range(0, len(text), 32768):
                await wire.send(text[at : at + 32768])
            await wire.send("\x04")

        sending = asyncio.create_task(send())
        said = await wire.until(b"SUMMED")
        await sending
        took = time.perf_counter() - started
    whole = hashlib.sha256(text.encode()).hexdigest().encode() in said[-1000:]
    return [
        Figure("bytes wrong in a paste of 1 MB", 0 if whole else len(text), "bytes", 0),
        Figure("the paste, until its file is there", took, "s"),
    ]


async def reconnects(person: Visitor, processes: Processes) -> list[Figure]:
    """Two hundred broken connections while a program prints: every line once and in order."""
    received, seq = bytearray(), 0
    chance = random.Random(2)
    async with product(person, 1) as wire:
        await wire.send(f"stty -echo; PS1=; clear; exec python3 -uc $'{COUNTER}'\n")
        received += await wire.until(b"n100\r\n")
        seq = wire.seq or 0
    for _ in range(RECONNECTS):
        async with product(person, 1, after=seq) as wire:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(chance.uniform(0.001, 0.03)):
                    while True:
                        received += await wire.receive()
            seq = wire.seq if wire.seq is not None else seq
            wire.stream.transport.abort()
    async with product(person, 1, after=seq) as wire:
        await wire.send("\x03")
        received += await wire.until(b"END")
    found = [int(each) for each in re.findall(rb"n(\d+)\r\n", bytes(received))]
    wrong = sum(number != place for place, number in enumerate(found))
    return [Figure(f"lines wrong over {RECONNECTS} reconnects", wrong, f"of {len(found):,}", 0)]
