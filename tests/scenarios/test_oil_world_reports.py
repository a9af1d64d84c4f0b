"""oil_npt's daily reports line by line: they close, they can be read by the rules alone, and revisions hold together.

``Reader`` below rebuilds every stop from printed rows by the scenario's rules. It knows nothing of the truth, and its
result must be the truth: a stop that cannot be decided by the rules would be a fault of the world.
"""

from __future__ import annotations

import functools
import itertools
import re
import runpy
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta

import pytest

from scenarios.oil_npt.world import periods
from scenarios.oil_npt.world.feed import COLUMNS, clean_rows, deliveries
from scenarios.oil_npt.world.fleet import contractor_of
from scenarios.oil_npt.world.hires import Hires
from scenarios.oil_npt.world.periods import Period
from scenarios.oil_npt.world.reports import Report, ReportBook
from scenarios.oil_npt.world.stoppages import RIGS, Stoppage
from tests.scenarios import oil_worlds
from tests.scenarios.oil_worlds import FOLDER, Row, built, by_report, once, printed, production, rows, streams, view

HOLE_OR_SERVICE = re.compile(
    r"\b(lcm|losses|lost returns|tight|stuck|pack-off|overpull|backream|service|grease|lube|lubricate)", re.IGNORECASE
)
ON_REQUEST = re.compile(r"co\. man|for tbe|co\. rep", re.IGNORECASE)
FIELD_OFFSET = timedelta(hours=5)

_find_tag = runpy.run_path(str(FOLDER / "system" / "npt" / "alias.py"))["find_tag"]
_party_of = runpy.run_path(str(FOLDER / "system" / "npt" / "coder.py"))["party_of"]
KEYWORDS = str(FOLDER / "system" / "config" / "keywords.csv")


@pytest.fixture(scope="module", autouse=True)
def built_worlds_are_removed() -> Iterator[None]:
    yield
    oil_worlds.remove_built()


def tag_in(row: Row) -> str | None:
    found: str | None = _find_tag(
        row["rig_id"], row["remark"], str(built("original").folder / "data" / "equipment_alias.csv")
    )
    return found


@functools.lru_cache(maxsize=3)
def both_periods(task: str) -> list[Period]:
    facts = view(task).facts
    hires = Hires(streams(task), facts)
    shown = periods.history(streams(task), facts, hires)
    return [shown, periods.production(streams(task), facts, hires, shown)]


# ---- the reader ----


@dataclass(frozen=True)
class ReadStop:
    """A stop as read from printed rows; times are field time, lengths hours."""

    start: datetime
    resumed: datetime
    tag: str
    repair_h: float
    own_use_h: float


class Reader:
    """Reads the binding versions of one rig's reports, in order."""

    def __init__(self, reports: list[Report]) -> None:
        self.lines: list[tuple[datetime, datetime, Row]] = []
        for report in reports:
            rev = report.binding_rev("last_joint")
            issue = next(issue for issue in report.issues if issue.rev == rev)
            for row in clean_rows(report, issue):
                fields = dict(zip(COLUMNS, row, strict=True))
                start, end = printed(fields)
                offset = FIELD_OFFSET if report.in_utc else timedelta()
                if report.in_utc:
                    for name in ("hole_depth_m", "bit_depth_m"):
                        fields[name] = str(float(fields[name]) / 3.28084)
                self.lines.append((start + offset, end + offset, fields))

    def stops(self) -> list[ReadStop]:
        found: list[ReadStop] = []
        index = end = 0
        while index < len(self.lines):
            tag = self._repaired(index)
            if tag is None:
                index += 1
                continue
            begin = index
            while begin > end and self._is_trip_for(begin - 1, tag):
                begin -= 1
            last = self._resumption(begin, index, tag)
            found.append(self._stop(begin, last, tag))
            index = end = last + 1
        return found

    def _repaired(self, index: int) -> str | None:
        row = self.lines[index][2]
        if row["op_code"] != "8" or HOLE_OR_SERVICE.search(row["remark"]):
            return None
        return tag_in(row)

    def _is_trip_for(self, index: int, tag: str) -> bool:
        row = self.lines[index][2]
        return row["op_code"] == "6" and tag_in(row) == tag

    def _resumption(self, begin: int, index: int, tag: str) -> int:
        depth = float(self.lines[begin - 1][2]["bit_depth_m"])
        while True:
            back = float(self.lines[index][2]["bit_depth_m"]) >= depth - 1.01
            if back and (index + 1 == len(self.lines) or self._repaired(index + 1) != tag):
                break
            index += 1
        if index + 1 < len(self.lines):
            interrupted, resumed = self.lines[begin - 1][2], self.lines[index + 1][2]
            assert resumed["op_code"] == interrupted["op_code"], (interrupted, resumed)
        return index

    def _stop(self, begin: int, last: int, tag: str) -> ReadStop:
        repair = own = timedelta()
        repaired = False
        for start, end, row in self.lines[begin : last + 1]:
            if row["op_code"] == "8":
                repaired = True
                repair += end - start
            elif repaired and (row["sub_code"] == "OPR" or ON_REQUEST.search(row["remark"])):
                own += end - start
        hours = [part / timedelta(hours=1) for part in (repair, own)]
        return ReadStop(self.lines[begin][0], self.lines[last][1], tag, hours[0], hours[1])


