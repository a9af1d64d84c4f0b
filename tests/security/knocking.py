"""A browser at the site's sockets, through the whole application: cookies, origin and ticket as a page sends them."""

from __future__ import annotations

import asyncio
import json
from http.cookies import SimpleCookie
from typing import Any

from asgiref.testing import ApplicationCommunicator
from channels.db import database_sync_to_async
from django.contrib.sessions.models import Session
from django.test import Client

from fdegym.accounts.models import User
from fdegym.accounts.tickets import issue_ticket
from fdegym.asgi import application

HOST = "localhost"


class Line(ApplicationCommunicator):  # type: ignore[misc]
    """One connection of a page."""

    def __init__(self, path: str, query: str, cookies: SimpleCookie, origin: str = f"http://{HOST}") -> None:
        sent = "; ".join(f"{name}={morsel.value}" for name, morsel in cookies.items())
        headers = [(b"host", HOST.encode()), (b"origin", origin.encode()), (b"cookie", sent.encode())]
        scope: dict[str, Any] = {"type": "websocket", "path": path, "query_string": query.encode(), "headers": headers}
        super().__init__(application, scope | {"scheme": "ws", "subprotocols": [], "server": (HOST, 80)})

    async def open(self) -> Line:
        await self.send_input({"type": "websocket.connect"})
        assert (await self.receive_output(timeout=60))["type"] == "websocket.accept"
        return self

    async def says(self) -> dict[str, Any]:
        """The next text frame, or ``{"closed": code, "reason": words}``."""
        output = await self.receive_output(timeout=60)
        if output["type"] == "websocket.close":
            return {"closed": output.get("code", 1000), "reason": output.get("reason", "")}
        said: dict[str, Any] = json.loads(output["text"])
        return said

    async def closed(self) -> tuple[int, str]:
        """How it ends, whatever is said before."""
        while "closed" not in (said := await self.says()):
            pass
        return said["closed"], said["reason"]

    async def leave(self) -> None:
        await self.send_input({"type": "websocket.disconnect", "code": 1001})
        ended, _ = await asyncio.wait([self.future], timeout=60)
        assert ended, "the consumer goes on although its client is gone"


@database_sync_to_async
def ticket_of(browser: Client, user: User, socket: str, run_id: Any) -> str:
    """A ticket as the site makes it for this browser's session, whether or not a page would have got one."""
    key = browser.cookies["sessionid"].value
    assert Session.objects.filter(pk=key).exists()
    return issue_ticket(socket=socket, run_id=run_id, user=user, session_key=key)
