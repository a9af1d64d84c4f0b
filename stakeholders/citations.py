"""What a message points at: identifiers of records, rows by their fields, documents and their clauses."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import PurePosixPath

from scenarios.kit.format import Document, RecordKind
from stakeholders.plain_text import WORD_END, WORD_START, Span, has_chinese, normalise, sentence_of, sentences
from stakeholders.written_dates import WrittenDate

MOST_COMBINATIONS = 64  #: a message that names more combinations of fields than this points at nothing


# ---- records ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Identifier:
    """Something of the form of a record's identifier. ``record`` is the record's own spelling, None: no such record."""

    kind: str
    record: str | None
    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class CitedRows:
    """Rows cited by their fields. ``count`` is how many values the most varied field has: a measure of strewing."""

    kind: str
    records: frozenset[str]
    count: int
    spans: tuple[Span, ...]


class RecordFinder:
    """Finds the identifiers of one task's visible data. Of all kinds, the longest form wins."""

    def __init__(self, kinds: Mapping[str, RecordKind], records: Mapping[str, Collection[str]]) -> None:
        self._patterns = {
            name: re.compile(rf"(?<![A-Za-z0-9])(?:{_spelled(kind)})(?![A-Za-z0-9])(?![-/]\d)", re.IGNORECASE)
            for name, kind in kinds.items()
        }
        self._existing = {name: {_bare(record): record for record in records.get(name, ())} for name in self._patterns}
        self._rows = {
            name: _RowForm(kind.fields, records.get(name, ()), split=kind.pattern is None)
            for name, kind in kinds.items()
            if kind.fields
        }

    def identifiers(self, text: str) -> list[Identifier]:
        """Everything of an identifier's form in a normalised text, in order, none overlapping another."""
        candidates = [
            (kind, Span(*match.span()), match[0])
            for kind, pattern in self._patterns.items()
            for match in pattern.finditer(text)
            if match[0]
        ]
        candidates.sort(key=lambda found: (-found[1].length, found[1].start, found[0]))
        kept: list[Identifier] = []
        for kind, span, written in candidates:
            if not any(span.overlaps(other.span) and span != other.span for other in kept):
                kept.append(Identifier(kind, self._existing[kind].get(_bare(written)), span, _bare(written)))
        return sorted(kept, key=lambda identifier: identifier.span.start)

    def rows(self, text: str, dates: list[WrittenDate], identified: Collection[str]) -> list[CitedRows]:
        """Records that a text cites by all of their fields; ``text`` has its identifiers and documents taken out.

        Of the kinds ``identified`` it gives an identifier: their fields are only read where it gives none.
        """
        return [
            cited
            for kind, form in self._rows.items()
            if kind not in identified and (cited := form.read(kind, text, dates)) is not None
        ]


class _RowForm:
    """How a record is cited by several fields, in any order and anywhere in the message.

    With ``split`` a record's name is its fields' values, joined by ``|``. Without, it is an identifier in which the
    fields' values are looked for; one that lacks a field is cited by its identifier alone.
    """

    def __init__(self, fields: Mapping[str, str], records: Collection[str], *, split: bool) -> None:
        self._names = list(fields)
        self._patterns = {
            name: re.compile(rf"{WORD_START}(?:{pattern}){WORD_END}", re.IGNORECASE) for name, pattern in fields.items()
        }
        self._records: dict[tuple[str, ...], str] = {}
        self._days: dict[str, date] = {}
        for record in records:
            values = record.split("|") if split else self._values_in(record)
            if values is not None:
                self._records[tuple(map(_bare, values))] = record
                if "date" in fields:
                    day = values[self._names.index("date")]
                    self._days[_bare(day)] = date.fromisoformat(day)

    def _values_in(self, record: str) -> list[str] | None:
        found = [self._patterns[name].search(record) for name in self._names]
        return [match[0] for match in found if match] if all(found) else None

    def read(self, kind: str, text: str, dates: list[WrittenDate]) -> CitedRows | None:
        choices: list[list[str]] = []
        named: list[int] = []  # how many different values the text gives for each field
        spans: list[Span] = []
        for name in self._names:
            if name == "date":
                choices.append([day_text for day_text, day in self._days.items() if any(w.means(day) for w in dates)])
                named.append(len({written.readings for written in dates}))
                spans += [written.span for written in dates]
                continue
            found = [(Span(*match.span()), _bare(match[0])) for match in self._patterns[name].finditer(text)]
            free = [(span, value) for span, value in found if not any(span.overlaps(taken) for taken in spans)]
            choices.append(sorted({value for _, value in free}))
            named.append(len(choices[-1]))
            spans += [span for span, _ in free]
        if not all(named):
            return None
        count = max(named)
        if math.prod(len(choice) for choice in choices) > MOST_COMBINATIONS:
            return CitedRows(kind, frozenset(), max(count, MOST_COMBINATIONS), tuple(spans))
        existing = {self._records[key] for key in itertools.product(*choices) if key in self._records}
        return CitedRows(kind, frozenset(existing), count, tuple(spans))


