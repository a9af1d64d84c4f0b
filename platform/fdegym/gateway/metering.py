"""Allowances: reserved before a call, settled after it, each call on record. Blocking; called from threads.

What a run or grade may spend is held by its row in the database, and a reservation is one conditional UPDATE: however
many calls, threads, processes or hosts ask at once, together they get no more than there is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import F, Q

from fdegym.gateway.configuration import NANO, Price
from fdegym.gateway.models import Account, Call
from fdegym.gateway.places import configuration
from fdegym.gateway.problems import GatewayProblem
from fdegym.lib import counts
from fdegym.runs import log
from fdegym.runs.models import Run, RunState

ANSWERED = "answered"
INTERRUPTED = "interrupted"  #: the gateway itself was ended in the middle of it


@dataclass(frozen=True, slots=True)
class Reserved:
    """Tokens and money set aside for one call: the most that it can cost."""

    prompt_tokens: int
    completion_tokens: int
    nano: int

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens


@dataclass(frozen=True, slots=True)
class Usage:
    """What a call took, as the provider counts."""

    prompt_tokens: int
    completion_tokens: int
    nano: int

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens


@dataclass(frozen=True, slots=True)
class Spent:
    """A call as it goes on record. ``usage`` None: unknown, so what was reserved is charged."""

    request_hash: str
    model: str
    outcome: str
    usage: Usage | None
    duration_ms: int
    kept: bool = False
    asked_bytes: int = 0
    answered_bytes: int = 0


def reservation(prompt_tokens: int, completion_tokens: int, price: Price) -> Reserved:
    """The most that a call can cost at this price."""
    return Reserved(prompt_tokens, completion_tokens, price.of(prompt_tokens, completion_tokens))


def reserve(account: Account, wanted: Reserved) -> None:
    """Set it aside, or raise ``GatewayProblem``: nothing left, or the run is over."""
    fits = Q(most_tokens__gte=F("spent_tokens") + F("reserved_tokens") + wanted.tokens)
    fits &= Q(most_nano=None) | Q(most_nano__gte=F("spent_nano") + F("reserved_nano") + wanted.nano)
    open_for_calls = Q(run=None) | Q(run__state=RunState.OPEN)
    if Account.objects.filter(fits & open_for_calls, pk=account.pk).update(
        reserved_tokens=F("reserved_tokens") + wanted.tokens, reserved_nano=F("reserved_nano") + wanted.nano
    ):
        return
    if not Account.objects.filter(open_for_calls, pk=account.pk).exists():
        raise GatewayProblem(403, "run_over", "This run is not open, so nothing can be asked in it.")
    now = Account.objects.get(pk=account.pk)
    left = max(0, now.most_tokens - now.spent_tokens - now.reserved_tokens)
    words = (
        f"The allowance does not hold this call: it may take up to {wanted.tokens} tokens, {left} of {now.most_tokens} "
        "are left. Ask for less, with a smaller max_tokens say, or go on without."
    )
    if left >= wanted.tokens:
        words = "The allowance of money does not hold this call. Ask for less, or go on without."
    raise GatewayProblem(429, "allowance_spent", words)


def settle(account: Account, reserved: Reserved, spent: Spent) -> None:
    """Give back what was reserved, charge what was used, and write the call down: all of it or nothing."""
    usage = spent.usage or Usage(reserved.prompt_tokens, reserved.completion_tokens, reserved.nano)
    with transaction.atomic():
        if account.run_id is not None:
            log.append(account.run_id, "gateway.called", called_payload(spent, usage))
        else:
            Call.objects.create(
                account=account,
                request_hash=spent.request_hash,
                model=spent.model,
                outcome=spent.outcome,
                kept=spent.kept,
                estimated=spent.usage is None,
                prompt_tokens=usage.prompt_tokens,
                completion_tokens=usage.completion_tokens,
                nano=usage.nano,
                duration_ms=spent.duration_ms,
            )
        Account.objects.filter(pk=account.pk).update(
            calls=F("calls") + 1,
            spent_tokens=F("spent_tokens") + usage.tokens,
            spent_nano=F("spent_nano") + usage.nano,
            reserved_tokens=F("reserved_tokens") - reserved.tokens,
            reserved_nano=F("reserved_nano") - reserved.nano,
        )
        transaction.on_commit(lambda: _count(account, spent, usage))


def _count(account: Account, spent: Spent, usage: Usage) -> None:
    of = "run" if account.run_id is not None else "grade"
    counts.GATEWAY_CALLS.add(outcome=spent.outcome, of=of)
    counts.GATEWAY_TOKENS.add(usage.tokens, of=of)
    counts.GATEWAY_MONEY.add(usage.nano / NANO, currency=configuration().currency, of=of)


def called_payload(spent: Spent, usage: Usage) -> dict[str, Any]:
    """The event ``gateway.called``: hashes, sizes and amounts, never what was said."""
    return {
        "request": spent.request_hash,
        "model": spent.model,
        "outcome": spent.outcome,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "nano": usage.nano,
        "currency": configuration().currency,
        "estimated": spent.usage is None,
        "duration_ms": spent.duration_ms,
        "asked_bytes": spent.asked_bytes,
        "answered_bytes": spent.answered_bytes,
    }


def note_refusal(account: Account, code: str) -> None:
    """Count a call that was not made. The first of its kind in a run is an event: the debrief tells that it happened."""
    with transaction.atomic():
        if account.run_id is not None:  # the run's row first, as every writer of its log does
            Run.objects.select_for_update(no_key=True).only("id").get(pk=account.run_id)
        locked = Account.objects.select_for_update(of=("self",)).get(pk=account.pk)
        before = locked.refused.get(code, 0)
        locked.refused[code] = before + 1
        locked.save(update_fields=["refused"])
        if account.run_id is not None and not before:
            log.append(account.run_id, "gateway.refused", {"code": code})


def settle_interrupted(account: Account) -> bool:
    """Charge what calls had reserved that this host's last gateway did not see the end of; whether there were any.

    The provider may have answered and charged them, so they count in full. Only while nobody else serves the account.
    """
    with transaction.atomic():
        left = Account.objects.select_for_update(of=("self",)).get(pk=account.pk)
        if not left.reserved_tokens:
            return False
        reserved = Reserved(left.reserved_tokens, 0, left.reserved_nano)
        settle(left, reserved, Spent("", "", INTERRUPTED, None, 0))
    return True
