import sqlite3
import tempfile
import unittest
from pathlib import Path

from recon import cashdiv, chase, load, run, store

TRADES = "trade_id,fund,account,isin,asset_class,side,qty,price,net_amount,ccy,trade_date,isd,broker,block_ref,status\n"
POSITIONS = "fund,account,isin,asset_class,traded_qty\n"
MORNINGS = ("2026-03-02", "2026-03-03", "2026-03-04", "2026-03-05")


def drop(folder, day, custodian=100, traded=100, trades=""):
    place = Path(folder) / day
    place.mkdir()
    (place / f"book_trades_{day}.csv").write_text(TRADES + trades)
    (place / f"book_positions_{day}.csv").write_text(f"{POSITIONS}CF01,NG-E317,GB0000000001,EQUITY,{traded}\n")
    (place / f"ngc_holdings_{day}.csv").write_text(f"H|NGC|{day}|STBA=S\naccount;isin;quantity\nNG-E317;GB0000000001;{custodian}\n")
    (place / f"cash_{day}.csv").write_text("custodian,account,isin,event_id,gross,wht,net,ccy,value_date\n")
    return str(place)


class Recon(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.out = Path(self.folder.name) / "out"
        self.database = str(Path(self.folder.name) / "var" / "recon.sqlite")

    def tearDown(self):
        self.folder.cleanup()

    def rows(self, day):
        return (self.out / f"actions_{day}.csv").read_text().splitlines()[1:]

    def morning(self, day, **world):
        run.run(day, drop(self.folder.name, day, **world), self.database, str(self.out))
        return self.rows(day)

    def test_a_difference_is_queried_on_its_third_morning_and_once(self):
        trade = "T2602-10001,CF01,NG-E317,GB0000000001,EQUITY,B,40,1,40,EUR,2026-02-25,2026-02-27,HALD,,NEW\n"
        self.assertEqual(self.morning(MORNINGS[0], custodian=60, trades=trade), [])
        self.assertEqual(self.morning(MORNINGS[1], custodian=60), [])
        self.assertIn("TRADE;T2602-10001;CHASE;CUSTODIAN", self.morning(MORNINGS[2], custodian=60)[0])
        self.assertEqual(self.morning(MORNINGS[3], custodian=60), [])

    def test_northgates_equities_are_compared_with_what_was_traded(self):
        trade = "T2603-10001,CF01,NG-E317,GB0000000001,EQUITY,B,40,1,40,EUR,2026-02-27,2026-03-09,HALD,,NEW\n"
        for day in MORNINGS[:3]:
            self.assertEqual(self.morning(day, custodian=100, trades=trade), [])

    def test_each_line_has_a_sentence(self):
        for day in MORNINGS[:2]:
            self.morning(day, custodian=99)
        self.assertIn("Position NG-E317:GB0000000001 differs by -1.00", self.morning(MORNINGS[2], custodian=99)[0])

    def test_a_difference_that_no_trade_explains_is_queried_as_a_position(self):
        for day in MORNINGS[:2]:
            self.morning(day, custodian=99)
        self.assertIn("POS;NG-E317:GB0000000001;CHASE", self.morning(MORNINGS[2], custodian=99)[0])

    def test_delormes_fixed_columns_are_read(self):
        path = Path(self.folder.name) / "bdl_holdings_2026-03-02.txt"
        line = f"{'BD-B317':<10}{'FR0000000001':<12}{'62000,00':>18}{'1,0000':>8}"
        path.write_bytes(f"H|BDL|2026-03-02|STBA=S|Relevé\r\n{line}\r\n".encode("cp1252"))
        self.assertEqual(load.bdl_holdings(path), [load.Holding("BD-B317", "FR0000000001", 62000, "S", "1,0000")])

    def test_a_dividend_is_compared_net_of_the_table(self):
        connection = store.connect(self.database)
        connection.execute("INSERT INTO event VALUES ('DV-1001','GB0000000001','CH','2026-02-20','2026-03-02',1.0,'',0)")
        connection.execute("INSERT INTO entitlement VALUES ('DV-1001','CF01','NG-E317',100)")
        connection.execute("INSERT INTO payment VALUES ('DV-1001','NG-E317',60.0,'2026-03-02')")
        found = cashdiv.short(connection, drop(self.folder.name, MORNINGS[1]), MORNINGS[1])
        self.assertEqual(found, [("DV-1001", "CF01", 5.0)])
        connection.close()

    def test_a_reference_is_written_once(self):
        connection = sqlite3.connect(":memory:")
        connection.executescript(store.SCHEMA)
        action = chase.Action("ENT", "DV-1001:CF01", "CHASE", "CUSTODIAN", 5.0, "")
        self.assertEqual(chase.once(connection, MORNINGS[0], [action, action]), [action])
        self.assertEqual(chase.once(connection, MORNINGS[1], [action]), [])
        connection.close()



if __name__ == "__main__":
    unittest.main()
