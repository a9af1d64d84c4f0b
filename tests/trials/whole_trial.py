"""Run as a program: a site of its own below ``FDEGYM_VAR``, real desk, keeper and sandboxes; trials from inside a workspace.

Prints one JSON object: what ``ask --trial`` printed each time, the charges in the log, and what ``play`` makes of a
reference whose conversation has a trial.
"""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import django

os.environ["DJANGO_SETTINGS_MODULE"] = "fdegym.settings"


def main() -> None:
    django.setup()

    from django.conf import settings
    from django.core.management import call_command

    from fdegym.delivery.local_services import local_services
    from fdegym.delivery.play import play
    from tests.trials.trying_stall import write_stall

    call_command("migrate", interactive=False, verbosity=0)
    folder = write_stall(Path(os.environ["SCENARIO_DIRS"]))
    conversation = '[[steps]]\ntrial = true\nreports = ["quiet"]\n'
    (folder / "solutions" / "reference" / "conversation.toml").write_text(conversation)
    note = folder / "solutions" / "reference" / "solution.toml"
    note.write_text(note.read_text().replace('"none"', '"own"'))
    with local_services():
        asked = in_a_workspace(folder)
        played = play(folder.name, "reference").as_json()
    left = sorted(path.name for path in Path(settings.SUBMISSION_DIR).glob("*"))
    print(json.dumps({"asked": asked, "played": played, "left": left}))


def in_a_workspace(folder: Path) -> dict[str, Any]:
    """Somebody in a workspace asks for trials of the system as found, of a right one, and once more."""
    from fdegym.delivery.begin import begin_command_run
    from fdegym.delivery.play import end_command_run
    from fdegym.delivery.trials import run_trials
    from fdegym.runs import log
    from workspaces.services import put_file, run_in_workspace

    run = begin_command_run(folder.name, "original", "L3")
    over = threading.Event()

    def work() -> None:
        while not over.wait(0.2):
            run_trials()

    def ask(*arguments: str) -> list[Any]:
        done = run_in_workspace(str(run.id), ["ask", *arguments], timeout_s=120)
        return [done.exit_status, done.stdout.decode(), done.stderr.decode()]

    worker = threading.Thread(target=work)
    worker.start()
    try:
        # something goes on in the workspace: a trial ends none of it
        running = ["sh", "-c", "sleep 600 & echo $! > /workspace/deliverables/pid"]
        run_in_workspace(str(run.id), running, timeout_s=30)
        answers = [ask("--trial")]
        right = (folder / "solutions" / "reference" / "system" / "shop" / "total.py").read_bytes()
        put_file(str(run.id), "/workspace/system/shop/total.py", right)
        answers += [ask("--trial"), ask("--trial"), ask("--history")]
        alive = run_in_workspace(
            str(run.id), ["sh", "-c", "test -d /proc/$(cat /workspace/deliverables/pid) && echo alive"]
        )
        charges = [event.payload["charge"] for event in log.events(run.id, kinds=["trial.reported"])]
        return {"answers": answers, "charges": charges, "goes_on": alive.stdout.decode().strip()}
    finally:
        over.set()
        worker.join()
        end_command_run(run)


if __name__ == "__main__":
    main()
