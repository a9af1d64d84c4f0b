"""One spelling of a text before anything is read in it: width, dashes, quotes and spaces made alike."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

LATIN = "A-Za-z0-9\u00c0-\u024f"  #: what a Latin word consists of; Chinese needs no word boundary
WORD_START, WORD_END = f"(?<![{LATIN}])", f"(?![{LATIN}])"
TAKEN = "\x1f"  #: fills a span that was read as something, so that it is not read again as something else

_DASHES = re.compile("[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]")
_QUOTES = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u00b4": "'", "`": "'"})
_FRACTIONS = str.maketrans({"\u00bd": ".5", "\u00bc": ".25", "\u00be": ".75", "\u2044": "/"})  # 1½ is 1.5, not 11/2
_SENTENCE_END = re.compile(r"[!?。！？；;\n]+|(?<![A-Za-z]\.[A-Za-z])(?<!\b(?:No|no|Am|Co|co))(?<!\bArt)\.(?=\s|$)")
_CJK = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")


def normalise(text: str) -> str:
    """NFKC (full-width digits and signs become plain ones), one dash, straight quotes. Case and lines are kept."""
    return _DASHES.sub("-", unicodedata.normalize("NFKC", text.translate(_FRACTIONS))).translate(_QUOTES)


def has_chinese(text: str) -> bool:
    return _CJK.search(text) is not None


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a normalised text, end excluded."""

    start: int
    end: int

    @property
    def length(self) -> int:
        return self.end - self.start

    def overlaps(self, other: Span) -> bool:
        return self.start < other.end and other.start < self.end

    def holds(self, other: Span) -> bool:
        return self.start <= other.start and other.end <= self.end


def blank(text: str, spans: list[Span]) -> str:
    """The text with these spans marked as taken; positions stay what they were."""
    pieces = list(text)
    for span in spans:
        pieces[span.start : span.end] = TAKEN * span.length
    return "".join(pieces)


def sentences(text: str) -> list[Span]:
    """Spans that cover the text, cut where a sentence ends ("No. 2" and "14.2" do not end one)."""
    found, start = [], 0
    for end in _SENTENCE_END.finditer(text):
        found.append(Span(start, end.end()))
        start = end.end()
    if start < len(text) or not found:
        found.append(Span(start, len(text)))
    return found


def sentence_of(text_sentences: list[Span], span: Span) -> Span:
    for sentence in text_sentences:
        if sentence.start <= span.start < sentence.end:
            return sentence
    return text_sentences[-1]
