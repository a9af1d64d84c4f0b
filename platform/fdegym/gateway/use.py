"""What calls of the gateway came to: a fold of a run's events, or the record of a grade. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from fdegym.gateway.configuration import NANO


@dataclass(frozen=True, slots=True)
class ModelUse:
    """``nano``: billionths of the currency. ``unanswered``: calls that brought none, charged or not."""

    calls: int = 0
    unanswered: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    nano: int = 0
    currency: str = ""
    refused: tuple[str, ...] = ()

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens

    @property
    def money(self) -> str:
        """With its currency, to a ten-thousandth; a smaller amount says so."""
        amount = Decimal(self.nano) / NANO
        if 0 < amount < Decimal("0.0001"):
            return f"below 0.0001 {self.currency}"
        return f"{amount:.4f} {self.currency}".strip()

    def __bool__(self) -> bool:
        return bool(self.calls or self.refused)


def use_of_events(events: Iterable[tuple[str, Mapping[str, Any]]]) -> ModelUse:
    """Of a run's work, from (kind, payload) pairs of its log; other kinds are skipped."""
    called = [payload for kind, payload in events if kind == "gateway.called"]
    return ModelUse(
        calls=len(called),
        unanswered=sum(payload["outcome"] != "answered" for payload in called),
        prompt_tokens=sum(payload["prompt_tokens"] for payload in called),
        completion_tokens=sum(payload["completion_tokens"] for payload in called),
        nano=sum(payload["nano"] for payload in called),
        currency=next((payload["currency"] for payload in reversed(called)), ""),
    )


def refusals_of_events(events: Iterable[tuple[str, Mapping[str, Any]]]) -> tuple[str, ...]:
    """Codes with which a run's requests were refused, each once."""
    return tuple(payload["code"] for kind, payload in events if kind == "gateway.refused")


def use_of_record(record: Mapping[str, Any] | None) -> ModelUse:
    """Of a grade, from ``accounts.use_of_grade`` as the grade keeps it; None where nothing was asked."""
    if not record:
        return ModelUse()
    return ModelUse(
        calls=record["calls"],
        unanswered=record["calls"] - record["answered"],
        prompt_tokens=record["prompt_tokens"],
        completion_tokens=record["completion_tokens"],
        nano=record["nano"],
        currency=record["currency"],
        refused=tuple(record["refused"]),
    )
