import doctest
import unittest

import rates


class Docs(unittest.TestCase):
    def test_examples_print_what_they_say(self):
        failed, tried = doctest.testmod(rates)
        self.assertEqual((failed, tried), (0, 2))
