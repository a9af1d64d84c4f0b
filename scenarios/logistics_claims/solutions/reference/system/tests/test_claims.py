"""Run with ``python -m unittest discover -s tests -t .`` from the system's folder."""

import csv
import tempfile
import unittest
from pathlib import Path

from claims import decide, load, rules

CLAIMS = ",".join(load.CLAIM_COLUMNS)
SHIPMENTS = ",".join(load.SHIPMENT_COLUMNS)
SCANS = "|".join(load.SCAN_COLUMNS)
TODAY = "2026-09-14"
PARCEL = "QF-1000007"


def claim(number=1, shipment=PARCEL, claimed="90.00", kind="damage", evidence="P0", role="consignee"):
    return f'CL26-{number:06d},{TODAY},P00001,{role},{shipment},parcel,{kind},{claimed},{TODAY},1,{evidence},"broken, sorry"'


def shipment(number=PARCEL, delivered="2026-09-10", weight="20.00", flag=""):
    return f"{number},C0001,UTR,parcel,1,{weight},9.80,{flag},2026-09-10,{delivered},UTR,HAM"


def off_a_haulier(number=PARCEL):
    return [f"{number}|2026-09-09T21:10|HAM|HUB_IN|H07|", f"{number}|2026-09-09T21:20|HAM|EXC|H07|ctn crushed"]


class Mornings(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.folder = Path(self._folder.name)
        self.mornings = 0

    def decide(self, claims, shipments, scans=(), code=None, cls="spot", today=TODAY, answers=()):
        self.mornings += 1
        drop = self.folder / f"drop{self.mornings}"
        drop.mkdir()
        files = {
            "claims_new.csv": [CLAIMS, *claims],
            "shipments.csv": [SHIPMENTS, *shipments],
            "scans.txt": [SCANS, *scans],
            "pod.csv": ["shipment_id,code,signed_by,remark"] + ([f"{PARCEL},{code},AB,"] if code else []),
            "customers.csv": ["customer_id,class,country,terms_ref", f"C0001,{cls},NL,GTC"],
            "sdr.csv": ["month,eur_per_sdr", "2026-08,1.1900", "2026-09,1.2000"],
            "answers.csv": ["claim_id,decision,amount,by,decided_on", *answers],
        }
        for name, lines in files.items():
            (drop / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
        out = self.folder / "decisions.csv"
        decide.run(drop, self.folder / "claims.sqlite", out, today)
        with open(out, encoding="utf-8", newline="") as file:
            return {row["claim_id"]: row for row in csv.DictReader(file, delimiter=";")}

    def one(self, *arguments, **more):
        return self.decide(*arguments, **more)["CL26-000001"]

    def test_what_was_claimed_is_paid_where_the_weight_allows_it(self):
        self.assertEqual(self.one([claim()], [shipment()])["amount"], "90.00")

    def test_a_haulier_is_charged_for_what_it_answers_for(self):
        on_receipt = rules.config()["recourse"]["on"] == "receipt"
        row = self.one([claim()], [shipment()], off_a_haulier())
        self.assertEqual((row["recourse"], row["haulier_id"]), ("Y", "H07") if on_receipt else ("N", ""))

    def test_the_limit_is_by_kilogram_and_rate_of_the_month(self):
        row = self.one([claim()], [shipment(weight="5.00")])
        self.assertEqual((row["decision"], row["amount"], row["rule"]), ("PAY", "49.98", "OWED"))

    def test_a_mistyped_check_digit_is_meant_with_the_right_one(self):
        self.assertEqual(self.one([claim(shipment="QF-1000003")], [shipment()])["decision"], "PAY")

    def test_the_other_party_is_not_paid_again(self):
        self.decide([claim()], [shipment()])
        row = self.decide([claim(2, role="shipper")], [shipment()])["CL26-000002"]
        self.assertEqual((row["decision"], row["rule"]), ("REFUSE", "TWICE"))

    def test_goods_that_turned_up_are_not_lost(self):
        scan = f"{PARCEL}|2026-09-12T10:00|HAM|FND|own|"
        self.assertEqual(self.one([claim(kind="loss")], [shipment(delivered="")], [scan])["rule"], "FOUND")

    def test_packing_noted_at_pick_up(self):
        self.assertEqual(self.one([claim()], [shipment(flag="PK2")])["rule"], "PK2")

    def test_inconclusive_evidence_and_large_amounts_are_for_people(self):
        rows = self.decide(
            [claim(evidence="P1"), claim(2, "QF-2000004", "900.00")],
            [shipment(), shipment("QF-2000004", weight="500.00")],
        )
        self.assertEqual([row["decision"] for row in rows.values()], ["QUEUE", "QUEUE"])
        self.assertEqual({row["rule"] for row in rows.values()}, {"P1", "MANDATE"})

    def test_what_waits_is_sorted_anew_until_it_is_answered(self):
        self.decide([claim(evidence="P1")], [shipment()])
        again = self.decide([], [], today="2026-09-15")
        self.assertEqual(again["CL26-000001"]["decision"], "QUEUE")
        answer = "CL26-000001,PAY,90.00,assessor,2026-09-15"
        self.assertEqual(self.decide([], [], today="2026-09-16", answers=[answer]), {})


class Values(unittest.TestCase):
    """What hangs on the values of ``config/claims.toml``."""

    def test_sundays_and_holidays_do_not_count(self):
        self.assertEqual(rules.counted_days("DE", "2026-10-01", "2026-10-08"), 5)  # Unity Day and a Sunday
        self.assertEqual(rules.counted_days("NL", "2026-10-01", "2026-10-08"), 6)

    def test_the_period_is_that_of_the_customers_class(self):
        self.assertEqual(set(rules.config()["notice_days"]), {"spot", "frame", "key"})


if __name__ == "__main__":
    unittest.main()
