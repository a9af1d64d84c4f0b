"""Who may see which run. One place: every page, socket and export asks here."""

from __future__ import annotations

import uuid
from collections.abc import Collection
from typing import Any

from django.core.exceptions import ValidationError

from fdegym.accounts.models import User
from fdegym.lib.errors import RunNotFound
from fdegym.runs.models import Run, RunState


def get_run_for_user(user: Any, run_id: uuid.UUID | str) -> Run:
    """The run, if it is this person's own; else ``RunNotFound``, which does not tell whether it exists."""
    if not isinstance(user, User) or not user.is_active:
        raise RunNotFound("There is no such run.")
    try:
        return Run.objects.select_related("user").get(pk=run_id, user=user)
    except (Run.DoesNotExist, ValidationError, ValueError) as missing:
        raise RunNotFound("There is no such run.") from missing


def live_among(pairs: Collection[tuple[str, str]]) -> dict[tuple[str, str], bool | None]:
    """Of each person's id and run's id: whether the run goes on, or ``None`` where it is not theirs. One query."""
    rows = Run.objects.filter(pk__in={run_id for _, run_id in pairs}).only("user_id", "state")
    found = {(str(run.user_id), str(run.pk)): run.is_live for run in rows}
    return {pair: found.get(pair) for pair in pairs}


def runs_of(user: User) -> list[Run]:
    return list(Run.objects.filter(user=user).order_by("-begun_at"))


def live_run_of(user: User, scenario_id: str) -> Run | None:
    """The person's unfinished run of a scenario; there is at most one."""
    return Run.objects.filter(user=user, scenario_id=scenario_id, state__in=[RunState.PREPARING, RunState.OPEN]).first()
