import unittest

from bakeplan.plan import ordered, pieces


class Plan(unittest.TestCase):
    def test_without_a_message_the_standing_order_holds(self):
        self.assertEqual(ordered(40, []), 40)

    def test_the_newest_message_replaces_the_order(self):
        self.assertEqual(ordered(40, [{"pieces": "50"}, {"pieces": "20"}]), 20)

    def test_ten_in_a_hundred_go_on_top(self):
        self.assertEqual(pieces(40, 110), 44)


if __name__ == "__main__":
    unittest.main()
