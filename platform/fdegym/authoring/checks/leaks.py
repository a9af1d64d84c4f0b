"""Nothing that a player sees names the task, a hidden fact, an answer that somebody has to be asked for, or a solution.

What is looked for, and where it counts:

- names of tasks and solutions, angles, ids and keys of facts, values that differ between tasks: those of several words
  (``side_letter``) wherever they stand as a word, others, which may be words of the trade (``notice``), only where they
  stand alone as a value, a key or a name. The customer's system may have keys and values of its own that are called alike;
- titles and sentences of facts, answers and letters of people: word for word, from eight words on (titles from five).
  The instruction of level L0 may state the facts: that is what the level is;
- what ``[admission] hidden`` of scenario.toml asks for, numbers among it: wherever it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fdegym.authoring.admission.findings import Check, Finding
from fdegym.authoring.checks.shown import STATES_FACTS, Passage, passages_of_task, shown_files
from grading.worlds import ensure_world
from scenarios.kit.errors import Problem, ScenarioInvalid
from scenarios.kit.format import StakeholdersFile
from scenarios.kit.load import Scenario, Task
from scenarios.kit.render import TextProblem, render_text
from scenarios.kit.solutions import solution_names
from scenarios.kit.trial import PLACEHOLDER, TrialWords
from stakeholders.scripts import compiled_script
from stakeholders.visible import shown_directory

SHORTEST_VALUE = 6
SHORTEST_SENTENCE = 8  #: words
SHORTEST_TITLE = 5  #: words
MOST_TOLD = 8  #: places named in one finding
_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_\-]*")
_SENTENCE_END = re.compile(r"(?<=[.!?:;])\s+|\n\s*\n")
_ENGINE_WORDS = {"reference", "literal"}  #: kinds of solutions, known to everybody
_BESIDE = r"(?:task|variant|scenario|angle)(?:[ _\-]?(?:id|name))?\W{1,4}"


@dataclass
class Secrets:
    """What must not be seen, each with the words for it."""

    names: dict[str, str] = field(default_factory=dict)  #: tasks, angles, solutions, ids of facts
    values: dict[str, str] = field(default_factory=dict)  #: keys and values of facts
    facts: dict[str, str] = field(default_factory=dict)  #: titles and sentences, as ``words_of`` gives them
    answers: dict[str, str] = field(default_factory=dict)  #: sentences, likewise
    patterns: list[tuple[re.Pattern[str], str]] = field(default_factory=list)


def words_of(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def _sentences(text: str) -> Iterator[str]:
    for sentence in _SENTENCE_END.split(text):
        words = words_of(sentence)
        if words.count(" ") + 1 >= SHORTEST_SENTENCE:
            yield words


def secrets_of(task: Task) -> Secrets:
    """Everything that this task's workspace must not hold."""
    scenario, found = task.scenario, Secrets()
    for name in scenario.task_ids:
        found.names[name] = f"{name}, a task's name"
    for variant in scenario.facts.variants.values():
        found.names[variant.angle] = f"{variant.angle}, a variant's angle"
    for name in solution_names(scenario):
        if name not in _ENGINE_WORDS:
            found.names[name] = f"{name}, a solution's name"
    for name in scenario.facts.texts:
        found.names[name] = f"{name}, a fact's id"
    for key, value in _differing(scenario):
        found.values[key] = f"{key}, a fact's key"
        if isinstance(value, str) and len(value) >= SHORTEST_VALUE and _IDENTIFIER.fullmatch(value):
            found.values[value] = f"{value}, what {key} is on some task"
    found.facts = dict(_of_facts(task))
    found.answers = dict(_of_people(task.stakeholders))
    for pattern in scenario.config.admission.hidden:
        found.patterns.append((_compiled(task, pattern), f"what [admission] hidden asks for ({pattern})"))
    return found


def _differing(scenario: Scenario) -> Iterator[tuple[str, Any]]:
    """Keys that some variant changes, with each of their values: the others are the same for everybody, so no secret."""
    changed = {key for variant in scenario.facts.variants.values() for key in variant.facts}
    for task_id in scenario.task_ids:
        for key, value in scenario.facts_of(task_id).items():
            if key in changed:
                for item in value if isinstance(value, list) else [value]:
                    yield key, item


