import contextlib
import json
import tempfile
import unittest
from pathlib import Path

from pager import compile, feed, policy, store
from pager.times import minute, stamp

SWAP = {
    "event_id": "EV-1", "type": "override", "ts": "2026-08-01T10:00Z", "delivered": "2026-08-01T10:00Z",
    "override_id": "OV-1", "action": "create", "team": "Harbor", "person_out": "ines", "person_in": "rui",
    "start": "2026-08-03T10:00", "end": "2026-08-03T11:00", "entered_by": "ines",
}


class TableTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.connection = self.enterContext(contextlib.closing(store.connect(self.folder / "pager.sqlite")))
        self.connection.executemany(
            "INSERT INTO rota VALUES ('Harbor', '2026-08-03', ?, ?, ?, ?, ?)",
            [("D", "08:00", "20:00", "ines", "carla"), ("N", "20:00", "08:00", "nuno", "sofia")],
        )
        self.connection.executemany(
            "INSERT INTO catalog VALUES (?, ?, 'Harbor', ?)",
            [("stock-sync", "Stock sync", "standard"), ("ward-audit", "Ward audit", "clinical")],
        )

    def lines(self, first):
        return compile.table(self.connection, minute(first), minute(first) + 180)

    def test_primary_and_secondary_of_the_day_shift(self):
        lines = self.lines("2026-08-03T12:05")
        self.assertEqual(len(lines), 2 * 3 * 2)
        self.assertIn("stock-sync,2,2026-08-03T12:05Z,2026-08-03T15:05Z,1,ines,0", lines)
        self.assertIn("stock-sync,2,2026-08-03T12:05Z,2026-08-03T15:05Z,2,carla,10", lines)

    def test_a_swap_cuts_the_window(self):
        feed.swap(self.connection, SWAP)
        firsts = [line.split(",")[2:6] for line in self.lines("2026-08-03T09:05") if line.startswith("ward-audit,1")]
        self.assertIn(["2026-08-03T09:05Z", "2026-08-03T10:00Z", "1", "rui"], firsts)
        self.assertIn(["2026-08-03T10:00Z", "2026-08-03T12:05Z", "1", "ines"], firsts)

    def test_severity_three_waits_at_night_unless_it_is_clinical(self):
        lines = self.lines("2026-08-03T22:05")
        self.assertFalse([line for line in lines if line.startswith("stock-sync,3")])
        self.assertTrue([line for line in lines if line.startswith("ward-audit,3")])

    def test_events_are_stored_as_they_come(self):
        path = self.folder / "events.jsonl"
        cancel = SWAP | {"event_id": "EV-2", "action": "cancel"}
        path.write_text("\n".join(json.dumps(event) for event in (SWAP, cancel)) + "\n")
        feed.read(self.connection, self.folder)
        self.assertEqual(self.connection.execute("SELECT count(*) FROM event").fetchone(), (2,))
        self.assertEqual(self.connection.execute("SELECT count(*) FROM override").fetchone(), (0,))


class NightTest(unittest.TestCase):
    def test_the_edges_of_the_night_lie_inside_the_window(self):
        first = minute("2026-08-03T19:05")
        self.assertEqual({stamp(edge) for edge in policy.edges(first, first + 180, 60)}, {"2026-08-03T21:00Z"})


if __name__ == "__main__":
    unittest.main()
