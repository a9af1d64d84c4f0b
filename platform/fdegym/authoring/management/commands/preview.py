"""``manage.py preview ID``: one task with its facts, the matcher's view of each message and the charges in sight.

For authors and operators: it tells everything that a run hides. Needs no database and leaves nothing behind.
"""

from __future__ import annotations

import shutil
import sys
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from fdegym.authoring.preview import Preview
from fdegym.catalog.scenarios import get_scenario
from fdegym.lib.errors import FdegymError
from grading.worlds import ensure_world
from scenarios.kit.format import LEVELS
from stakeholders.matching import find_match
from stakeholders.scripts import compiled_script

HELP = """\
PERSON: TEXT   write to a person
/people        everybody, their patience, their topics and what they want to see
/facts         what is true on this task
/brief L0      the instruction at a level
/wait 1d       let the customer's time pass (3h, 2d, Tue 09:30)
/so-far        what was released and spent
/undo          take the last message or wait back
/files DIR     copy what the workspace shows into a new directory
/help, /quit"""


class Command(BaseCommand):
    help = "Talk to a task's people with everything that a run hides in sight: facts, scores, gates, charges."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("scenario", metavar="ID")
        parser.add_argument("--task", default="original", metavar="T", help="original, or a variant's name")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            scenario = get_scenario(options["scenario"])
            task = ensure_world(scenario, options["task"])
            script = compiled_script(scenario.id, options["task"], scenario.release)
        except FdegymError as problem:
            raise CommandError(str(problem)) from problem
        preview = Preview(task, script, find_match)
        self.stdout.write(f"{scenario.config.customer}, task {task.task_id}. /help says what can be typed here.")
        for line in _lines(sys.stdin):
            if line in ("/quit", "/q"):
                break
            try:
                for told in _done(preview, line):
                    self.stdout.write(told)
            except FdegymError as problem:
                self.stdout.write(str(problem))


def _lines(stream: Iterable[str]) -> Iterator[str]:
    """What is typed, line by line; with line editing and a history at a terminal."""
    if not sys.stdin.isatty():
        yield from filter(None, (line.strip() for line in stream))
        return
    import readline  # noqa: F401 - input() uses it

    while True:
        try:
            if line := input("> ").strip():
                yield line
        except (EOFError, KeyboardInterrupt):
            return


def _done(preview: Preview, line: str) -> Iterator[str]:
    word, _, rest = line.partition(" ")
    rest = rest.strip()
    if not line.startswith("/"):
        person, colon, text = line.partition(":")
        if not colon:
            yield "Write PERSON: TEXT, or /help."
            return
        yield from preview.say(person.strip(), text.strip())
    elif word == "/people":
        yield from preview.people()
    elif word == "/facts":
        yield from preview.facts()
    elif word == "/so-far":
        yield from preview.standing()
    elif word == "/undo":
        yield from preview.undo()
    elif word == "/wait":
        yield from preview.wait(rest)
    elif word == "/brief":
        level = rest.upper() or "L3"
        yield preview.task.brief(level) if level in LEVELS else f"Levels are {', '.join(LEVELS)}."
    elif word == "/files":
        yield _copied(preview, rest)
    elif word == "/help":
        yield HELP
    else:
        yield f"There is no {word}. /help says what there is."


def _copied(preview: Preview, where: str) -> str:
    """Put what a run's workspace shows into a directory of the author's choice, without replacing anything."""
    if not where:
        return "Name a directory that does not exist yet: /files /tmp/look"
    place = Path(where).expanduser()
    try:
        shutil.copytree(preview.task.visible, place)
    except OSError as problem:
        return f"{place} cannot be written: {problem.strerror or problem}. Nothing there was replaced."
    return f"{place} holds what the workspace shows; briefs/ has the instruction of each level."
