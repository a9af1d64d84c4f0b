"""Claim files are read as bytes from a stranger: nothing in them may raise, and nothing unreadable may count."""

from __future__ import annotations

from datetime import date, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenarios.oil_npt.grader.claims import COLUMNS, MAX_CLAIM_BYTES, MAX_CLAIM_LINES, parse_claim

NOVEMBER = date(2026, 11, 1)
GOOD = {
    "line_no": "1",
    "rig_id": "HD-11",
    "claim_month": "2026-11",
    "start": "2026-11-03T02:15",
    "end": "2026-11-03T05:00",
    "equipment_tag": "TDS-1",
    "hours": "1.25",
    "status": "CLAIM",
    "clause": "A2 14.2-14.4",
    "evidence": "HD-11/2026-11-03@1",
    "note": "",
}


def file_of(*rows: dict[str, str]) -> bytes:
    lines = [";".join(COLUMNS), *(";".join((GOOD | row)[name] for name in COLUMNS) for row in rows)]
    return ("\n".join(lines) + "\n").encode()


def test_a_good_line_is_read_with_its_window_hours_and_evidence() -> None:
    claim = parse_claim(file_of({}), "HD-11", NOVEMBER)
    (line,) = claim.lines
    assert claim.unreadable == ()
    assert (line.start, line.end) == (datetime(2026, 11, 3, 2, 15), datetime(2026, 11, 3, 5, 0))
    assert (line.tag, line.hours, line.review, line.evidence) == ("TDS-1", 1.25, False, ("HD-11/2026-11-03@1",))


def test_the_end_of_the_day_may_be_written_as_on_the_reports() -> None:
    claim = parse_claim(file_of({"end": "2026-11-03T24:00"}), "HD-11", NOVEMBER)
    assert claim.lines[0].end == datetime(2026, 11, 4)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("hours", "NaN"),
        ("hours", "inf"),
        ("hours", "1e9"),
        ("hours", "-4"),
        ("hours", "2,75"),
        ("hours", "٣"),
        ("hours", "745"),
        ("hours", ""),
        ("start", "2026-11-31T00:00"),
        ("start", "03.11.2026 02:15"),
        ("end", "2026-11-03T02:15"),
        ("end", "9999-12-31T24:00"),
        ("status", "claim it"),
        ("line_no", "one"),
        ("rig_id", "HD-14"),
        ("claim_month", "2026-12"),
        ("evidence", "see report"),
        ("note", "x" * 81),
    ],
)
def test_a_line_that_cannot_be_read_is_one_problem_and_no_hours(column: str, value: str) -> None:
    claim = parse_claim(file_of({}, {"line_no": "2", column: value}), "HD-11", NOVEMBER)
    assert len(claim.lines) == 1
    assert [position for position, _ in claim.unreadable] == [2]


def test_a_doubtful_line_that_cannot_be_read_lapses() -> None:
    claim = parse_claim(file_of({"status": "REVIEW", "hours": "NaN"}), "HD-11", NOVEMBER)
    assert (claim.lines, claim.unreadable) == ((), ())


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\xfe\x00",
        b"line_no;rig_id\n1;HD-11\n",
        file_of({}).replace(b"2026-11-03T05:00", b"2026-11-03T05:00\0"),
        file_of({}) + b"x" * MAX_CLAIM_BYTES,
        file_of({}) + b'"' + b"a" * 200_000 + b'"\n',
        file_of({}) + b"1;\n" * (MAX_CLAIM_LINES + 1),
    ],
)
def test_a_file_that_is_no_claim_is_one_problem_of_the_file(data: bytes) -> None:
    claim = parse_claim(data, "HD-11", NOVEMBER)
    assert claim.lines == ()
    assert [position for position, _ in claim.unreadable] == [0]


def test_a_byte_order_mark_carriage_returns_and_columns_at_the_end_do_no_harm() -> None:
    header, line = file_of({}).decode().split("\n")[:2]
    claim = parse_claim(f"\ufeff{header};mine\r\n{line};x\r\n\r\n".encode(), "HD-11", NOVEMBER)
    assert (len(claim.lines), claim.unreadable) == (1, ())


@settings(max_examples=300)
@given(st.one_of(st.binary(max_size=400), st.text(alphabet=';\n"\r0123456789.@|-:TCLAIM\0é', max_size=200).map(
    lambda text: file_of({}) + text.encode())))  # fmt: skip
def test_no_bytes_make_the_reader_raise(data: bytes) -> None:
    claim = parse_claim(data, "HD-11", NOVEMBER)
    assert all(0 <= line.hours <= 744 for line in claim.lines)
