"""What the classifier is taught beside the example messages: to read a clause, and that a message may ask two things.

Examples are single questions, but many come with a greeting, a case or a reason in front. Each clause of such a
message, read within it, is taught to belong to the message's topic too; otherwise "see HD-11/2607-06" in front of a
question is taken for a question of its own. And pairs of examples of one person, joined, are taught to belong to both
topics in equal parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from stakeholders.matcher.clauses import analysed, clauses, plain_words
from stakeholders.matcher.encoder import Encoded, Encoder, is_chinese

CLAUSE_WEIGHT = 0.5  #: of all clauses of a message together; the message itself weighs 1
PAIR_WEIGHT = 0.5
_EVERY = 3  #: of so many examples one is joined to another
_MOST_CHARACTERS = 500  #: of a pair
_JOINTS = (" ", "\n", " Also, ", " And ", " Second question: ", " Besides, ", "; ")
_CHINESE_JOINTS = (" ", "另外，", "还有，", "再问一下，", "；", "顺便问，")

Examples = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Lessons:
    """Rows to learn from: what they look like, the classes they belong to in equal parts, and what they weigh."""

    encoded: Encoded
    labels: list[tuple[str, ...]]
    weights: npt.NDArray[np.float64]

    @classmethod
    def joined(cls, several: Sequence[Lessons]) -> Lessons:
        return cls(
            Encoded(
                np.concatenate([lessons.encoded.vectors for lessons in several]),
                np.concatenate([lessons.encoded.chinese for lessons in several]),
            ),
            [label for lessons in several for label in lessons.labels],
            np.concatenate([lessons.weights for lessons in several]),
        )


def of_messages(examples: Examples, encoder: Encoder) -> tuple[Lessons, Lessons]:
    """The messages themselves, and the clauses of those that have several, each as it reads within its message."""
    read: list[tuple[str, list[str]]] = []
    for message, _ in examples:
        text = analysed(message)
        parts = [plain_words(part.text) for part in clauses(text)]
        read.append((plain_words(text), parts if len(parts) > 1 else []))
    encoded = encoder.encode_messages(read)
    whole = np.array([row == 0 for _, parts in read for row in range(1 + len(parts))], dtype=bool)
    names = [(name,) for _, name in examples]
    counts = [len(parts) for _, parts in read]
    return (
        Lessons(encoded[whole], list(names), np.ones(len(names))),
        Lessons(
            encoded[~whole],
            [name for name, count in zip(names, counts, strict=True) for _ in range(count)],
            np.array([CLAUSE_WEIGHT / count for count in counts for _ in range(count)]),
        ),
    )


def of_pairs(examples: Examples, encoder: Encoder) -> Lessons:
    """Pairs of examples as whole messages."""
    joined = pairs(examples)
    encoded = encoder.encode([plain_words(message) for message, _ in joined])
    return Lessons(encoded, [names for _, names in joined], np.full(len(joined), PAIR_WEIGHT))


def pairs(examples: Examples) -> list[tuple[str, tuple[str, str]]]:
    """Messages made of two examples of one person on two topics. The same examples give the same pairs."""
    held: dict[tuple[str, bool], dict[str, list[str]]] = {}
    for message, name in examples:
        if "/" in name:
            topics = held.setdefault((name.split("/")[0], is_chinese(message)), {})
            topics.setdefault(name, []).append(message)
    found = []
    for (_, chinese), topics in held.items():
        names = list(topics)
        for at, first in enumerate(names):
            for place, message in enumerate(topics[first]):
                second = names[(at + 1 + place // _EVERY % max(1, len(names) - 1)) % len(names)]
                if place % _EVERY or second == first:
                    continue
                other = topics[second][place % len(topics[second])]
                if len(message) + len(other) <= _MOST_CHARACTERS:
                    found.append((_joined(message, other, place // _EVERY, chinese), (first, second)))
    return found


def _joined(first: str, second: str, turn: int, chinese: bool) -> str:
    joints = _CHINESE_JOINTS if chinese else _JOINTS
    stop = "" if first.rstrip().endswith((".", "?", "!", "。", "？", "！")) else ("。" if chinese else ".")
    return f"{first.rstrip()}{stop}{joints[turn % len(joints)]}{second}"
