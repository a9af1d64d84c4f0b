"""Plays entries of the battery, by name or as files, against the stall in a process of its own. A line of JSON each.

``has_help_outside`` is helped by faults of the platform that no attack can make happen: its run's log is written to, its
neighbour's file and log are changed, a file is left on the host, and one of its processes lives on.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

HELPER = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child", "sleep", "60"]


def with_help_from_outside(entry: Any) -> dict[str, Any]:
    from fdegym.authoring.battery import playing, witness
    from fdegym.runs import log
    from workspaces.services import put_file

    witness.PATIENCE_S = 0.5
    helped: list[Any] = []
    neighbour_of, submit = playing.neighbour, playing.submit_run

    def neighbour(*arguments: Any) -> Any:
        helped.append(neighbour_of(*arguments))
        return helped[0]

    class Witness(witness.HostWitness):
        def left(self, places: list[Path]) -> Any:
            Path("/tmp", self.token).write_text("left")
            process = subprocess.Popen(HELPER)
            try:
                children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
                while not children.read_text().split():
                    time.sleep(0.05)
                self.note_sandbox("helper", [int(children.read_text().split()[0])])
                yield from super().left(places)
            finally:
                process.kill()
                process.wait()
                Path("/tmp", self.token).unlink()

    def submit_run(run_id: Any) -> Any:
        from fdegym.runs.models import Run

        other = Run.objects.exclude(pk=run_id).filter(state="open").get()
        put_file(str(other.id), "/workspace/system/neighbour", b"changed")
        log.append(other.id, "contact.message", {})
        log.append(run_id, "contact.message", {"grants": ["everything"]})
        return submit(run_id)

    playing.HostWitness, playing.submit_run = Witness, submit_run  # type: ignore[misc,assignment]
    try:
        return playing.play_battery("stall", entry).as_json()
    finally:
        playing.HostWitness, playing.submit_run = witness.HostWitness, submit


def main(wanted: list[str]) -> None:
    import django

    django.setup()
    from django.core.management import call_command

    from fdegym.authoring.battery import entry_named, play_battery
    from fdegym.authoring.battery.entries import read_entry
    from fdegym.delivery.local_services import local_services

    call_command("migrate", verbosity=0)
    call_command("createcachetable", verbosity=0)
    with local_services():
        for name in wanted:
            path = Path(name)
            entry = read_entry(path.stem, path.read_text()) if path.suffix == ".py" else entry_named(name)
            helped = entry.name == "has_help_outside"
            play = with_help_from_outside(entry) if helped else play_battery("stall", entry).as_json()
            print(json.dumps(play), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
