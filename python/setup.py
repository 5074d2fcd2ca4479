"""Takes the version from the project's CMakeLists.txt and the library's header from its folder, so that
each is written down once."""

import pathlib
import re
import shutil

from setuptools import Distribution, setup
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


class WithProgram(Distribution):
    """Of one kind of machine where scripts/wheel has put the program into the package."""

    def has_ext_modules(self) -> bool:
        return (HERE / "src/wirewatt/_native").exists()


commands = {"build_py": BuildWithHeader}
try:
    from wheel.bdist_wheel import bdist_wheel
except ImportError:  # it is needed for scripts/wheel alone
    pass
else:
    class WheelOfAnyPython(bdist_wheel):
        def get_tag(self):
            python, abi, platform = super().get_tag()
            return ("py3", "none", platform) if self.distribution.has_ext_modules() else (python, abi, platform)

    commands["bdist_wheel"] = WheelOfAnyPython

setup(version=version(), cmdclass=commands, distclass=WithProgram)
