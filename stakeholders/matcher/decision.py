"""From the classifier's shares to topics: who answers what.

Every topic of the scenario competes, so that "ask somebody else" settles itself; topics that share a subject with one
of the person's own do not. The person who is asked counts for something: their own topics weigh ``OWN_WEIGHT`` times.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from stakeholders.matcher.clauses import Asking

Matrix: TypeAlias = npt.NDArray[np.float64]
Mask: TypeAlias = npt.NDArray[np.bool_]

OFF_TOPIC, FISHING, INJECTED, SMALL_TALK = "off_topic", "fishing", "injected", "small_talk"
NEGATIVES = (FISHING, INJECTED, OFF_TOPIC, SMALL_TALK)
NEIGHBOUR = "neighbour"


@dataclass(frozen=True)
class Thresholds:
    """Fixed for a release: chosen by cross-validation over the examples (``ops/matcher_figures.py --folds``)."""

    own_weight: float = 3.0  #: how much likelier a message to somebody is about what they hold
    whole: float = 0.30  #: share of the best topic over the whole message
    clause: float = 0.45  #: share of a topic in a clause that asks, for it to be a question of its own
    marked: float = 0.35  #: the same where both this and another clause end in a question mark
    told: float = 0.80  #: and in a clause that only tells something
    rescue: float = 0.50  #: share in one clause when the whole message is not clearly about anything of the person's
    rescue_echo: float = (
        0.15  #: and what it must then have in the whole message, if that sounds like somebody else's topic
    )


@dataclass(frozen=True)
class Person:
    """One person's view of the classes; masks over them, shaped (classes,)."""

    own: Mask
    others: Mask  #: topics that other people hold
    competing: Mask


def people(classes: Sequence[str], subjects: Mapping[str, str | None]) -> dict[str, Person]:
    """A ``Person`` for everybody who holds a topic. ``subjects`` maps ``person/topic`` to its shared subject."""
    held: dict[str, list[str]] = {}
    for name in classes:
        if "/" in name:
            held.setdefault(name.split("/")[0], []).append(name)
    views = {}
    for person, topics in held.items():
        shared = {subjects.get(topic) for topic in topics} - {None}
        own = np.array([name in topics for name in classes])
        competing = np.array([name in topics or subjects.get(name) not in shared for name in classes])
        views[person] = Person(own, np.array(["/" in name for name in classes]) & ~own, competing)
    return views


@dataclass(frozen=True)
class Verdict:
    """Topics with the clauses given to each, in the order asked: (class, clauses, score). Or why there is none."""

    topics: tuple[tuple[int, tuple[int, ...], float], ...]
    best: int
    shares: Matrix  #: (classes,) of the whole message, as this person hears it


def weighed(shares: Matrix, person: Person, own_weight: float) -> Matrix:
    """Shares as the person hears them, (texts, classes), rounded to the three places on which machines agree."""
    heard = shares * person.competing * np.where(person.own, own_weight, 1.0)
    rounded: Matrix = np.round(heard / np.maximum(heard.sum(axis=1, keepdims=True), 1e-12), 3)
    return rounded


def decide(whole: Matrix, parts: Matrix, asking: Sequence[Asking], person: Person, limits: Thresholds) -> Verdict:
    """``whole`` (classes,) of the message, ``parts`` (clauses, classes) of its clauses if it has several.

    ``asking``: which of the clauses may be questions, one for each.
    """
    heard = weighed(whole[None, :], person, limits.own_weight)[0]
    best = int(heard.argmax())  # of equal shares the first in order of the names
    accepted = bool(person.own[best]) and heard[best] >= limits.whole
    if len(parts) < 2:
        found = {best: heard[best]} if accepted else {}
        return Verdict(tuple((topic, (), float(score)) for topic, score in found.items()), best, heard)
    clauses = weighed(parts, person, limits.own_weight)
    found = _spoken_of(clauses, person.own, _needed(heard, accepted, asking, person, limits))
    if accepted:
        found.setdefault(best, float(heard[best]))
    return Verdict(_in_order(found, clauses), best, heard)


def closeness(whole: Matrix, parts: Matrix, asking: Sequence[Asking], person: Person, limits: Thresholds) -> float:
    """How far the share nearest to a threshold that decides is from it; infinite where none of the person's leads."""
    heard = weighed(whole[None, :], person, limits.own_weight)[0]
    best = int(heard.argmax())
    accepted = bool(person.own[best]) and heard[best] >= limits.whole
    distances = [abs(float(heard[best]) - limits.whole)] if person.own[best] else []
    if len(parts) > 1:
        clauses = weighed(parts, person, limits.own_weight)
        least = _needed(heard, accepted, asking, person, limits)
        for clause, needed in zip(clauses, least, strict=True):
            topic = int(clause.argmax())
            if person.own[topic] and not (accepted and topic == best):
                distances.append(abs(float(clause[topic] - needed[topic])))
    return min(distances, default=float("inf"))


def _needed(heard: Matrix, accepted: bool, asking: Sequence[Asking], person: Person, limits: Thresholds) -> Matrix:
    """(clauses, classes): the share that makes a clause a question about a topic."""
    if accepted:
        questions = np.array(asking) if any(asking) else np.full(len(asking), Asking.MAY_ASK)
        least = np.array([limits.told, limits.clause, limits.marked])[questions][:, None]
    else:
        leaning = person.others[int(heard.argmax())] & (heard < limits.rescue_echo)
        least = np.where(leaning, np.inf, limits.rescue)[None, :]
    return np.broadcast_to(least, (len(asking), len(heard)))


def _spoken_of(clauses: Matrix, own: Mask, least: Matrix) -> dict[int, float]:
    """The person's topics that lead a clause with at least the share that ``least`` (clauses, classes) asks of them."""
    found: dict[int, float] = {}
    for clause, needed in zip(clauses, least, strict=True):
        topic = int(clause.argmax())
        if own[topic] and clause[topic] >= needed[topic]:
            found[topic] = max(found.get(topic, 0.0), float(clause[topic]))
    return found


def _in_order(found: Mapping[int, float], clauses: Matrix) -> tuple[tuple[int, tuple[int, ...], float], ...]:
    """Every clause goes to the found topic that it speaks of most; one that speaks of none goes with its neighbour."""
    if not found:
        return ()
    topics = sorted(found)
    if len(topics) == 1:
        return ((topics[0], tuple(range(len(clauses))), found[topics[0]]),)
    owners = [topics[int(clause[topics].argmax())] if clause[topics].max() >= 0.15 else None for clause in clauses]
    for topic in topics:  # each keeps at least the clause that speaks of it most
        if topic not in owners:
            owners[int(clauses[:, topic].argmax())] = topic
    settled: list[int] = []
    for place, owner in enumerate(owners):
        following = next((later for later in owners[place:] if later is not None), None)
        before = settled[-1] if settled else None
        chosen = owner if owner is not None else (before if before is not None else following)
        settled.append(chosen if chosen is not None else topics[0])
    order = sorted((topic for topic in topics if topic in settled), key=settled.index)
    return tuple(
        (topic, tuple(place for place, owner in enumerate(settled) if owner == topic), found[topic]) for topic in order
    )
