import unittest

from bakeplan.plan import ordered, pieces

IN_TIME = {"received": "2026-09-14T14:59", "pieces": "30"}
LESS, MORE = ({"received": "2026-09-14T15:00", "pieces": number} for number in ("20", "60"))


class Plan(unittest.TestCase):
    def test_the_last_message_before_the_dough_is_weighed_counts(self):
        rules = {"dough_weighed": "15:00", "late": "none"}
        self.assertEqual(ordered(40, [IN_TIME, LESS], rules), 30)
        self.assertEqual(ordered(40, [MORE], rules), 40)

    def test_a_second_dough_serves_those_who_want_more(self):
        rules = {"dough_weighed": "15:00", "late": "more"}
        self.assertEqual(ordered(40, [LESS], rules), 40)
        self.assertEqual(ordered(40, [MORE], rules), 60)

    def test_so_many_of_a_hundred_are_sent(self):
        self.assertEqual(pieces(40, 70), 28)


if __name__ == "__main__":
    unittest.main()
