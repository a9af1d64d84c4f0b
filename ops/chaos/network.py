"""The network between browsers and site: a TCP proxy that can lose connections, hold them back, or break them off."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from dataclasses import dataclass

PIECE = 64 << 10


@dataclass(eq=False)
class _Passing:
    """One connection: both ends."""

    browser: asyncio.StreamWriter
    site: asyncio.StreamWriter
    lost: bool = False  #: whatever comes is swallowed; told to nobody until the network is back

    def break_off(self) -> None:
        """An RST to both, as a box in between sends it that has forgotten the connection."""
        for writer in (self.browser, self.site):
            linger = struct.pack("ii", 1, 0)
            with contextlib.suppress(OSError, AttributeError):
                writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            writer.transport.abort()


class Network:
    """Listens on ``port`` once it is up; passes everything on to the site."""

    def __init__(self, site_port: int) -> None:
        self._site_port = site_port
        self._passing: set[_Passing] = set()
        self._flows = asyncio.Event()
        self._flows.set()
        self._is_down = False
        self._server: asyncio.Server | None = None
        self.port = 0

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def up(self) -> None:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0, backlog=256)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
        self.reset()
        await asyncio.sleep(0)

    # ---- faults

    def stall(self) -> None:
        """Nothing passes, nothing is lost, nobody is told."""
        self._flows.clear()

    def go_on(self) -> None:
        self._flows.set()

    def reset(self) -> None:
        """Break off every connection, now."""
        for passing in list(self._passing):
            passing.break_off()

    def lose(self) -> None:
        """What is under way vanishes, new connections are broken off."""
        self._is_down = True
        for passing in self._passing:
            passing.lost = True

    def find_again(self) -> None:
        """The network is back and knows nothing of the connections of before."""
        self._is_down = False
        for passing in [each for each in self._passing if each.lost]:
            passing.break_off()

    # ---- passing on

    async def _connected(self, from_browser: asyncio.StreamReader, browser: asyncio.StreamWriter) -> None:
        if self._is_down:
            browser.transport.abort()
            return
        try:
            from_site, site = await asyncio.open_connection("127.0.0.1", self._site_port)
        except OSError:
            browser.transport.abort()
            return
        passing = _Passing(browser, site, lost=self._is_down)
        self._passing.add(passing)
        try:
            await asyncio.gather(
                self._pass(from_browser, site, passing), self._pass(from_site, browser, passing), return_exceptions=True
            )
        finally:
            self._passing.discard(passing)
            for writer in (browser, site):
                writer.close()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, passing: _Passing) -> None:
        try:
            while data := await reader.read(PIECE):
                await self._flows.wait()
                if not passing.lost:
                    writer.write(data)
                    await writer.drain()
            await self._flows.wait()
            if not passing.lost and writer.can_write_eof():
                writer.write_eof()
        except OSError:  # one side broke off, and so does the other
            passing.break_off()
