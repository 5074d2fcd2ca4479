"""Recorded files as tables: campaign.db and sweep.db (SQLite), column by column."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import sqlite3
from typing import Any, Dict, Iterator, List, Union

import numpy
import zstandard

from ._program import EnvironmentTrouble, UsageError, WirewattError

Path = Union[str, pathlib.Path]
Columns = Dict[str, "numpy.ndarray[Any, Any]"]
# Columns in parts of a unit: their names in whole units, and how many parts one has. Archives have whole units.
_WHOLE_UNITS = {
    "power_uw": ("power_w", 1e6),
    "energy_ticks": ("energy_j", 65536.0),
    "temperature_mc": ("temperature_c", 1e3),
    "voltage_uv": ("voltage_v", 1e6),
    "clock_khz": ("clock_mhz", 1e3),
}
# The fields of a reading, in the order in which they are packed.
_FIELDS = ("time_ns", "poll_ns", "power_uw", "energy_ticks", "temperature_mc", "voltage_uv", "clock_khz", "changed")


def _file(path: Path, name: str) -> pathlib.Path:
    file = pathlib.Path(path)
    if file.is_dir():
        file = file / name
    if not file.exists():
        raise WirewattError(f"{file}: there is no such file")
    return file


class _Database:
    def __init__(self, file: pathlib.Path) -> None:
        self.file = file
        self._tables: List[str] = []
        try:
            with contextlib.closing(self._open()) as connection:
                rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
                self._tables = [name for (name,) in rows if not name.startswith("sqlite_")]
        except sqlite3.Error as error:
            raise WirewattError(f"{file}: {error}") from None

    def _open(self) -> sqlite3.Connection:
        return sqlite3.connect(self.file.resolve().as_uri() + "?mode=ro", uri=True)

    def columns(self, table: str) -> Columns:
        """Each column of a table as an array. Numbers with a missing reading become floats with NaN there;
        texts are objects."""
        if table not in self._tables:
            raise WirewattError(f"{self.file}: no table '{table}'; there are {', '.join(self._tables)}")
        with contextlib.closing(self._open()) as connection:
            cursor = connection.execute(f'SELECT * FROM "{table}"')
            names = [column[0] for column in cursor.description]
            rows = cursor.fetchall()
        out: Columns = {}
        for index, name in enumerate(names):
            values = [row[index] for row in rows]
            if any(isinstance(value, str) for value in values):
                out[name] = numpy.array(values, dtype=object)
            elif any(value is None or isinstance(value, float) for value in values):
                out[name] = numpy.array([numpy.nan if value is None else value for value in values], dtype=float)
            else:
                out[name] = numpy.array(values, dtype=numpy.int64)
        return out

    def arrow(self, table: str) -> Any:
        """A table as a pyarrow.Table; a missing reading is null."""
        try:
            import pyarrow
        except ImportError:
            raise EnvironmentTrouble("pyarrow is not installed; install it with: pip install 'wirewatt[arrow]'") from None
        columns = self.columns(table)
        return pyarrow.table({name: pyarrow.array(column, from_pandas=True) for name, column in columns.items()})


class Campaign(_Database):
    """Every raw reading of a campaign (docs/files.md lists the tables and their units).

    `Campaign("first-run").columns("sample")["power_uw"]` is an array of microwatts. The table `sample` is unpacked
    from the file's table `readings`."""

    def __init__(self, path: Path) -> None:
        super().__init__(_file(path, "campaign.db"))
        self._packed = "readings" in self._tables
        if self._packed:
            self._tables = sorted(set(self._tables) - {"readings"} | {"sample"})

    @property
    def tables(self) -> List[str]:
        return list(self._tables)

    def columns(self, table: str) -> Columns:
        if table != "sample" or not self._packed:
            return super().columns(table)
        with contextlib.closing(self._open()) as connection:
            rows = connection.execute("SELECT run, count, differences, compressed FROM readings ORDER BY run").fetchall()
        runs: List[Columns] = []
        for run, count, differences, compressed in rows:
            columns: Columns = {"run": numpy.full(count, run), "sequence": numpy.arange(count)}
            try:
                columns.update(_unpacked(count, differences, compressed))
            except (zstandard.ZstdError, ValueError) as error:
                raise WirewattError(f"{self.file}: the readings of run {run} are damaged: {error}") from None
            runs.append(columns)
        return {name: numpy.concatenate([columns[name] for columns in runs] or [numpy.zeros(0)])
                for name in ("run", "sequence", *_FIELDS)}

    def save(self, path: Path) -> pathlib.Path:
        """Writes all tables as one NumPy archive (.npz), which `numpy.load` reads without pickle: an array for each
        column, named "table.column", with the unit in the column's name ("sample.power_w"). A missing reading is NaN,
        a missing text is empty. It is the table file for Python; `wirewatt export CAMPAIGN --to csv` writes CSV."""
        file = pathlib.Path(path)
        if file.suffix != ".npz":
            raise UsageError(f"{file}: the name of a NumPy archive ends in .npz")
        arrays: Columns = {}
        for table in self.tables:
            for name, column in self.columns(table).items():
                if name in _WHOLE_UNITS:
                    name, parts = _WHOLE_UNITS[name]
                    column = column / parts
                elif column.dtype == object:
                    column = numpy.array(["" if value is None else str(value) for value in column])
                arrays[f"{table}.{name}"] = column
        aside = file.with_name(f".{file.name}.{os.getpid()}.npz")
        try:
            numpy.savez(aside, **arrays)
            aside.replace(file)
        except OSError as error:
            raise EnvironmentTrouble(f"{file}: {error.strerror}") from None
        finally:
            aside.unlink(missing_ok=True)
        return file

    @property
    def facts(self) -> Dict[str, Any]:
        """What is known of device, plan and sensor. JSON facts are decoded."""
        columns = self.columns("fact")
        return {key: _decoded(value) for key, value in zip(columns["key"], columns["value"])}

    @property
    def is_virtual(self) -> bool:
        """True: a simulated chip, not a measurement."""
        return self.facts.get("virtual") in (1, "1", True)


