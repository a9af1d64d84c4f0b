"""Terms that a gate wants mentioned: words with stems, one wrong letter forgiven, Chinese by substring."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from stakeholders.plain_text import LATIN, has_chinese, normalise
from stakeholders.quantities import Quantity, canonical_unit, find_quantities, read_quantity

FORGIVING_LETTERS = 6  #: terms of so many letters or more may have one wrong, missing, added or swapped letter
SHORT_LETTERS = 4  #: … but no word shorter than this, and one shorter than the above keeps its first letter
_WORD = re.compile(rf"[{LATIN}]+")
_POSSESSIVE = re.compile(r"'s\b", re.IGNORECASE)
_PARTICLES = re.compile("[了过着个]")  # what Chinese puts between a verb and its object: 换钻头, 换了个钻头


@dataclass(frozen=True)
class SpokenText:
    """A text made ready to look for terms in."""

    words: tuple[str, ...]
    joined: str  #: without any space, for Chinese
    bare: str  #: and without the particles of verbs
    quantities: tuple[Quantity, ...]

    @classmethod
    @lru_cache(maxsize=512)
    def of(cls, text: str) -> SpokenText:
        plain = _POSSESSIVE.sub("", normalise(text))
        joined = re.sub(r"\s+", "", plain).casefold()
        words = tuple(_WORD.findall(plain.casefold()))
        return cls(words, joined, _PARTICLES.sub("", joined), tuple(find_quantities(plain)))


@dataclass(frozen=True)
class _Word:
    letters: str
    stem: bool

    def fits(self, word: str) -> bool:
        return word.startswith(self.letters) if self.stem else word == self.letters

    def nearly_fits(self, word: str) -> bool:
        """Whether one wrong letter keeps it from fitting."""
        wanted = self.letters
        if not self.stem:
            return abs(len(word) - len(wanted)) <= 1 and one_letter_apart(word, wanted)
        return any(one_letter_apart(word[:length], wanted) for length in range(len(wanted) - 1, len(wanted) + 2))


class Term:
    """One term of a ``mentions`` group, as authors write it: ``own use``, ``confirm*``, ``change* the bit``, 自用."""

    def __init__(self, text: str) -> None:
        self.text = normalise(text).strip()
        self._chinese = re.sub(r"[\s*]+", "", self.text).casefold() if has_chinese(self.text) else None
        self._words = tuple(
            _Word(word.casefold().rstrip("*"), word.endswith("*"))
            for word in re.findall(rf"[{LATIN}]+\*?", _POSSESSIVE.sub("", self.text))
        )
        quantity = read_quantity(self.text)
        self._quantity = quantity if quantity is not None and not quantity.weak else None
        if self._chinese is None and not self._words:
            raise ValueError(f"the term {text!r} has no letters")

    def found_in(self, spoken: SpokenText) -> bool:
        if self._chinese is not None:
            if self._chinese in spoken.joined or _PARTICLES.sub("", self._chinese) in spoken.bare:
                return True
        elif any(
            self._stands_at(spoken.words[start : start + len(self._words)])
            for start in range(len(spoken.words) - len(self._words) + 1)
        ):
            return True
        return self._quantity is not None and any(self._same_number(found) for found in spoken.quantities)

    def _stands_at(self, words: tuple[str, ...]) -> bool:
        """Whether these words are the term, with one wrong letter in all at most."""
        wrong = [(wanted, word) for wanted, word in zip(self._words, words, strict=True) if not wanted.fits(word)]
        if len(wrong) != 1 or sum(len(wanted.letters) for wanted in self._words) < FORGIVING_LETTERS:
            return not wrong
        wanted, word = wrong[0]
        if not wanted.letters.isalpha() or len(wanted.letters) < SHORT_LETTERS:
            return False
        if len(wanted.letters) < FORGIVING_LETTERS and word[:1] != wanted.letters[:1]:
            return False
        return wanted.nearly_fits(word)

    def _same_number(self, found: Quantity) -> bool:
        """A number word is also met by its digits: ``eleven`` by "11" and by "11 h", ``11 h`` not by "11 days"."""
        wanted = self._quantity
        assert wanted is not None  # noqa: S101 - the caller checked it
        units = {canonical_unit(wanted.unit), canonical_unit(found.unit)}
        return wanted.value == found.value and (None in units or len(units) == 1)


@lru_cache(maxsize=4096)
def compiled(text: str) -> Term:
    """``Term(text)``, made once."""
    return Term(text)


def one_letter_apart(word: str, wanted: str) -> bool:
    """Whether one substitution, insertion, deletion or swap of neighbours at most makes the words equal."""
    if word == wanted:
        return True
    shorter, longer = sorted((word, wanted), key=len)
    if len(longer) - len(shorter) > 1:
        return False
    start = next((index for index, pair in enumerate(zip(shorter, longer, strict=False)) if pair[0] != pair[1]), None)
    if start is None:
        return True
    if len(shorter) != len(longer):
        return shorter[start:] == longer[start + 1 :]
    if shorter[start + 1 :] == longer[start + 1 :]:
        return True
    return shorter[start : start + 2] == longer[start : start + 2][::-1] and shorter[start + 2 :] == longer[start + 2 :]
