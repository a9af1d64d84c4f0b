"""Daily drilling reports: the log of a rig cut into days, re-issued when somebody corrects them, and signed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import Any

from numpy.random import Generator

from scenarios.oil_npt.world import wording
from scenarios.oil_npt.world.decks import Deck, chance
from scenarios.oil_npt.world.fleet import INITIALS, contractor_of
from scenarios.oil_npt.world.process import NEW_TOOL_CONTRACTORS, Draft
from scenarios.oil_npt.world.quarters import QUARTERS_A_DAY, midnight, moment, quarters
from scenarios.oil_npt.world.spans import Span, split
from scenarios.oil_npt.world.stoppages import Segment, Stoppage, Version

FIELD_OFFSET = quarters(5)  #: field time is ahead of UTC by this much
JOINT_CHANGES = (-4, -3, -2, 3, 4)  #: quarters by which a repair changes in a revision that both sides sign
ONE_SIDED_CHANGES = (-2, 3, 4, 6, 8)
REISSUES: Mapping[int, int] = {1: 17, 2: 2, 3: 1}  #: how often a corrected report is issued again
LATEST_ISSUE_DAYS = 6
MORNING = quarters(5)  #: the drop is taken at five


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a report, times in field quarters."""

    start: int
    end: int
    span: Span
    remark: str


@dataclass(slots=True)
class Issue:
    """A revision of a report as it goes out. ``issued`` is a field quarter plus minutes, in minutes."""

    rev: int
    issued_minute: int
    sign_operator: str
    sign_contractor: str
    lines: list[Line]

    @property
    def signed_by_both(self) -> bool:
        return bool(self.sign_operator and self.sign_contractor)


@dataclass(slots=True)
class Report:
    """A rig's report of one printed day, with all its revisions. ``in_utc``: written by the new tool in UTC and feet."""

    rig: str
    day: date
    begin: int
    in_utc: bool
    issues: list[Issue] = field(default_factory=list)
    delayed: bool = False
    changed_stop: int | None = None  #: index of the stop whose hours a re-issue changes

    @property
    def report_id(self) -> str:
        return f"{self.rig}/{self.day.isoformat()}"

    def binding_rev(self, binding: str) -> int:
        if binding == "first":
            return 0
        return max((issue.rev for issue in self.issues if issue.signed_by_both), default=0)

    def stops(self, kinds: frozenset[str], drafts: Sequence[Draft]) -> list[int]:
        """Indices of the stops of these kinds that the first issue tells of, in order."""
        seen = dict.fromkeys(line.span.stop for line in self.issues[0].lines if line.span.stop is not None)
        return [index for index in seen if drafts[index].kind in kinds]


class ReportBook:
    """All reports of one rig over a period, and how its stops read in their revisions."""

    def __init__(self, rig: str, drafts: Sequence[Draft]) -> None:
        self.rig = rig
        self.drafts = drafts
        self.reports: list[Report] = []

    def stoppages(self) -> list[Stoppage]:
        changed = {report.changed_stop: report for report in self.reports if report.changed_stop is not None}
        touched: dict[int, list[date]] = {}
        for report in self.reports:
            for issue in report.issues:
                for line in issue.lines:
                    if line.span.stop is not None:
                        days = touched.setdefault(line.span.stop, [])
                        if report.day not in days:
                            days.append(report.day)
        result = []
        for index, draft in enumerate(self.drafts):
            revised = changed.get(index)
            versions = [Version(0, True, _segments(draft))]
            if revised is not None:
                versions += [
                    Version(issue.rev, issue.signed_by_both, _revised_segments(draft, revised, issue, index))
                    for issue in revised.issues[1:]
                ]
            result.append(
                Stoppage(
                    rig=self.rig,
                    kind=draft.kind,
                    tag=draft.tag,
                    versions=tuple(versions),
                    report_dates=tuple(sorted(touched[index])),
                    revised_report=revised.day if revised is not None else None,
                )
            )
        return result


