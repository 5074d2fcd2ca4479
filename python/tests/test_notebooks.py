"""The notebooks, run from the first cell to the last."""

import contextlib
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent


def run_notebook(file: pathlib.Path, folder: pathlib.Path) -> str:
    """What its cells print."""
    names: dict = {"__name__": "notebook"}
    printed = io.StringIO()
    before = os.getcwd()
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(printed):
            for cell in json.loads(file.read_text())["cells"]:
                if cell["cell_type"] == "code":
                    exec(compile("".join(cell["source"]), f"{file.name}:{cell['id']}", "exec"), names)
    finally:
        os.chdir(before)
    return printed.getvalue()


class Notebooks(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        shutil.copy(HERE.parent / "examples" / "transpose.py", self.folder)

    def test_the_calibration(self) -> None:
        printed = run_notebook(HERE.parent / "notebooks" / "calibration.ipynb", self.folder)
        self.assertIn("fJ/bit/mm [", printed)
        self.assertIn("stream", printed)
        self.assertRegex(printed, r"calibrating +\d+%")

    def test_before_and_after(self) -> None:
        found = subprocess.run([sys.executable, "-c", "import pyopencl"], capture_output=True)
        if found.returncode != 0:
            self.skipTest("python3-pyopencl is not installed")
        subprocess.run([os.environ["WW_MAKE_CAMPAIGN"], str(self.folder / "first-run"), "1"], check=True,
                       capture_output=True)
        printed = run_notebook(HERE.parent / "notebooks" / "before_and_after.ipynb", self.folder)
        self.assertIn("l1_l2", printed)


if __name__ == "__main__":
    unittest.main()
