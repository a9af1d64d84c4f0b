"""Measures a system of the tiny scenario in a process of its own, to be killed: ``VAR KEEPER_SOCKET MARKER``.

Stands still in the middle of the replay, after touching ``MARKER``.
"""

import os
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def main(var: Path, keeper: Path, marker: Path) -> None:
    sys.path[:0] = [str(ROOT), str(ROOT / "platform")]
    os.environ["DJANGO_SETTINGS_MODULE"] = "fdegym.settings"
    from django.conf import settings

    settings.VAR, settings.WORLD_CACHE, settings.KEEPER_SOCKET = var, var / "worlds", keeper
    settings.SANDBOX_RUNTIME = "docker"

    import django

    django.setup()

    from grading.measure import measure
    from grading.worlds import ensure_world
    from scenarios.kit.load import load_scenario

    def stand_still(done: int, total: int, what: str) -> None:
        if done >= 3:
            marker.touch()
            time.sleep(600)

    tiny = ROOT / "tests" / "grading" / "scenario_tiny"
    measure(ensure_world(load_scenario(tiny), "original"), tiny / "system", progress=stand_still)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
