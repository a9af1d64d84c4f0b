"""Trial runs: what ``[trial]`` of ``scenario.toml`` holds, and the words that come out of one.

A trial runs the workspace's system on a period of its own and tells what the customer's people noticed. The scenario's
grader says *which* sentences and with which names and counts; the words are those of the scenario, and nothing else can
come out: a name must be on its list, a count is rounded here and written in words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any

from pydantic import Field, field_validator, model_validator

from scenarios.kit.gates import Strict, Text
from scenarios.kit.render import render_text, render_tree
from scenarios.kit.scalars import Charge, Identifier

MOST_SENTENCES = 4  #: of one report, the worst first
MOST_NAMES = 2  #: in one place of a sentence
PLACEHOLDER = re.compile(r"(?<!\{)\{([a-z][a-z0-9_]*)\}(?!\})")
_FACT = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}", re.DOTALL)
_FILE, _PLACE = "scenario.toml", "trial"

_WORDS = (
    *("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS = {20: "twenty", 30: "thirty", 40: "forty", 50: "fifty", 60: "sixty", 70: "seventy", 80: "eighty", 90: "ninety"}


class Trial(Strict):
    """``prices``: of the first trial, the second …, in units of U; there are as many trials as prices.

    ``sentences``: id → fixed words, in which ``{{ … }}`` is a fact and ``{team}`` a place. A place that has a list in
    ``names`` takes one or two names of that list ("Ledger and Intake"), any other takes a rounded count ("twenty").
    ``quiet`` is what is said when the grader has nothing to tell.
    """

    prices: Annotated[list[Charge], Field(min_length=1, max_length=20)]
    quiet: Text
    names: dict[Identifier, Annotated[list[Text], Field(min_length=1)]] = {}
    sentences: Annotated[dict[Identifier, Text], Field(min_length=1)]

    @field_validator("prices")
    @classmethod
    def they_never_fall(cls, prices: list[Any]) -> list[Any]:
        if any(later < earlier for earlier, later in pairwise(prices)):
            raise ValueError("a later trial costs as much as the one before, or more")
        return prices

    @model_validator(mode="after")
    def every_list_is_used_and_every_brace_is_a_place(self) -> Trial:
        used: set[str] = set()
        for name, words in self.sentences.items():
            left = PLACEHOLDER.sub("", _FACT.sub("", words))
            if "{" in left or "}" in left:
                raise ValueError(
                    f"sentences.{name}: a brace that is neither a fact ({{{{ … }}}}) nor a place ({{team}})"
                )
            used |= set(PLACEHOLDER.findall(words))
        if unused := sorted(set(self.names) - used):
            raise ValueError(f"names.{unused[0]}: no sentence has a place {{{unused[0]}}}")
        if "{" in _FACT.sub("", self.quiet):
            raise ValueError("quiet: says what is so when there is nothing to tell; it has no places")
        return self


@dataclass(frozen=True, slots=True)
class Said:
    """One sentence of a report: its id in ``scenario.toml``, and the words that people read."""

    id: str
    text: str


class TrialMisworded(ValueError):
    """The grader told something that the scenario has no words for: a fault of the scenario, never of a delivery."""


@dataclass(frozen=True, slots=True)
class TrialWords:
    """The sentences of a trial on one task: their facts are filled in, their places are still open."""

    quiet: str
    names: Mapping[str, Sequence[str]]
    sentences: Mapping[str, str]

    @classmethod
    def of(cls, trial: Trial, facts: Mapping[str, Any]) -> TrialWords:
        """Raises ``scenarios.kit.render.TextProblem``."""
        return cls(
            quiet=render_text(trial.quiet, facts, file=_FILE, place=f"{_PLACE}.quiet"),
            names=render_tree(trial.names, facts, file=_FILE, place=f"{_PLACE}.names"),
            sentences=render_tree(trial.sentences, facts, file=_FILE, place=f"{_PLACE}.sentences"),
        )

    def report(self, found: Iterable[tuple[str, Mapping[str, Any]]]) -> tuple[Said, ...]:
        """What people say of these findings (sentence id, place → count or names), the worst first: the first four.

        Raises ``TrialMisworded``, also for a finding that is not among the four.
        """
        said = dict.fromkeys(Said(name, self._sentence(name, values)) for name, values in found)
        return tuple(said)[:MOST_SENTENCES] or (Said("quiet", self.quiet),)

    def could_say(self, name: str, text: str) -> bool:
        """Whether some findings give this text under this id."""
        if name == "quiet":
            return text == self.quiet
        template = self.sentences.get(name)
        if template is None:
            return False
        parts = PLACEHOLDER.split(template)
        pattern = "".join(self._any_of(part) if odd % 2 else re.escape(part) for odd, part in enumerate(parts))
        return re.fullmatch(pattern, text, re.IGNORECASE) is not None

    def _sentence(self, name: str, values: Mapping[str, Any]) -> str:
        template = self.sentences.get(name)
        if template is None:
            raise TrialMisworded(f"trial.sentences has no {name!r}")
        wanted = set(PLACEHOLDER.findall(template))
        if wanted != set(values):
            raise TrialMisworded(
                f"trial.sentences.{name} has the places {_listed(wanted)}, the grader filled {_listed(values)}"
            )
        text = PLACEHOLDER.sub(lambda place: self._filled(name, place[1], values[place[1]]), template)
        return text[:1].upper() + text[1:]

    def _filled(self, name: str, place: str, value: Any) -> str:
        if place in self.names:
            chosen = [value] if isinstance(value, str) else value
            if not isinstance(chosen, list | tuple) or not 1 <= len(chosen) <= MOST_NAMES:
                raise TrialMisworded(f"trial.sentences.{name}: {place} takes one or two names, not {value!r}")
            for one in chosen:
                if one not in self.names[place]:
                    raise TrialMisworded(f"trial.sentences.{name}: {one!r} is not among trial.names.{place}")
            return " and ".join(dict.fromkeys(chosen))
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise TrialMisworded(f"trial.sentences.{name}: {place} takes a count from 0, not {value!r}")
        return count_in_words(value)

    def _any_of(self, place: str) -> str:
        if place not in self.names:
            return r"(?:[a-z]+(?:-[a-z]+)?|[\d,]+)"
        one = "|".join(re.escape(name) for name in self.names[place])
        return f"(?:{one})(?: and (?:{one}))?"


def _listed(places: Iterable[str]) -> str:
    return ", ".join(sorted(places)) or "none"


def rounded(count: int) -> int:
    """A count as people remember it: up to twelve as it is, then by fives, tens, fifties, and two leading digits."""
    if count <= 12:
        return count
    step = 5 if count < 30 else 10 if count < 100 else 50 if count < 500 else 10 ** (len(str(count)) - 2)
    return (2 * count + step) // (2 * step) * step


def count_in_words(count: int) -> str:
    """A rounded count: ``seven``, ``twenty``, ``150``, ``1,200``."""
    near = rounded(count)
    if near < len(_WORDS):
        return _WORDS[near]
    if near < 100:
        tens, ones = near - near % 10, near % 10
        return f"{_TENS[tens]}-{_WORDS[ones]}" if ones else _TENS[tens]
    return f"{near:,}"
