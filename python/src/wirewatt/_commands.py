"""The commands as functions. Each returns what the program prints with --json, and raises what it says."""

from __future__ import annotations

import dataclasses
import html
import json
import os
import pathlib
from typing import Any, Dict, Iterator, List, Optional, Sequence, Union

from ._documents import Document, Reproduction, Simulation, html_table, pyplot
from ._figure import Figure
from ._program import BadResult, ProgressCallback, options_of, run, run_json
from ._tables import Campaign, Sweep

Path = Union[str, "os.PathLike[str]"]


@dataclasses.dataclass(frozen=True)
class Device:
    """A device as `wirewatt devices` lists it. `reason` says why one is not usable."""

    name: str
    description: str
    usable: bool
    is_virtual: bool
    reason: str


def devices() -> List[Device]:
    """All devices, also those that cannot be used."""
    return [
        Device(row["name"], row["description"], row["usable"], row["virtual"], row["reason"])
        for row in run_json(["devices"])["devices"]
    ]


class Calibration:
    """A calibration's folder: the recording, model.json (crossing.json, ladder.json) and report.html."""

    def __init__(self, folder: Path) -> None:
        self.folder = pathlib.Path(folder)
        for name in ("model.json", "crossing.json", "ladder.json"):
            if (self.folder / name).exists():
                self.model: Dict[str, Any] = json.loads((self.folder / name).read_text())
                break
        else:
            raise BadResult(f"{self.folder}: has no model.json, crossing.json or ladder.json")

    @property
    def is_virtual(self) -> bool:
        """True: a simulated chip, not a measurement."""
        return bool(self.model.get("virtual"))

    @property
    def constants(self) -> Dict[str, Figure]:
        """The fitted constants by name, with unit, interval, status and reason."""
        return {row["name"]: Figure.of(row) for row in self.model.get("constants", [])}

    @property
    def hop_classes(self) -> Dict[str, Figure]:
        """Of a package's dies: the energy of each way between them, by name. Empty for other parts."""
        return {row["name"]: Figure.of(row) for row in self.model.get("hop_classes", [])}

    @property
    def levels(self) -> Dict[str, Figure]:
        """A ladder's energies by name: `l1_read`, `memory_write`, `l2_read_less_l1` ... Empty for other kinds."""
        return {row["name"]: Figure.of(row) for row in self.model.get("ladder_pj_per_bit", [])}

    @property
    def energy(self) -> Figure:
        """The energy per bit and millimetre; without a floorplan per ns of flight or per crossing. A package's dies
        have an energy for each way between them instead (`hop_classes`), and a ladder has one for each level
        (`levels`)."""
        for key in ("energy_pj_per_bit_ns", "energy_pj_per_bit_crossing"):
            if key in self.model:
                return Figure.of(self.model[key])
        constants = self.constants
        for name in ("energy_fj_per_bit_ns", "energy_fj_per_bit_mm"):
            if name in constants:
                return constants[name]
        why = "the calibration has no energy"
        if self.hop_classes:
            why = "a package's dies have an energy for each way between them: see hop_classes"
        elif self.levels:
            why = "a ladder has an energy for each level: see levels"
        return Figure(None, status="unavailable", name="energy", reason=why)

    @property
    def campaign(self) -> Campaign:
        """Every raw reading."""
        return Campaign(self.folder / "ladder.db" if self.levels else self.folder)

    def report(self) -> pathlib.Path:
        """The page about this calibration; it is written if it is not there."""
        page = self.folder / "report.html"
        if not page.exists():
            run(["report", str(self.folder), "-o", str(page)])
        return page

    def __repr__(self) -> str:
        device = self.model.get("device", "")
        label = ", virtual" if self.is_virtual else ""
        energy = ", ".join(f"{name} {figure}" for name, figure in self.levels.items() if name.endswith(("_read", "_write")))
        return f"Calibration({str(self.folder)!r}: {device}{label}, {energy or self.energy})"

    def plot(self, axes: Any = None) -> Any:
        """Draws what a bit takes beyond the means of its engine and its part of the L2 against its distance beyond
        theirs, pair by pair at the first clock, or a ladder's levels; returns matplotlib's axes. Raises BadResult
        where there are neither distances nor levels."""
        if self.levels:
            return self._plot_levels(axes)
        pairs = [pair for pair in self.model.get("pairs", []) if pair.get("throttle") == 0]
        if not pairs:
            raise BadResult(f"{self.folder}: has no pairs with distances")
        if axes is None:
            _, axes = pyplot().subplots()
        for pattern in sorted({pair["pattern"] for pair in pairs}):
            drawn = [pair for pair in pairs if pair["pattern"] == pattern]
            axes.plot([pair["centred_distance_mm"] for pair in drawn], [pair["energy_fj_per_bit"] for pair in drawn], "o",
                      label=pattern)
        axes.set_xlabel("distance beyond the means [mm]")
        axes.set_ylabel("energy beyond the means [fJ/bit]")
        axes.set_title(f"{self.energy}" + (" (virtual)" if self.is_virtual else ""))
        axes.legend()
        return axes

    def _plot_levels(self, axes: Any) -> Any:
        drawn = {name: figure for name, figure in self.levels.items()
                 if figure.value is not None and name.endswith(("_read", "_write"))}
        if axes is None:
            _, axes = pyplot().subplots(figsize=(7, 1.5 + 0.4 * len(drawn)))
        for name, figure in drawn.items():
            _bar(axes, name, figure)
        axes.invert_yaxis()
        axes.set_xlabel("energy of a random bit [pJ]")
        axes.set_title("energy by level" + (" (virtual)" if self.is_virtual else ""))
        return axes

    def _repr_html_(self) -> str:
        source = html.escape(self.report().read_text(), quote=True)
        return f'<iframe srcdoc="{source}" width="100%" height="700" style="border:0"></iframe>'


