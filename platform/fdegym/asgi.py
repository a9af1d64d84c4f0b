"""HTTP and WebSocket entry. Every socket passes the origin check here; ownership is the consumers' first act."""

# channels has no annotations:
# mypy: disallow-untyped-calls=false

from __future__ import annotations

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "fdegym.settings")

from django.core.asgi import get_asgi_application

http = get_asgi_application()

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter

from fdegym.body_limit import BodyLimit
from fdegym.origins import SameOriginValidator
from fdegym.presence import keeping
from fdegym.sockets import websocket_urlpatterns

keeping.begin("site")
application = ProtocolTypeRouter(
    {"http": BodyLimit(http), "websocket": SameOriginValidator(AuthMiddlewareStack(URLRouter(websocket_urlpatterns)))}
)
