"""The process that holds what plays need: a database of admission's own, desk and keeper, the fitted matchers.

``python -m fdegym.authoring.admission.host ID …`` fits the matchers of these scenarios, prints one JSON line a step and
``{"ready": true}``, and holds on until its standard input ends, however the admission that started it ended. Then it
waits for the workers to clear away and ends desk and keeper.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PREDECESSOR_PATIENCE_S = 60.0
DESK_PATIENCE_S = 900.0  #: for the first answer of a scenario's people
WORKERS_PATIENCE_S = 30.0


def _say(**row: Any) -> None:
    print(json.dumps(row), file=_TOLD, flush=True)


@contextlib.contextmanager
def locked(path: Path, how: int, patience_s: float) -> Iterator[bool]:
    """Whether a lock on the file could be had in that time; held, if so, until the block ends."""
    deadline = time.monotonic() + patience_s
    with path.open("a") as handle:
        while True:
            try:
                fcntl.flock(handle, how | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > deadline:
                    yield False
                    return
                time.sleep(0.1)
            else:
                yield True
                return


def _fresh_database() -> None:
    from django.conf import settings
    from django.core.management import call_command

    name = Path(settings.DATABASES["default"]["NAME"])
    for path in name.parent.glob(f"{name.name}*"):
        path.unlink()
    call_command("migrate", interactive=False, verbosity=0)
    call_command("createcachetable", verbosity=0)


def until_people_answer(scenario_id: str) -> None:
    """Write to one of the scenario's people until an answer comes: the desk loads a matcher with the first message, on a
    busy host for longer than a play waits. Raises ``FdegymError`` for a scenario of which no run can begin."""
    import uuid

    from fdegym.delivery.begin import begin_command_run
    from fdegym.delivery.play import end_command_run
    from fdegym.lib.errors import ServiceUnavailable
    from scenarios.kit.load import ORIGINAL
    from stakeholders import engine
    from stakeholders.scripts import script_of
    from stakeholders.services import send_message
    from stakeholders.state import fold

    deadline = time.monotonic() + DESK_PATIENCE_S
    run = begin_command_run(scenario_id, ORIGINAL, "L3")
    try:
        script = script_of(run)
        state = fold(script, ())
        heard = [person for person in script.people if engine.needs_match(script, state, person)]
        message_id = uuid.uuid4().hex  # the same each time: it is sent once, however often it is asked about
        while heard and time.monotonic() < deadline:
            with contextlib.suppress(ServiceUnavailable):
                send_message(run.id, heard[0], "Hello", message_id)
                break
    finally:
        end_command_run(run)


def main(scenario_ids: list[str]) -> int:
    import django

    django.setup()
    from django.conf import settings

    from fdegym.catalog.scenarios import get_scenario
    from fdegym.delivery.local_services import local_services
    from fdegym.lib.errors import FdegymError
    from grading.measure import remove_leftovers
    from stakeholders.matching import warm_matcher
    from workspaces.services import reconcile

    var = Path(settings.VAR)
    with locked(var / "host.lock", fcntl.LOCK_EX, PREDECESSOR_PATIENCE_S) as mine:
        if not mine:
            _say(problem="The processes of an earlier admission have not ended; look for admission.host and end it.")
            return 1
        _say(step="making the database")
        _fresh_database()
        for scenario_id in scenario_ids:  # before the desk starts, which would fit it at the same time
            _say(step=f"fitting the matcher of {scenario_id}")
            with contextlib.suppress(FdegymError):  # whoever needs it will say what is wrong
                warm_matcher(get_scenario(scenario_id))
        _say(step="starting desk and keeper")
        with local_services():
            reconcile([], grace_s=0)
            remove_leftovers()
            for scenario_id in scenario_ids:
                _say(step=f"waiting for the people of {scenario_id}")
                with contextlib.suppress(FdegymError):  # the plays will say what is wrong
                    until_people_answer(scenario_id)
            _say(ready=True)
            sys.stdin.read()
            with locked(var / "workers.lock", fcntl.LOCK_EX, WORKERS_PATIENCE_S):
                reconcile([], grace_s=0)
                remove_leftovers()
    return 0


if __name__ == "__main__":
    # what anything else prints is no word to the admission
    _TOLD = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.exit(main(sys.argv[1:]))
