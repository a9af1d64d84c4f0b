"""What the gateway says when it has no answer: HTTP status, a code for programs, words for people."""

from __future__ import annotations

import json
from typing import Any

#: Codes of what is the provider's doing, or ours: a grade in which one of them was met is no grade.
FAULTS = frozenset(
    {"provider_unreachable", "provider_timeout", "provider_failed", "provider_unreadable", "gateway_failed"}
)


class GatewayProblem(Exception):
    """An answer in the form that OpenAI-compatible clients read. ``param`` names the field of the request."""

    def __init__(self, status: int, code: str, words: str, *, param: str | None = None) -> None:
        super().__init__(words)
        self.status, self.code, self.param = status, code, param

    @property
    def is_fault(self) -> bool:
        """Whether neither the request nor an allowance is the reason."""
        return self.code in FAULTS

    @property
    def headers(self) -> list[tuple[str, str]]:
        """Clients that try again by themselves are told whether that can help."""
        may_help = self.is_fault or self.code in ("busy", "provider_busy")
        return [("x-should-retry", "true" if may_help else "false")]

    def body(self) -> dict[str, Any]:
        """``{"error": {...}}``."""
        kind = "invalid_request_error" if self.status in (400, 404, 405, 413) else "gateway_error"
        return {"error": {"message": str(self), "type": kind, "param": self.param, "code": self.code}}

    def encoded(self) -> bytes:
        return json.dumps(self.body()).encode()


def disabled() -> GatewayProblem:
    return GatewayProblem(503, "gateway_disabled", "No language model is connected to the gateway. Go on without one.")
