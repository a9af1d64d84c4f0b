"""Addresses of the WebSockets; the consumers belong to their features."""

# channels has no annotations:
# mypy: disallow-untyped-calls=false

from typing import Any

from django.urls import path

from stakeholders.consumers import ConversationConsumer
from workspaces.consumers import TerminalConsumer

#: Consumers are no views; ``URLRouter`` takes them all the same.
terminal: Any = TerminalConsumer.as_asgi()
conversation: Any = ConversationConsumer.as_asgi()

websocket_urlpatterns = [
    path("ws/runs/<uuid:run_id>/terminals/<int:number>/", terminal),
    path("ws/runs/<uuid:run_id>/feed/", conversation),
]