def _bar(axes: Any, name: str, figure: Figure) -> None:
    """A bar with its interval."""
    value = float(figure)
    ends = [[value - (figure.low if figure.low is not None else value)],
            [(figure.high if figure.high is not None else value) - value]]
    axes.barh([name], [value], xerr=ends, capsize=4)


def calibrate(
    device: str = "",
    out: Optional[Path] = None,
    quick: bool = False,
    resume: bool = False,
    seed: Optional[int] = None,
    progress: Optional[ProgressCallback] = None,
    **options: Any,
) -> Calibration:
    """Measures the wire energy of a device into the folder `out`. `progress` is called now and then. A campaign
    that was interrupted goes on with resume=True. Raises BadResult where the fit is flagged or gave no figure;
    the folder then holds what was recorded."""
    folder = pathlib.Path(out) if out is not None else pathlib.Path("wirewatt-run")
    words = options_of({"device": device or None, "out": folder, "quick": quick, "resume": resume, "seed": seed,
                        **options})
    run_json(["calibrate", *words], progress)
    return Calibration(folder)


def ladder(
    device: str = "",
    out: Optional[Path] = None,
    quick: bool = False,
    resume: bool = False,
    seed: Optional[int] = None,
    progress: Optional[ProgressCallback] = None,
    **options: Any,
) -> Calibration:
    """Measures what a bit takes from L1, L2, a cache behind it and memory into the folder `out`; `levels` of what is
    returned has the figures. A ladder that was interrupted goes on with resume=True. Raises BadResult where no level
    has a figure; the folder then holds what was recorded."""
    folder = pathlib.Path(out) if out is not None else pathlib.Path("wirewatt-ladder")
    words = options_of({"device": device or None, "out": folder, "quick": quick, "resume": resume, "seed": seed,
                        **options})
    run_json(["ladder", *words], progress)
    return Calibration(folder)


def fit(folder: Path, progress: Optional[ProgressCallback] = None) -> Dict[str, Any]:
    """Fits a recorded campaign again; returns the model."""
    return dict(run_json(["fit", os.fspath(folder)], progress))