def _spelled(kind: RecordKind) -> str:
    """The pattern of an identifier; of a row that has none, its fields one after the other."""
    return kind.pattern or r"\s?[|/]\s?".join(f"(?:{pattern})" for pattern in kind.fields.values())


def _bare(identifier: str) -> str:
    """An identifier without what people leave out or write otherwise: case, spaces, dashes and strokes."""
    return re.sub(r"[\s|/_-]+", "", _fold(identifier))


def _fold(identifier: str) -> str:
    return normalise(identifier).casefold()


# ---- documents -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CitedDocuments:
    """Documents of one message. ``clauses`` holds (document, clause) where it is clear whose clause it is;
    ``loose`` those clause numbers whose document the message does not name."""

    named: frozenset[str] = frozenset()
    clauses: frozenset[tuple[str, str]] = frozenset()
    loose: frozenset[str] = frozenset()
    name_spans: tuple[Span, ...] = field(default=(), compare=False)
    clause_spans: tuple[Span, ...] = field(default=(), compare=False)

    @property
    def documents(self) -> frozenset[str]:
        """Every document pointed at, by name or by a clause that can only be its own."""
        return self.named | {document for document, _ in self.clauses}


_PREFIX = re.compile(
    r"(?:\b(?:clauses?|cl|articles?|arts?|sections?|secs?|paragraphs?|paras?|points?)\.?|§+|第|条款)\s*$", re.IGNORECASE
)
_CLAUSE_START = r"(?:(?<![A-Za-z0-9_.])|(?<=\bcl)|(?<=\bcl\.)|(?<=\bart\.)|(?<=\bsec\.)|(?<=\bpara\.))"
_JOIN = re.compile(r"\s*(?:,|and|or|&|-|to|through|和|与|及|、|至|到)\s*(?:第\s*)?", re.IGNORECASE)
_RANGE = re.compile(r"\s*(?:-|to|through|until|至|到)\s*(?:第\s*)?", re.IGNORECASE)
_MEASURE_FOLLOWS = re.compile(
    r"\s*(?:h|hrs?|hours?|min|minutes?|days?|percent|per cent|usd|m|ft|小时|天|米)\b|\s*[%$]", re.I
)


