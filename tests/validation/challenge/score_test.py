#!/usr/bin/env python3
"""Tests of the scorer: known levels give the known band, and wrong intervals are seen."""
import math
import random
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, __file__.rsplit("/", 1)[0])
import score  # noqa: E402


def campaign(name, truth, value, half, **more):
    constant = {"value": value, "low": value - half, "high": value + half,
                "sensed_low": value - half / 2, "sensed_high": value + half / 2}
    result = {"name": name, "status": "fitted", "reason": "",
              "model": {"energy_fj_per_bit_mm": constant, "misfit": {"flagged": False, "reason": ""},
                        "constants": [{"name": "wire_energy_fj_per_bit_mm", **constant}]},
              "truth": {"switches_included_fj_per_bit_mm": truth, "saved_fj_per_bit_mm": truth,
                        "sensed_fj_per_bit_mm": truth, "wires_fj_per_bit_mm": truth, "strata": {"names": "right", "sensor": "slow"}},
              "baselines": {"two_plateaus": {"value_fj_per_bit_mm": 2 * truth, "low": truth, "high": 3 * truth},
                            "iiswc16": {"value_fj_per_bit_mm": None}}}
    return result | more


class Level(unittest.TestCase):
    def test_is_095_at_the_end_of_the_interval_and_0_at_the_value(self):
        self.assertAlmostEqual(score.level(110, 100, 90, 110), 0.95, places=12)
        self.assertAlmostEqual(score.level(90, 100, 90, 110), 0.95, places=12)
        self.assertEqual(score.level(100, 100, 90, 110), 0)

    def test_takes_the_side_of_the_truth_where_the_interval_is_lopsided(self):
        self.assertAlmostEqual(score.level(120, 100, 95, 120), 0.95, places=12)
        self.assertAlmostEqual(score.level(95, 100, 95, 120), 0.95, places=12)


class Band(unittest.TestCase):
    def test_of_known_levels_is_the_known_one(self):
        self.assertAlmostEqual(score.band_half_width(200), math.sqrt(math.log(40) / 400), places=15)
        above, below = score.departures([0.1, 0.2, 0.3, 0.4])
        self.assertAlmostEqual(above, 0.6)  # all four lie below 0.4
        self.assertAlmostEqual(below, 0.1)

    def test_holds_uniform_levels_about_as_often_as_said_and_sees_narrow_intervals(self):
        source = random.Random(4)
        outside = 0
        for _ in range(400):
            outside += max(score.departures([source.random() for _ in range(50)])) > score.band_half_width(50)
        self.assertLessEqual(outside, 32)  # 20 are expected, and the band is a little too wide
        for scale, verdict in ((1, "within"), (2, "too narrow"), (0.4, "too wide")):
            rows = [(100, 100 + scale * source.gauss(0, 5), 0, 0) for _ in range(300)]
            rows = [(truth, value, value - 9.8, value + 9.8) for truth, value, _, _ in rows]
            judged = score.judge(rows)
            self.assertEqual(judged["verdict"], verdict)
            self.assertAlmostEqual(judged["rms_error_over_half_width"], scale * 5 / 9.8, delta=0.1 * scale)


class Binomial(unittest.TestCase):
    def test_of_twenty_is_exact(self):
        # 19 of 20 is the one outcome that is likelier than 20 of 20.
        self.assertAlmostEqual(score.binomial_p(20, 20), 1 - 20 * 0.95 ** 19 * 0.05, places=9)
        self.assertGreater(score.binomial_p(20, 18), 0.05)
        self.assertLess(score.binomial_p(20, 15), 0.05)


class IntervalScore(unittest.TestCase):
    def test_is_the_width_inside_and_forty_times_the_miss_beyond(self):
        self.assertEqual(score.interval_score(5, 0, 10), 10)
        self.assertEqual(score.interval_score(12, 0, 10), 10 + 40 * 2)
        self.assertEqual(score.interval_score(-1, 0, 10), 10 + 40)


class Score(unittest.TestCase):
    def test_leaves_out_of_the_band_what_was_not_answered_and_names_why(self):
        flagged = campaign("0002", 100, 300, 10)
        flagged["model"]["misfit"] = {"flagged": True, "reason": "departs by 40%"}
        refused = campaign("0003", 100, 100, 1, status="refused", reason="no idle runs")
        del refused["model"]
        ended = {"name": "0004", "status": "ended", "reason": "the reading did not move"}
        result = score.score([campaign("0001", 100, 101, 10), flagged, refused, ended])
        self.assertEqual(result["outcomes"], {"ok": 1, "flagged": 1, "refused": 1, "ended": 1})
        self.assertEqual(result["targets"]["with switches"]["campaigns"], 1)
        self.assertEqual(result["flagged_outside"], 1)
        self.assertEqual(result["reasons"]["no idle runs"], ["0003"])
        self.assertIn("1 flagged", score.text(result))

    def test_puts_simpler_methods_beside_and_counts_strata(self):
        result = score.score([campaign(str(i), 100, 100 + i, 10) for i in range(4)])
        self.assertEqual(result["baselines"]["two_plateaus"]["median_error_percent"], 100)
        self.assertIsNone(result["baselines"]["iiswc16"])
        self.assertEqual({s["stratum"] for s in result["strata"]["wires alone"]}, {"names: right", "sensor: slow"})
        self.assertEqual(result["strata"]["sensed"][0]["campaigns"], 4)

    def test_shows_of_the_strata_those_that_fail_and_the_worst(self):
        strata = [{"stratum": str(i), "verdict": "within", "binomial_p": 1, "interval_score_percent": i} for i in range(9)]
        strata[0]["verdict"] = "too narrow"
        strata[1]["binomial_p"] = 0.01
        self.assertEqual([s["stratum"] for s in score.notable(strata)], ["0", "1", "6", "7", "8"])

    def test_counts_swapped_engines_that_were_answered_without_a_flag(self):
        swapped = campaign("1", 100, 100, 10)
        swapped["truth"]["strata"]["names"] = "two engines swapped"
        self.assertEqual(score.score([swapped])["swapped"], {"campaigns": 1, "answered": 1})


if __name__ == "__main__":
    unittest.main()