def as_read(stop: Stoppage) -> ReadStop:
    segments = stop.version("last_joint").segments
    repair, own = (sum(segment.hours for segment in segments if segment.part == part) for part in ("repair", "own_use"))
    return ReadStop(segments[0].start, segments[-1].end, stop.tag, repair, own)


@pytest.mark.parametrize("task", ["original", "notice", "utc"])
def test_every_stop_can_be_rebuilt_from_the_printed_lines_by_the_rules(task: str) -> None:
    for period in both_periods(task):
        for rig, book in period.books.items():
            truth = [as_read(stop) for stop in book.stoppages() if stop.kind in "CO"]
            read = Reader(book.reports).stops()
            if task == "utc" and contractor_of(rig) in ("HD", "VM"):
                assert len(read) == len(truth)  # feet are printed to a tenth
            assert sorted(read, key=lambda one: one.start) == sorted(truth, key=lambda one: one.start), rig


# ---- lines ----


@pytest.mark.parametrize("task", ["original", "utc"])
def test_a_report_covers_its_day_without_gap_or_overlap(task: str) -> None:
    files = [drop for _, files in production(task).drops() for name, drop in files.items() if name.startswith("ddr")]
    lines = [*built(task).reports(), *(row for drop in files for row in rows(drop))]
    for (report, rev), found in by_report(lines).items():
        assert [row["seq"] for row in found] == [str(number) for number in range(1, len(found) + 1)], report
        assert found[0]["t_from"] == "00:00"
        assert found[-1]["t_to"] == "24:00", (report, rev)
        assert all(one["t_to"] == other["t_from"] for one, other in itertools.pairwise(found)), (report, rev)
        for row in found:
            start, end = printed(row)
            assert end > start
            assert abs(float(row["hours"]) - (end - start) / timedelta(hours=1)) <= 0.051
            assert float(row["bit_depth_m"]) <= float(row["hole_depth_m"]) + 0.05


def test_depths_go_on_from_day_to_day() -> None:
    lines = by_report(built("original").reports())
    for rig in ("HD-11", "OK-7"):
        hole, well = 0.0, ""
        for (_, rev), found in sorted(lines.items()):
            if rev == "0" and found[0]["rig_id"] == rig:
                for row in found:
                    assert row["well"] != well or float(row["hole_depth_m"]) >= hole
                    hole, well = float(row["hole_depth_m"]), row["well"]


def test_words_lead_to_the_item_and_never_to_its_owner() -> None:
    verbs: dict[str, Counter[str]] = {"C": Counter(), "O": Counter()}
    for period in both_periods("original"):
        for book in period.books.values():
            for report in book.reports:
                for line in report.issues[0].lines:
                    stop = None if line.span.stop is None else book.drafts[line.span.stop]
                    row = {"rig_id": report.rig, "remark": line.remark}
                    if line.span.op != 8:
                        names_item = tag_in(row) is not None
                        trip_out = line.span.part == "trip_out"
                        assert not names_item or trip_out or (stop is not None and stop.kind in "HR"), line.remark
                        continue
                    assert stop is not None
                    if stop.kind in "CO":
                        assert tag_in(row) == stop.tag, line.remark
                        assert not HOLE_OR_SERVICE.search(line.remark)
                        assert _party_of(line.remark, KEYWORDS) == (
                            "THIRD" if stop.tag in ("MWD", "MTR") else "CONTRACTOR"
                        )
                        words = line.remark.removeprefix("Cont'd f/ prev day: ").lower().split()
                        verbs[stop.kind][words[0] if words[0] in VERBS else "other"] += 1
                    else:
                        assert stop.miscoded
                        assert HOLE_OR_SERVICE.search(line.remark)
                        assert _party_of(line.remark, KEYWORDS) == "CONTRACTOR"
                        assert tag_in(row) is not None
    shares = {kind: {verb: count / found.total() for verb, count in found.items()} for kind, found in verbs.items()}
    for verb in VERBS:
        assert shares["C"][verb] == pytest.approx(shares["O"][verb], abs=0.035), verb


