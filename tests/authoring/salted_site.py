"""Run as a program: a site below ``FDEGYM_VAR`` with a salt and a private scenario, real desk, keeper and sandboxes.

Prints one JSON object: what lint, catalogue, play, the log of a grade and the pages say.
"""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import Any

import django

os.environ["DJANGO_SETTINGS_MODULE"] = "fdegym.settings"


def main() -> None:
    django.setup()

    from django.core.management import call_command

    from fdegym.catalog.scenarios import scenarios
    from fdegym.delivery.local_services import local_services
    from fdegym.delivery.play import play
    from grading.anchors import AnchorsFile, TaskAnchors, write_anchors
    from scenarios.kit.load import load_scenario
    from tests.authoring.toy import write_sound_toy

    call_command("migrate", interactive=False, verbosity=0)
    call_command("createcachetable", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    folder = write_sound_toy(Path(os.environ["SCENARIO_DIRS"]))
    # of this very release, and of other worlds than this site's
    ends = {"original": TaskAnchors(-1000.0, 1000.0)}
    file = AnchorsFile(folder.name, load_scenario(folder).release, "1", ends)
    (folder / "anchors.json").write_text(write_anchors(file))
    said = io.StringIO()
    call_command("lint", folder.name, stdout=said)
    with local_services():
        played = play(folder.name, "reference")
    found: dict[str, Any] = {
        "lint": said.getvalue(),
        "offered": [card.id for card in scenarios()],
        "played": played.as_json(),
        "world": played.task.meta.sha256,
        "pages": pages(folder.name),
    }
    found |= graded()
    print(json.dumps(found))


def graded() -> dict[str, Any]:
    from grading.models import Grade

    grade = Grade.objects.get()
    return {"fingerprint": grade.salt_fingerprint, "kpis": [grade.kpi_baseline, grade.kpi, grade.kpi_reference]}


def pages(scenario: str) -> dict[str, str]:
    """The scenario's page and board as a stranger sees them, and the debrief."""
    from django.test import Client
    from django.urls import reverse

    from fdegym.accounts.models import User
    from fdegym.runs.models import Run

    alice = User.objects.create_user("alice")
    Run.objects.update(user=alice)  # runs that a command plays are nobody's
    run = Run.objects.get()
    owner, stranger = Client(HTTP_HOST="localhost"), Client(HTTP_HOST="localhost")
    owner.force_login(alice)
    visits = {
        "scenario": (stranger, reverse("scenario", args=[scenario])),
        "board": (stranger, reverse("leaderboard")),
        "debrief": (owner, reverse("debrief", args=[run.id])),
    }
    return {name: client.get(path, follow=True).content.decode() for name, (client, path) in visits.items()}


if __name__ == "__main__":
    main()
