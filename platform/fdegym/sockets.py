"""Addresses of the WebSockets; the consumers belong to their features."""

from django.urls import path

from stakeholders.consumers import ConversationConsumer
from workspaces.consumers import TerminalConsumer

websocket_urlpatterns = [
    path("ws/runs/<uuid:run_id>/terminals/<int:number>/", TerminalConsumer.as_asgi()),
    path("ws/runs/<uuid:run_id>/feed/", ConversationConsumer.as_asgi()),
]
