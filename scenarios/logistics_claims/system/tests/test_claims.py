"""Run with ``python -m unittest discover -s tests -t .`` from the system's folder."""

import csv
import tempfile
import unittest
from pathlib import Path

from claims import decide, load

CLAIMS = ",".join(load.CLAIM_COLUMNS)
SHIPMENTS = ",".join(load.SHIPMENT_COLUMNS)
SCANS = "|".join(load.SCAN_COLUMNS)


def claim(number, shipment, claimed, kind="damage", notice="2026-09-14"):
    return f'CL26-{number},2026-09-14,P00001,consignee,{shipment},parcel,{kind},{claimed},{notice},1,P0,"broken, sorry"'


def shipment(number, delivered="2026-09-10"):
    return f"{number},C0001,UTR,parcel,1,4.20,9.80,,2026-09-10,{delivered},UTR,HAM"


class Mornings(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.folder = Path(self._folder.name)
        self.drop = self.folder / "drop"
        self.drop.mkdir()

    def decide(self, claims, shipments, scans=()):
        (self.drop / "claims_new.csv").write_text("\n".join([CLAIMS, *claims]) + "\n", encoding="utf-8")
        (self.drop / "shipments.csv").write_text("\n".join([SHIPMENTS, *shipments]) + "\n", encoding="utf-8")
        (self.drop / "scans.txt").write_text("\n".join([SCANS, *scans]) + "\n", encoding="utf-8")
        out = self.folder / "decisions.csv"
        decide.run(self.drop, self.folder / "claims.sqlite", out)
        with open(out, encoding="utf-8", newline="") as file:
            return [(row["decision"], row["amount"], row["rule"]) for row in csv.DictReader(file, delimiter=";")]

    def test_a_small_claim_is_paid_as_claimed(self):
        rows = self.decide([claim("000001", "QF-1000009", "90.00")], [shipment("QF-1000009")])
        self.assertEqual(rows, [("PAY", "90.00", "")])

    def test_a_large_one_waits_for_the_assessors(self):
        rows = self.decide([claim("000001", "QF-1000009", "900.00")], [shipment("QF-1000009")])
        self.assertEqual(rows, [("QUEUE", "", "")])

    def test_a_haulier_on_the_way_is_for_the_assessors(self):
        scan = "QF-1000009|2026-09-09T21:10|HAM|HUB_IN|H07|"
        rows = self.decide([claim("000001", "QF-1000009", "90.00")], [shipment("QF-1000009")], [scan])
        self.assertEqual(rows, [("QUEUE", "", "")])

    def test_late_notice_is_refused_but_not_for_a_loss(self):
        claims = [
            claim("000001", "QF-1000009", "90.00"),
            claim("000002", "QF-1000016", "90.00", "loss"),
        ]
        rows = self.decide(claims, [shipment("QF-1000009", "2026-08-20"), shipment("QF-1000016", "2026-08-20")])
        self.assertEqual(rows, [("REFUSE", "", "N14"), ("PAY", "90.00", "")])

    def test_an_unknown_shipment_is_for_the_assessors(self):
        self.assertEqual(self.decide([claim("000001", "QF-1000009", "90.00")], []), [("QUEUE", "", "")])


if __name__ == "__main__":
    unittest.main()