class Sweep(_Database):
    """The results of a sweep: a row a point, its configuration and its result as dictionaries."""

    def __init__(self, path: Path) -> None:
        super().__init__(_file(path, "sweep.db"))

    def rows(self) -> Iterator[Dict[str, Any]]:
        """Each point flattened: its settings by name, then its results by dotted name, and status and reason. A
        result with the name of one of the others is "result.NAME"."""
        points = self.columns("point")
        for index in range(len(points["idx"])):
            row: Dict[str, Any] = {}
            row.update(_flat(_decoded(points["configuration"][index])))
            row["status"] = points["status"][index]
            row["reason"] = points["reason"][index]
            for name, value in _flat(_decoded(points["result"][index])).items():
                row[f"result.{name}" if name in row else name] = value
            yield row

    def table(self) -> Columns:
        """All points as arrays, one a key. A number that a point lacks is NaN, a text None."""
        rows = list(self.rows())
        names = list(dict.fromkeys(name for row in rows for name in row))
        out: Columns = {}
        for name in names:
            values = [row.get(name) for row in rows]
            numbers = all(value is None or isinstance(value, (int, float)) for value in values)
            out[name] = (
                numpy.array([numpy.nan if value is None else value for value in values], dtype=float)
                if numbers
                else numpy.array(values, dtype=object)
            )
        return out


def _unpacked(count: int, differences: str, compressed: bytes) -> Columns:
    size = 9 * len(_FIELDS) * count
    planes = zstandard.ZstdDecompressor().decompress(compressed, max_output_size=size + 16 * len(_FIELDS))
    if len(planes) == size:  # of version 2
        steps = numpy.array([[0, 1]] * len(_FIELDS), dtype=numpy.uint64)
    elif len(planes) == size + 16 * len(_FIELDS):
        steps = numpy.frombuffer(planes[size:], dtype="<u8").reshape(len(_FIELDS), 2)
    else:
        raise ValueError(f"{len(planes)} bytes for {count} readings")
    fields = numpy.frombuffer(planes[:size], dtype=numpy.uint8).reshape(len(_FIELDS), 9, count)
    out: Columns = {}
    for name, times, field, (least, divisor) in zip(_FIELDS, differences, fields, steps):
        zigzag = field[1:].T.copy().view("<u8").reshape(count)
        values = (zigzag >> numpy.uint64(1)) ^ (numpy.uint64(0) - (zigzag & numpy.uint64(1)))
        for _ in range(int(times)):
            values = numpy.cumsum(values, dtype=numpy.uint64)
        numbers = (values * divisor + least).view(numpy.int64)
        there = field[0] != 0
        out[name] = numbers if there.all() else numpy.where(there, numbers.astype(float), numpy.nan)
    return out


def _decoded(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


def _flat(value: Any, prefix: str = "") -> Dict[str, Any]:
    if not isinstance(value, dict):
        return {prefix: value} if prefix else {}
    out: Dict[str, Any] = {}
    for key, inner in value.items():
        out.update(_flat(inner, f"{prefix}.{key}" if prefix else key))
    return out
