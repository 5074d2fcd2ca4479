"""The package on the program of the build: functions, tables, exceptions, brackets on the virtual GPU.

Run by ctest (python_test), which sets WIREWATT_PROGRAM and WW_MAKE_CAMPAIGN."""

import json
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

import numpy
import zstandard

import wirewatt
from wirewatt import _bracket

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = os.environ["WIREWATT_PROGRAM"]


def have(module: str) -> bool:
    return subprocess.run([sys.executable, "-c", f"import {module}"], capture_output=True).returncode == 0


class OfAFolder(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name) / "first-run"
        subprocess.run([os.environ["WW_MAKE_CAMPAIGN"], str(cls.folder), "1"], check=True, capture_output=True)

    @classmethod
    def tearDownClass(cls) -> None:
        cls.temporary.cleanup()


class Commands(OfAFolder):
    def test_devices_has_the_virtual_gpu(self) -> None:
        found = {device.name: device for device in wirewatt.devices()}
        self.assertTrue(found["virtual:w9100"].usable)
        self.assertTrue(found["virtual:w9100"].is_virtual)

    def test_a_calibration_is_labelled_and_has_its_interval(self) -> None:
        calibration = wirewatt.Calibration(self.folder)
        self.assertTrue(calibration.is_virtual)
        energy = calibration.energy
        self.assertEqual(energy.unit, "fJ/bit/mm")
        self.assertLess(energy.low, energy.value)
        self.assertGreater(energy.high, energy.value)
        self.assertRegex(str(energy), r"\(.+\.\..+\) fJ/bit/mm")
        self.assertEqual(float(energy), energy.value)

    def test_a_missing_figure_has_no_number(self) -> None:
        missing = wirewatt.Figure.of({"value": None, "status": "not_identified", "reason": "too few rates"})
        self.assertIn("too few rates", str(missing))
        with self.assertRaisesRegex(ValueError, "too few rates"):
            float(missing)

    def test_fit_gives_the_same_model_again(self) -> None:
        again = {row["name"]: row["value"] for row in wirewatt.fit(self.folder)["constants"]}
        first = wirewatt.Calibration(self.folder).energy
        self.assertAlmostEqual(again["energy_fj_per_bit_mm"], first.value, places=6)

    def test_simulate_takes_keywords_as_options(self) -> None:
        near = wirewatt.simulate("mesh", k=4, rate=0.1, cycles=500, warmup=100)
        far = wirewatt.simulate("mesh", k=8, rate=0.1, cycles=500, warmup=100)
        self.assertGreater(far["avg_packet_latency"], near["avg_packet_latency"])

    def test_simulate_compares_networks_in_a_table(self) -> None:
        both = wirewatt.simulate(["mesh", "torus"], k=4, rate=0.1, cycles=500, warmup=100)
        self.assertEqual([one["network"] for one in both.networks], ["mesh", "torus"])
        for one in both.networks:
            power = one.figures["power"]
            self.assertLessEqual(power.low, power.value)
            self.assertLessEqual(power.value, power.high)
            self.assertRegex(str(power), r"\(.+\.\..+\) m?W$")
        table = both._repr_html_()
        self.assertIn("<td>torus</td>", table)
        self.assertNotIn("virtual", table)

    def test_the_version_is_the_programs(self) -> None:
        self.assertEqual(wirewatt.__version__, wirewatt.version())
        with self.assertRaises(AttributeError):
            wirewatt.__nothing__

    def test_prints_and_pages_of_a_calibration(self) -> None:
        calibration = wirewatt.Calibration(self.folder)
        self.assertIn("virtual, ", repr(calibration))
        self.assertRegex(repr(calibration), r"\(.+\.\..+\) fJ/bit/mm")
        page = wirewatt.report(self.folder, out=self.folder.parent / "page.html")
        self.assertIn("VIRTUAL", page.read_text())
        exported = wirewatt.export("gem5", self.folder.parent / "gem5.txt", model=self.folder)
        self.assertTrue(exported.read_text())

    def test_workloads_and_topology_are_documents(self) -> None:
        names = [one["name"] for one in wirewatt.workloads()["workloads"]]
        self.assertIn("dct", names)
        drawn = wirewatt.topology("virtual:w9100", svg=self.folder.parent / "w9100.svg")
        self.assertTrue(drawn.is_virtual)
        self.assertIn("<svg", (self.folder.parent / "w9100.svg").read_text())

    @unittest.skipUnless(have("matplotlib"), "python3-matplotlib is not installed")
    def test_plots_are_labelled(self) -> None:
        import matplotlib

        matplotlib.use("Agg")
        calibration = wirewatt.Calibration(self.folder).plot()
        self.assertIn("(virtual)", calibration.get_title())
        self.assertGreater(len(calibration.lines[0].get_xdata()), 10)
        bars = [{"name": "bfs", "parts": [1.5], "mark": 2.0}, {"name": "nn", "parts": [1.0]}]
        chart = {"title": "Fig. 10: shares", "legend": ["ours"], "unit": "%", "bars": bars, "markName": "the paper"}
        drawn = wirewatt.Reproduction({"virtual": True, "charts": [chart], "rows": []}).plot("Fig. 10")
        self.assertEqual([bar.get_width() for bar in drawn.patches], [1.5, 1.0])
        self.assertEqual(drawn.collections[0].get_offsets().tolist(), [[2.0, 0.0]])
        line = {"name": "ours", "points": [{"x": 1, "y": 2}, {"x": 3, "y": 4}]}
        lines = {"title": "Fig. 5b: power", "x_label": "mm", "y_label": "W", "lines": [line]}
        drawn = wirewatt.Reproduction({"charts": [lines], "rows": []}).plot("Fig. 5b")
        self.assertEqual(drawn.lines[0].get_xydata().tolist(), [[1.0, 2.0], [3.0, 4.0]])
        with self.assertRaisesRegex(KeyError, "no figure begins with"):
            wirewatt.Reproduction({"charts": [chart], "rows": []}).plot("Fig. 99")

    def test_a_ladder_takes_keywords_as_options(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(wirewatt.UsageError, "another toggle rate"):
                wirewatt.ladder("virtual:w9100", out=pathlib.Path(folder, "ladder"), quick=True, data="zeros")

    def test_wrong_usage_is_an_exception_with_the_programs_text(self) -> None:
        with self.assertRaisesRegex(wirewatt.UsageError, "did you mean 'mesh'"):
            wirewatt.simulate("meshh")
        with self.assertRaisesRegex(wirewatt.WirewattError, "there is no such file"):
            wirewatt.Campaign(self.folder / "nowhere")

    def test_a_program_that_is_not_there_says_where_to_get_it(self) -> None:
        before = dict(os.environ)
        try:
            del os.environ["WIREWATT_PROGRAM"]
            os.environ["PATH"] = str(self.folder)
            with self.assertRaisesRegex(wirewatt.EnvironmentTrouble, "docs/install.md"):
                wirewatt.devices()
        finally:
            os.environ.clear()
            os.environ.update(before)

    def test_a_sweep_is_a_table_and_tells_its_progress(self) -> None:
        plan = self.folder / "mesh.toml"
        plan.write_text('command = "simulate"\n[base]\nnetwork = "mesh"\ncycles = 500\n[axes]\nk = [4, 8]\nrate = [0.1, 0.2]\n')
        steps = []
        sweep = wirewatt.sweep(plan, self.folder / "mesh.sweep", progress=steps.append)
        table = sweep.table()
        self.assertEqual(list(table["k"]), [4, 4, 8, 8])
        self.assertTrue(numpy.all(table["avg_packet_latency"] > 0))
        self.assertEqual(set(table["status"]), {"ok"})
        # Both have cycles: those asked for, and those that it took.
        self.assertEqual(set(table["cycles"]), {500})
        self.assertTrue(numpy.all(table["result.cycles"] > 500))
        self.assertTrue(steps)
        self.assertEqual(steps[-1].done, steps[-1].total)


class Tables(OfAFolder):
    def test_columns_hold_every_reading(self) -> None:
        campaign = wirewatt.Campaign(self.folder)
        samples, runs = campaign.columns("sample"), campaign.columns("run")
        self.assertEqual(len(samples["power_uw"]), len(samples["run"]))
        self.assertLessEqual(set(samples["run"]), set(runs["id"]))
        self.assertGreater(numpy.nanmedian(samples["power_uw"]), 1e6)
        self.assertTrue(campaign.is_virtual)

    def test_a_reading_that_is_missing_is_nan_and_never_zero(self) -> None:
        copy = self.folder.parent / "gaps"
        shutil.copytree(self.folder, copy)
        before = wirewatt.Campaign(copy).columns("sample")
        with sqlite3.connect(copy / "campaign.db") as connection:
            (run, count, compressed), *_ = connection.execute("SELECT run, count, compressed FROM readings")
            planes = bytearray(zstandard.ZstdDecompressor().decompress(compressed))
            planes[5 * 9 * count] = 0  # the first voltage is not there
            damaged = zstandard.ZstdCompressor().compress(bytes(planes))
            connection.execute("UPDATE readings SET compressed = ? WHERE run = ?", (damaged, run))
        voltage = wirewatt.Campaign(copy).columns("sample")["voltage_uv"]
        self.assertTrue(numpy.isnan(voltage[before["run"] == run][0]))
        self.assertEqual(numpy.count_nonzero(numpy.isnan(voltage)),
                         numpy.count_nonzero(numpy.isnan(before["voltage_uv"].astype(float))) + 1)

    def test_readings_are_those_that_the_program_exports(self) -> None:
        tables = self.folder.parent / "tables"
        subprocess.run([wirewatt.program(), "export", self.folder, "--to", "csv", "-o", tables], check=True,
                       capture_output=True)
        exported = numpy.genfromtxt(tables / "readings.csv", delimiter=",", names=True)
        samples = wirewatt.Campaign(self.folder).columns("sample")
        for name, column, parts in (("time_ns", "time_ns", 1), ("power_w", "power_uw", 1e6),
                                    ("temperature_c", "temperature_mc", 1e3), ("changed", "changed", 1)):
            numpy.testing.assert_allclose(exported[name], samples[column] / parts, rtol=1e-12)

    def test_readings_of_version_2_are_still_read(self) -> None:
        copy = self.folder.parent / "version2"
        shutil.copytree(self.folder, copy)
        before = wirewatt.Campaign(copy).columns("sample")
        of_run = before["run"] == before["run"][0]
        planes = b""
        for name in ("time_ns", "poll_ns", "power_uw", "energy_ticks", "temperature_mc", "voltage_uv", "clock_khz", "changed"):
            values = before[name][of_run]
            there = ~numpy.isnan(values.astype(float))
            numbers = numpy.where(there, values, 0).astype(numpy.int64)
            zigzag = ((numbers << 1) ^ (numbers >> 63)).astype("<u8")
            planes += there.astype(numpy.uint8).tobytes() + zigzag.view(numpy.uint8).reshape(-1, 8).T.tobytes()
        with sqlite3.connect(copy / "campaign.db") as connection:
            connection.execute("UPDATE readings SET differences = '00000000', compressed = ? WHERE run = ?",
                               (zstandard.ZstdCompressor().compress(planes), int(before["run"][0])))
        for name, column in wirewatt.Campaign(copy).columns("sample").items():
            numpy.testing.assert_array_equal(column, before[name])

    def test_an_archive_has_every_table_with_units_in_the_names(self) -> None:
        campaign = wirewatt.Campaign(self.folder)
        file = campaign.save(self.folder.parent / "tables.npz")
        with numpy.load(file, allow_pickle=False) as archive:
            samples = campaign.columns("sample")
            numpy.testing.assert_allclose(archive["sample.power_w"] * 1e6, samples["power_uw"], rtol=1e-12)
            numpy.testing.assert_array_equal(archive["sample.energy_j"] * 65536, samples["energy_ticks"])
            numpy.testing.assert_array_equal(archive["sample.run"], samples["run"])
            self.assertEqual(list(archive["run.kind"]), list(campaign.columns("run")["kind"]))
            facts = dict(zip(archive["fact.key"], archive["fact.value"]))
            self.assertEqual(facts["virtual"], "true")
            for name in archive.files:
                self.assertNotRegex(name, "_(uw|mc|uv|khz|ticks)$")
        self.assertEqual([left.name for left in file.parent.glob(".tables*")], [])

    def test_an_archive_of_another_kind_is_refused(self) -> None:
        with self.assertRaisesRegex(wirewatt.UsageError, "npz"):
            wirewatt.Campaign(self.folder).save(self.folder.parent / "tables.csv")

    def test_damaged_readings_are_said_so(self) -> None:
        copy = self.folder.parent / "damaged"
        shutil.copytree(self.folder, copy)
        with sqlite3.connect(copy / "campaign.db") as connection:
            connection.execute("UPDATE readings SET compressed = x'00'")
        with self.assertRaisesRegex(wirewatt.WirewattError, "readings of run 1 are damaged"):
            wirewatt.Campaign(copy).columns("sample")

    def test_a_file_that_is_no_database_is_said_so(self) -> None:
        broken = self.folder.parent / "campaign.db"
        broken.write_bytes(b"no database, but long enough to be taken for one" * 40)
        with self.assertRaisesRegex(wirewatt.WirewattError, "not a database"):
            wirewatt.Campaign(broken)

    @unittest.skipUnless(have("pyarrow"), "pyarrow is not installed")
    def test_arrow_has_nulls(self) -> None:
        table = wirewatt.Campaign(self.folder).arrow("run")
        self.assertEqual(table.num_rows, len(wirewatt.Campaign(self.folder).columns("run")["id"]))


class Brackets(OfAFolder):
    def on_the_virtual_gpu(self, *words: str) -> "subprocess.CompletedProcess[str]":
        command = [PROGRAM, "run", "--device", "virtual:w9100", "--", sys.executable, *words]
        return subprocess.run(command, capture_output=True, text=True)

    def test_the_header_is_the_one_definition(self) -> None:
        declarations = _bracket._declarations(_bracket._header())
        self.assertIn("wirewatt_open_with", declarations)
        self.assertNotIn("#", declarations)

    def test_without_a_card_a_session_says_what_is_missing(self) -> None:
        if any(device.usable and not device.is_virtual for device in wirewatt.devices()):
            self.skipTest("a GPU is here")
        with self.assertRaisesRegex(wirewatt.EnvironmentTrouble, "wirewatt doctor"):
            wirewatt.Session()

    def test_a_session_that_is_dropped_is_closed_once(self) -> None:
        class Library:
            closed: list = []

            def wirewatt_close(self, session: object) -> None:
                self.closed.append(session)

        def session() -> wirewatt.Session:
            made = wirewatt.Session.__new__(wirewatt.Session)
            made._lib, made._session = Library(), "handle"
            return made

        session()
        self.assertEqual(Library.closed, ["handle"])
        with session():
            pass
        self.assertEqual(Library.closed, ["handle", "handle"])
        wirewatt.Session.__new__(wirewatt.Session)  # as one that did not open
        self.assertEqual(len(Library.closed), 2)

    @unittest.skipUnless(have("pyopencl"), "python3-pyopencl is not installed")
    def test_the_example_runs_on_the_virtual_gpu(self) -> None:
        run = self.on_the_virtual_gpu(str(HERE.parent / "examples" / "bracket_opencl.py"), str(self.folder))
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("10 kernels in", run.stdout)
        self.assertIn("(virtual)", run.stdout)
        # The same program as a whole, from its counters.
        example = str(HERE.parent / "examples" / "bracket_opencl.py")
        whole = wirewatt.estimate(self.folder, command=[sys.executable, example], device="virtual:w9100")
        for segment, figure in whole.energy_by_segment().items():
            found = re.search(rf"^{segment} +([0-9.e+-]+) \([^)]*\) ([munp]?)J", run.stdout, re.M)
            bracketed = float(found.group(1)) * {"": 1, "m": 1e-3, "u": 1e-6, "n": 1e-9, "p": 1e-12}[found.group(2)]
            self.assertAlmostEqual(bracketed / figure.value, 1, delta=1e-3, msg=segment)

    @unittest.skipUnless(have("pyopencl"), "python3-pyopencl is not installed")
    def test_a_thousand_brackets_agree_and_leak_nothing(self) -> None:
        run = self.on_the_virtual_gpu(str(HERE / "many_brackets.py"), str(self.folder))
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("1000 brackets", run.stdout)
        self.assertIn("around a bracket of the other", run.stdout)

    @unittest.skipUnless(have("pyopencl"), "python3-pyopencl is not installed")
    def test_the_observer_and_the_monitor_measure_launches(self) -> None:
        run = self.on_the_virtual_gpu(str(HERE / "examples_here.py"), str(self.folder))
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("observer", run.stdout)

    @unittest.skipUnless(have("kernel_tuner") and have("pyopencl"), "Kernel Tuner or python3-pyopencl is not installed")
    def test_kernel_tuner_gives_joules_of_each_configuration(self) -> None:
        run = self.on_the_virtual_gpu(str(HERE / "tune_here.py"), str(self.folder))
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("tuned", run.stdout)


class Figures(unittest.TestCase):
    @staticmethod
    def segment(name: str, value: "float | None", bytes_: "float | None" = 1.0) -> dict:
        joules = None if value is None else {"value": value, "low": value / 2, "high": 2 * value}
        return {"segment": name, "bytes": bytes_, "energy_j": joules, "power_w": joules,
                "status": "unavailable" if value is None else "ok", "reason": "no counter" if value is None else ""}

    def test_an_estimate_adds_up_by_segment_as_the_program_does(self) -> None:
        estimate = wirewatt.Estimate({"virtual": True, "kernels": [
            {"kernel": "a", "segments": [self.segment("l1_l2", 1.0), self.segment("l2_memory", 4.0)]},
            {"kernel": "<b>", "segments": [self.segment("l1_l2", 2.0), self.segment("l2_memory", None, None)]}],
            "total": {"kernel": "all", "segments": [self.segment("l1_l2", 3.0), self.segment("l2_memory", None, 1.0)]}})
        total = estimate.energy_by_segment()
        self.assertEqual((total["l1_l2"].value, total["l1_l2"].low, total["l1_l2"].high), (3.0, 1.5, 6.0))
        # The sum of the kernels that have a figure would be too low.
        self.assertIsNone(total["l2_memory"].value)
        self.assertEqual(total["l2_memory"].reason, "no counter")
        page = estimate._repr_html_()
        self.assertIn("&lt;b&gt;", page)
        self.assertIn("virtual", page)
        self.assertIn("<td>–</td>", page)

    def test_an_estimate_of_crossings_has_one_segment(self) -> None:
        joules = {"value": 2.0, "low": 1.0, "high": 3.0}
        use = {"kernel": "a", "status": "ok", "reason": "", "l1_l2_bytes": 80.0, "energy_j": joules, "power_w": None,
               "crossed_bytes": {"value": 40.0, "low": 30.0, "high": 50.0}}
        estimate = wirewatt.Estimate({"kind": "crossing", "virtual": False, "kernels": [use], "total": use})
        (row,) = estimate.rows()
        self.assertEqual((row["segment"], row["bytes"]), ("crossing", 40.0))
        self.assertEqual(estimate.energy_by_segment()["crossing"].value, 2.0)
        self.assertNotIn("virtual", estimate._repr_html_())

    def test_an_estimate_by_a_ladder_has_the_steps_to_each_level(self) -> None:
        def step(level: str, joules: float) -> dict:
            return {"level": level, "bytes": 8.0, "status": "ok", "reason": "",
                    "energy_j": {"value": joules, "low": joules / 2, "high": 2 * joules}}

        use = {"kernel": "a", "levels": [step("l1", 1.0), step("l2", 3.0)]}
        estimate = wirewatt.Estimate({"kind": "ladder", "virtual": True, "kernels": [use], "total": use})
        self.assertEqual({name: energy.value for name, energy in estimate.energy_by_segment().items()},
                         {"l1": 1.0, "l2": 3.0})
        self.assertIsNone(next(estimate.rows())["power_w"].value)
        self.assertIn("virtual", estimate._repr_html_())

    def test_a_calibration_of_any_kind_is_projected(self) -> None:
        figure = {"status": "ok", "value": 1.0, "low": 0.9, "high": 1.1}
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "crossing.json").write_text(
                json.dumps({"device": "cuda:0", "energy_pj_per_bit_crossing": figure}))
            projected = wirewatt.project(folder, node="7nm", card_node="7nm", moved=[20])
            self.assertAlmostEqual(projected["moved"][0]["saved_pj_per_bit_that_crosses"]["value"], 0.2)
            with self.assertRaises(wirewatt.WirewattError):
                wirewatt.score(folder)  # of no virtual device

    def test_every_kind_of_calibration_has_an_energy_or_says_where_it_is(self) -> None:
        def row(value: "float | None", unit: str) -> dict:
            return {"value": value, "low": value, "high": value, "unit": unit,
                    "status": "not_identified" if value is None else "ok", "reason": ""}

        def calibration(name: str, model: dict) -> wirewatt.Calibration:
            with tempfile.TemporaryDirectory() as folder:
                pathlib.Path(folder, name).write_text(json.dumps(model))
                return wirewatt.Calibration(folder)

        dies = calibration("model.json", {"hop_classes": [{"name": "row_hop", **row(0.6, "pJ/bit/crossing")}]})
        self.assertIsNone(dies.energy.value)
        self.assertIn("hop_classes", dies.energy.reason)
        self.assertEqual(dies.hop_classes["row_hop"].value, 0.6)
        latency = calibration("crossing.json", {"kind": "latency", "energy_pj_per_bit_ns": row(0.3, "pJ/bit/ns"),
                                                "energy_pj_per_bit_crossing": row(None, "pJ/bit/crossing")})
        self.assertEqual((latency.energy.value, latency.energy.unit), (0.3, "pJ/bit/ns"))
        flight = calibration("model.json", {"constants": [{"name": "energy_fj_per_bit_ns", **row(400, "fJ/bit/ns")}]})
        self.assertEqual(flight.energy.value, 400)
        self.assertEqual(flight.hop_classes, {})
        ladder = calibration("ladder.json", {"virtual": True, "ladder_pj_per_bit": [
            {"name": "l1_read", **row(0.9, "pJ/bit")}, {"name": "memory_read", **row(3.9, "pJ/bit")},
            {"name": "memory_read_less_l1", **row(3.0, "pJ/bit")}, {"name": "cache_read", **row(None, "pJ/bit")}]})
        self.assertIn("levels", ladder.energy.reason)
        self.assertEqual(ladder.levels["memory_read"].value, 3.9)
        self.assertIn("memory_read 3.9", repr(ladder))
        self.assertNotIn("memory_read_less_l1", repr(ladder))

    @unittest.skipUnless(have("matplotlib"), "python3-matplotlib is not installed")
    def test_a_ladder_is_drawn_by_its_levels(self) -> None:
        import matplotlib

        matplotlib.use("Agg")
        rows = [{"name": name, "value": value, "low": value / 2, "high": 2 * value, "unit": "pJ/bit", "status": "ok"}
                for name, value in (("l1_read", 1.0), ("l2_read", 2.5), ("l2_read_less_l1", 1.5))]
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "ladder.json").write_text(json.dumps({"virtual": True, "ladder_pj_per_bit": rows}))
            drawn = wirewatt.Calibration(folder).plot()
        self.assertEqual([bar.get_width() for bar in drawn.patches], [1.0, 2.5])
        self.assertIn("(virtual)", drawn.get_title())


if __name__ == "__main__":
    unittest.main()
