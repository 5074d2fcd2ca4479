"""Runs the programs that a study needs, keeps what they said, and judges intervals.

A study finds this module beside its own folder:

    sys.dont_write_bytecode = True
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "harness"))
    import harness
"""
import argparse
import collections
import concurrent.futures
import json
import math
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = ROOT / "build/release"
WIREWATT = pathlib.Path(os.environ.get("WIREWATT", BUILD / "bin/wirewatt"))
CHIPS = ROOT / "sim/gpu/chips"
NAME = pathlib.Path(sys.argv[0]).name

# `code` is None where the program was ended because it was over time.
Ran = collections.namedtuple("Ran", "code out err seconds")


def parser(doc):
    """A parser of options whose help is the study's own text."""
    return argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)


def run(command, timeout=None, folder=None, together=False, **environment):
    """Runs a program to its end. One that is over time is ended with all that it started.

    `together`: its errors are part of its output, in their order.
    """
    begin = time.monotonic()
    process = subprocess.Popen([str(word) for word in command], cwd=folder, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT if together else subprocess.PIPE, text=True,
                               errors="replace", start_new_session=True,
                               env={**os.environ, **{name: str(value) for name, value in environment.items()}})
    try:
        out, err = process.communicate(timeout=timeout)
        code = process.returncode
    except BaseException as stopped:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        if not isinstance(stopped, subprocess.TimeoutExpired):
            raise
        code = None
    return Ran(code, out, err or "", time.monotonic() - begin)


def driver_settings(file, **settings):
    """The variable by which the virtual GPU's driver finds these settings (docs/driver.md), which are texts."""
    pathlib.Path(file).write_text("".join(f"{key} = {json.dumps(str(value))}\n" for key, value in settings.items()))
    return {"WIREWATT_SETTINGS": str(file)}


def output_of(command, good=(0,), **more):
    """The text that a program prints; its warnings are passed on. Ends the study where the program fails."""
    ran = run(command, **more)
    if ran.code not in good:
        ended = "is over time" if ran.code is None else f"ended with {ran.code}"
        sys.exit(f"{NAME}: {' '.join(map(str, command))} {ended}:\n{(ran.err or ran.out).strip()[-1000:]}")
    sys.stderr.write(ran.err)
    return ran.out


def answer(*words, **more):
    """The JSON that wirewatt prints for these words."""
    return json.loads(output_of([WIREWATT, *words], **more))


def last_line(text, otherwise):
    """The last line of a message, such as the reason why a program ended."""
    lines = text.strip().splitlines()
    return lines[-1] if lines else otherwise


def need(file, how):
    """Ends the study with exit code 3 where a program or a file is missing."""
    if not os.path.exists(file):
        print(f"{NAME}: {file} is missing. {how}", file=sys.stderr)
        sys.exit(3)


def kept(file, make):
    """The result in a file of an earlier run, or else what `make` returns, which the file keeps from now on."""
    file = pathlib.Path(file)
    if file.exists():
        return json.loads(file.read_text())
    result = make()
    part = file.with_name(file.name + ".part")
    part.write_text(json.dumps(result) + "\n")
    part.rename(file)
    return result


def edited_chip(text, values, factors=None):
    """The text of a chip file with other values: {section: {key: value}}.

    A key that the file lacks is added to its section. `factors` multiply values that the file has.
    """
    left = {section: dict(keys) for section, keys in values.items()}
    scale = {section: dict(keys) for section, keys in (factors or {}).items()}
    lines, section = [], ""
    for line in text.splitlines() + ["[end]"]:
        header = re.match(r"\[(.*)\]$", line.strip())
        key = line.split("=")[0].strip()
        if header:
            lines += [f"{name} = {json.dumps(value)}" for name, value in left.pop(section, {}).items()]
            section = header.group(1)
        elif key in left.get(section, {}):
            line = f"{key} = {json.dumps(left[section].pop(key))}"
        elif key in scale.get(section, {}):
            line = f"{key} = {float(line.split('=')[1]) * scale[section].pop(key)}"
        lines.append(line)
    missing = [f"[{name}]" for name in left] + [key for keys in scale.values() for key in keys]
    if missing:
        raise ValueError(f"the chip's file has no {', '.join(missing)}")
    return "\n".join(lines[:-1]) + "\n"


def each(jobs, work, items):
    """The results of `work` for the items, in their order, with up to `jobs` at a time."""
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(work, items)


def median(values):
    """None without values."""
    ordered = sorted(values)
    n = len(ordered)
    if n == 0:
        return None
    return ordered[n // 2] if n % 2 else (ordered[n // 2 - 1] + ordered[n // 2]) / 2


def quantile(values, share):
    """The least value that `share` of the values do not exceed; None without values."""
    ordered = sorted(values)
    if not ordered:
        return None
    return ordered[max(0, min(len(ordered), math.ceil(share * len(ordered))) - 1)]


def log_binomial(n, k, p):
    """Logarithm of the probability of k in n where each has the probability p."""
    if p in (0.0, 1.0):
        return 0.0 if k == n * p else -math.inf
    return (math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
            + k * math.log(p) + (n - k) * math.log(1 - p))


def binomial_p(n, k, p=0.95):
    """Two-sided and exact: the probability of all outcomes that are no likelier than k of n."""
    here = log_binomial(n, k, p)
    return min(1.0, sum(math.exp(x) for x in (log_binomial(n, i, p) for i in range(n + 1)) if x <= here + 1e-9))


def print_columns(rows):
    """Prints rows of texts as a table whose columns are two blanks apart."""
    widths = [max(len(row[i]) for row in rows if i < len(row)) for i in range(max(map(len, rows)))]
    for row in rows:
        print("  ".join(text.ljust(width) for text, width in zip(row, widths)).rstrip())
