"""What one message points at, read once: numbers, dates, identifiers, rows, documents, clauses.

Order matters: what was read as an identifier is not read again as a date, what was a date not as a number, so that
"HD-11/2026-07-14" is a report and nothing else and "14.2-14.4" is clauses where a document stands beside it.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from scenarios.kit.format import Document, RecordKind
from stakeholders.citations import CitedDocuments, CitedRows, DocumentFinder, Identifier, RecordFinder
from stakeholders.plain_text import Span, blank, normalise, sentences
from stakeholders.quantities import Quantity, find_quantities
from stakeholders.written_dates import find_dates

_PART = re.compile(r"[,;:()，；：、]|\bbut\b|\bwhile\b|\bwhereas\b|而|但", re.IGNORECASE)
_AND = re.compile(r"\band\b|和|与|及", re.IGNORECASE)


@dataclass(frozen=True)
class Evidence:
    """One message, read. ``text`` is its normalised form; spans refer to it."""

    text: str
    numbers: tuple[Quantity, ...]
    identifiers: tuple[Identifier, ...]
    rows: tuple[CitedRows, ...]
    documents: CitedDocuments

    def counted_numbers(self) -> int:
        """How many different numbers it gives; "one" and "half" are too common to be a sign of guessing."""
        return len({(number.value, number.unit) for number in self.numbers if not number.weak})

    def identifiers_given(self) -> Counter[str]:
        """How many different identifiers it gives of each kind, real ones or not."""
        given = Counter(kind for kind, _ in {(found.kind, found.text) for found in self.identifiers})
        for cited in self.rows:
            given[cited.kind] += cited.count
        return given

    def records(self) -> frozenset[tuple[str, str]]:
        """(kind, record) of everything it cites that exists."""
        found = {(identifier.kind, identifier.record) for identifier in self.identifiers if identifier.record}
        return frozenset(found | {(cited.kind, record) for cited in self.rows for record in cited.records})

    def clause_around(self, number: Quantity) -> str:
        """The words that go with a number: its sentence, cut between it and the other numbers of that sentence."""
        sentence = next(
            (cut for cut in sentences(self.text) if cut.start <= number.span.start < cut.end), Span(0, len(self.text))
        )
        inside = [other for other in self.numbers if sentence.holds(other.span)]
        if len(inside) <= 1:
            return self.text[sentence.start : sentence.end]
        pieces = self._pieces(sentence, inside)
        at = next(index for index, piece in enumerate(pieces) if piece.start <= number.span.start < piece.end)
        first, last = at, at
        while first > 0 and not self._has_number(pieces[first - 1], inside):
            first -= 1
        while last < len(pieces) - 1 and not self._has_number(pieces[last + 1], inside):
            last += 1
        return self.text[pieces[first].start : pieces[last].end]

    def _pieces(self, sentence: Span, inside: list[Quantity]) -> list[Span]:
        """The sentence cut at commas and the like, and at an "and" that stands between two numbers."""
        cuts = [sentence.start]
        for pattern in (_PART, _AND):
            for match in pattern.finditer(self.text, sentence.start, sentence.end):
                if not any(number.span.overlaps(Span(*match.span())) for number in inside):
                    cuts.append(match.start())
        cuts = sorted({*cuts, sentence.end})
        return [Span(start, end) for start, end in itertools.pairwise(cuts)]

    @staticmethod
    def _has_number(piece: Span, inside: list[Quantity]) -> bool:
        return any(piece.start <= number.span.start < piece.end for number in inside)


class EvidenceReader:
    """Reads messages with the records and documents of one task."""

    def __init__(
        self,
        kinds: Mapping[str, RecordKind],
        records: Mapping[str, Collection[str]],
        documents: Mapping[str, Document],
    ) -> None:
        self._records = RecordFinder(kinds, records)
        self._documents = DocumentFinder(documents)
        self.read = functools.lru_cache(maxsize=512)(
            self._read
        )  # what was told before is read again with every message

    def _read(self, text: str) -> Evidence:
        plain = normalise(text)
        identifiers = self._records.identifiers(plain)
        rest = blank(plain, [found.span for found in identifiers])
        names = self._documents.names(rest)
        rest = blank(rest, [span for _, span in names])
        dates = find_dates(rest)
        rest = blank(rest, [written.span for written in dates])
        documents = self._documents.read(rest, names)
        rest = blank(rest, list(documents.clause_spans))
        rows = self._records.rows(rest, dates, {found.kind for found in identifiers})
        rest = blank(rest, [span for cited in rows for span in cited.spans])
        return Evidence(plain, tuple(find_quantities(rest)), tuple(identifiers), tuple(rows), documents)
