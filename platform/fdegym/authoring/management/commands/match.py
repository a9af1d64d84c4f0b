"""``manage.py match ID --person P``: how messages to a person are understood, one message a line. Needs no database."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from fdegym.catalog.scenarios import get_scenario
from fdegym.lib.errors import FdegymError
from grading.worlds import ensure_world
from stakeholders.engine import get_person, weigh
from stakeholders.matching import find_match
from stakeholders.script import Script
from stakeholders.scripts import compiled_script


def understood(script: Script, person: str, message: str) -> dict[str, Any]:
    """``topics`` that the person answers to, in the order asked; why none (``rejected``); each topic's gate by itself."""
    match = find_match(script, message, person)
    weighed = weigh(script, person, message, match)
    return {
        "message": message,
        "topics": [{"id": key.partition("/")[2], "topic": key, "score": score} for key, score, _gate in weighed],
        "rejected": match.rejected or ("small_talk" if match.small_talk and not weighed else None),
        "gates": {key.partition("/")[2]: {"met": gate.met, "unmet": list(gate.unmet)} for key, _score, gate in weighed},
    }


def _line(found: dict[str, Any]) -> str:
    topics = ", ".join(f"{topic['id']} {topic['score']:.3f}" for topic in found["topics"])
    gates = ", ".join(
        f"{topic}: not {' / '.join(gate['unmet'])}" for topic, gate in found["gates"].items() if gate["unmet"]
    )
    return f"{topics or found['rejected'] or 'no topic'}{f'   ({gates})' if gates else ''}   {found['message'][:80]}"


class Command(BaseCommand):
    help = "Read messages from standard input, one a line, and say which topics they match and whether gates are met."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("scenario", metavar="ID")
        parser.add_argument("--person", required=True, metavar="P")
        parser.add_argument("--task", default="original", metavar="T")
        parser.add_argument("--json", action="store_true", help="one JSON object a line")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            scenario = get_scenario(options["scenario"])
            ensure_world(scenario, options["task"])
            script = compiled_script(scenario.id, options["task"], scenario.release)
            get_person(script, options["person"])
            for line in sys.stdin:
                message = line.rstrip("\n")
                found = understood(script, options["person"], message)
                self.stdout.write(json.dumps(found, ensure_ascii=False) if options["json"] else _line(found))
        except FdegymError as problem:
            raise CommandError(str(problem)) from problem
