"""Which script and which matcher a run's conversations follow."""

from __future__ import annotations

import functools
import uuid

from django.conf import settings
from django.core.exceptions import ValidationError

from fdegym.catalog.scenarios import get_scenario
from fdegym.lib.errors import RunNotFound, ServiceUnavailable
from fdegym.runs.models import Run
from scenarios.kit.cache import is_built, world_place
from scenarios.kit.load import Task, load_task
from stakeholders.script import Script, compile_script


class WorldMissing(ServiceUnavailable):
    """The run's world does not lie in this host's cache."""


def get_run(run_id: uuid.UUID | str) -> Run:
    """The run itself; whether somebody may see it is the caller's question."""
    try:
        return Run.objects.get(pk=run_id)
    except (Run.DoesNotExist, ValidationError) as missing:
        raise RunNotFound("There is no such run.") from missing


def script_of(run: Run) -> Script:
    """The compiled script of a run's task. Kept for the life of the process: a run's people do not change under it."""
    return compiled_script(run.scenario_id, run.task_id, run.release)


@functools.lru_cache(maxsize=128)
def compiled_script(scenario_id: str, task_id: str, release: str) -> Script:
    """``release`` is the run's: it keeps scripts of different releases apart."""
    task = _built_task(scenario_id, task_id)
    return compile_script(
        task.scenario.config,
        task.stakeholders,
        task.facts,
        task_id,
        {kind: frozenset(identifiers) for kind, identifiers in task.meta.records.items()},
        task.meta.record_groups,
    )


def _built_task(scenario_id: str, task_id: str) -> Task:
    scenario = get_scenario(scenario_id)
    salt, cache = settings.WORLD_SALT, settings.WORLD_CACHE
    if not is_built(scenario, task_id, salt, cache):
        raise WorldMissing(
            "The customer cannot be reached: this run's material is not on this host (any more). Nothing was changed; "
            "an operator brings it back with `manage.py prepare`."
        )
    return load_task(scenario, task_id, world_place(scenario, task_id, salt, cache))
