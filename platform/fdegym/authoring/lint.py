"""Checks of a scenario's files that need no run: everything loads and renders for every task, and the parts agree."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fdegym.authoring.checks.leaks import Search, secrets_of
from fdegym.authoring.checks.shown import Passage
from grading.worlds import ensure_world
from scenarios.kit.errors import Problem, ScenarioInvalid
from scenarios.kit.format import LEVELS, Stakeholder, StakeholdersFile, Topic
from scenarios.kit.gates import Condition, Gate
from scenarios.kit.load import Scenario, Task
from scenarios.kit.phrasings import PLACEHOLDER, Phrasings, load_phrasings
from scenarios.kit.render import TextProblem
from scenarios.kit.solutions import ORIGINAL_SOLUTION, Solution, load_solution, solutions_on
from scenarios.kit.trial import PLACEHOLDER as PLACE
from scenarios.kit.trial import TrialWords

_CHINESE = re.compile(r"[一-鿿]")
LONGEST_FILE_LINES = 400
EXAMPLES_WANTED, TESTS_WANTED, EXAMPLES_ZH_WANTED, TESTS_ZH_WANTED = 25, 8, 6, 3
GATE_MET_WANTED, GATE_UNMET_WANTED = 8, 4


@dataclass(frozen=True, slots=True)
class Looked:
    """What lint found: every problem with file and place, and in words what it could not look at because of them."""

    problems: list[Problem]
    unseen: tuple[str, ...] = ()


def lint(scenario: Scenario) -> list[Problem]:
    """Every problem found; an empty list is a scenario whose files are right."""
    return look(scenario).problems


def look(scenario: Scenario) -> Looked:
    """Every problem that can be found; a world that cannot be made hides all that is read with it."""
    problems = [*_missing_files(scenario), *_long_files(scenario), *_trial_functions(scenario)]
    for number, task_id in enumerate(scenario.task_ids):
        try:
            task = ensure_world(scenario, task_id)
        except ScenarioInvalid as invalid:
            tasks = ", ".join(scenario.task_ids[number:])
            unseen = (f"stakeholders.toml and conversations on {tasks}", "phrasings.toml")
            return Looked(_once([*problems, *invalid.problems]), unseen)
        problems += _people(scenario, task)
        problems += _inbox(scenario, task)
        problems += _trial_words(scenario, task)
        problems += _solutions(scenario, task)
    try:
        problems += _phrasings(scenario)
    except ScenarioInvalid as invalid:
        problems += invalid.problems
    return Looked(_once(problems))


def _once(problems: list[Problem]) -> list[Problem]:
    return list(dict.fromkeys(problems))


def _missing_files(scenario: Scenario) -> Iterator[Problem]:
    wanted = ["system/README.md", "SOURCES.md", "directory.md", "stakeholders.toml", "phrasings.toml"]
    wanted += [f"briefs/{level}.md" for level in LEVELS] + [
        f"solutions/{name}/solution.toml" for name in ("reference", "literal")
    ]
    for name in wanted:
        if not (scenario.folder / name).is_file():
            yield Problem(name, "", "the file is missing")


def _solutions(scenario: Scenario, task: Task) -> Iterator[Problem]:
    try:
        names = solutions_on(scenario, task.task_id)
    except ScenarioInvalid as invalid:
        yield from invalid.problems
        return
    for name in names:
        try:
            solution = load_solution(task, name)
        except ScenarioInvalid as invalid:
            yield from invalid.problems
            continue
        if solution.kind != ORIGINAL_SOLUTION:  # whose conversation is the reference's
            yield from _steps(scenario, solution)


def _steps(scenario: Scenario, solution: Solution) -> Iterator[Problem]:
    """What a conversation asks for that this customer does not have."""
    trial = scenario.config.trial
    for number, step in enumerate(solution.conversation.steps):
        place = f"{solution.name}, steps[{number}]"
        if step.wait is not None and scenario.config.calendar is None:
            yield Problem("conversation.toml", place, "waiting needs a calendar in scenario.toml")
        if step.trial and trial is None:
            yield Problem("conversation.toml", place, "a trial needs [trial] in scenario.toml")
        elif unknown := sorted(set(step.reports) - {"quiet"} - set(trial.sentences if trial else ())):
            yield Problem("conversation.toml", place, f"reports no sentence of [trial]: {', '.join(unknown)}")


def _long_files(scenario: Scenario) -> Iterator[Problem]:
    for path in sorted(scenario.folder.rglob("*.py")):
        lines = len(path.read_text(encoding="utf-8", errors="replace").splitlines())
        if lines > LONGEST_FILE_LINES:
            name = path.relative_to(scenario.folder).as_posix()
            yield Problem(name, "", f"{lines} lines; no file of a scenario is above {LONGEST_FILE_LINES}")


def _people(scenario: Scenario, task: Task) -> Iterator[Problem]:
    people: StakeholdersFile = task.stakeholders
    ids = {person.id for person in people.stakeholders}
    file = "stakeholders.toml"
    if scenario.config.sponsor not in ids:
        yield Problem("scenario.toml", "sponsor", f"nobody has the id {scenario.config.sponsor!r}")
    known_facts = set(scenario.facts.texts)
    for index, person in enumerate(people.stakeholders):
        place = f"stakeholders[{index}]"
        yield from _timeless(scenario, person, file, place)
        if (
            person.off_limits
            and person.off_limits.incident
            and person.off_limits.incident not in scenario.config.incidents
        ):
            yield Problem(file, f"{place}.off_limits.incident", "is not an incident of scenario.toml")
        for number, topic in enumerate(person.topics):
            yield from _topic(scenario, task, topic, known_facts, file, f"{place}.topics[{number}]")


def _timeless(scenario: Scenario, person: Stakeholder, file: str, place: str) -> Iterator[Problem]:
    timed = person.availability.windows or person.availability.away_until or person.availability.leaves_after_hours
    if timed and scenario.config.calendar is None:
        yield Problem(file, f"{place}.availability", "needs a calendar in scenario.toml")


def _inbox(scenario: Scenario, task: Task) -> Iterator[Problem]:
    known = set(scenario.facts.texts)
    for index, letter in enumerate(task.stakeholders.inbox):
        place = f"inbox[{index}]"
        timed = letter.when.after_hours is not None or letter.when.after_waits is not None or letter.when.delay_h
        if timed and scenario.config.calendar is None:
            yield Problem("stakeholders.toml", f"{place}.when", "hours and waits need a calendar in scenario.toml")
        after = letter.when.after_fact
        for fact in sorted({*letter.facts, *([after] if after is not None else [])} - known):
            yield Problem("stakeholders.toml", place, f"{fact} has no text in facts.toml")
        if unknown := sorted(set(letter.on) - set(scenario.task_ids)):
            yield Problem("stakeholders.toml", f"{place}.on", f"no such task: {', '.join(unknown)}")


# ---- trial runs ------------------------------------------------------------------------------------------------------


def _trial_functions(scenario: Scenario) -> Iterator[Problem]:
    """A scenario with trials has ``world.shadow`` and ``grader.trial``; read, not run."""
    if scenario.config.trial is None:
        return
    for module, name in (("world", "shadow"), ("grader", "trial")):
        file = f"{module}/__init__.py" if (scenario.folder / module).is_dir() else f"{module}.py"
        if name not in _names_of(scenario.folder / file):
            yield Problem(file, "", f"[trial] needs {module}.{name}, see scenarios/kit/world.py")


def _names_of(path: Path) -> set[str]:
    """What a module defines or imports at its top; nothing of one that is no Python, which building the world says."""
    try:
        body = ast.parse(path.read_text(encoding="utf-8")).body
    except (OSError, ValueError, SyntaxError, RecursionError, MemoryError):  # the last two: nested without end
        return set()
    names: set[str] = set()
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return names


def _trial_words(scenario: Scenario, task: Task) -> Iterator[Problem]:
    """Sentences that cannot be rendered, or that hold what has to be found out: a report tells what people noticed."""
    if scenario.config.trial is None:
        return
    try:
        words = TrialWords.of(scenario.config.trial, task.facts)
    except TextProblem as error:
        yield error.problem
        return
    search, values = Search(secrets_of(task)), _hidden_values(scenario)
    for name, text in {**words.sentences, "quiet": words.quiet}.items():
        place = "trial.quiet" if name == "quiet" else f"trial.sentences.{name}"
        fixed = PLACE.sub("…", text)
        held = [*search.found(Passage(place, fixed))]
        held += [f"{value}, what {key} is on some task" for value, key in values.items() if _holds(fixed, value)]
        for secret in held:
            yield Problem("scenario.toml", place, f"holds {secret}; a trial never tells the answer")


def _hidden_values(scenario: Scenario) -> dict[str, str]:
    """Values of facts that differ between tasks, as they would stand in a sentence → the fact."""
    changed = {key for variant in scenario.facts.variants.values() for key in variant.facts}
    found: dict[str, str] = {}
    for task_id in scenario.task_ids:
        for key, value in scenario.facts_of(task_id).items():
            for item in (value if isinstance(value, list) else [value]) if key in changed else ():
                if text := _as_written(item):
                    found[text] = key
    return found


def _as_written(value: Any) -> str:
    """A value that is worth looking for: no switch, no single digit, no short word."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return text if len(text) >= (2 if text.replace(".", "").isdigit() else 4) else ""


