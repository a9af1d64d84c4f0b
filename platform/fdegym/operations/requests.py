"""Of whom a request's log lines are, and how long each page takes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse

from fdegym.lib import counts, logs


class LogContextMiddleware:
    """Every line of a request's log says whose it is and of which run; how long it took is counted by page.

    What is bound stays until the next request: Django logs a refusal after the last middleware has answered.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        logs.bind_anew(user=getattr(request.user, "pk", None))
        begun = time.monotonic()
        response = self.get_response(request)
        match = request.resolver_match
        page = (match.url_name if match is not None else None) or "none"
        counts.REQUESTS.add(time.monotonic() - begun, page=page, status=f"{response.status_code // 100}xx")
        return response

    def process_view(self, request: HttpRequest, view: Any, args: Any, given: dict[str, Any]) -> None:
        logs.bind(run=given.get("run_id"))
