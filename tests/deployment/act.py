"""What somebody does at the deployed site, in a process of its own: ``act.py prepare | static | submit OPTIONS | hold``.

``prepare`` makes the tables, ``static`` the static files. ``submit`` hands in the stall's right solution, with the options
of that function as JSON, and prints the submission's number. ``hold`` locks a person's row, says so, and keeps the
transaction open.
"""

import json
import os
import shutil
import sys
import tempfile
import time
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


def static() -> None:
    from django.core.management import call_command

    call_command("collectstatic", interactive=False, verbosity=0)


def submit(*, wake_ups: int = 1, longer_s: float = 0.0, task: str = "", worker_log: str = "") -> None:
    """Every step of the solution takes ``longer_s`` longer. The wake-ups are copies of one message, of ``grade_next`` or of
    another ``task``. With ``worker_log`` nothing is committed before the worker has written there that it is done with it.
    """
    from django.conf import settings
    from django.db import transaction

    from fdegym.accounts.models import User
    from fdegym.catalog.scenarios import get_scenario
    from fdegym.delivery.begin import wake
    from fdegym.runs.models import Run, RunState
    from fdegym.runs.services import transition
    from grading.carried import carry
    from grading.queue import queue_submission
    from grading.tasks import grade_next
    from tests.grading.conftest import Sealed, seal
    from tests.grading.sides import TINY
    from tests.waiting import until

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

    class OneMessage:
        """A task's message, sent under one id however often."""

        message_id = str(uuid.uuid4())

        def delay(self) -> None:
            grade_next.app.send_task(task or grade_next.name, task_id=self.message_id)

    message = OneMessage()
    with transaction.atomic():
        transition(run.id, RunState.SUBMITTED)
        submission = queue_submission(run, sealed)
        carry(submission, target)
        if worker_log:
            wake(message)
            done = f"{grade_next.name}[{message.message_id}] succeeded"
            until(lambda: done in Path(worker_log).read_text(), "the worker is done with the message", within_s=60)
    for _ in range(wake_ups):
        wake(message)
    print(submission.pk)


def hold() -> None:
    from django.db import transaction

    from fdegym.accounts.models import User

    with transaction.atomic():
        print(User.objects.select_for_update().earliest("pk"), flush=True)
        time.sleep(3600)


if __name__ == "__main__":
    options = json.loads(sys.argv[2]) if len(sys.argv) > 2 else {}
    {"prepare": prepare, "static": static, "submit": submit, "hold": hold}[sys.argv[1]](**options)
