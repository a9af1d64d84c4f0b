"""Where a message may change its subject: sentences, and questions joined to one another by "and" or "also"."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import pairwise

_LINE_BREAKS = {"\n", "\t", "\r"}
MOST_CLAUSES = 6
MOST_CHARACTERS = 1500  #: of a message that are analysed; the rest of a longer one is cut from its middle
_LEAST_WORDS, _LEAST_CHINESE = 3, 5

_ASKING = (
    r"(?:what|which|who|whom|whose|when|where|why|how|whether|if\s+so|is|am|are|was|were|do|does|did|can|could|may|might|must|should|"
    r"shall|would|will|has|have|please|also|besides|then|tell|i\s+also|are\s+there|is\s+there|"
    r"(?:up\s+to|above|below|over|within|until|from|under|after|about|for|of|by|at|in|on|to)\s+(?:wh(?:at|ich|om?|ose|en)|how))"
)
_ABBREVIATION = re.compile(
    r"(?:\b(?:no|nr|art|cl|am|mr|mrs|ms|dr|vs|e\.g|i\.e|approx|incl|resp|co|min|hrs?|ref|sec|para|pls|re)|\b[a-z])\.$",
    re.IGNORECASE,
)
_BREAK = re.compile(
    r"(?:"
    r"(?<=[.!?;:])\s+"
    r"|\s*[\r\n]+\s*"
    r"|(?<=[。！？；])\s*"
    r"|(?<=[!?;])(?=[\u3400-\u9fff])"  # half-width marks between Chinese sentences, as people type them
    rf"|,\s+(?={_ASKING}\b)"
    rf"|,?\s+(?=(?:and|but|or|plus|&)\s+(?:also\s+)?{_ASKING}\b)"
    r"|,?\s+(?=(?:also|besides|secondly|second,|furthermore|additionally|by the way|and then|and second)(?!\w))"
    r"|\s+(?=\(?[a-e1-9]\)\s)"
    r"|(?<=[，,])\s*(?=还有|另外|以及|顺便|再问|其次|第二)"
    r")",
    re.IGNORECASE,
)


#: A clause without any of these tells something; what is asked for stands elsewhere in the message.
_ASKS = re.compile(
    r"[?？]|\b(?:what|which|who|whom|whose|when|where|why|how|is|am|are|was|were|do|does|did|can|could|may|must|should|"
    r"would|will|please|pls|whether|confirm|tell\s+me|(?:need|like|want)\s+to\s+know|also)\b|"
    r"吗|呢|什么|怎么|哪|谁|几|多少|多久|是否|是不是|能不能|要不要|算不算|有没有|还是|请|何时|为什么",
    re.IGNORECASE,
)


class Asking(IntEnum):
    """Whether a clause asks something."""

    TELLS = 0
    MAY_ASK = 1
    ONE_OF_SEVERAL = 2  #: it ends in a question mark, and so does another clause


@dataclass(frozen=True)
class Clause:
    """A stretch of the message, from ``start`` to before ``end``."""

    start: int
    end: int
    text: str


def analysed(message: str) -> str:
    """The part of a message that is looked at: all of it, or its beginning and its end."""
    if len(message) <= MOST_CHARACTERS:
        return message
    half = MOST_CHARACTERS // 2
    return f"{message[:half]}\n{message[-half:]}"


def plain_words(text: str) -> str:
    """Compatible forms made one, invisible characters (controls, bidi marks, joiners) taken out, spaces single."""
    visible = (
        " " if char in _LINE_BREAKS else char
        for char in unicodedata.normalize("NFKC", text)
        if char in _LINE_BREAKS or unicodedata.category(char) not in {"Cc", "Cf", "Cs", "Co", "Cn"}
    )
    return " ".join("".join(visible).split())


def clauses(message: str) -> list[Clause]:
    """The message's clauses in order; together they are the whole message. At most ``MOST_CLAUSES``."""
    cuts = [0]
    for found in _BREAK.finditer(message):
        if _ABBREVIATION.search(message[max(0, found.start() - 8) : found.start()]):
            continue
        if cuts[-1] < found.end() < len(message):
            cuts.append(found.end())
    spans = list(zip(cuts, [*cuts[1:], len(message)], strict=True))
    return [Clause(start, end, message[start:end].strip()) for start, end in _joined(message, spans)]


def asking(parts: Sequence[Clause]) -> tuple[Asking, ...]:
    """Which clauses may ask something. What ends in a comma asks with the clause that follows it."""
    found = [_ASKS.search(part.text) is not None for part in parts]
    for place in range(len(parts) - 2, -1, -1):
        if parts[place].text.endswith((",", "，")):
            found[place] |= found[place + 1]
    marked = [part.text.endswith(("?", "？")) for part in parts]
    several = sum(marked) > 1
    return tuple(
        Asking.ONE_OF_SEVERAL if several and mark else Asking(asks) for asks, mark in zip(found, marked, strict=True)
    )


def _joined(message: str, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Scraps go with what follows them (the last one with what precedes); the last clauses of many are one."""
    joined: list[tuple[int, int]] = []
    pending: int | None = None
    for start, end in spans:
        begin = start if pending is None else pending
        pending = None
        if _is_scrap(message[begin:end]):
            pending = begin
        else:
            joined.append((begin, end))
    if pending is not None:
        begin, _ = joined.pop() if joined else (pending, len(message))
        joined.append((begin, len(message)))
    return _fewer(message, joined)


def _fewer(message: str, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """At most ``MOST_CLAUSES``: the shortest neighbours become one, questions last."""
    while len(spans) > MOST_CLAUSES:
        costs = [
            (sum(message[start:end].rstrip().endswith(("?", "？")) for start, end in pair), pair[1][1] - pair[0][0])
            for pair in pairwise(spans)
        ]
        place = costs.index(min(costs))
        spans = [*spans[:place], (spans[place][0], spans[place + 1][1]), *spans[place + 2 :]]
    return spans


def _is_scrap(text: str) -> bool:
    chinese = len(re.findall(r"[\u3400-\u9fff]", text))
    return chinese < _LEAST_CHINESE if chinese else len(re.findall(r"\w+", text)) < _LEAST_WORDS