class ReportWriter:
    """Cuts timelines into reports and issues their revisions; quotas run over all rigs of a period."""

    def __init__(self, rng: Generator, facts: Mapping[str, Any]) -> None:
        self._rng = rng
        utc_from = str(facts["feed_utc_from"])
        self._utc_from = date.fromisoformat(utc_from) if utc_from else None
        self._reissued = chance(rng, 22)
        self._how_often = Deck(rng, REISSUES)
        self._joint = chance(rng, 55, 20)
        self._changed = chance(rng, 70, 20)

    def write(self, rig: str, spans: Sequence[Span], drafts: Sequence[Draft], days: tuple[date, date]) -> ReportBook:
        """Reports of the printed days ``days[0]`` to ``days[1]`` of one rig. ``spans`` must cover them."""
        book = ReportBook(rig, drafts)
        already_changed: set[int] = set()
        cursor = 0
        day = days[0]
        while day <= days[1]:
            report = Report(rig, day, *self._window(rig, day))
            lines, cursor = self._cut(spans, cursor, report.begin, report.begin + QUARTERS_A_DAY)
            report.issues.append(self._first_issue(report, lines))
            self._reissue(report, drafts, already_changed)
            book.reports.append(report)
            day += timedelta(days=1)
        return book

    def _window(self, rig: str, day: date) -> tuple[int, bool]:
        in_utc = self._utc_from is not None and day >= self._utc_from and contractor_of(rig) in NEW_TOOL_CONTRACTORS
        return midnight(day) + (FIELD_OFFSET if in_utc else 0), in_utc

    def _cut(self, spans: Sequence[Span], cursor: int, begin: int, end: int) -> tuple[list[Line], int]:
        lines: list[Line] = []
        while spans[cursor].end <= begin:
            cursor += 1
        index = cursor
        while index < len(spans) and spans[index].start < end:
            span = spans[index]
            remark = as_written = wording.as_typed(self._rng, span.remark)
            if span.start < begin:
                span = split(span, begin)[1]
                if span.stop is not None:
                    remark = wording.CONTINUED + as_written
            if span.end > end:
                span = split(span, end)[0]
            lines.append(Line(span.start, span.end, span, remark))
            index += 1
        if lines[0].start != begin or lines[-1].end != end:
            raise AssertionError("a report covers its whole day")
        return lines, max(0, index - 1)

    def _first_issue(self, report: Report, lines: list[Line]) -> Issue:
        operator, contractor = INITIALS[report.rig][(report.day.toordinal() // 14) % 2]
        drawn = (midnight(report.day) + QUARTERS_A_DAY) * 15 + int(self._rng.integers(10, 285))
        return Issue(0, max(drawn, (report.begin + QUARTERS_A_DAY) * 15), operator, contractor, lines)

    # ---- revisions ----

    def _reissue(self, report: Report, drafts: Sequence[Draft], already_changed: set[int]) -> None:
        stops = report.stops(frozenset("CO"), drafts)
        if not stops:
            report.delayed = self._rng.random() < 0.022
            return
        if not self._reissued.draw():
            return
        first = report.issues[0]
        count = self._how_often.draw()
        days = sorted(1 + int(day) for day in self._rng.permutation(LATEST_ISSUE_DAYS)[:count])
        target: int | None = None
        for number, later_days in enumerate(days, start=1):
            joint, changes = self._joint.draw(), self._changed.draw()
            lines = report.issues[-1].lines
            if changes:
                found = self._change(report, stops if target is None else [target], already_changed, joint)
                target, lines = found or (target, lines)
            issued = (midnight(report.day) + (later_days + 1) * QUARTERS_A_DAY) * 15 - int(
                self._rng.integers(30, 1_080)
            )
            contractor = first.sign_contractor if joint else ""
            report.issues.append(Issue(number, issued, first.sign_operator, contractor, lines))
        if target is not None:
            already_changed.add(target)
            report.changed_stop = target

    def _change(
        self, report: Report, stops: Sequence[int], already_changed: set[int], joint: bool
    ) -> tuple[int, list[Line]] | None:
        """Another length for one repair, its neighbours absorbing the difference; None where no stop allows it."""
        options = JOINT_CHANGES if joint else ONE_SIDED_CHANGES
        current = _times(report.issues[-1].lines)
        for stop in (stops[index] for index in self._rng.permutation(len(stops))):
            if stop in already_changed:
                continue
            for change in (options[index] for index in self._rng.permutation(len(options))):
                lines = changed_lines(report.issues[0].lines, stop, change)
                if lines is not None and _times(lines) != current:
                    return stop, lines
        return None


def _times(lines: Sequence[Line]) -> list[tuple[int, int]]:
    return [(line.start, line.end) for line in lines]


def changed_lines(lines: list[Line], stop: int, change: int) -> list[Line] | None:
    """The report with ``stop``'s repair longer by ``change`` quarters; None if it cannot be told in this report.

    Where the stop ends in this report, its later parts move and the operation after it gives way; where only its
    start is in it, the operation before gives way.
    """
    own = [index for index, line in enumerate(lines) if line.span.stop == stop]
    repairs = [index for index in own if lines[index].span.part == "repair"]
    if not repairs:
        return None
    longest = max(repairs, key=lambda index: lines[index].end - lines[index].start)
    if lines[longest].end - lines[longest].start + change < 1:
        return None
    return _later_end(lines, own, longest, change) or _earlier_start(lines, own, longest, change)


def _later_end(lines: list[Line], own: list[int], longest: int, change: int) -> list[Line] | None:
    after = own[-1] + 1
    if after == len(lines) or lines[after].end - lines[after].start - change < 1:
        return None
    revised = list(lines)
    for index in range(longest, after):
        begin = lines[index].start + (change if index > longest else 0)
        revised[index] = replace(lines[index], start=begin, end=lines[index].end + change)
    revised[after] = replace(lines[after], start=lines[after].start + change)
    return revised


def _earlier_start(lines: list[Line], own: list[int], longest: int, change: int) -> list[Line] | None:
    before = own[0] - 1
    if before < 0 or lines[before].end - lines[before].start - change < 1:
        return None
    revised = list(lines)
    for index in range(own[0], longest + 1):
        finish = lines[index].end - (change if index < longest else 0)
        revised[index] = replace(lines[index], start=lines[index].start - change, end=finish)
    revised[before] = replace(lines[before], end=lines[before].end - change)
    return revised


def _segments(draft: Draft) -> tuple[Segment, ...]:
    segments, now = [], draft.start
    for part, length in draft.parts:
        segments.append(Segment(part, moment(now), moment(now + length)))
        now += length
    return tuple(segments)


def _revised_segments(draft: Draft, report: Report, issue: Issue, stop: int) -> tuple[Segment, ...]:
    """The stop as this revision tells it: parts move with the lines of the changed report."""
    lengths = dict(draft.parts)
    start = draft.start
    for before, now in zip(report.issues[0].lines, issue.lines, strict=True):
        if before.span.stop != stop:
            continue
        part = before.span.part
        if part is None:
            raise AssertionError("a line of a stop tells one of its parts")
        lengths[part] += (now.end - now.start) - (before.end - before.start)
        if before.start == draft.start:
            start = now.start
    moved = Draft(draft.rig, draft.kind, draft.tag, start, [(part, lengths[part]) for part, _ in draft.parts])
    return _segments(moved)
