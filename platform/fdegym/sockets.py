"""Addresses of the WebSockets; the consumers belong to their features."""

# channels has no annotations:
# mypy: disallow-untyped-calls=false

from typing import Any

from django.urls import path

from fdegym.lib import logs
from stakeholders.consumers import ConversationConsumer
from workspaces.consumers import TerminalConsumer


def of_its_run(consumer: Any) -> Any:
    """The consumer, whose log lines say whose socket of which run it is."""

    async def application(scope: Any, receive: Any, send: Any) -> Any:
        user = scope.get("user")
        with logs.bound(run=scope["url_route"]["kwargs"]["run_id"], user=getattr(user, "pk", None)):
            return await consumer(scope, receive, send)

    return application


#: Consumers are no views; ``URLRouter`` takes them all the same.
terminal: Any = of_its_run(TerminalConsumer.as_asgi())
conversation: Any = of_its_run(ConversationConsumer.as_asgi())

websocket_urlpatterns = [
    path("ws/runs/<uuid:run_id>/terminals/<int:number>/", terminal),
    path("ws/runs/<uuid:run_id>/feed/", conversation),
]
