"""Whose allowance a directory is: a run's, made when it is first served, or a grade's, made by the worker. Blocking."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Mapping
from typing import Any

from fdegym.catalog.scenarios import get_scenario
from fdegym.gateway.configuration import GatewayConfiguration
from fdegym.gateway.metering import ANSWERED
from fdegym.gateway.models import Account
from fdegym.gateway.places import configuration, grading_process
from fdegym.lib.errors import FdegymError
from fdegym.runs.models import Run


def account_named(name: str) -> Account | None:
    """The account of a directory, or None where it is nobody's: no run or grade, or one whose scenario has no gateway."""
    if grading_process(name) is not None:
        return Account.objects.filter(name=name).first()
    try:
        run = Run.objects.get(pk=uuid.UUID(name))
        allowance = get_scenario(run.scenario_id).config.gateway
    except (ValueError, Run.DoesNotExist, FdegymError):
        return None
    if allowance is None or str(run.id) != name:
        return None
    account, _ = Account.objects.get_or_create(
        name=name,
        defaults={
            "run": run,
            "scenario_id": run.scenario_id,
            "release": run.release,
            "most_tokens": allowance.run_tokens,
            "most_nano": configuration().most_nano,
        },
    )
    return account


def open_grade(asked: Mapping[str, Any], site: GatewayConfiguration) -> Account:
    """The account of one grade. ``asked``: ``name``, ``scenario``, ``release``, ``delivery``, ``tokens``,
    ``calls_per_step``.
    """
    account, _ = Account.objects.get_or_create(
        name=asked["name"],
        defaults={
            "scenario_id": asked["scenario"],
            "release": asked["release"],
            "delivery": asked["delivery"],
            "most_tokens": int(asked["tokens"]),
            "most_nano": site.most_nano,
            "calls_per_step": int(asked["calls_per_step"]),
        },
    )
    return account


def use_of_grade(name: str) -> dict[str, Any]:
    """What a grade's calls came to, as its record keeps it; sums of the rows of ``Call``."""
    account = Account.objects.get(name=name)
    rows = list(account.rows.all())
    outcomes = Counter(row.outcome for row in rows)
    return {
        "account": name,
        "calls": len(rows),
        "answered": outcomes[ANSWERED],
        "kept": sum(row.kept for row in rows),
        "prompt_tokens": sum(row.prompt_tokens for row in rows),
        "completion_tokens": sum(row.completion_tokens for row in rows),
        "nano": sum(row.nano for row in rows),
        "currency": configuration().currency,
        "outcomes": dict(sorted(outcomes.items())),
        "refused": dict(sorted(account.refused.items())),
    }
