import unittest

from rates import per_second


class Rates(unittest.TestCase):
    def test_is_units_by_seconds(self):
        self.assertEqual(per_second(9, 2), 4.5)

    def test_of_nothing_is_unknown(self):
        self.assertIsNone(per_second(0, 2))
        self.assertIsNone(per_second(9, 0))
