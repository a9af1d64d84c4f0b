"""Run as a program: a site of its own in a temporary directory, for tests that kill processes.

``desk_process.py make N`` makes the database and N open runs and prints their ids; ``desk_process.py serve`` is the desk
with a matcher of exact phrasings. "Slow question" takes the matcher a second, from when the file ``thinking`` is there.
While the file ``die`` lies in the site's directory, the desk kills itself right after a message was logged, before
anybody heard of it.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import django

os.environ["DJANGO_SETTINGS_MODULE"] = "fdegym.settings"


def make(runs: int) -> None:
    from depot import write_depot
    from django.conf import settings
    from django.core.management import call_command

    from fdegym.accounts.models import User
    from fdegym.runs.models import Run, RunState

    call_command("migrate", interactive=False, verbosity=0)
    release = write_depot(Path(os.environ["SCENARIO_DIRS"]), Path(settings.WORLD_CACHE))
    for number in range(runs):
        user = User.objects.create_user(f"alice{number}")
        run = Run.objects.create(
            user=user,
            scenario_id="depot",
            task_id="original",
            level="L3",
            release=release,
            attempt=1,
            state=RunState.OPEN,
        )
        print(run.id)


def serve() -> None:
    from depot import ExactPhrasingMatcher
    from django.conf import settings

    from fdegym.runs import log
    from stakeholders.desk import Desk

    exact = ExactPhrasingMatcher()

    def find_match(script: Any, message: str, person: str) -> Any:
        if message == "Slow question":
            (settings.VAR / "thinking").touch()
            time.sleep(1)
            message = "When do doors open?"
        return exact(script, message, person)

    append = log.append

    def append_and_die(*given: Any, **options: Any) -> Any:
        event = append(*given, **options)
        if (settings.VAR / "die").exists():
            (settings.VAR / "die").unlink()
            os.kill(os.getpid(), signal.SIGKILL)
        return event

    log.append = append_and_die

    async def until_told() -> None:
        stopping = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopping.set)
        await Desk(Path(settings.DESK_DIR), find_match).run(stopping)

    asyncio.run(until_told())


if __name__ == "__main__":
    django.setup()
    make(int(sys.argv[2])) if sys.argv[1] == "make" else serve()
