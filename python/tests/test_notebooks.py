"""The notebooks, run from the first cell to the last."""

import contextlib
import importlib.util
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


HAS_NBCONVERT = all(importlib.util.find_spec(name) for name in ("nbconvert", "ipykernel"))


def converted(file: pathlib.Path, folder: pathlib.Path) -> str:
    """What its cells print and show as text, run by nbconvert as a user's Jupyter runs them."""
    subprocess.run(
        [sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute", str(file), "--output-dir", str(folder),
         "--output", "done", "--ExecutePreprocessor.timeout=300", "--log-level", "ERROR"],
        cwd=folder, check=True, timeout=400, env={**os.environ, "JUPYTER_CONFIG_DIR": str(folder / "jupyter"),
                                                  "IPYTHONDIR": str(folder / "ipython")})
    printed = []
    for cell in json.loads((folder / "done.ipynb").read_text())["cells"]:
        for output in cell.get("outputs", []):
            printed += output.get("text", []) + output.get("data", {}).get("text/plain", [])
    return "".join(printed)


def executed(file: pathlib.Path, folder: pathlib.Path) -> str:
    """What its cells print, run by Python alone: for machines without nbconvert."""
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


def run_notebook(name: str, folder: pathlib.Path) -> str:
    file = HERE.parent / "notebooks" / name
    if HAS_NBCONVERT:  # it runs the notebook beside the files that its cells name
        return converted(pathlib.Path(shutil.copy(file, folder)), folder)
    print("nbconvert or ipykernel is not installed: the cells run in Python alone", file=sys.stderr)
    return executed(file, folder)


class Notebooks(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        shutil.copy(HERE.parent / "examples" / "transpose.py", self.folder)

    def test_the_calibration(self) -> None:
        printed = run_notebook("calibration.ipynb", self.folder)
        self.assertRegex(printed, r"\d \(\d+\.?\d*\.\.\d+\.?\d*\) fJ/bit/mm")
        self.assertIn("stream", printed)
        self.assertRegex(printed, r"calibrating +\d+%")

    def test_before_and_after(self) -> None:
        found = subprocess.run([sys.executable, "-c", "import pyopencl"], capture_output=True)
        if found.returncode != 0:
            self.skipTest("python3-pyopencl is not installed")
        subprocess.run([os.environ["WW_MAKE_CAMPAIGN"], str(self.folder / "first-run"), "1"], check=True,
                       capture_output=True)
        printed = run_notebook("before_and_after.ipynb", self.folder)
        self.assertIn("l1_l2", printed)

    def test_a_papers_figure(self) -> None:
        printed = run_notebook("papers_figure.ipynb", self.folder)
        self.assertRegex(printed, r"paper .+, ours .+: ")
        self.assertIn("Fig. 10", (self.folder / "reproduced" / "reproduction.json").read_text())


if __name__ == "__main__":
    unittest.main()
