"""What must be right with a scenario before anything is made of it: a command that takes hours says it at once.

The loader types what files hold. Here is what it would stumble over, or not see: links and pipes, what this user may not
read, names that are taken, folders that nothing reads, values that no grader can be told.
"""

from __future__ import annotations

import json
import os
import re
import stat
import tomllib
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

from fdegym.authoring.admission.registry import all_checks
from fdegym.authoring.patterns import MOST_WAYS, ways_to_read
from fdegym.catalog.scenarios import get_scenario
from scenarios.kit.errors import Problem, ScenarioInvalid
from scenarios.kit.load import ORIGINAL, Scenario, load_scenario, scenario_ids
from scenarios.kit.solutions import (
    ORIGINAL_SOLUTION,
    SOLUTION_GROUPS,
    conversation_file,
    overlays_of,
    solution_names,
    solutions_on,
)

LARGEST_TOML = 1 << 20  #: bytes
MOST_TOLD = 20
GROUPS_OF_WORK = ("plays", "checks", "battery")  #: what ``admit --only`` calls several things by
_NAME = re.compile(r"[a-z][a-z0-9_]*")


def sound_scenario(scenario_id: str) -> Scenario:
    """The loaded scenario. Raises ``ScenarioUnknown``, or ``ScenarioInvalid`` with everything that was found."""
    if scenario_id in scenario_ids(settings.SCENARIO_DIRS):
        folder = next(d / scenario_id for d in settings.SCENARIO_DIRS if (d / scenario_id / "scenario.toml").exists())
        _refuse(scenario_id, list(problems_of_files(folder)))
    scenario = get_scenario(scenario_id)
    _refuse(scenario_id, list(problems_of_content(scenario)))
    return scenario


def sound_folder(folder: Path) -> Scenario:
    """The same for a folder that lies in none of the site's directories. Raises ``ScenarioInvalid``."""
    _refuse(folder.name, list(problems_of_files(folder)))
    scenario = load_scenario(folder)
    _refuse(folder.name, list(problems_of_content(scenario)))
    return scenario


def _refuse(scenario_id: str, problems: list[Problem]) -> None:
    if problems:
        more = [Problem("…", "", f"and {len(problems) - MOST_TOLD} more")] if len(problems) > MOST_TOLD else []
        raise ScenarioInvalid(scenario_id, [*problems[:MOST_TOLD], *more])


# ---- files -----------------------------------------------------------------------------------------------------------


def problems_of_files(folder: Path) -> Iterator[Problem]:
    """What is wrong with files as such; nothing is opened that could keep a reader waiting."""
    for above, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for name in [*folders, *sorted(files)]:
            path = Path(above, name)
            if words := _wrong_with(path):
                yield Problem(ascii(path.relative_to(folder).as_posix())[1:-1], "", words)
    yield from _taken_names(folder / "solutions")


def _wrong_with(path: Path) -> str:
    found = path.lstat()
    if not path.name.isprintable():
        return "the name has characters that cannot be seen"
    if stat.S_ISLNK(found.st_mode):
        return "is a link, which says something else on every machine: put the file itself there"
    if stat.S_ISDIR(found.st_mode):
        if path.suffix == ".toml":
            return "is a folder"
        return "" if os.access(path, os.R_OK | os.X_OK) else "this user may not look into it"
    if not stat.S_ISREG(found.st_mode):
        return "is a pipe, socket or device"
    if not os.access(path, os.R_OK):
        return "this user may not read it"
    return _wrong_with_toml(path, found.st_size) if path.suffix == ".toml" else ""


def _wrong_with_toml(path: Path, size: int) -> str:
    if size > LARGEST_TOML:
        return f"{size} bytes; at most {LARGEST_TOML} are read"
    try:
        tomllib.loads(path.read_text(encoding="utf-8"))
    except RecursionError:
        return "not valid TOML: nested too deeply"
    except ValueError:
        return ""  # the loader says where
    return ""


def _taken_names(solutions: Path) -> Iterator[Problem]:
    taken = {"do_nothing", "reference", "literal", ORIGINAL_SOLUTION, *GROUPS_OF_WORK}
    taken |= {check.name for check in all_checks()}
    for group in SOLUTION_GROUPS:
        for path in sorted((solutions / group).glob("*")):
            place = f"solutions/{group}/{ascii(path.name)[1:-1]}"
            if path.is_dir() and not _NAME.fullmatch(path.name):
                yield Problem(place, "", "a solution's name is small letters, digits and _")
            elif path.name in taken:
                yield Problem(place, "", "this name has a meaning of its own: give the solution another")


# ---- content ---------------------------------------------------------------------------------------------------------