def _compiled(task: Task, pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(render_text(pattern, task.facts, file="scenario.toml"))
    except TextProblem as error:
        raise ScenarioInvalid(task.scenario.id, [error.problem]) from error
    except re.error as error:
        problem = Problem("scenario.toml", "admission.hidden", f"{pattern!r} is no regular expression: {error}")
        raise ScenarioInvalid(task.scenario.id, [problem]) from error


def _of_facts(task: Task) -> Iterator[tuple[str, str]]:
    for name, text in task.fact_texts.items():
        title = words_of(text.title)
        if title.count(" ") + 1 >= SHORTEST_TITLE:
            yield title, f"the title of fact {name}"
        for sentence in _sentences(text.text):
            yield sentence, f"a sentence of fact {name} ({sentence[:60]} …)"


def _of_people(people: StakeholdersFile) -> Iterator[tuple[str, str]]:
    said: list[tuple[str, str]] = []
    for person in people.stakeholders:
        for topic in person.topics:
            said += [(person.name, topic.answer)]
            said += [(person.name, change.answer) for change in topic.on.values() if change.answer]
    for letter in people.inbox:
        said += [(f"the letter {letter.id}", text) for text in (letter.text, *letter.on.values())]
    for speaker, text in said:
        for sentence in _sentences(text):
            yield sentence, f"what {speaker} says only when asked ({sentence[:60]} …)"


class Search:
    """Looks for secrets in passages. ``own`` are the files of the customer's system as they lie in the scenario."""

    def __init__(self, secrets: Secrets, own: Iterable[str] = ()) -> None:
        self._secrets, self._own = secrets, frozenset(own)
        self._all = {**secrets.values, **secrets.names}
        compound = [name for name in self._all if "_" in name]
        self._spelt = {name.lower(): name for name in compound}
        self._compound = _any_of(compound, r"(?<![\w\-])", re.IGNORECASE)
        self._beside = _any_of(secrets.names, _BESIDE)

    def found(self, passage: Passage) -> Iterator[str]:
        """Words for each secret that the passage holds."""
        text, file = passage.text, passage.place.partition(",")[0]
        hits = {text} & self._all.keys() if passage.alone else set()
        hits |= {self._spelt[match[1].lower()] for match in self._compound.finditer(text)}
        hits |= {match[1] for match in self._beside.finditer(text)}
        for hit in sorted(hits):
            if file not in self._own or hit in self._secrets.names:
                yield self._all[hit]
        yield from (words for pattern, words in self._secrets.patterns if pattern.search(text))
        phrases = self._secrets.answers if file == STATES_FACTS else {**self._secrets.facts, **self._secrets.answers}
        if len(text) >= 2 * SHORTEST_TITLE:
            plain = f" {words_of(text)} "
            yield from (words for phrase, words in phrases.items() if f" {phrase} " in plain)


def _any_of(names: Iterable[str], before: str, flags: int = 0) -> re.Pattern[str]:
    """One of the names as a word of its own; of no names, nothing."""
    listed = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True)) or "(?!)"
    return re.compile(rf"{before}({listed})(?![\w\-])", flags)


def unchanged_files(task: Task) -> list[str]:
    """Places of the system's files that are the scenario's own, byte for byte: the same on every task."""
    folder = task.scenario.folder
    return [
        place
        for place, path in shown_files(task).items()
        if place.startswith("system/")
        and (folder / place).is_file()
        and (folder / place).read_bytes() == path.read_bytes()
    ]


def _said_by_command(task: Task) -> Iterator[Passage]:
    """``ask --who``, which is not a file."""
    script = compiled_script(task.scenario.id, task.task_id, task.scenario.release)
    for person in shown_directory(script):
        for key, value in person.items():
            yield Passage(f"ask --who, {key} of {person['name']}", str(value), alone=True)


def _said_of_trials(task: Task) -> Iterator[Passage]:
    """What ``ask --trial`` may say, with its places open."""
    trial = task.scenario.config.trial
    if trial is not None:
        words = TrialWords.of(trial, task.facts)
        for name, text in {**words.sentences, "quiet": words.quiet}.items():
            yield Passage(f"ask --trial, the sentence {name}", PLACEHOLDER.sub("…", text))


def leaks_of(task: Task) -> dict[str, list[str]]:
    """Words for each secret that the task's workspace holds → where."""
    search = Search(secrets_of(task), unchanged_files(task))
    leaks: dict[str, list[str]] = {}
    for passage in (*passages_of_task(task), *_said_by_command(task), *_said_of_trials(task)):
        for words in search.found(passage):
            places = leaks.setdefault(words, [])
            if passage.place not in places:
                places.append(passage.place)
    return leaks


def _told(leaks: Mapping[str, Sequence[str]]) -> str:
    told = [f"{words} in {', '.join(places[:3])}{' …' if len(places) > 3 else ''}" for words, places in leaks.items()]
    more = f"; and {len(told) - MOST_TOLD} more" if len(told) > MOST_TOLD else ""
    return f"the workspace shows {'; '.join(told[:MOST_TOLD])}{more}. Take it out there, or word it differently."


def find_leaks(scenario: Scenario, tasks: Sequence[str]) -> Iterator[Finding]:
    for task_id in tasks:
        task = ensure_world(scenario, task_id)
        leaks = leaks_of(task)
        figures = {"files": len(shown_files(task)), "leaks": len(leaks)}
        yield Finding("leaks", task_id, not leaks, figures, _told(leaks) if leaks else "")


def _solutions(scenario: Scenario) -> str:
    return " ".join(solution_names(scenario))


LEAKS = Check(
    "leaks",
    "nothing visible names the task, a hidden fact, an answer or a solution",
    find_leaks,
    decided_by=_solutions,
    seconds=15,
)
