"""Whether the calls on record add up to what was charged. For audits; writes nothing.

Each function returns what is not so, in words, or "" where all is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from fdegym.gateway.accounts import use_of_grade
from fdegym.gateway.models import Account
from fdegym.gateway.use import use_of_events
from fdegym.runs.models import Run

COUNTED = ("calls", "answered", "kept", "prompt_tokens", "completion_tokens", "nano")


def miscounted_work(run: Run, events: Iterable[tuple[str, Mapping[str, Any]]]) -> str:
    """Whether the model calls of a run's log are those that its allowance was charged."""
    logged = use_of_events(events)
    account = Account.objects.filter(run=run).first()
    if account is None:
        return f"the log has {logged.calls} model calls, but no allowance was charged" if logged.calls else ""
    for what, kept, right in (
        ("calls", account.calls, logged.calls),
        ("tokens", account.spent_tokens, logged.tokens),
        ("billionths of money", account.spent_nano, logged.nano),
    ):
        if kept != right:
            return f"{kept} {what} were charged for model calls, those of the log add up to {right}"
    return ""


def miscounted_grading(record: Mapping[str, Any] | None) -> str:
    """Whether a grade's record of model calls is the sum of the calls that were written down while it was made."""
    if not record:
        return ""
    try:
        counted = use_of_grade(record["account"])
    except Account.DoesNotExist:
        return f"the model calls of {record['account']}, which it names, are gone"
    wrong = [name for name in COUNTED if record[name] != counted[name]]
    if wrong:
        name = wrong[0]
        return f"its model calls come to {counted[name]} ({name}), its record says {record[name]}"
    return ""
