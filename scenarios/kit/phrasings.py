"""``phrasings.toml``: what people write to a scenario's people, per topic and apart from any topic.

``examples`` are what the matcher learns from; ``tests`` are held back, and admission measures the matcher on them.

``gate_met`` and ``gate_unmet`` are messages on a gated topic that point at what its gate wants, and that do not. Where
they cite a record they hold a placeholder for one that exists: ``<claim_line>``, or a field of a record,
``<statement.rig>``; a date may be written otherwise, ``<statement.date:%-d %B>``. All placeholders of one kind in a message
stand for the same record.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from scenarios.kit.errors import Problem, ScenarioInvalid

Phrasing = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2000)]
TopicName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*/[a-z][a-z0-9_]*$")]

PLACEHOLDER = re.compile(r"<(?P<kind>[a-z]\w*)(?:\.(?P<field>[a-z]\w*)(?::(?P<form>%[^<>]*))?)?>")
_CHINESE = re.compile(r"[\u3400-\u9fff]")


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class TopicPhrasings(_Strict):
    """One topic's messages, English and Chinese, to learn from and to be tested on."""

    examples: list[Phrasing] = Field(min_length=1)
    tests: list[Phrasing] = Field(min_length=1)
    examples_zh: list[Phrasing] = []
    tests_zh: list[Phrasing] = []
    gate_met: list[Phrasing] = []
    gate_unmet: list[Phrasing] = []

    @model_validator(mode="after")
    def _tests_are_unseen(self) -> TopicPhrasings:
        seen = set(self.examples) | set(self.examples_zh)
        for test in (*self.tests, *self.tests_zh):
            if test in seen:
                raise ValueError(f"{test!r} is both an example and a test: a test must be unseen")
        return self


class NegativePhrasings(_Strict):
    """Messages that belong to no topic, in either language."""

    off_topic: list[Phrasing] = []
    off_topic_tests: list[Phrasing] = []
    fishing: list[Phrasing] = []
    fishing_tests: list[Phrasing] = []
    injected: list[Phrasing] = []
    injected_tests: list[Phrasing] = []
    small_talk: list[Phrasing] = []
    small_talk_tests: list[Phrasing] = []

    def examples(self) -> dict[str, list[str]]:
        """Kind (``off_topic``, ``fishing``, ``injected``, ``small_talk``) to the messages to learn it from."""
        return {
            "off_topic": self.off_topic,
            "fishing": self.fishing,
            "injected": self.injected,
            "small_talk": self.small_talk,
        }

    def tests(self) -> dict[str, list[str]]:
        """Kind to the messages held back."""
        return {
            "off_topic": self.off_topic_tests,
            "fishing": self.fishing_tests,
            "injected": self.injected_tests,
            "small_talk": self.small_talk_tests,
        }


class TwoPart(_Strict):
    """A test message that asks two things; both topics must be answered."""

    person: str
    message: Phrasing
    topics: list[TopicName] = Field(min_length=2)

    @model_validator(mode="after")
    def _topics_are_the_persons(self) -> TwoPart:
        for topic in self.topics:
            if not topic.startswith(f"{self.person}/"):
                raise ValueError(f"{topic} is no topic of {self.person}")
        return self


class Phrasings(_Strict):
    """The whole file. ``topics`` maps ``person/topic`` to its messages."""

    topics: dict[TopicName, TopicPhrasings] = Field(min_length=1)
    negatives: NegativePhrasings = NegativePhrasings()
    two_part: list[TwoPart] = []

    def neighbour_tests(self) -> Iterator[tuple[str, str]]:
        """(person, message) for every test message of a topic, sent to each of the people who do not hold the topic."""
        people = sorted({name.split("/")[0] for name in self.topics})
        for name, topic in self.topics.items():
            for message in (*topic.tests, *topic.tests_zh):
                for person in people:
                    if not name.startswith(f"{person}/"):
                        yield person, message


def is_chinese(text: str) -> bool:
    """Whether a message is written in Chinese; identifiers and file names in it do not make it English."""
    return len(_CHINESE.findall(text)) >= 2


def load_phrasings(path: Path) -> Phrasings:
    """Read and check ``phrasings.toml``. Raises ``ScenarioInvalid`` with every problem and its place in the file."""
    scenario = path.parent.name
    try:
        raw: Mapping[str, object] = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as missing:
        raise ScenarioInvalid(scenario, [Problem(path.name, "", "the file is missing")]) from missing
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ScenarioInvalid(scenario, [Problem(path.name, "", f"not valid TOML: {error}")]) from error
    try:
        return Phrasings.model_validate(raw)
    except ValidationError as error:
        problems = [Problem(path.name, _place(found["loc"]), found["msg"]) for found in error.errors()]
        raise ScenarioInvalid(scenario, problems) from error


def _place(location: tuple[int | str, ...]) -> str:
    """``topics."molefe/clock".examples[3]``, as the author wrote it."""
    text = ""
    for part in location:
        if isinstance(part, int):
            text += f"[{part}]"
        elif part != "[key]":
            name = f'"{part}"' if "/" in part else part
            text += f".{name}" if text else name
    return text
