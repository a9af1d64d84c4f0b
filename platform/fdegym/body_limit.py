"""How much one request may bring: counted as it arrives, before anything is kept of it or asked who sends it."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

MOST_BYTES = 128 * 1024 * 1024  #: an upload of several files at once; a single one may have 16 MB
WORDS = f"That is more than {MOST_BYTES >> 20} MB at once. Nothing was changed; send it in parts."

Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[..., Awaitable[None]]


class BodyLimit:
    """An ASGI application that answers 413 instead of letting the one inside collect a larger body.

    Django spools a whole body to disk before its first middleware runs, whoever sent it.
    """

    def __init__(self, application: Application, most_bytes: int = MOST_BYTES) -> None:
        self.application = application
        self.most_bytes = most_bytes

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if _declared_bytes(scope) > self.most_bytes:
            await _refuse(send)
            return
        received, answered = 0, False

        async def counting() -> Message:
            nonlocal received
            message = await receive()
            if message["type"] == "http.request":
                received += len(message.get("body", b""))
                if received > self.most_bytes:
                    return {"type": "http.disconnect"}  # who waits for the rest lets go of what came
            return message

        async def noting(message: Message) -> None:
            nonlocal answered
            answered = True
            await send(message)

        await self.application(scope, counting, noting)
        if received > self.most_bytes and not answered:
            await _refuse(send)


def _declared_bytes(scope: Message) -> int:
    declared = next((value for name, value in scope["headers"] if name == b"content-length"), b"")
    return int(declared) if declared.isdigit() and len(declared) < 20 else 0


async def _refuse(send: Send) -> None:
    body = json.dumps({"error": WORDS}).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": body})
