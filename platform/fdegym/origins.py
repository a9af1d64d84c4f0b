"""Which origins may open a WebSocket: the site's own, exactly, and those that the operator names."""

# channels has no annotations:
# mypy: disallow-untyped-calls=false

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings


def _header(scope: dict[str, Any], name: bytes) -> str:
    return next((value.decode("latin-1") for key, value in scope["headers"] if key == name), "")


def origin_is_ours(scope: dict[str, Any]) -> bool:
    """Scheme, host and port of ``Origin`` are those the socket was opened at, or it is listed in FDEGYM_ORIGINS.

    Stricter than a check of the host name alone: another port, a subdomain, ``null`` and a missing header are refused.
    """
    origin = _header(scope, b"origin").rstrip("/").lower()
    if origin in {listed.rstrip("/").lower() for listed in settings.CSRF_TRUSTED_ORIGINS}:
        return True
    parts = urlsplit(origin)
    scheme = "https" if scope.get("scheme") == "wss" or settings.SESSION_COOKIE_SECURE else "http"
    return parts.scheme == scheme and bool(parts.netloc) and parts.netloc == _header(scope, b"host").lower()


class Refuser(AsyncWebsocketConsumer):
    async def connect(self) -> None:
        await self.close()


class SameOriginValidator:
    """Refuses the handshake of any other origin before it is accepted."""

    def __init__(self, application: Any) -> None:
        self.application = application

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> Any:
        allowed = origin_is_ours(scope) and _host_is_allowed(scope)
        return await (self.application if allowed else Refuser.as_asgi())(scope, receive, send)


def _host_is_allowed(scope: dict[str, Any]) -> bool:
    from django.http.request import split_domain_port, validate_host

    domain, _port = split_domain_port(_header(scope, b"host"))
    return bool(domain) and validate_host(domain, settings.ALLOWED_HOSTS)
