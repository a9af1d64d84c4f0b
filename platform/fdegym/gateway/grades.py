"""A worker's side of the gateway: an allowance for one grade, opened before the sandbox is and closed with what it came to.

Where no model is connected and no gateway runs, a grade goes on without: a directory without a socket says the same to a
program as a gateway that has no model.
"""

from __future__ import annotations

import http.client
import json
import shutil
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fdegym.gateway.places import (
    CONTROL_NAME,
    configuration,
    gateway_root,
    grade_name,
    grading_process,
    make_directory,
)
from fdegym.gateway.problems import FAULTS
from fdegym.lib.errors import ServiceUnavailable
from scenarios.kit.format import GatewayAllowance

PATIENCE_S = 30.0


class GatewayLost(ServiceUnavailable):
    """The gateway, or the provider behind it, failed while a delivery was graded: no fault of the delivery."""


class _Control(http.client.HTTPConnection):
    """HTTP over the gateway's socket for our own processes."""

    def __init__(self) -> None:
        super().__init__("gateway", timeout=PATIENCE_S)

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(gateway_root() / CONTROL_NAME))


def ask_gateway(path: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """Ask the gateway's process of this host. Raises ``GatewayLost``."""
    connection = _Control()
    try:
        connection.request("POST", path, json.dumps(body).encode(), {"Connection": "close"})
        response = connection.getresponse()
        answer = json.loads(response.read())
    except (OSError, http.client.HTTPException, ValueError) as problem:
        raise GatewayLost(f"The model gateway does not answer: {problem}.") from problem
    finally:
        connection.close()
    if response.status != 200:
        raise GatewayLost(f"The model gateway refused: {answer['error']['message']}")
    found: dict[str, Any] = answer
    return found


class GradeGateway:
    """The gateway as one grade has it. ``directory`` is what its sandbox is shown."""

    def __init__(self, name: str, instance: str | None) -> None:
        self.name, self.directory = name, gateway_root() / name
        self._instance = instance

    def begin_step(self) -> None:
        """A step of production begins: it may make its calls. Raises ``GatewayLost``, as ``close`` does."""
        if self._instance is not None and (fault := self._same(ask_gateway("/step", {"name": self.name}))["fault"]):
            raise GatewayLost(f"A call of the model gateway failed through no fault of the delivery: {fault}.")

    def close(self) -> dict[str, Any] | None:
        """No more calls; what they came to (``accounts.use_of_grade``), None where none was tried.

        Raises ``GatewayLost`` where calls failed through the provider's fault or ours: then the replay is worth nothing.
        """
        if self._instance is None:
            return None
        use: dict[str, Any] = self._same(ask_gateway("/close", {"name": self.name}))["use"]
        faults = {code: count for code, count in use["refused"].items() if code in FAULTS}
        if faults:
            listed = ", ".join(f"{code} ×{count}" for code, count in sorted(faults.items()))
            raise GatewayLost(f"Calls of the model gateway failed through no fault of the delivery: {listed}.")
        return use if use["calls"] or use["refused"] else None

    def _same(self, answer: dict[str, Any]) -> dict[str, Any]:
        if answer["instance"] != self._instance:
            raise GatewayLost("The model gateway was started anew in the middle of a replay.")
        return answer


@contextmanager
def grade_gateway(
    scenario_id: str, release: str, delivery: str, allowance: GatewayAllowance | None, process: str
) -> Iterator[GradeGateway | None]:
    """The gateway for one grade of a scenario, None where the scenario has none.

    ``delivery`` is the hash of what is graded: the same delivery is answered as before. ``process`` names who grades.

    Raises ``GatewayLost`` where a model is connected and the gateway's process does not answer.
    """
    if allowance is None:
        yield None
        return
    name = grade_name(process)
    asked = {
        "name": name,
        "scenario": scenario_id,
        "release": release,
        "delivery": delivery,
        "tokens": allowance.run_tokens if allowance.replay_tokens is None else allowance.replay_tokens,
        "calls_per_step": allowance.calls_per_step,
    }
    instance: str | None = None
    try:
        instance = ask_gateway("/open", asked)["instance"]
    except GatewayLost:
        if configuration().enabled:
            raise
    gateway = GradeGateway(name, instance)
    make_directory(gateway.directory)
    try:
        yield gateway
    finally:
        shutil.rmtree(gateway.directory, ignore_errors=True)


def left_by_others(alive: Callable[[str], bool]) -> list[Path]:
    """Directories of grades whose process is gone; ``alive`` tells whether the process of a name still runs."""
    root = gateway_root()
    if not root.is_dir():
        return []
    named = [(entry, grading_process(entry.name)) for entry in sorted(root.iterdir()) if entry.is_dir()]
    return [entry for entry, process in named if process is not None and not alive(process)]
