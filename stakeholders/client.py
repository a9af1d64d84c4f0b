"""Asking the desk, from any other process of the site: one request, one answer, a deadline."""

from __future__ import annotations

import json
import socket
import time
import uuid
from pathlib import Path
from typing import Any

from fdegym.lib.errors import ServiceUnavailable
from stakeholders.protocol import LONGEST_ANSWER, encode, raise_for

TRY_AGAIN_S = 0.2


class DeskSilent(ServiceUnavailable):
    """The desk does not answer. Nothing is lost; the same request may be made again."""


class DeskClient:
    """Requests to the desk behind a socket. ``timeout_s`` is for the whole call, restarts of the desk included."""

    def __init__(self, path: Path, timeout_s: float = 20.0) -> None:
        self._path = path
        self._timeout_s = timeout_s

    def ask(self, operation: str, run_id: uuid.UUID | str, **fields: str) -> dict[str, Any]:
        """The desk's answer. Raises what the desk refuses with, or ``DeskSilent``.

        A broken connection is tried again until the time is up: requests carry ids, so that repeating one is harmless.
        """
        line = encode({"op": operation, "run": str(run_id), **fields})
        deadline = time.monotonic() + self._timeout_s
        while True:
            try:
                return raise_for(self._exchange(line, deadline))
            except (OSError, ValueError) as problem:
                if time.monotonic() + TRY_AGAIN_S > deadline:
                    raise DeskSilent(
                        "The customer's people cannot be reached just now. Nothing is lost; try again in a moment."
                    ) from problem
                time.sleep(TRY_AGAIN_S)

    def _exchange(self, line: bytes, deadline: float) -> dict[str, Any]:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(max(0.05, deadline - time.monotonic()))
            connection.connect(str(self._path))
            connection.sendall(line)
            received = bytearray()
            while not received.endswith(b"\n"):
                connection.settimeout(max(0.05, deadline - time.monotonic()))
                chunk = connection.recv(65536)
                if not chunk or len(received) > LONGEST_ANSWER:
                    raise ConnectionError("the desk broke off")
                received += chunk
        answer: dict[str, Any] = json.loads(received)
        return answer