class DocumentFinder:
    """Finds the documents of a scenario by id, file name, title or alias, and clauses by their numbers."""

    def __init__(self, documents: Mapping[str, Document]) -> None:
        self._documents = documents
        self._names = [
            (document_id, re.compile(_name_pattern(name), re.IGNORECASE))
            for document_id, document in documents.items()
            for name in _names_of(document_id, document)
        ]
        every = sorted(
            {clause for document in documents.values() for clause in document.clauses}, key=len, reverse=True
        )
        spelled = "|".join(re.escape(clause).replace(r"\(", r"\s*\(") for clause in every)
        self._clause = (
            re.compile(rf"{_CLAUSE_START}(?:{spelled})(?![A-Za-z0-9]|\.\d|,\d)", re.IGNORECASE) if every else None
        )
        self._owners = {
            _fold(clause): {name for name, document in documents.items() if clause in document.clauses}
            for clause in every
        }
        self._spelling = {_fold(clause): clause for clause in every}

    def names(self, text: str) -> list[tuple[str, Span]]:
        """Documents named in a normalised text; where names overlap, the longest one counts."""
        candidates = [
            (document, Span(*match.span())) for document, pattern in self._names for match in pattern.finditer(text)
        ]
        candidates.sort(key=lambda found: (-found[1].length, found[1].start))
        kept: list[tuple[str, Span]] = []
        for document, span in candidates:
            if not any(span.overlaps(other) and not (span == other and document != name) for name, other in kept):
                kept.append((document, span))
        return sorted(kept, key=lambda found: found[1].start)

    def read(self, text: str, names: list[tuple[str, Span]]) -> CitedDocuments:
        """Clauses of a normalised text whose document names (``names``) and dates have been taken out."""
        named = frozenset(document for document, _ in names)
        attributed: set[tuple[str, str]] = set()
        loose: set[str] = set()
        spans: list[Span] = []
        cuts = sentences(text)
        for clause, span, introduced in self._clause_tokens(text):
            beside = {name for name, at in names if sentence_of(cuts, span).overlaps(at)}
            owners = self._owners_of(clause, named, beside)
            attributed |= {(owner, self._spelling[clause]) for owner in owners}
            if owners or introduced:
                spans.append(span)
            if not owners:
                loose.add(self._spelling[clause])
        name_spans = tuple(span for _, span in names)
        return CitedDocuments(named, frozenset(attributed), frozenset(loose), name_spans, tuple(spans))

    def _owners_of(self, clause: str, named: frozenset[str], beside: set[str]) -> set[str]:
        """Whose clause it is: the document named in its sentence, else one named in the message or the bare one."""
        owners = self._owners[clause]
        if owners & beside:
            return owners & beside
        bare = {name for name in owners if self._documents[name].bare_clauses}
        return (owners & named) | bare

    def _clause_tokens(self, text: str) -> list[tuple[str, Span, bool]]:
        """(clause, span, introduced as a clause), ranges spelled out. A bare "7" is a number, "clause 7" is not."""
        if self._clause is None:
            return []
        tokens: list[tuple[str, Span, bool]] = []
        previous: tuple[str, Span] | None = None
        for match in self._clause.finditer(text):
            clause, span = _fold(re.sub(r"\s+", "", match[0])), Span(*match.span())
            before = text[: span.start]
            gap = text[previous[1].end : span.start] if previous else ""
            follows = previous is not None and _JOIN.fullmatch(gap) is not None
            introduced = _PREFIX.search(before) is not None or (follows and tokens[-1][2])
            if introduced or (not clause.isdigit() and not _MEASURE_FOLLOWS.match(text[span.end :])):
                if previous is not None and _RANGE.fullmatch(gap):
                    tokens += [(inner, span, introduced) for inner in self._between(previous[0], clause)]
                tokens.append((clause, span, introduced))
                previous = (clause, span)
        return tokens

    def _between(self, first: str, last: str) -> list[str]:
        inner: set[str] = set()
        for document in self._documents.values():
            listed = [_fold(clause) for clause in document.clauses]
            if first in listed and last in listed:
                inner |= set(listed[listed.index(first) + 1 : listed.index(last)])
        return sorted(inner)


def _names_of(document_id: str, document: Document) -> list[str]:
    names = [document_id, document.title, *document.aliases]
    if document.file:
        path = PurePosixPath(document.file)
        names += [document.file, path.name, path.stem]
    return sorted({normalise(name).strip() for name in names})


def _name_pattern(name: str) -> str:
    """A name as people type it: case, spaces, underscores and hyphens are free; the dot of a short form stays."""
    if has_chinese(name):
        body = r"\s*".join(re.escape(char) for char in name if not char.isspace())
    else:
        pieces = re.findall(r"[^\W_]+|[^\w]|_", name)
        body = ""
        for position, piece in enumerate(pieces):
            if re.fullmatch(r"[\s_-]", piece):
                body += r"[\s_-]*" if not body.endswith(r"[\s_-]*") else ""
            elif piece == ".":
                before = pieces[position - 1] if position else ""
                body += r"\.?\s*" if len(before) > 2 or before.casefold() == "no" else r"\.\s*"
            else:
                body += re.escape(piece)
    head = WORD_START if re.match(r"[A-Za-z0-9]", name) else ""
    tail = WORD_END if re.search(r"[A-Za-z0-9]$", name) else ""
    number_goes_on = r"(?!\.\d)" if name[-1:].isdigit() else ""
    return f"{head}{body}{tail}{number_goes_on}"
