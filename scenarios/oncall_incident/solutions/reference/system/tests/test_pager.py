import contextlib
import tempfile
import unittest
from pathlib import Path

from pager import compile, feed, owner, store
from pager.times import Clocks, minute, shipped_transitions, stamp

SWAP = {
    "type": "override", "ts": "2026-08-01T10:00Z", "override_id": "OV-1", "action": "create", "team": "Harbor",
    "person_in": "rui", "start": "2026-08-03T18:00", "end": "2026-08-03T19:00", "entered_by": "wei",
}


def hand_over(ts, status, scope="ops", ticket="HO-1"):
    return {
        "type": "handover", "ts": ts, "ticket": ticket, "service_id": "stock-sync", "to_team": "Ledger", "scope": scope,
        "status": status,
    }


class PagerTest(unittest.TestCase):
    def setUp(self):
        folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        connection, _ = store.connect(folder / "pager.sqlite")
        self.connection = self.enterContext(contextlib.closing(connection))
        feed.take_over(connection)
        for team, first, second in (("Harbor", "ines", "carla"), ("Ledger", "nuno", "sofia")):
            for shift, start, end in (("D", "08:00", "20:00"), ("N", "20:00", "08:00")):
                row = (team, "2026-08-03", shift, start, end, first, second)
                connection.execute("INSERT INTO rota VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        connection.execute("INSERT INTO catalog VALUES ('stock-sync', 'Stock sync', 'Harbor', 'standard')")
        people = [(name, "Harbor", "Lisbon", "Europe/Lisbon", "yes") for name in ("ines", "carla", "rui")]
        people.append(("wei", "Swap desk", "Singapore", "Asia/Singapore", "no"))
        connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?)", people)

    def first_rung(self, asof):
        lines = [line.split(",") for line in compile.table(self.connection, minute(asof))]
        return [(line[2], line[5]) for line in lines if line[1] == "1" and line[4] == "1"]

    def test_a_swap_is_in_the_time_of_who_entered_it(self):
        feed.apply(self.connection, SWAP)
        self.assertEqual(
            self.first_rung("2026-08-03T09:00Z"),
            [("2026-08-03T09:05Z", "ines"), ("2026-08-03T10:00Z", "rui"), ("2026-08-03T11:00Z", "ines")],
        )

    def test_a_swap_cancelled_before_it_is_delivered_is_cancelled(self):
        feed.apply(self.connection, SWAP | {"action": "cancel"})
        feed.apply(self.connection, SWAP)
        self.assertEqual(self.first_rung("2026-08-03T09:00Z"), [("2026-08-03T09:05Z", "ines")])

    def test_the_pager_moves_four_weeks_after_the_last_acceptance_of_scope_ops(self):
        feed.apply(self.connection, hand_over("2026-07-06T10:00Z", "accepted"))
        feed.apply(self.connection, hand_over("2026-07-01T10:00Z", "accepted", "code", "HO-2"))
        self.assertEqual(
            self.first_rung("2026-08-03T09:00Z"), [("2026-08-03T09:05Z", "ines"), ("2026-08-03T10:00Z", "nuno")]
        )

    def test_a_declined_ticket_moves_nothing(self):
        for ts, status in (("2026-07-02T10:00Z", "declined"), ("2026-07-01T10:00Z", "accepted")):
            feed.apply(self.connection, hand_over(ts, status))
        rules = {"source": "tickets", "scopes": ["ops"], "warm_days": 28}
        self.assertEqual(owner.accepted(self.connection, rules), {})

    def test_who_was_rung_at_night_goes_second_for_eleven_hours(self):
        self.connection.execute("INSERT INTO rung VALUES ('ines', ?)", (minute("2026-08-03T00:00Z"),))
        self.assertEqual(
            self.first_rung("2026-08-03T09:00Z"), [("2026-08-03T09:05Z", "carla"), ("2026-08-03T11:00Z", "ines")]
        )


class ClocksTest(unittest.TestCase):
    def test_lisbon_goes_back_on_25_october(self):
        clocks = Clocks(shipped_transitions())
        self.assertEqual(stamp(clocks.instant("Lisbon", minute("2026-10-24T20:00"))), "2026-10-24T19:00Z")
        self.assertEqual(stamp(clocks.instant("Lisbon", minute("2026-10-25T08:00"))), "2026-10-25T08:00Z")


if __name__ == "__main__":
    unittest.main()
