"""``manage.py play ID --solution NAME``: play a scripted solution end to end and print its score."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from fdegym.delivery.local_services import local_services
from fdegym.delivery.play import Played, play
from fdegym.lib.errors import FdegymError


def table(played: Played) -> str:
    """What a person reads: one line a figure."""
    found = played.as_json()
    kpi = found["kpi"]
    unit = played.task.scenario.config.kpi.unit
    incidents = ", ".join(incident["id"] for incident in found["incidents"]) or "none"
    lines = [
        ("scenario", f"{found['scenario']} · {found['task']} · {found['level']} · {found['solution']}"),
        ("KPI", f"{kpi['delivered']:.1f} {unit} (baseline {kpi['baseline']:.1f}, reference {kpi['reference']:.1f})"),
        ("U", f"{found['uplift']:+.3f}"),
        ("C", f"{found['contact_cost']:.3f} in {len(found['contacts'])} contacts"),
        ("S", f"{found['score']:+.3f}{'  resolved' if found['resolved'] else ''}"),
        ("incidents", incidents),
        ("key facts", f"{len(found['key_facts']['released'])} of {len(found['key_facts']['all'])} learnt from people"),
    ]
    return "\n".join(f"{name:<10} {value}" for name, value in lines)


class Command(BaseCommand):
    help = "Play a scripted solution of a scenario through the real engines and print its score."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("scenario", metavar="ID")
        parser.add_argument(
            "--solution", required=True, metavar="NAME", help="reference, literal, do_nothing, a shortcut …"
        )
        parser.add_argument("--task", default="original", metavar="T", help="the original task or a variant's name")
        parser.add_argument("--level", default="L3", metavar="L", help="L0 to L3 (default L3)")
        parser.add_argument("--json", metavar="FILE", help="write the result as JSON; - for standard output")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with local_services():
                played = play(
                    options["scenario"],
                    options["solution"],
                    task_id=options["task"],
                    level=options["level"],
                    progress=lambda text: print(f"… {text}", file=sys.stderr, flush=True),
                )
        except FdegymError as problem:
            raise CommandError(str(problem)) from problem
        if options["json"]:
            text = json.dumps(played.as_json(), indent=2, ensure_ascii=False, sort_keys=True) + "\n"
            if options["json"] == "-":
                self.stdout.write(text, ending="")
                return
            Path(options["json"]).write_text(text, encoding="utf-8")
        self.stdout.write(table(played))
