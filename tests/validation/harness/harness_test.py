#!/usr/bin/env python3
"""Tests the harness of the studies."""
import os
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import harness  # noqa: E402


class Running(unittest.TestCase):
    def test_output_errors_and_exit_code_of_a_program_are_kept_apart(self):
        ran = harness.run(["sh", "-c", "echo out; echo $WORD >&2; exit 4"], WORD="err")
        self.assertEqual((ran.code, ran.out, ran.err), (4, "out\n", "err\n"))

    def test_errors_are_part_of_the_output_where_both_are_wanted_together(self):
        ran = harness.run(["sh", "-c", "echo 1; echo 2 >&2; echo 3"], together=True)
        self.assertEqual((ran.out, ran.err), ("1\n2\n3\n", ""))

    def test_a_program_over_time_is_ended_with_its_children(self):
        with tempfile.TemporaryDirectory() as folder:
            ran = harness.run(["sh", "-c", "sleep 60 & echo $! >child; echo begun; wait"], timeout=1, folder=folder)
            child = int(pathlib.Path(folder, "child").read_text())
        self.assertIsNone(ran.code)
        self.assertEqual(ran.out, "begun\n")
        self.assertLess(ran.seconds, 30)
        state = pathlib.Path(f"/proc/{child}/stat")
        self.assertTrue(not state.exists() or state.read_text().split()[2] == "Z")

    def test_a_program_that_fails_ends_the_study_with_its_reason(self):
        with self.assertRaises(SystemExit) as ended:
            harness.output_of(["sh", "-c", "echo too hot >&2; exit 5"])
        self.assertIn("ended with 5", str(ended.exception))
        self.assertIn("too hot", str(ended.exception))
        self.assertEqual(harness.output_of(["sh", "-c", "echo fine; exit 5"], good=(5,)), "fine\n")


class Keeping(unittest.TestCase):
    def test_a_result_is_made_once(self):
        with tempfile.TemporaryDirectory() as folder:
            made = []
            for _ in range(2):
                result = harness.kept(pathlib.Path(folder, "row.json"), lambda: made.append(1) or {"a": 1})
                self.assertEqual(result, {"a": 1})
            self.assertEqual(len(made), 1)

    def test_what_fails_is_not_kept(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaises(ZeroDivisionError):
                harness.kept(pathlib.Path(folder, "row.json"), lambda: 1 / 0)
            self.assertEqual(os.listdir(folder), [])

    def test_results_come_in_the_order_of_their_items(self):
        self.assertEqual(list(harness.each(3, lambda item: item * item, range(20))), [i * i for i in range(20)])


class Editing(unittest.TestCase):
    CHIP = "name = 1\n[wires]\npitch = 3.0\n\n[sensor]\nlag_s = 0.0\n\n[[engine]]\nlag_s = 7\n"

    def test_values_replace_are_added_and_are_multiplied_in_their_section_alone(self):
        text = harness.edited_chip(self.CHIP, {"sensor": {"lag_s": 0.1, "shown": False}}, {"wires": {"pitch": 2}})
        self.assertEqual(text, "name = 1\n[wires]\npitch = 6.0\n\n[sensor]\nlag_s = 0.1\n\nshown = false\n"
                               "[[engine]]\nlag_s = 7\n")

    def test_a_section_or_factor_that_the_file_lacks_is_an_error(self):
        for values, factors in (({"rails": {"gain": 1}}, {}), ({}, {"wires": {"width": 2}})):
            with self.assertRaisesRegex(ValueError, "rails|width"):
                harness.edited_chip(self.CHIP, values, factors)


class Judging(unittest.TestCase):
    def test_median_and_quantiles(self):
        self.assertEqual(harness.median([3, 1, 2]), 2)
        self.assertEqual(harness.median([4, 1, 2, 3]), 2.5)
        self.assertIsNone(harness.median([]))
        values = list(range(1, 101))
        self.assertEqual(harness.quantile(values, 0.95), 95)
        self.assertEqual((harness.quantile(values, 0), harness.quantile(values, 1)), (1, 100))
        self.assertIsNone(harness.quantile([], 0.5))

    def test_binomial_p_of_19_of_20_is_1_and_of_15_of_20_is_small(self):
        self.assertAlmostEqual(harness.binomial_p(20, 19), 1.0)
        # 15 or fewer of 20: the sum of the lower tail; the upper tail's likelihoods all exceed it.
        tail = sum(n * 0.95**k * 0.05**(20 - k) for k, n in enumerate(
            [1, 20, 190, 1140, 4845, 15504, 38760, 77520, 125970, 167960, 184756, 167960, 125970, 77520, 38760, 15504]))
        self.assertAlmostEqual(harness.binomial_p(20, 15), tail, places=12)


if __name__ == "__main__":
    unittest.main()