VERBS = ("repair", "work", "fix", "rep", "change", "cont", "check", "isolate", "stop", "c/o", "fit", "box", "complete")


def test_own_use_is_coded_in_seven_of_ten_and_otherwise_told_in_words() -> None:
    coded = told = 0
    for period in both_periods("original"):
        for book in period.books.values():
            for report in book.reports:
                for line in report.issues[0].lines:
                    if line.span.part == "own_use":
                        coded += line.span.sub == "OPR"
                        told += line.span.sub != "OPR"
                        assert line.span.sub == "OPR" or ON_REQUEST.search(line.remark)
    assert coded / (coded + told) == pytest.approx(0.70, abs=0.06)


def test_the_crew_miscodes_some_service_and_hole_trouble_but_not_on_notice() -> None:
    def shares(task: str) -> dict[str, float]:
        drafts = [draft for period in both_periods(task) for found in period.drafts.values() for draft in found]
        return {
            kind: sum(draft.miscoded for draft in drafts if draft.kind == kind)
            / sum(draft.kind == kind for draft in drafts)
            for kind in "HR"
        }

    assert shares("original") == pytest.approx({"H": 0.12, "R": 0.30}, abs=0.03)
    assert shares("notice") == {"H": 0.0, "R": 0.0}


# ---- revisions ----


def books(task: str) -> list[ReportBook]:
    return [book for period in both_periods(task) for book in period.books.values()]


def test_a_revision_keeps_its_lines_and_moves_only_one_stop() -> None:
    changed = unchanged = 0
    for book in books("original"):
        for report in book.reports:
            first = report.issues[0].lines
            for issue in report.issues[1:]:
                assert [line.remark for line in issue.lines] == [line.remark for line in first]
                assert issue.lines[0].start == first[0].start
                assert issue.lines[-1].end == first[-1].end
                moved = {
                    new.span.stop
                    for old, new in zip(first, issue.lines, strict=True)
                    if (old.start, old.end) != (new.start, new.end) and new.span.stop is not None
                }
                assert len(moved) <= 1
                changed += bool(moved)
                unchanged += not moved
                repairs = sum(
                    (new.end - new.start) - (old.end - old.start)
                    for old, new in zip(first, issue.lines, strict=True)
                    if new.span.stop is not None and new.span.part == "repair"
                )
                assert not moved or repairs != 0
    assert changed / (changed + unchanged) == pytest.approx(0.68, abs=0.06)


def test_re_issues_come_for_a_fifth_of_the_reports_with_a_stop_within_six_days_and_before_the_eighth() -> None:
    with_stop = reissued = joint = issues = 0
    for book in books("original"):
        for report in book.reports:
            stops = report.stops(frozenset("CO"), book.drafts)
            with_stop += bool(stops)
            reissued += len(report.issues) > 1
            assert stops or len(report.issues) == 1
            for issue in report.issues[1:]:
                issues += 1
                joint += issue.signed_by_both
                assert issue.sign_operator
            for delivery in deliveries([report], date(2026, 9, 30)):
                if delivery.issue.rev:
                    assert 1 < (delivery.morning - report.day).days <= 7
                    following = (report.day.replace(day=1) + timedelta(days=32)).replace(day=8)
                    assert delivery.morning < following
    assert reissued / with_stop == pytest.approx(0.22, abs=0.02)
    assert joint / issues == pytest.approx(0.55, abs=0.05)


