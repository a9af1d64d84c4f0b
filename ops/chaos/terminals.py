"""The auditor's part about terminals. Pure.

The program in the terminal prints ``<name number time>``, counting from 0, and ``<got line>`` for each line it reads: so
its output says by itself whether something is missing in it or comes twice, whoever numbered the bytes.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from ops.chaos.account import Span, TerminalAccount, Typed
from ops.chaos.stored import StoredTerminal

LONGEST_GAP = 64 << 10  #: bytes that the record may note as left out, at a time
COUNTED = re.compile(rb"<(c\w+) (\d+) ([\d.]+)>")
GOT = re.compile(rb"<got (\w+)>")
UNRECORDED_AROUND_S = 2.0  #: before and after a full disk


def differences(
    seen: TerminalAccount, kept: StoredTerminal | None, full_disk: Sequence[tuple[float, float]] = ()
) -> Iterator[str]:
    """In words, everything in which a client's account and the terminal's record differ, or either is not whole."""
    if kept is None:
        if seen.spans:
            yield "it was seen and has no record"
        return
    yield from _continuity(seen)
    yield from _overlaps(kept)
    whole = _Whole(kept)
    for span in seen.spans:
        yield from whole.compare(span)
    for start, count, digest in kept.gaps:
        if count > LONGEST_GAP:
            yield f"the record lacks {count} bytes from {start}"
        yield from whole.verify(start, count, digest)
    pieces = whole.pieces()
    yield from _counted(pieces)
    yield from _input(seen.typed, pieces, kept.typed, full_disk)


def _continuity(seen: TerminalAccount) -> Iterator[str]:
    """Each connection went on where the client stood; what was left out was announced."""
    for before, after in zip(seen.spans, seen.spans[1:], strict=False):
        if after.start < before.end:
            yield f"{before.end - after.start} bytes before {before.end} came twice"
        elif (before.end, after.start) not in seen.left_out:
            yield f"{after.start - before.end} bytes from {before.end} never came"


def _overlaps(kept: StoredTerminal) -> Iterator[str]:
    parts = sorted(
        [(start, start + len(data)) for start, data in kept.pieces]
        + [(start, start + count) for start, count, _ in kept.gaps]
    )
    at = 0
    for start, end in parts:
        if start != at:
            yield f"the record's numbering jumps from {at} to {start}"
        at = end


class _Whole:
    """The output as the record has it; what the record left out is filled from what somebody saw of it."""

    def __init__(self, kept: StoredTerminal) -> None:
        self._bytes = bytearray(kept.end)
        self._recorded = bytearray(kept.end)  #: 1 for each byte that the record has
        for start, data in kept.pieces:
            self._bytes[start : start + len(data)] = data
            self._recorded[start : start + len(data)] = b"\1" * len(data)
        self._known = bytearray(self._recorded)  #: 1 also for those that the client alone has

    def compare(self, span: Span) -> Iterator[str]:
        end = min(span.end, len(self._bytes))
        if span.end > end:
            yield f"{span.end - max(end, span.start)} bytes were seen that are not in the record, which ends at {end}"
        at = span.start
        while at < end:
            recorded = self._recorded[at]
            until = self._recorded.find(1 - recorded, at, end)
            until = end if until < 0 else until
            data = span.data[at - span.start : until - span.start]
            if not recorded:
                self._bytes[at:until] = data
                self._known[at:until] = b"\1" * (until - at)
            elif self._bytes[at:until] != data:
                wrong = next(n for n, (a, b) in enumerate(zip(self._bytes[at:until], data, strict=True)) if a != b)
                yield f"from byte {at + wrong} on, what was seen is not what the record has"
                return
            at = until

    def verify(self, start: int, count: int, digest: str | None) -> Iterator[str]:
        """A gap's content, where somebody saw all of it, is what its hash says."""
        if digest is None or not all(self._known[start : start + count]):
            return
        if hashlib.sha256(self._bytes[start : start + count]).hexdigest() != digest:
            yield f"the {count} bytes that the record lacks from {start} were seen, and are not those it noted"

    def pieces(self) -> list[bytes]:
        """The output, cut where something is nowhere."""
        found, at = [], 0
        while at < len(self._known):
            hole = self._known.find(b"\0", at)
            hole = len(self._known) if hole < 0 else hole
            found.append(bytes(self._bytes[at:hole]))
            at = hole
            while at < len(self._known) and not self._known[at]:
                at += 1
        return found


def _counted(pieces: Sequence[bytes]) -> Iterator[str]:
    """Every program's numbers, one after the other; only where the record has a gap may some be missing."""
    expected: dict[bytes, int] = {}
    for number, piece in enumerate(pieces):
        begun: set[bytes] = set()
        for name, digits, _ in COUNTED.findall(piece):
            value, due = int(digits), expected.get(name, 0)
            after_a_hole = number > 0 and name not in begun
            begun.add(name)
            if value < due:
                yield f"line {value} of {name.decode()} comes twice"
            elif value > due and not after_a_hole:
                yield f"lines {due} to {value - 1} of {name.decode()} are missing"
            expected[name] = value + 1


def _input(
    typed: Sequence[Typed], pieces: Sequence[bytes], recorded: bytes, full_disk: Sequence[tuple[float, float]]
) -> Iterator[str]:
    executed = Counter(token.decode() for piece in pieces for token in GOT.findall(piece))
    in_record = Counter(re.findall(r"\w+", recorded.decode("ascii", "replace")))
    answered = {each.connection: number for number, each in enumerate(typed) if each.answered}
    for number, each in enumerate(typed):
        if executed[each.token] > 1:
            yield f"the line {each.token} was typed once and read {executed[each.token]} times"
        if in_record[each.token] > 1:
            yield f"the line {each.token} was typed once and is {in_record[each.token]} times in the record"
        if each.answered and not executed[each.token]:
            yield f"the answer to the line {each.token} was seen and is not in the record"
        if not each.answered and number < answered.get(each.connection, 0):
            yield f"the line {each.token} was lost, though later ones of the same connection came through"
        if each.answered and not in_record[each.token] and not _during(each.at, full_disk):
            yield f"the line {each.token} was read and is not in the record of what was typed"
    for token in set(executed) - {each.token for each in typed}:
        yield f"the line {token} was read and nobody typed it"


def _during(at: float, times: Sequence[tuple[float, float]]) -> bool:
    return any(begins - UNRECORDED_AROUND_S <= at <= ends + UNRECORDED_AROUND_S for begins, ends in times)