def _holds(text: str, value: str) -> bool:
    return re.search(rf"(?<![\w.]){re.escape(value)}(?![\w]|\.\d)", text, re.IGNORECASE) is not None


def _topic(scenario: Scenario, task: Task, topic: Topic, known: set[str], file: str, place: str) -> Iterator[Problem]:
    for fact in sorted(set(topic.facts) - known):
        yield Problem(file, f"{place}.facts", f"{fact} has no text in facts.toml")
    unknown_tasks = sorted((set(topic.on) | set(topic.tasks or [])) - set(scenario.task_ids))
    if unknown_tasks:
        yield Problem(file, f"{place}.on", f"no such task: {', '.join(unknown_tasks)}")
    gates: list[Gate] = [
        gate for gate in [topic.gate, *(change.gate for change in topic.on.values())] if isinstance(gate, Gate)
    ]
    for leaf in (leaf for gate in gates for leaf in gate.leaves()):
        yield from _condition(scenario, task, leaf, file, f"{place}.gate")


def _condition(scenario: Scenario, task: Task, leaf: Condition, file: str, place: str) -> Iterator[Problem]:
    if leaf.cites_document:
        document = scenario.config.documents.get(leaf.cites_document.document)
        if document is None:
            yield Problem(file, place, f"{leaf.cites_document.document!r} is not a document of scenario.toml")
        elif missing := sorted(set(leaf.cites_document.clauses) - set(document.clauses)):
            yield Problem(file, place, f"{leaf.cites_document.document} has no clause {', '.join(missing)}")
    if leaf.cites_record:
        for kind in leaf.cites_record.kinds:
            if kind not in scenario.config.records:
                yield Problem(file, place, f"{kind!r} is not a record kind of scenario.toml")
            elif not task.meta.records.get(kind):
                yield Problem(file, place, f"the world has no record of kind {kind!r}")
        if leaf.cites_record.among and leaf.cites_record.among not in task.meta.record_groups:
            yield Problem(file, place, f"the world returned no record group {leaf.cites_record.among!r}")
    if leaf.cites_number and leaf.cites_number.fact not in task.facts:
        yield Problem(file, place, f"{leaf.cites_number.fact!r} is not a fact")
    for group in leaf.mentions or []:
        if not any(_CHINESE.search(term) for term in group):
            yield Problem(file, place, f"the terms {', '.join(group[:3])} … have no Chinese equivalent")