def test_versions_of_a_stop_agree_with_the_binding_rule() -> None:
    coming = production("original")
    revised = [stop for stop in coming.stoppages if len(stop.versions) > 1]
    assert len(revised) > 80
    differing = 0
    for stop in revised:
        assert stop.revised_report in stop.report_dates
        report = f"{stop.rig}/{stop.revised_report}"
        known = dict(coming.revisions(report))
        assert [version.rev for version in stop.versions] == sorted(known)
        assert all(known[version.rev] == version.signed_by_both for version in stop.versions)
        assert stop.version("last_joint").rev == coming.binding_rev(report)
        differing += stop.version("last_joint") is not stop.versions[-1]
    assert differing > 20, "one-sided last revisions are common"


def test_on_notice_the_first_version_binds() -> None:
    coming = production("notice")
    revised = [stop for stop in coming.stoppages if len(stop.versions) > 1]
    assert {coming.binding_rev(f"{stop.rig}/{stop.revised_report}") for stop in revised} == {0}


def test_every_version_lies_on_the_reports_that_it_names() -> None:
    for task in ("original", "utc"):
        coming = production(task)
        for stop in coming.stoppages:
            named = {f"{stop.rig}/{day}" for day in stop.report_dates}
            for version in stop.versions:
                told = coming.report_ids(stop.rig, version.segments[0].start, version.segments[-1].end)
                assert set(told) <= named


# ---- dirt ----


def test_some_lines_come_twice_and_some_hours_are_rounded() -> None:
    lines = built("original").reports()
    assert len(lines) / len(once(lines)) == pytest.approx(1.02, abs=0.004)
    odd = [
        row
        for row in once(lines)
        if abs(float(row["hours"]) - (printed(row)[1] - printed(row)[0]) / timedelta(hours=1)) > 0.001
    ]
    assert len(odd) / len(once(lines)) == pytest.approx(0.01, abs=0.004)


def test_reports_that_come_a_day_late_tell_of_no_stop_that_anybody_claims() -> None:
    late = 0
    for book in books("original"):
        for report in book.reports:
            first = deliveries([report], date(2026, 9, 30))[0]
            if (first.morning - report.day).days == 2:
                late += 1
                assert not report.stops(frozenset("CO"), book.drafts)
    total = sum(len(book.reports) for book in books("original"))
    assert late / total == pytest.approx(0.015, abs=0.006)


def test_files_begin_with_a_byte_order_mark_from_august_in_every_task() -> None:
    for task in ("original", "utc"):
        for path in built(task).report_files():
            assert path.read_bytes().startswith(b"\xef\xbb\xbf") == (path.name >= "ddr_20260801.csv")


def test_a_well_has_a_comma_in_its_name() -> None:
    assert all("," in row["well"] for row in built("original").reports())


# ---- the new tool ----


def test_only_the_utc_task_prints_meetings_at_one_and_thirteen_and_feet() -> None:
    for task, expected in (("original", {"06:00", "18:00"}), ("utc", {"01:00", "13:00"})):
        lines = [row for row in built(task).reports() if row["report_date"] >= "2026-08-02" and row["rev"] == "0"]
        for contractor, clocks in (("HD", expected), ("VM", expected), ("OK", {"06:00", "18:00"})):
            meetings = {row["t_from"] for row in lines if row["sub_code"] == "PTM" and row["rig_id"][:2] == contractor}
            assert meetings == clocks
    ends_of_day = {
        (row["rig_id"], row["report_date"]): row for row in once(built("utc").reports()) if row["t_to"] == "24:00"
    }
    compared = 0
    for rig in RIGS:
        before, after = ends_of_day[rig, "2026-07-31"], ends_of_day[rig, "2026-08-01"]
        if before["well"] == after["well"] and float(before["hole_depth_m"]) > 300:
            jump = float(after["hole_depth_m"]) / float(before["hole_depth_m"])
            compared += 1
            assert 3.27 < jump < 5.0 if contractor_of(rig) != "OK" else 1.0 <= jump < 1.6
    assert compared >= 4


def test_reports_without_stop_are_named_by_the_printed_day() -> None:
    coming = production("utc")
    assert coming.report_ids("VM-201", datetime(2027, 3, 9, 2), datetime(2027, 3, 9, 6)) == [
        "VM-201/2027-03-08",
        "VM-201/2027-03-09",
    ]
    assert coming.report_ids("OK-3", datetime(2027, 3, 9, 2), datetime(2027, 3, 9, 6)) == ["OK-3/2027-03-09"]
    assert coming.report_ids("OK-3", datetime(2027, 3, 9), datetime(2027, 3, 10)) == ["OK-3/2027-03-09"]
