"""Answers that grades have had, kept so that a regrade asks nobody and comes to the same number. Blocking."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fdegym.gateway.metering import Usage
from fdegym.gateway.models import Account, Answer


@dataclass(frozen=True, slots=True)
class Kept:
    """``body`` is the answer as clients read it, or ``{"message": …}`` where ``status`` is not 200."""

    status: int
    body: Mapping[str, Any]
    usage: Usage
    reserved_nano: int  #: what was set aside for it, in money


def find(account: Account, request_hash: str) -> Kept | None:
    """What this request was answered in a grade of the account's delivery and scenario release, if it ever was asked."""
    row = Answer.objects.filter(**_of(account), request_hash=request_hash).first()
    if row is None:
        return None
    usage = Usage(row.prompt_tokens, row.completion_tokens, row.nano)
    return Kept(row.status, row.body, usage, row.reserved_nano)


def keep(account: Account, request_hash: str, answer: Kept) -> None:
    """Keep an answer; where another grade was first, its answer stays."""
    Answer.objects.get_or_create(
        **_of(account),
        request_hash=request_hash,
        defaults={
            "status": answer.status,
            "body": answer.body,
            "prompt_tokens": answer.usage.prompt_tokens,
            "completion_tokens": answer.usage.completion_tokens,
            "nano": answer.usage.nano,
            "reserved_nano": answer.reserved_nano,
        },
    )


def _of(account: Account) -> dict[str, str]:
    return {"scenario_id": account.scenario_id, "release": account.release, "delivery": account.delivery}
