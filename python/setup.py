"""Takes the version from the project's CMakeLists.txt and the library's header from its folder, so that
each is written down once."""

import pathlib
import re
import shutil

from setuptools import setup
from setuptools.command.build_py import build_py

HERE = pathlib.Path(__file__).resolve().parent
PROJECT = HERE.parent


def version() -> str:
    packed = HERE / "PKG-INFO"
    if packed.exists():
        return re.search(r"^Version: (\S+)", packed.read_text(), re.M).group(1)
    text = (PROJECT / "CMakeLists.txt").read_text()
    return re.search(r"project\(\s*wirewatt\s+VERSION\s+([0-9.]+)", text).group(1)


class BuildWithHeader(build_py):
    def run(self) -> None:
        super().run()
        header = PROJECT / "apps/library/include/wirewatt/wirewatt.h"
        shutil.copy(header, pathlib.Path(self.build_lib) / "wirewatt" / "wirewatt.h")


setup(version=version(), cmdclass={"build_py": BuildWithHeader})
