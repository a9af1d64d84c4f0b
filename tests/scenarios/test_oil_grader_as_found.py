"""What counts as a changed claim line, and the as-found rules on a hand-made report."""

from __future__ import annotations

from datetime import date, datetime

import pytest

from scenarios.oil_npt.grader.as_found import AsFound, ExpectedRow, changed_rows
from scenarios.oil_npt.grader.claims import parse_claim
from tests.scenarios.test_oil_grader_claims import file_of

NOVEMBER = date(2026, 11, 1)
COLUMNS = "report_id,rig_id,report_date,seq,t_from,t_to,hours,op_code,remark"
EXPECTED = {"HD-11": [ExpectedRow(datetime(2026, 11, 3, 2, 15), datetime(2026, 11, 3, 5), "TDS-1", 1.25)]}


def changes(*rows: dict[str, str]) -> list[str]:
    return changed_rows(EXPECTED, {"HD-11": parse_claim(file_of(*rows), "HD-11", NOVEMBER)}, NOVEMBER)


def test_the_same_rows_in_other_words_are_no_change() -> None:
    assert changes({"line_no": "7", "hours": "1.26", "clause": "A2", "evidence": "", "note": "see report"}) == []


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("start", "2026-11-03T02:30"),
        ("end", "2026-11-03T05:15"),
        ("equipment_tag", "MP-1"),
        ("hours", "1.27"),
        ("status", "REVIEW"),
    ],
)
def test_another_window_item_hours_or_status_is_a_change(column: str, value: str) -> None:
    assert len(changes({column: value})) == 2  # one line missing, one added


def test_rows_left_out_added_or_doubled_are_changes() -> None:
    assert changed_rows(EXPECTED, {}, NOVEMBER) == ["HD-11, 03 Nov 2026 02:15: TDS-1 is missing"]
    assert len(changes({}, {"line_no": "2"})) == 1
    assert len(changes({}, {"line_no": "2", "hours": "NaN"})) == 1


def report(*lines: tuple[str, str, float, int, str], rig: str = "HD-11", day: str = "2026-11-03") -> bytes:
    rows = [
        f"{rig}/{day},{rig},{day},{seq},{begin},{end},{hours},{op},{remark}"
        for seq, (begin, end, hours, op, remark) in enumerate(lines, start=1)
    ]
    return "\n".join([COLUMNS, *rows]).encode("utf-8-sig")


def test_the_first_version_stays_and_twelve_hours_of_contractor_lines_are_free() -> None:
    system = AsFound()
    system.ingest(
        {
            "ddr_20261103.csv": report(
                ("00:00", "10:00", 10.0, 8, "Repair TDS"),
                ("10:00", "15:00", 5.0, 8, "Work on shaker"),
                ("15:00", "17:00", 2.0, 8, "MWD no pulses"),
                ("17:00", "20:00", 3.0, 6, "Stop drlg f/ TDS"),
                ("20:00", "24:00", 4.0, 8, "Rep MP#1"),
            )
        }
    )
    system.ingest({"ddr_20261104.csv": report(("00:00", "12:00", 12.0, 8, "Repair TDS")), "rental_orders.csv": b""})
    rows = system.close(NOVEMBER)["HD-11"]
    assert [(row.tag, row.hours) for row in rows] == [("SHK", 3.0), ("MP-1", 4.0)]
    assert rows[1].end == datetime(2026, 11, 4)
    assert system.close(NOVEMBER)["HD-14"] == []
