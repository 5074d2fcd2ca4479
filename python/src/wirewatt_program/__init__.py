"""The command `wirewatt` of an installed package: starts the program that a wheel carries.

It is a package of its own, so that the command needs none of the modules that `import wirewatt` needs.
"""

from __future__ import annotations

import os
import pathlib
import sys


def _program() -> pathlib.Path | None:
    """The wheel's own, else the next one on PATH behind this command."""
    carried = pathlib.Path(__file__).parent.parent / "wirewatt" / "_native" / "bin" / "wirewatt"
    if carried.exists():
        return carried
    own = pathlib.Path(sys.argv[0]).resolve()
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        found = pathlib.Path(folder) / "wirewatt"
        if os.access(found, os.X_OK) and found.resolve() != own and not found.is_dir():
            return found
    return None


def main() -> int:
    """Becomes the program. Ends with 3 where there is none, as after an installation from source."""
    program = _program()
    if program is None:
        print("error: the program 'wirewatt' is not here: install a wheel, which carries it", file=sys.stderr)
        return 3
    os.execv(program, [str(program), *sys.argv[1:]])