def _phrasings(scenario: Scenario) -> Iterator[Problem]:
    file = "phrasings.toml"
    if not (scenario.folder / file).is_file():
        return
    phrasings = load_phrasings(scenario.folder / file)
    task = ensure_world(scenario, "original")
    wanted = {f"{person.id}/{topic.id}" for person in task.stakeholders.stakeholders for topic in person.topics}
    for missing in sorted(wanted - set(phrasings.topics)):
        yield Problem(file, f'topics."{missing}"', "the topic has no phrasings")
    for extra in sorted(set(phrasings.topics) - wanted):
        yield Problem(file, f'topics."{extra}"', "there is no such topic")
    least = {
        "examples": EXAMPLES_WANTED,
        "tests": TESTS_WANTED,
        "examples_zh": EXAMPLES_ZH_WANTED,
        "tests_zh": TESTS_ZH_WANTED,
    }
    for name, topic in phrasings.topics.items():
        for key, count in least.items():
            have = len(getattr(topic, key))
            if have < count:
                yield Problem(file, f'topics."{name}".{key}', f"{have} phrasings; at least {count} are wanted")
    yield from _gate_phrasings(scenario, task, phrasings)


def _gate_phrasings(scenario: Scenario, task: Task, phrasings: Phrasings) -> Iterator[Problem]:
    file = "phrasings.toml"
    gated = {
        f"{person.id}/{topic.id}"
        for person in task.stakeholders.stakeholders
        for topic in person.topics
        if topic.gate is not None
    }
    for name, topic in phrasings.topics.items():
        for key, count in (("gate_met", GATE_MET_WANTED), ("gate_unmet", GATE_UNMET_WANTED)):
            messages, place = getattr(topic, key), f'topics."{name}".{key}'
            if name in gated and len(messages) < count:
                yield Problem(file, place, f"{len(messages)} phrasings; at least {count} are wanted")
            if name not in gated and messages:
                yield Problem(file, place, "the topic has no gate")
            for message in messages:
                for found in PLACEHOLDER.finditer(message):
                    kind = scenario.config.records.get(found["kind"])
                    field = found["field"]
                    if kind is None or (field is not None and field not in kind.fields):
                        yield Problem(file, place, f"{found[0]} is no record kind, or none of its fields")
