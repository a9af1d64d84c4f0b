import tempfile
import unittest
from datetime import date, timedelta
from pathlib import Path

from recon import run

TRADES = "trade_id,fund,account,isin,asset_class,side,qty,price,net_amount,ccy,trade_date,isd,broker,block_ref,status\n"
MOVES = "move_id;account;isin;side;qty;amount;settle_date;our_ref;status;reason;part\n"
CASH = "custodian,account,isin,event_id,gross,wht,net,ccy,value_date\n"
EVENTS = "event_id,isin,country,ex_date,record_date,pay_date,rate,ccy,comp\n"
ISIN = "GB0000000001"
FIRST = date(2026, 3, 2)
MORNINGS = [(FIRST + timedelta(days=offset)).isoformat() for offset in range(25) if (FIRST + timedelta(days=offset)).weekday() < 5]


def trade(number, qty=40, isd=MORNINGS[1], account="NG-E317", block="", status="NEW"):
    return f"{number},CF01,{account},{ISIN},EQUITY,B,{qty},1,{qty},EUR,2026-02-27,{isd},HALD,{block},{status}\n"


def move(number, qty=40, day=MORNINGS[1], ref="", status="SETT", reason="", part="", account="NG-E317", amount=None):
    return f"{number};{account};{ISIN};B;{qty};{qty if amount is None else amount};{day};{ref};{status};{reason};{part}\n"


class Recon(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.place = Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def play(self, mornings=6, trades=None, moves=None, cash=None, events="", held=100, account="NG-E317"):
        """Rows written, morning by morning; the arguments say what lies in the files of a morning, by its number."""
        written = {}
        for number, day in enumerate(MORNINGS[:mornings]):
            drop = self.place / day
            drop.mkdir()
            (drop / f"book_trades_{day}.csv").write_text(TRADES + (trades or {}).get(number, ""))
            positions = f"fund,account,isin,asset_class,traded_qty\nCF01,{account},{ISIN},EQUITY,{held}\n"
            (drop / f"book_positions_{day}.csv").write_text(positions)
            (drop / f"ngc_moves_{day}.csv").write_text(f"H|NGC|{day}|MOVES\n{MOVES}" + (moves or {}).get(number, ""))
            (drop / f"cash_{day}.csv").write_text(CASH + (cash or {}).get(number, ""))
            (drop / f"events_{day}.csv").write_text(EVENTS + (events if number == 0 else ""))
            run.run(day, str(drop), str(self.place / "var" / "recon.sqlite"), str(self.place / "out"))
            rows = (self.place / "out" / f"actions_{day}.csv").read_text().splitlines()[1:]
            written[number] = [tuple(row.split(";")[1:5]) for row in rows]
        return {number: rows for number, rows in written.items() if rows}

    def test_a_fail_is_queried_once_on_the_third_day_with_the_party_of_its_latest_reason(self):
        moves = {
            1: move("NM1", ref="T1", status="PEND", reason="NMAT"),
            2: move("NM2", ref="T1", status="PEND", reason="LACK"),
        }
        found = self.play(8, {0: trade("T1")}, moves)
        self.assertEqual(found, {4: [("TRADE", "T1", "CHASE", "INTERNAL")]})

    def test_an_instruction_without_a_word_is_queried_as_unmatched(self):
        self.assertEqual(self.play(6, {0: trade("T1")}), {4: [("TRADE", "T1", "CHASE", "CUSTODIAN")]})

    def test_what_settles_late_or_is_cancelled_is_not_queried(self):
        trades = {0: trade("T1") + trade("T2"), 1: trade("T2", status="CANC")}
        self.assertEqual(self.play(6, trades, {3: move("NM1", day=MORNINGS[3], ref="T1")}), {})

    def test_one_confirmation_settles_a_block_less_its_cancelled_allocation(self):
        trades = {0: trade("T1", 30, block="BK1") + trade("T2", 50, block="BK1") + trade("T3", 7, block="BK1")}
        trades[1] = trade("T3", 7, block="BK1", status="CANC")
        for ref in ("BK1", ""):
            with self.subTest(ref=ref):
                self.assertEqual(self.play(6, trades, {1: move("NM1", 80, ref=ref, account="NG-X9000")}), {})
                self.tearDown()
                self.setUp()

    def test_a_split_without_amount_settles_nothing(self):
        found = self.play(6, {0: trade("T1")}, {2: move("NM1", amount="0.00")})
        self.assertEqual(list(found), [4])

    def test_two_parts_settle_a_trade_and_one_does_not(self):
        first = move("NM1", 25, ref="T1", part="PAIN")
        both = {1: first, 3: move("NM2", 15, day=MORNINGS[3], ref="T1", part="PARC")}
        self.assertEqual(self.play(8, {0: trade("T1")}, both), {})
        self.tearDown()
        self.setUp()
        self.assertEqual(list(self.play(8, {0: trade("T1")}, {1: first})), [5])

    def test_of_two_of_a_size_the_older_is_settled_first(self):
        trades = {0: trade("T1") + trade("T2", isd=MORNINGS[2])}
        self.assertEqual(self.play(6, trades, {2: move("NM1", day=MORNINGS[2])}), {5: [("TRADE", "T2", "CHASE", "CUSTODIAN")]})

    def test_a_repeated_line_counts_once(self):
        twice = move("NM1", 20, ref="T1") * 2
        self.assertEqual(list(self.play(8, {0: trade("T1")}, {1: twice})), [5])

    def test_a_short_dividend_is_claimed_on_the_fifth_day_unless_delorme_compensates_it(self):
        event = f"DV-1001,{ISIN},GB,{MORNINGS[1]},{MORNINGS[2]},{MORNINGS[3]},1.0000,EUR,AUTO\n"
        for account, expected in (("NG-E317", {8: [("ENT", "DV-1001:CF01", "CHASE", "CUSTODIAN")]}), ("BD-E317", {})):
            with self.subTest(account=account):
                paid = {4: f"X,{account},{ISIN},DV-1001,60.00,0.00,60.00,EUR,{MORNINGS[3]}\n"}
                self.assertEqual(self.play(11, cash=paid, events=event, account=account), expected)
                self.tearDown()
                self.setUp()


if __name__ == "__main__":
    unittest.main()
