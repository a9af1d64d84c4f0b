"""Which pages may open a socket: the site's own, and those that the operator names; one rule for every socket."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from asgiref.testing import ApplicationCommunicator

from fdegym.asgi import application

pytestmark = pytest.mark.django_db(transaction=True)

SOCKETS = [f"/ws/runs/{uuid.uuid4()}/terminals/1/", f"/ws/runs/{uuid.uuid4()}/feed/"]
FOREIGN = [
    b"https://evil.example",
    b"http://evil.example",
    b"null",
    b"http://gym.example:8001",
    b"http://sub.gym.example",
    b"https://gym.example",
    b"http://gym.example.evil.example",
    b"http://gym.example@evil.example",
    b"",
    None,
]


async def answer(path: str, origin: bytes | None, host: bytes = b"gym.example") -> str:
    """The first thing that the site says to a handshake."""
    headers = [(b"host", host), *([] if origin is None else [(b"origin", origin)])]
    scope: dict[str, Any] = {"type": "websocket", "path": path, "query_string": b"", "headers": headers, "scheme": "ws"}
    client = ApplicationCommunicator(application, scope | {"subprotocols": [], "server": ("gym.example", 80)})
    await client.send_input({"type": "websocket.connect"})
    said: str = (await client.receive_output(timeout=20))["type"]
    await client.send_input({"type": "websocket.disconnect", "code": 1001})
    await client.wait(timeout=20)
    return said


@pytest.fixture(autouse=True)
def _our_host(settings: Any) -> None:
    settings.ALLOWED_HOSTS = ["gym.example"]
    settings.CSRF_TRUSTED_ORIGINS = []


@pytest.mark.parametrize("path", SOCKETS, ids=["terminal", "people"])
@pytest.mark.parametrize("origin", FOREIGN)
async def test_a_foreign_page_is_refused_before_anything_is_accepted(path: str, origin: bytes | None) -> None:
    """FC-42: also another port, a subdomain, another scheme, a sandboxed frame's ``null``."""
    assert await answer(path, origin) == "websocket.close"


@pytest.mark.parametrize("path", SOCKETS, ids=["terminal", "people"])
async def test_our_own_page_is_let_in_and_then_asked_who_it_is(path: str) -> None:
    assert await answer(path, b"http://gym.example") == "websocket.accept"


@pytest.mark.parametrize("path", SOCKETS, ids=["terminal", "people"])
async def test_behind_a_proxy_of_another_name_every_socket_obeys_the_one_setting(path: str, settings: Any) -> None:
    """FC-46."""
    assert await answer(path, b"https://public.example") == "websocket.close"
    settings.CSRF_TRUSTED_ORIGINS = ["https://public.example"]
    assert await answer(path, b"https://public.example") == "websocket.accept"
    assert await answer(path, b"https://public.example:444") == "websocket.close"


@pytest.mark.parametrize("path", SOCKETS, ids=["terminal", "people"])
async def test_a_host_that_is_not_ours_is_refused_even_with_itself_as_origin(path: str) -> None:
    """A name that an attacker lets resolve to this machine."""
    assert await answer(path, b"http://evil.example", host=b"evil.example") == "websocket.close"
