"""``manage.py battery ID [ENTRY …]``: play the common battery of bypasses against a scenario."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from fdegym.authoring.battery import BatteryPlay, entries, entry_named, play_battery
from fdegym.authoring.ground import sound_scenario
from fdegym.delivery.local_services import local_services
from fdegym.lib.errors import FdegymError


def line(play: BatteryPlay) -> str:
    """What a person reads of a play: its figures, then each problem on a line of its own."""
    score = "–" if play.score is None else f"{play.score:+.3f}"
    ended = ", ".join(f"{word} {count}" for word, count in sorted(play.failures.items())) or "none"
    text = f"{play.entry:<28} S {score}  {play.refused:>3} refused  failed calls: {ended:<32} {play.wall_s:5.1f} s"
    verdict = ("no grade on a busy host" if play.busy else "withstood") if play.passed else "FAILS"
    return "\n".join([f"{text}  {verdict}", *(f"    {problem}" for problem in play.problems)])


class Command(BaseCommand):
    help = "Play the common battery of bypasses against a scenario; without names, all of it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("scenario", metavar="ID")
        parser.add_argument("entries", nargs="*", metavar="ENTRY")
        parser.add_argument("--list", action="store_true", help="say what each entry tries, and play nothing")
        parser.add_argument("--json", action="store_true", help="one object a line")
        parser.add_argument("--report", action="store_true", help="also every attempt, and how it was refused")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            chosen = [entry_named(name) for name in options["entries"]] or entries()
            scenario = sound_scenario(options["scenario"])
            if options["list"]:
                for entry in chosen:
                    self.stdout.write(f"{entry.name:<28} {entry.why}")
                return
            failed = []
            with local_services():
                for entry in chosen:
                    play = play_battery(scenario.id, entry)
                    self.stdout.write(json.dumps(play.as_json()) if options["json"] else line(play))
                    if options["report"]:
                        self.stdout.writelines(f"    {row}\n" for row in play.report)
                    self.stdout.flush()
                    failed += [] if play.passed else [entry.name]
        except FdegymError as problem:
            raise CommandError(str(problem)) from problem
        if failed:
            raise CommandError(f"Not withstood: {', '.join(failed)}.")
