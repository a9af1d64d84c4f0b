"""The rules of the claims on hand-made reports: ``python -m unittest discover -s tests -t .`` in the system's folder.

They have a contract of their own, so that they hold whatever ``config/`` says.
"""

import csv
import tempfile
import unittest
from datetime import date, datetime, timedelta
from pathlib import Path

from npt import ingest, store
from npt.contract import load_terms, settle
from npt.month_end import MonthEnd
from npt.stops import Part, Stop

DRILL, TRIP, REAM, REPAIR = 2, 6, 3, 8

CONTRACT = """
[[terms]]
clause = "A2 14.2-14.4"
contractors = ["HD"]
since = 2026-07-01
counted = ["trip_out", "repair", "return"]
job_allowance_h = 1.5
month_allowance_h = 6.0
charged_to = "job"
recurrence_days = 14

[exhibit_d]
items = ["MWD"]
"""


def write_config(folder):
    folder.mkdir()
    (folder / "contract.toml").write_text(CONTRACT, encoding="utf-8")
    (folder / "record.toml").write_text('binding = "last_joint"', encoding="utf-8")
    (folder / "tools.toml").write_text("", encoding="utf-8")
    return folder


class Reports:
    """Writes report files as a rig would."""

    def __init__(self, folder):
        self.folder = folder
        self.rows = []

    def day(self, day, lines, rev=0, signed=("SG", "KM")):
        """``lines``: (hours, op code, bit depth, remark[, sub code]), from midnight on."""
        start = 0.0
        for seq, (hours, op, depth, remark, *sub) in enumerate(lines, start=1):
            self.rows.append(
                (
                    f"HD-11/{day}",
                    "HD-11",
                    "Kell 1, Slot 2",
                    day,
                    rev,
                    f"{day}T23:00",
                    *signed,
                    seq,
                    clock(start),
                    clock(start + hours),
                    hours,
                    op,
                    sub[0] if sub else "",
                    "8.5",
                    2_000,
                    depth,
                    remark,
                )
            )
            start += hours
        assert start == 24

    def drop(self, orders=()):
        with (self.folder / "ddr_20261130.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([ingest.REPORT_COLUMNS, *self.rows])
        with (self.folder / "rental_orders.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([ingest.ORDER_COLUMNS, *orders])


def clock(hours):
    return f"{int(hours):02d}:{int(hours * 60) % 60:02d}"


TRIPPED = [
    (2, DRILL, 2_000, "Drill ahead"),
    (1, TRIP, 1_700, "Stop drlg, TDS hyd leak. POOH to shoe f/ repair"),
    (2, REPAIR, 1_700, "Repair TDS, change washpipe packing, test OK"),
    (1.5, TRIP, 1_700, "Change bit", "OPR"),
    (0.5, TRIP, 1_700, "Wiper trip for TBE"),
    (2, TRIP, 1_980, "RIH to btm"),
    (0.5, REAM, 2_000, "W&R last std to btm"),
    (14.5, DRILL, 2_040, "Drill ahead"),
]


class ClaimTest(unittest.TestCase):
    def setUp(self):
        self.root = Path(tempfile.mkdtemp())
        (self.root / "drop").mkdir()
        self.config = write_config(self.root / "config")
        self.reports = Reports(self.root / "drop")

    def claim(self, month="2026-11", orders=()):
        self.reports.drop(orders)
        ingest.ingest(self.root / "drop", self.root / "npt.sqlite")
        db = store.connect(self.root / "npt.sqlite")
        MonthEnd(db, date.fromisoformat(f"{month}-01"), self.config).write(self.root / "claims")
        db.close()
        path = self.root / "claims" / f"claim_HD-11_{month.replace('-', '')}.csv"
        with path.open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file, delimiter=";"))

    def test_a_stop_runs_from_the_trip_out_until_the_bit_is_back_without_own_use_and_allowance(self):
        self.reports.day("2026-11-03", TRIPPED)
        (row,) = self.claim()
        self.assertEqual((row["start"], row["end"]), ("2026-11-03T02:00", "2026-11-03T09:30"))
        self.assertEqual((row["equipment_tag"], row["hours"], row["status"]), ("TDS-1", "4.00", "CLAIM"))
        self.assertEqual(row["evidence"], "HD-11/2026-11-03@0")

    def test_the_last_revision_signed_by_both_counts_and_a_one_sided_one_does_not(self):
        def day(repair):
            return [
                (2, DRILL, 2_000, "Drill"),
                (repair, REPAIR, 2_000, "Work on MP-1"),
                (22 - repair, DRILL, 2_050, "Drill"),
            ]

        self.reports.day("2026-11-03", day(4))
        self.reports.day("2026-11-03", day(5), rev=1)
        self.reports.day("2026-11-03", day(7), rev=2, signed=("SG", ""))
        (row,) = self.claim()
        self.assertEqual((row["hours"], row["evidence"]), ("3.50", "HD-11/2026-11-03@1"))

    def test_service_and_hole_trouble_are_no_repair_whatever_the_code(self):
        self.reports.day("2026-11-03", [
            (1, DRILL, 2_000, "Drill"), (4, REPAIR, 2_000, "Service TDS, grease washpipe"), (1, DRILL, 2_000, "Drill"),
            (6, REPAIR, 2_000, "Pumped 8 m3 LCM pill, inspect MP-1 suction"), (12, DRILL, 2_040, "Drill"),
        ])  # fmt: skip
        self.assertEqual(self.claim(), [])

    def test_an_item_on_hire_is_the_operator_s_until_the_day_off_hire(self):
        day = [(2, DRILL, 2_000, "Drill"), (4, REPAIR, 2_000, "Change screens on shaker"), (18, DRILL, 2_040, "Drill")]
        self.reports.day("2026-11-03", day)
        self.reports.day("2026-11-04", day)
        order = ("RO-26-001", "HD-11", "SHK", "Shakers", "Brandt", "TBE", "2026-02-01", "2026-11-03")
        (row,) = self.claim(orders=[order])
        self.assertEqual((row["start"], row["hours"]), ("2026-11-04T02:00", "2.50"))

    def test_a_stop_over_midnight_and_month_s_end_is_one_job_with_a_line_in_each_month(self):
        self.reports.day("2026-11-30", [(22, DRILL, 2_000, "Drill"), (2, REPAIR, 2_000, "Work on MP-1")])
        self.reports.day(
            "2026-12-01", [(3, REPAIR, 2_000, "Cont'd f/ prev day: Work on MP-1"), (21, DRILL, 2_040, "Drill")]
        )
        (november,) = self.claim()
        (december,) = self.claim("2026-12")
        self.assertEqual((november["end"], november["hours"]), ("2026-12-01T00:00", "0.50"))
        self.assertEqual((december["start"], december["hours"]), ("2026-12-01T00:00", "3.00"))

    def test_a_stop_whose_end_no_report_shows_goes_to_review(self):
        self.reports.day("2026-11-03", [*TRIPPED[:6], (1, REPAIR, 1_980, "Work on MP-1"), (14, DRILL, 1_990, "Drill")])
        self.assertEqual([row["status"] for row in self.claim()], ["REVIEW"])

    def test_a_tool_that_writes_utc_and_feet_is_read_as_field_time_and_metres(self):
        (self.config / "tools.toml").write_text(
            '[[tool]]\ncontractors = ["HD"]\nsince = 2026-11-01\nhours_behind_field_time = 5\ndepth_in_feet = true\n',
            encoding="utf-8",
        )
        in_feet = [(hours, op, round(depth / 0.3048, 1), *rest) for hours, op, depth, *rest in TRIPPED]
        self.reports.day("2026-11-03", in_feet)
        (row,) = self.claim()
        self.assertEqual((row["start"], row["end"], row["hours"]), ("2026-11-03T07:00", "2026-11-03T14:30", "4.00"))
        self.assertEqual(row["evidence"], "HD-11/2026-11-03@0")

    def test_a_drop_that_comes_twice_changes_nothing(self):
        self.reports.day("2026-11-03", TRIPPED)
        self.assertEqual(self.claim(), self.claim())