class Estimate:
    """What an application's wires draw. `document` is all that `wirewatt estimate --json` prints. With a calibration
    of crossings the one segment is "crossing", and its bytes are those that crossed. With one of a package's dies
    the segments are the wires of the dies; the ways between dies are in document["ways"]. With a ladder they are the
    steps to each level, and have no watts."""

    def __init__(self, document: Dict[str, Any]) -> None:
        self.document = document

    @property
    def is_virtual(self) -> bool:
        """True: a simulated chip, not a measurement."""
        return bool(self.document.get("virtual"))

    @property
    def kernels(self) -> List[str]:
        return [kernel["kernel"] for kernel in self.document["kernels"]]

    def rows(self) -> Iterator[Dict[str, Any]]:
        """A row a kernel and segment: bytes, energy_j and power_w (figures), status and reason."""
        for kernel in self.document["kernels"]:
            for segment in _segments(kernel):
                yield {"kernel": kernel["kernel"], **segment}

    def energy_by_segment(self) -> Dict[str, Figure]:
        """Joules by segment over all kernels, as the program adds them up. A segment that a kernel has no figure of
        has none, because the sum of the others would be too low."""
        return {segment["segment"]: segment["energy_j"] for segment in _segments(self.document["total"])}

    def __repr__(self) -> str:
        label = ", virtual" if self.is_virtual else ""
        sums = ", ".join(f"{name} {energy}" for name, energy in self.energy_by_segment().items())
        return f"Estimate({len(self.kernels)} kernels{label}: {sums})"

    def plot(self, axes: Any = None) -> Any:
        """Draws the joules of each segment with their intervals; returns matplotlib's axes."""
        energies = {name: energy for name, energy in self.energy_by_segment().items() if energy.value is not None}
        if axes is None:
            _, axes = pyplot().subplots(figsize=(7, 1.5 + 0.4 * len(energies)))
        for name, energy in energies.items():
            _bar(axes, name, energy)
        axes.set_xlabel("energy [J]")
        axes.set_title("virtual, not a measurement" if self.is_virtual else "energy of the wires")
        return axes

    def _repr_html_(self) -> str:
        columns = ("kernel", "segment", "bytes", "energy_j", "power_w")
        rows = [[row[name] for name in columns] for row in self.rows()]
        return html_table(("kernel", "segment", "bytes", "energy", "power"), rows, self.is_virtual)


def _segments(kernel: Dict[str, Any]) -> Iterator[Dict[str, Any]]:
    steps = [{**step, "segment": step["level"], "power_w": None} for step in kernel.get("levels", [])]
    crossed = {**kernel, "segment": "crossing", "bytes": (kernel.get("crossed_bytes") or {}).get("value")}
    for segment in kernel.get("segments", steps or [crossed]):
        status, reason = segment["status"], segment["reason"]
        yield {
            "segment": segment["segment"],
            "bytes": segment["bytes"],
            "energy_j": Figure.of(segment["energy_j"] or {}, "J", status, reason),
            "power_w": Figure.of(segment["power_w"] or {}, "W", status, reason),
            "status": status,
            "reason": reason,
        }


def estimate(
    model: Optional[Path] = None,
    counters: Union[Path, Sequence[Path], None] = None,
    command: Optional[Sequence[str]] = None,
    device: str = "",
    **options: Any,
) -> Estimate:
    """Joules and watts of an application's wires: from a profiler's files (`counters`), or from a program that is
    run on a virtual device (`command`, `device`). Other options are the command line's: arch="gfx90a",
    toggles="t.json", anyway=True."""
    files = [counters] if isinstance(counters, (str, os.PathLike)) else list(counters or [])
    words = options_of({"model": model, "counters": [os.fspath(file) for file in files] or None,
                        "device": device or None, **options})
    if command:
        words += ["--", *command]
    return Estimate(run_json(["estimate", *words]))


def project(model: Path, node: str = "7nm", counters: Union[Path, Sequence[Path], None] = None,
            **options: Any) -> Dict[str, Any]:
    """What the wires of a calibration of any kind would cost at another node, at another voltage, or if traffic went
    elsewhere: project("first-run", node="7nm", voltage=0.8), project("card", moved=[10, 50])."""
    files = [counters] if isinstance(counters, (str, os.PathLike)) else list(counters or [])
    words = options_of({"model": model, "node": node, "counters": [os.fspath(file) for file in files] or None,
                        **options})
    return dict(run_json(["project", *words]))


