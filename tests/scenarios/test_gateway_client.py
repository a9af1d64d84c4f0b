"""The client of the model gateway that scenarios ship: one text, and one exception for whatever goes wrong."""

from __future__ import annotations

import importlib.util
import json
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
CLIENT = ROOT / "scenarios" / "kit" / "system" / "gateway.py"


def shipped() -> list[Path]:
    found = [path for path in ROOT.glob("scenarios/*/system/**/*.py") if path != CLIENT]
    return [path for path in found if "class GatewayUnavailable" in path.read_text(encoding="utf-8")]


def test_each_copy_that_a_scenario_ships_is_the_client_of_the_kit() -> None:
    assert [str(path) for path in shipped() if path.read_bytes() != CLIENT.read_bytes()] == []
    assert shipped() != []


@pytest.fixture
def gateway(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    monkeypatch.setenv("GATEWAY_SOCKET", "s")
    monkeypatch.chdir(tmp_path)  # paths of unix sockets are short
    spec = importlib.util.spec_from_file_location("gateway_client", CLIENT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def whole_request(client: socket.socket) -> bytes:
    """Head and body: who hangs up with something unread takes its own answer along."""
    received = b""
    while True:
        received += client.recv(65536)
        head, _, body = received.partition(b"\r\n\r\n")
        lengths = [int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.startswith(b"Content-Length:")]
        if b"\r\n\r\n" in received and len(body) >= sum(lengths):
            return received


@pytest.fixture
def answering(gateway: ModuleType) -> Iterator[Callable[..., list[bytes]]]:
    """``answering(bytes)``: whoever asks is answered with them; gives what was asked. None: no answer at all."""
    listening, over = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM), threading.Event()
    threads: list[threading.Thread] = []

    def start(data: bytes | None) -> list[bytes]:
        asked: list[bytes] = []
        listening.bind("s")
        listening.listen()

        def serve() -> None:
            client, _ = listening.accept()
            with client:
                asked.append(whole_request(client))
                if data is None:
                    over.wait(60)
                else:
                    client.sendall(data)

        threads.append(threading.Thread(target=serve))
        threads[0].start()
        return asked

    yield start
    over.set()
    for thread in threads:
        thread.join()
    listening.close()


def said(status: int, body: Any) -> bytes:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return b"HTTP/1.1 %d X\r\nContent-Length: %d\r\n\r\n%s" % (status, len(data), data)


def test_a_text_comes_back_for_a_prompt(gateway: ModuleType, answering: Callable[..., list[bytes]]) -> None:
    asked = answering(said(200, {"choices": [{"message": {"content": "two"}}]}))
    assert gateway.complete("one and one?", system="Be short.", max_tokens=5, temperature=0) == "two"
    head, _, body = asked[0].partition(b"\r\n\r\n")
    assert head.startswith(b"POST /v1/chat/completions HTTP/1.1")
    assert json.loads(body) == {
        "model": "default",
        "messages": [{"role": "system", "content": "Be short."}, {"role": "user", "content": "one and one?"}],
        "max_tokens": 5,
        "temperature": 0,
    }


def test_the_models_that_are_offered_are_listed(gateway: ModuleType, answering: Callable[..., list[bytes]]) -> None:
    answering(said(200, {"data": [{"id": "small"}]}))
    assert gateway.models() == ["small"]


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (said(503, {"error": {"code": "gateway_disabled", "message": "none"}}), "gateway_disabled"),
        (said(429, {"error": {"code": "allowance_spent", "message": "spent"}}), "allowance_spent"),
        (said(500, {"error": "x"}), "refused"),
        (said(502, b"<html>"), "unreadable"),
        (said(200, b"{"), "unreadable"),
        (said(200, b"[" * 100_000), "unreadable"),
        (said(200, []), "unreadable"),
        (said(200, {}), "unreadable"),
        (said(200, {"choices": [{"message": {"content": None}}]}), "unreadable"),
        (b"HTTP/1.1 200 X\r\nContent-Length: 50\r\n\r\n{", "unreadable"),
        (b"nonsense\r\n", "not_connected"),
        (b"", "not_connected"),
    ],
    ids=range(12),
)
def test_whatever_goes_wrong_is_one_exception_with_a_code(
    gateway: ModuleType, answering: Callable[..., list[bytes]], data: bytes, code: str
) -> None:
    answering(data)
    with pytest.raises(gateway.GatewayUnavailable) as problem:
        gateway.complete("hello")
    assert problem.value.code == code


def test_who_does_not_answer_in_time_is_unavailable(gateway: ModuleType, answering: Callable[..., list[bytes]]) -> None:
    answering(None)
    with pytest.raises(gateway.GatewayUnavailable) as problem:
        gateway.complete("hello", timeout_s=0.2)
    assert problem.value.code == "timeout"


def test_where_there_is_no_gateway_it_is_unavailable(gateway: ModuleType) -> None:
    with pytest.raises(gateway.GatewayUnavailable) as problem:
        gateway.complete("hello")
    assert problem.value.code == "not_connected"
