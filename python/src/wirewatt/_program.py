"""Finds the program `wirewatt`, runs it, and turns what it says into results and exceptions."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import shutil
import subprocess
import threading
from typing import Any, Callable, Mapping, Optional, Sequence


class WirewattError(Exception):
    """The program's own text: what, where, and what to do. `exit_code` is the program's."""

    exit_code = 1


class BadResult(WirewattError):
    """The work was done, and its result is bad (exit code 1). `document` is what was printed, if any."""

    exit_code = 1

    def __init__(self, text: str, document: Any = None) -> None:
        super().__init__(text)
        self.document = document


class UsageError(WirewattError):
    """An option or a value that the program does not take (exit code 2)."""

    exit_code = 2


class EnvironmentTrouble(WirewattError):
    """A driver, a permission, a device or a file is missing (exit code 3)."""

    exit_code = 3


@dataclasses.dataclass(frozen=True)
class Progress:
    """How far a long command is. `done` and `total` are in one unit; `seconds_left` may be unknown."""

    label: str
    done: float
    total: float
    seconds_left: Optional[float]
    note: str


ProgressCallback = Callable[[Progress], None]


def native_folder() -> pathlib.Path:
    """Where a wheel carries the program and its libraries."""
    return pathlib.Path(__file__).parent / "_native"


def program() -> str:
    """The program's path: $WIREWATT_PROGRAM, else the wheel's own, else the one on PATH."""
    named = os.environ.get("WIREWATT_PROGRAM")
    if named:
        return named
    carried = native_folder() / "bin" / "wirewatt"
    if carried.exists():
        return str(carried)
    found = shutil.which("wirewatt")
    if found is None:
        raise EnvironmentTrouble(
            "the program 'wirewatt' is not on PATH; install it (docs/install.md), add build/release/bin to "
            "PATH, or set WIREWATT_PROGRAM to its path"
        )
    return found


def version() -> str:
    """The program's version."""
    return run(["--version"]).split()[1]


def _raise(code: int, errors: Sequence[str], out: str) -> None:
    text = "\n".join(line.removeprefix("error: ") for line in errors if line)
    text = text or f"wirewatt ended with exit code {code}"
    if code == 2:
        raise UsageError(text)
    if code == 3:
        raise EnvironmentTrouble(text)
    if code < 0 or code > 128:
        raise WirewattError(f"wirewatt was ended by signal {-code if code < 0 else code - 128}\n{text}")
    try:
        document = json.loads(out)
    except ValueError:
        document = None
    raise BadResult(text, document)


def run(arguments: Sequence[str], progress: Optional[ProgressCallback] = None) -> str:
    """Runs the program and returns what it printed. Raises on an exit code that is not 0. Ctrl-C ends the
    program as it would on a terminal, so that what it recorded stays whole."""
    command = [program()]
    if progress is not None:
        command.append("--progress-json")
    errors: list[str] = []
    with subprocess.Popen(
        [*command, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        # The output is one document at the end; until then only stderr speaks.
        pieces: list[str] = []
        reader = threading.Thread(target=lambda: pieces.append(process.stdout.read()), daemon=True)
        reader.start()
        try:
            for line in process.stderr:
                step = _progress_of(line) if progress is not None else None
                if step is not None and progress is not None:
                    progress(step)
                else:
                    errors.append(line.rstrip())
            code = process.wait()
        except BaseException:
            process.terminate()
            process.wait()
            raise
        reader.join()
    out = "".join(pieces)
    if code != 0:
        _raise(code, errors, out)
    return out


def run_json(arguments: Sequence[str], progress: Optional[ProgressCallback] = None) -> Any:
    """run() with --json added; returns the document."""
    words = list(arguments)
    at = words.index("--") if "--" in words else len(words)
    words.insert(at, "--json")
    return json.loads(run(words, progress))


def _progress_of(line: str) -> Optional[Progress]:
    if not line.startswith('{"progress"'):
        return None
    try:
        step = json.loads(line)
    except ValueError:
        return None
    return Progress(
        step["progress"], step["done"], step["total"], step.get("seconds_left"), step.get("note", "")
    )


def options_of(options: Mapping[str, Any]) -> list[str]:
    """Keyword arguments as the command line's: packet_flits=5 is --packet-flits 5, True is a flag, False
    and None are left out, a list is repeated."""
    words: list[str] = []
    for name, value in options.items():
        option = "--" + name.rstrip("_").replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            words.append(option)
            continue
        for one in value if isinstance(value, (list, tuple)) else [value]:
            words += [option, os.fspath(one) if isinstance(one, os.PathLike) else str(one)]
    return words
