"""A worker in a process of its own, to be killed: ``worker_process.py DATABASE VAR STOP_AT MARKER``.

Takes one submission and grades it, but stands still for ever at one point of the way, after touching ``MARKER``.
"""

import os
import sys
import time
from datetime import timedelta
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def main(database: str, var: Path, stop_at: str, marker: Path) -> None:
    sys.path[:0] = [str(ROOT), str(ROOT / "platform")]
    os.environ["DJANGO_SETTINGS_MODULE"] = "fdegym.settings"
    from django.conf import settings

    settings.DATABASES["default"]["NAME"] = database
    settings.VAR, settings.WORLD_CACHE, settings.CACHE_DIR = var, var / "worlds", var / "cache"
    settings.SCENARIO_DIRS = [ROOT / "tests" / "grading"]

    import django

    django.setup()

    from grading import attempt, queue

    queue.LEASE, queue.HEARTBEAT_S = timedelta(seconds=2), 0.4

    def stand_still() -> None:
        marker.touch()
        time.sleep(600)

    note, decide = attempt.note_progress, attempt.decide_graded

    def noting(submission, step, done=0, total=0, what=""):
        note(submission, step, done, total, what)
        if step == stop_at and (step != "replay" or done >= 3):
            stand_still()

    def deciding(locked):
        decide(locked)
        if stop_at == "writing":
            stand_still()

    attempt.note_progress, attempt.decide_graded = noting, deciding
    submission = queue.take_submission("doomed")
    if stop_at == "taken":
        stand_still()
    attempt.attempt(submission)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3], Path(sys.argv[4]))
