"""The matcher: which topics of the person asked does a message speak of?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fdegym.lib.errors import FdegymError
from scenarios.kit.phrasings import Phrasings
from stakeholders.matcher.clauses import Clause, analysed, asking, clauses, plain_words
from stakeholders.matcher.decision import (
    INJECTED,
    NEGATIVES,
    NEIGHBOUR,
    OFF_TOPIC,
    SMALL_TALK,
    Thresholds,
    Verdict,
    closeness,
    decide,
    people,
)
from stakeholders.matcher.encoder import Encoder, Matrix, is_chinese, shared_encoder
from stakeholders.matcher.fitted import Fitted
from stakeholders.matcher.steering import is_steering

MOST_PARTS = 4  #: three are answered; a fourth tells the engine that the person must break off
MOST_READ_TWICE = 140  #: characters of a message whose clauses are read by themselves too: longer ones take too long
_SCORES_KEPT = 5
_SMALL_TALK_SHARE = 0.35


class PhrasingsMissing(FdegymError):
    """A topic has no phrasings, so no message could ever reach it."""


@dataclass(frozen=True)
class TopicInfo:
    """A topic as the matcher sees it. ``about`` is for authors; the matcher learns from phrasings alone."""

    id: str  #: ``person/topic``
    person: str
    subject: str | None
    about: str


@dataclass(frozen=True)
class TopicScore:
    topic: str
    score: float


@dataclass(frozen=True)
class MatchedPart:
    """``text`` is the part of the message given to this topic; all of it when there is one topic."""

    topic: str
    text: str
    score: float


@dataclass(frozen=True)
class Match:
    """``parts`` in the order asked; without any, ``rejected`` says what the message was taken for.

    ``rejected`` is ``off_topic``, ``fishing``, ``injected``, ``neighbour`` (somebody else's topic) or ``None``.
    """

    parts: tuple[MatchedPart, ...]
    rejected: str | None
    small_talk: bool
    scores: tuple[TopicScore, ...]


@dataclass(frozen=True)
class Heard:
    """A message as the classifier sees it. ``shares`` (1 + clauses, classes): the whole message first.

    A clause of a short message has the mean of its shares within the message and by itself: within, it takes the colour of
    its neighbours; by itself, it lacks what they name.
    """

    message: str
    clauses: tuple[Clause, ...]
    shares: Matrix
    steering: bool


_NOTHING = Match((), OFF_TOPIC, False, ())


class Matcher:
    """One scenario's matcher. Deterministic, without network; safe to share between threads."""

    def __init__(self, fitted: Fitted, encoder: Encoder, topics: Sequence[TopicInfo], limits: Thresholds) -> None:
        self._fitted, self._encoder, self._limits = fitted, encoder, limits
        self._classes = fitted.classifier.classes
        self._people = people(self._classes, {topic.id: topic.subject for topic in topics})

    @classmethod
    def load(
        cls, phrasings: Phrasings, topics: Sequence[TopicInfo], cache_dir: Path | None, shipped: Path | None = None
    ) -> Matcher:
        """Fit the matcher to a scenario, or read what was fitted before from ``shipped`` or ``cache_dir``.

        Fitting takes about half a minute for a scenario, reading a few milliseconds. Raises ``PhrasingsMissing``.
        """
        missing = sorted({topic.id for topic in topics} - set(phrasings.topics))
        if missing:
            raise PhrasingsMissing(
                f"phrasings.toml has no examples for {', '.join(missing)}; write them and try again."
            )
        encoder = shared_encoder()
        return cls(Fitted.cached(phrasings, encoder, cache_dir, shipped), encoder, topics, Thresholds())

    def match(self, message: str, person: str) -> Match:
        """What a message to ``person`` speaks of. Never raises, whatever the message; long ones are looked at in part."""
        return self.judge(self.hear(message), person)

    def hear(self, message: str) -> Heard:
        """The part of matching that does not depend on who is asked."""
        text = analysed(message)
        plain = plain_words(text)
        if not any(char.isalnum() for char in plain):
            return Heard(message, (), np.zeros((0, len(self._classes))), False)
        parts = clauses(text)
        spoken = [plain_words(part.text) for part in parts] if len(parts) > 1 else []
        again = spoken if len(plain) <= MOST_READ_TWICE and not is_chinese(plain) else []
        encoded = self._encoder.encode_messages([(plain, spoken), *((clause, ()) for clause in again)])
        shares = self._fitted.classifier.shares(self._fitted.centre.features(encoded))
        heard, alone = shares[: 1 + len(spoken)], shares[1 + len(spoken) :]
        if again:
            heard[1:] = (heard[1:] + alone) / 2
        return Heard(message, tuple(parts), heard, is_steering(plain))

    def judge(self, heard: Heard, person: str) -> Match:
        """What ``person`` answers to a message that was heard."""
        view = self._people.get(person)
        if view is None or not len(heard.shares):
            return _NOTHING
        verdict = decide(heard.shares[0], heard.shares[1:], asking(heard.clauses), view, self._limits)
        if heard.steering:
            return Match((), INJECTED, False, self._scores(verdict))
        if verdict.topics:
            return Match(self._parts(heard.message, heard.clauses, verdict), None, False, self._scores(verdict))
        return self._unmatched(verdict, person)

    def closeness(self, heard: Heard, person: str) -> float:
        """How far the share nearest to a threshold is from it, 0 to 1; infinite where no threshold decides."""
        view = self._people.get(person)
        if view is None or not len(heard.shares) or heard.steering:
            return float("inf")
        return closeness(heard.shares[0], heard.shares[1:], asking(heard.clauses), view, self._limits)

    def _parts(self, message: str, parts: Sequence[Clause], verdict: Verdict) -> tuple[MatchedPart, ...]:
        whole = len(verdict.topics) == 1
        return tuple(
            MatchedPart(
                self._classes[topic],
                message if whole else " ".join(parts[place].text for place in places),
                round(score, 3),
            )
            for topic, places, score in verdict.topics[:MOST_PARTS]
        )

    def _unmatched(self, verdict: Verdict, person: str) -> Match:
        best = self._classes[verdict.best]
        share = float(verdict.shares[verdict.best])
        if best == SMALL_TALK:
            small_talk = share >= _SMALL_TALK_SHARE
            return Match((), None if small_talk else OFF_TOPIC, small_talk, self._scores(verdict))
        if best in NEGATIVES:
            rejected: str | None = best
        else:
            rejected = None if best.startswith(f"{person}/") else NEIGHBOUR
        return Match((), rejected, False, self._scores(verdict))

    def _scores(self, verdict: Verdict) -> tuple[TopicScore, ...]:
        order = np.argsort(-verdict.shares, kind="stable")[:_SCORES_KEPT]
        return tuple(TopicScore(self._classes[place], float(verdict.shares[place])) for place in order)
