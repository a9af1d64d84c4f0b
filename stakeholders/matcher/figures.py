"""How good is a matcher on messages it has never seen? The figures that a release must reach, measured."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import sqrt

from scenarios.kit.phrasings import Phrasings
from stakeholders.matcher.decision import SMALL_TALK
from stakeholders.matcher.matching import Heard, Match, Matcher, TopicInfo

#: A message this close to a threshold is answered or not by the last digit of a share.
NEAR = 0.002
_NORMAL_95 = 1.959964


@dataclass
class Share:
    """``hits`` of ``of``."""

    hits: int = 0
    of: int = 0

    def count(self, hit: bool) -> None:
        self.hits += hit
        self.of += 1

    @property
    def value(self) -> float:
        """Between 0 and 1; 0 of nothing."""
        return self.hits / self.of if self.of else 0.0

    @property
    def bounds(self) -> tuple[float, float]:
        """Where the true share lies in 95 of 100 such samples (Wilson); 0 to 1 of nothing."""
        if not self.of:
            return 0.0, 1.0
        spread = _NORMAL_95**2 / self.of
        middle = (self.value + spread / 2) / (1 + spread)
        reach = _NORMAL_95 / (1 + spread) * sqrt(self.value * (1 - self.value) / self.of + spread / self.of / 4)
        return max(0.0, middle - reach), min(1.0, middle + reach)

    def __str__(self) -> str:
        low, high = self.bounds
        return f"{self.value:.3f}  [{low:.3f}, {high:.3f}]  {self.hits}/{self.of}"


@dataclass(frozen=True)
class Miss:
    """A test message that was not treated as it should have been."""

    person: str
    message: str
    wanted: str
    got: str
    scores: str


@dataclass
class Figures:
    """Keys of ``given``, ``right`` and ``heard``: (person, language), with ``all`` for everybody.

    ``given``: on-topic messages answered at first try on the right topic and no other. ``right``: the same of those that
    are answered at all; ``heard``: of those, answered on the right topic, whatever else is answered too. ``wrongly``: by
    kind (``off_topic``, ``fishing``, ``injected``, ``neighbour``, ``small_talk``), messages answered though they should
    not be. ``two_part``: messages with two questions, both answered; ``two_part_alone``: and nothing else, in the order
    asked. ``gates``: given the topic, gates that are met or not as they should be (``stakeholders.gate_phrasings`` counts
    them). ``near``: messages of any kind within ``NEAR`` of a threshold.
    """

    given: dict[tuple[str, str], Share] = field(default_factory=dict)
    right: dict[tuple[str, str], Share] = field(default_factory=dict)
    heard: dict[tuple[str, str], Share] = field(default_factory=dict)
    wrongly: dict[str, Share] = field(default_factory=dict)
    acknowledged: Share = field(default_factory=Share)
    two_part: Share = field(default_factory=Share)
    two_part_alone: Share = field(default_factory=Share)
    gates: Share = field(default_factory=Share)
    near: list[Miss] = field(default_factory=list)
    confusions: Counter[tuple[str, str]] = field(default_factory=Counter)
    misses: list[Miss] = field(default_factory=list)


def measure(
    matcher: Matcher, phrasings: Phrasings, topics: Sequence[TopicInfo], figures: Figures | None = None
) -> Figures:
    """Put every test message of ``phrasings`` to the matcher: those of topics to their holder and to everybody else.

    Counts into ``figures`` if given, so that several scenarios or folds can be judged as one.
    """
    figures = Figures() if figures is None else figures
    holders = sorted({name.split("/")[0] for name in phrasings.topics})
    subjects = {topic.id: topic.subject for topic in topics}
    for name, language, message in _topic_tests(phrasings):
        heard = matcher.hear(message)
        for person in holders:
            if name.startswith(f"{person}/"):
                _on_topic(figures, matcher, heard, name, language)
            elif not _shares_subject(name, person, subjects):
                _not_to_answer(figures, matcher.judge(heard, person), person, message, "neighbour")
    for kind, messages in phrasings.negatives.tests().items():
        for message in messages:
            heard = matcher.hear(message)
            for person in holders:
                match = matcher.judge(heard, person)
                _not_to_answer(figures, match, person, message, kind)
                if kind == SMALL_TALK:
                    figures.acknowledged.count(match.small_talk)
    for two in phrasings.two_part:
        heard = matcher.hear(two.message)
        match = matcher.judge(heard, two.person)
        got = [part.topic for part in match.parts]
        figures.two_part.count(set(two.topics) <= set(got))
        figures.two_part_alone.count(got == two.topics)
        _note_near(figures, matcher, heard, two.person, " + ".join(two.topics), match)
        if got != two.topics:
            figures.misses.append(_miss(two.person, two.message, " + ".join(two.topics), match))
    return figures


def _topic_tests(phrasings: Phrasings) -> Iterable[tuple[str, str, str]]:
    for name, topic in phrasings.topics.items():
        for language, messages in (("en", topic.tests), ("zh", topic.tests_zh)):
            for message in messages:
                yield name, language, message


def _shares_subject(name: str, person: str, subjects: Mapping[str, str | None]) -> bool:
    subject = subjects.get(name)
    return subject is not None and any(
        other == subject and topic.startswith(f"{person}/") for topic, other in subjects.items()
    )


def _on_topic(figures: Figures, matcher: Matcher, heard: Heard, name: str, language: str) -> None:
    person = name.split("/")[0]
    match = matcher.judge(heard, person)
    got = [part.topic for part in match.parts]
    for who in (person, "all"):
        figures.given.setdefault((who, language), Share()).count(got == [name])
        if got:
            figures.right.setdefault((who, language), Share()).count(got == [name])
            figures.heard.setdefault((who, language), Share()).count(name in got)
    _note_near(figures, matcher, heard, person, name, match)
    if got != [name]:
        figures.misses.append(_miss(person, heard.message, name, match))
        figures.confusions[name, " + ".join(got) or f"({match.rejected or 'unsure'})"] += 1


def _not_to_answer(figures: Figures, match: Match, person: str, message: str, kind: str) -> None:
    figures.wrongly.setdefault(kind, Share()).count(bool(match.parts))
    if match.parts:
        figures.misses.append(_miss(person, message, f"({kind})", match))


def _note_near(figures: Figures, matcher: Matcher, heard: Heard, person: str, wanted: str, match: Match) -> None:
    if matcher.closeness(heard, person) <= NEAR:
        figures.near.append(_miss(person, heard.message, wanted, match))


def _miss(person: str, message: str, wanted: str, match: Match) -> Miss:
    got = " + ".join(part.topic for part in match.parts) or f"({match.rejected or 'unsure'})"
    scores = ", ".join(f"{score.topic} {score.score:.2f}" for score in match.scores[:3])
    return Miss(person, message, wanted, got, scores)