class LedgerTest(unittest.TestCase):
    def allowances(self, *starts):
        """Allowances of four-hour repairs of ``(start, tag)``."""
        stops = []
        for start, tag in starts:
            begin = datetime.fromisoformat(start)
            stops.append(Stop("HD-11", tag, (Part("repair", begin, begin + timedelta(hours=4)),), True))
        with tempfile.TemporaryDirectory() as folder:
            terms = load_terms(write_config(Path(folder) / "config"))
        return [settlement.allowance_h for settlement in settle(stops, terms)]

    def test_an_allowance_a_job_until_the_month_s_six_hours_are_used(self):
        starts = [(f"2026-11-{day:02d}T00:00", f"T{day}") for day in range(1, 7)]
        self.assertEqual(self.allowances(*starts), [1.5, 1.5, 1.5, 1.5, 0, 0])

    def test_a_recurrence_within_fourteen_days_of_resumption_takes_none_and_uses_none(self):
        found = self.allowances(
            ("2026-11-01T00:00", "MP-1"),
            ("2026-11-15T04:00", "MP-1"),
            ("2026-11-29T08:15", "MP-1"),
            ("2026-11-30T00:00", "X"),
        )
        self.assertEqual(found, [1.5, 0, 1.5, 1.5])


if __name__ == "__main__":
    unittest.main()
