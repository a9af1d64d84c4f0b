"""Run with ``python -m unittest discover -s tests -t .`` from the system's folder. What is claimed is in test_claims."""

import tempfile
import unittest
from pathlib import Path

from npt import alias, coder, ingest, store

HEADER = ",".join(ingest.REPORT_COLUMNS)


def line(seq, t_from, t_to, hours, op_code, remark, report="HD-11/2026-09-14", rev=0):
    rig, day = report.split("/")
    return (
        f'{report},{rig},"Kell 2, Slot 3",{day},{rev},2026-09-15T03:10,SG,KM,{seq},{t_from},{t_to},{hours},'
        f'{op_code},RPR,8.5,2900.0,2900.0,"{remark}"'
    )


class Words(unittest.TestCase):
    def test_the_longest_alias_decides(self):
        self.assertEqual(alias.find_tag("HD-14", "Repair No.2 pump, c/o liner"), "MP-2")
        self.assertEqual(alias.find_tag("HD-14", "Fit slips to top drive CRT"), "CRT-1")
        self.assertEqual(alias.find_tag("HD-14", "REPAIR TOP DRIVE, C/O IBOP"), "TDS-1")

    def test_a_crews_own_name_holds_on_its_rig_only(self):
        self.assertEqual(alias.find_tag("HD-11", "blue pump knocking"), "MP-1")
        self.assertIsNone(alias.find_tag("HD-14", "blue pump knocking"))

    def test_the_first_keyword_decides(self):
        self.assertEqual(coder.party_of("MWD no pulses, cycle pumps"), "THIRD")
        self.assertEqual(coder.party_of("Repair shaker, new screens"), "CONTRACTOR")
        self.assertIsNone(coder.party_of("Drill ahead"))

    def test_only_rig_repair_counts(self):
        self.assertTrue(coder.is_contractor_downtime(8, "Repair TDS"))
        self.assertFalse(coder.is_contractor_downtime(6, "Stop drlg, TDS hyd leak. POOH to shoe f/ repair"))


class Drops(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.folder = Path(self._folder.name)
        self.database = self.folder / "npt.sqlite"

    def load(self, day, *lines):
        drop = self.folder / day
        drop.mkdir()
        (drop / f"ddr_{day}.csv").write_text("\n".join([HEADER, *lines]) + "\n", encoding="utf-8-sig")
        return ingest.ingest(drop, self.database)

    def test_a_line_that_comes_twice_is_kept_once(self):
        one = line(1, "00:00", "14:00", "14.00", 8, "Repair TDS")
        self.assertEqual(self.load("20260914", one, one), 1)
        connection = store.connect(self.database)
        self.assertEqual(connection.execute("SELECT count(*) FROM ddr_line").fetchone()[0], 1)
        connection.close()

    def test_a_table_without_a_column_loads_nothing(self):
        drop = self.folder / "broken"
        drop.mkdir()
        (drop / "ddr_20260914.csv").write_text("report_id,rig_id\nHD-11/2026-09-14,HD-11\n", encoding="utf-8")
        with self.assertRaises(ValueError):
            ingest.ingest(drop, self.database)


if __name__ == "__main__":
    unittest.main()