def score(folder: Path, command: Optional[Sequence[str]] = None) -> Dict[str, Any]:
    """The calibration of a virtual device beside the chip's sealed truth; with a program (`command`), its estimated
    energy beside the truth of the same run."""
    return dict(run_json(["score", os.fspath(folder), *(["--", *command] if command else [])]))


def simulate(network: Union[str, Sequence[str]], *, rate: Optional[float] = None, traffic: Optional[str] = None,
             k: Optional[int] = None, model: Optional[Path] = None, **options: Any) -> Simulation:
    """A run of an on-chip network, or of several under the same load: latency, throughput, joules. `rate` is in
    flits per node and cycle. Other options are the command line's:
    simulate(["mesh", "torus"], k=8, rate=0.3, model="first-run")."""
    names = network if isinstance(network, str) else ",".join(network)
    return Simulation(run_json(["simulate", *options_of({"network": names, "rate": rate, "traffic": traffic, "k": k,
                                                         "model": model, **options})]))


def reproduce(paper: str, *, out: Optional[Path] = None, quick: bool = False, size: Optional[str] = None,
              progress: Optional[ProgressCallback] = None, **options: Any) -> Reproduction:
    """A paper's figures and tables beside ours, on the virtual GPU: reproduce("gpuopt", quick=True). What is in the
    folder `out` already is used."""
    words = options_of({"out": out, "quick": quick, "size": size, **options})
    return Reproduction(run_json(["reproduce", paper, *words], progress))


def attribute(table: Optional[Path] = None, *, record: Optional[Path] = None, device: str = "",
              progress: Optional[ProgressCallback] = None, **options: Any) -> Document:
    """The whole GPU's watts by part: from a table with a row a run, or from runs of kernels of single classes
    (`record`, a folder; virtual devices)."""
    words = [os.fspath(table)] if table is not None else []
    words += options_of({"record": record, "device": device or None, **options})
    return Document(run_json(["attribute", *words], progress))


def topology(device: str = "", *, svg: Optional[Path] = None, fresh: bool = False, **options: Any) -> Document:
    """Engines, L2 channels and what is near to what; `svg` also writes the picture."""
    return Document(run_json(["topology", *options_of({"device": device or None, "svg": svg, "fresh": fresh,
                                                       **options})]))


def report(run_folder: Path, other: Optional[Path] = None, *, out: Optional[Path] = None,
           **options: Any) -> pathlib.Path:
    """Writes the page about one run, or about two that are compared; returns its path."""
    words = [os.fspath(run_folder), *([os.fspath(other)] if other is not None else [])]
    document = run_json(["report", *words, *options_of({"out": out, **options})])
    return pathlib.Path(document["page"])


def run_program(command: Sequence[str], *, device: str = "", counters: Optional[Path] = None,
                trace: Optional[Path] = None, **options: Any) -> str:
    """Runs an OpenCL or HIP program on a virtual GPU; returns what it printed. Raises where it fails."""
    words = options_of({"device": device or None, "counters": counters, "trace": trace, **options})
    return run(["run", *words, "--", *command])


def export(to: str, output: Path, *, model: Optional[Path] = None, campaign: Optional[Path] = None,
           **options: Any) -> pathlib.Path:
    """Writes a calibration's constants for another simulator (to="gem5", model="first-run"), or a campaign as
    tables (to="csv", campaign="first-run")."""
    words = [os.fspath(campaign)] if campaign is not None else []
    run(["export", *words, *options_of({"to": to, "out": output, "model": model, **options})])
    return pathlib.Path(output)


def workloads(names: Sequence[str] = (), *, size: str = "small", device: str = "", **options: Any) -> Document:
    """Runs applications of the papers and checks their results; without names, lists them."""
    if not names:
        return Document(run_json(["workloads", "list"]))
    return Document(run_json(["workloads", "run", *names,
                              *options_of({"size": size, "device": device or None, **options})]))


def sweep(plan: Path, out: Path, progress: Optional[ProgressCallback] = None, **options: Any) -> Sweep:
    """Runs every point of a plan (TOML; docs/sweeps.md) into the folder `out`. resume=True adds what is missing."""
    run_json(["sweep", os.fspath(plan), *options_of({"out": out, **options})], progress)
    return Sweep(out)
