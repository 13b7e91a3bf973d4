import os
import unittest

from rates import per_second


class Many(unittest.TestCase):
    def test_falls_with_the_time_it_takes(self):
        self.assertIsNone(os.environ.get("BROKEN"), "somebody broke the build")
        rates = [per_second(1, seconds) for seconds in range(1, 200_000)]
        self.assertEqual(rates, sorted(rates, reverse=True))
