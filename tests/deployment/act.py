"""What somebody does at the deployed site, in a process of its own: ``act.py prepare | submit WAKE_UPS [SECONDS]``.

``prepare`` makes tables and static files. ``submit`` hands in the stall's right solution, whose every step takes so many
seconds longer, and sends the worker so many wake-ups, all copies of one message. Prints the submission's number.
"""

import os
import shutil
import sys
import tempfile
import uuid
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "platform")]
os.environ["DJANGO_SETTINGS_MODULE"] = "fdegym.settings"

import django  # noqa: E402 - the environment comes first

django.setup()


def prepare() -> None:
    from django.core.management import call_command

    call_command("migrate", interactive=False, verbosity=0)
    call_command("createcachetable", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)


def submit(wake_ups: int, longer_s: float) -> None:
    from django.conf import settings

    from fdegym.accounts.models import User
    from fdegym.catalog.scenarios import get_scenario
    from fdegym.delivery.begin import wake
    from fdegym.runs.models import Run, RunState
    from fdegym.runs.services import transition
    from grading.queue import queue_submission
    from grading.tasks import grade_next
    from tests.grading.conftest import Sealed, seal
    from tests.grading.sides import TINY

    scenario = get_scenario(TINY.name)
    user = User.objects.create_user(f"alice-{uuid.uuid4().hex[:8]}")
    run = Run.objects.create(
        user=user,
        scenario_id=scenario.id,
        task_id="original",
        level="L3",
        release=scenario.release,
        state=RunState.OPEN,
        attempt=1,
    )
    with tempfile.TemporaryDirectory() as scratch:
        system = Path(scratch) / "system"
        shutil.copytree(TINY / "system", system)
        shutil.copytree(TINY / "solutions" / "reference" / "system", system, dirs_exist_ok=True)
        total = system / "shop" / "total.py"
        total.write_text(f"import time\ntime.sleep({longer_s})\n{total.read_text()}")
        settings.SUBMISSION_DIR.mkdir(exist_ok=True)
        target = settings.SUBMISSION_DIR / f"{run.id}.tar"
        sealed = Sealed(target, seal(system, target))
    transition(run.id, RunState.SUBMITTED)
    submission = queue_submission(run, sealed)

    class OneMessage:
        """``grade_next``, sent under one id however often."""

        message_id = str(uuid.uuid4())

        def delay(self) -> None:
            grade_next.apply_async(task_id=self.message_id)

    message = OneMessage()
    for _ in range(wake_ups):
        wake(message)
    print(submission.pk)


if __name__ == "__main__":
    if sys.argv[1] == "prepare":
        prepare()
    else:
        submit(int(sys.argv[2]), float(sys.argv[3]) if len(sys.argv) > 3 else 0.0)