def problems_of_content(scenario: Scenario) -> Iterator[Problem]:
    """What is wrong with a scenario that could be loaded, without its worlds."""
    variants, offered = scenario.facts.variants, scenario.config.offered
    for name in sorted({ORIGINAL, "system"} & set(variants)):
        yield Problem("facts.toml", f"variants.{name}", "no variant can have this name")
    for task in sorted({task for task in offered if offered.count(task) > 1}):
        yield Problem("scenario.toml", "offered", f"{task} is there twice")
    yield from _unusable_facts(scenario)
    yield from _unusable_patterns(scenario)
    yield from _unusable_limits(scenario)
    yield from _unusable_commands(scenario)
    yield from _unread_folders(scenario)
    yield from _hollow_solutions(scenario)


def _unusable_facts(scenario: Scenario) -> Iterator[Problem]:
    own = {f"variants.{name}.facts": variant.facts for name, variant in scenario.facts.variants.items()}
    for place, facts in {"facts": scenario.facts.facts, **own}.items():
        for name, value in facts.items():
            try:
                json.dumps(value, allow_nan=False)
            except (TypeError, ValueError):
                words = (
                    f"{value} cannot be told to a grader: write a text, a finite number, true, false or lists of these"
                )
                yield Problem("facts.toml", f"{place}.{name}", words)


def _unusable_patterns(scenario: Scenario) -> Iterator[Problem]:
    """Those that hold facts are checked where they are used, rendered."""
    patterns = {f"admission.hidden[{n}]": text for n, text in enumerate(scenario.config.admission.hidden)}
    for name, kind in scenario.config.records.items():
        patterns |= {f"records.{name}.fields.{field}": text for field, text in kind.fields.items()}
        if kind.pattern is not None:
            patterns[f"records.{name}.pattern"] = kind.pattern
    for place, text in patterns.items():
        if "{{" in text or "{%" in text:
            continue
        try:
            re.compile(text)
        except (re.error, RecursionError, OverflowError) as problem:
            yield Problem("scenario.toml", place, f"not a regular expression: {problem}")
            continue
        if place.startswith("records.") and ways_to_read(text) > MOST_WAYS:
            words = (
                "can be read in too many ways, and one message would keep everybody waiting: say how often, as {1,6}"
            )
            yield Problem("scenario.toml", place, words)


def _unusable_limits(scenario: Scenario) -> Iterator[Problem]:
    for place, limits in (("limits", scenario.config.limits), ("replay", scenario.config.replay)):
        for name, value in limits.model_dump().items():
            if isinstance(value, int | float) and not 0 < value < float("inf"):
                yield Problem("scenario.toml", f"{place}.{name}", f"{value} is no limit: more than nothing is needed")


def _unusable_commands(scenario: Scenario) -> Iterator[Problem]:
    """Production calls nothing but Python; another command would look like a sandbox that was lost."""
    for number, entry in enumerate(scenario.config.replay.entry_points):
        argv = entry.argv
        if len(argv) < 2 or argv[0] not in ("python", "python3") or (argv[1] == "-m" and len(argv) < 3):
            words = f"{' '.join(argv)!r}: a command is python -m MODULE or python FILE, with its arguments"
            yield Problem("scenario.toml", f"replay.entry_points[{number}].argv", words)


def _unread_folders(scenario: Scenario) -> Iterator[Problem]:
    """A task's name mistyped would leave its files out without a word."""
    root = scenario.folder / "solutions"
    folders = [root / "reference", root / "literal"]
    folders += [path for group in SOLUTION_GROUPS for path in sorted((root / group).glob("*"))]
    for path in (path for folder in folders for path in sorted(folder.glob("*"))):
        place = path.relative_to(scenario.folder).as_posix()
        if path.is_dir() and path.name not in ("system", *scenario.task_ids):
            yield Problem(place, "", "is read by nothing: beside system/ there are only folders named for tasks")
        elif path.is_file() and path.name in ("system", *scenario.task_ids):
            yield Problem(place, "", "is a file where a folder is read")


def _hollow_solutions(scenario: Scenario) -> Iterator[Problem]:
    """Raises ``ScenarioInvalid`` for a note that is none."""
    for name, kind in solution_names(scenario).items():
        if kind not in SOLUTION_GROUPS.values():
            continue
        for task in scenario.task_ids:
            if name not in solutions_on(scenario, task):
                continue
            if not overlays_of(scenario, task, name) and conversation_file(scenario, task, name) is None:
                words = f"on {task} it lays no file over system/ and writes to nobody: it is do_nothing by another name"
                yield Problem(f"solutions/…/{name}", "", words)
