"""What the commands print, as objects: a dict of all of it, with its figures, a table and a plot."""

from __future__ import annotations

import html
import itertools
from typing import Any, Dict, Iterable, List, Sequence

from ._figure import Figure


def pyplot() -> Any:
    """matplotlib.pyplot, which only plots need."""
    try:
        import matplotlib.pyplot
    except ImportError as missing:
        raise ImportError("plots need matplotlib: pip install matplotlib, or python3-matplotlib") from missing
    return matplotlib.pyplot


def html_table(head: Sequence[str], rows: Iterable[Sequence[Any]], is_virtual: bool, caption: str = "") -> str:
    """A table for notebooks. The label "virtual" stands above figures of simulated chips."""
    notes = [caption] if caption else []
    if is_virtual:
        notes.append("virtual, not a measurement")
    label = f"<caption>{html.escape('; '.join(notes))}</caption>" if notes else ""
    cells = "".join("<tr>" + "".join(f"<td>{html.escape(_cell(value))}</td>" for value in row) + "</tr>"
                    for row in rows)
    return f"<table>{label}<tr>{''.join(f'<th>{html.escape(name)}</th>' for name in head)}</tr>{cells}</table>"


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


class Document(Dict[str, Any]):
    """A dict of what the command prints with --json."""

    @property
    def is_virtual(self) -> bool:
        """True: a simulated chip, not a measurement."""
        return bool(self.get("virtual"))


class Simulation(Document):
    """A run of one network under one load, or of several ("networks")."""

    @property
    def networks(self) -> List["Simulation"]:
        """Each network of a simulation of several; a simulation of one network is the only one."""
        return [Simulation(one) for one in self.get("networks", [])] or [self]

    @property
    def figures(self) -> Dict[str, Figure]:
        """energy (J), power (W), per_flit, per_bit and wire_share (%), each with its range."""
        return {name: Figure.of(row) for name, row in self.get("energy_figures", {}).items()
                if isinstance(row, dict)}

    def _repr_html_(self) -> str:
        rows = [(one.get("network"), one.get("avg_packet_latency"), one.get("accepted_flits_per_node_cycle"),
                 *(one.figures.get(name) for name in ("energy", "power", "per_bit", "wire_share")))
                for one in self.networks]
        virtual = any(one.is_virtual for one in self.networks)
        return html_table(("network", "latency [cycles]", "accepted", "energy", "power", "a bit", "wires"), rows,
                          virtual)


class Reproduction(Document):
    """A paper's figures beside ours. `rows` has every stated value; `charts` every figure that is drawn."""

    @property
    def charts(self) -> Dict[str, Dict[str, Any]]:
        """The drawn figures by title: their bars, with the paper's value as `mark` where it states one."""
        return {chart["title"]: chart for chart in self["charts"]}

    def plot(self, title: str, axes: Any = None) -> Any:
        """Draws a figure whose title begins so, with the paper's values as dashes; returns matplotlib's axes."""
        found = [chart for name, chart in self.charts.items() if name.startswith(title)]
        if not found:
            raise KeyError(f"no figure begins with {title!r}; there are: {', '.join(self.charts)}")
        chart = found[0]
        if "lines" in chart:
            return self._plot_lines(chart, axes)
        if axes is None:
            _, axes = pyplot().subplots(figsize=(8, 1 + 0.3 * len(chart["bars"])))
        names = [bar["name"] for bar in chart["bars"]]
        left = [0.0] * len(names)
        for part, legend in enumerate(chart["legend"]):
            widths = [bar["parts"][part] or 0.0 for bar in chart["bars"]]
            axes.barh(names, widths, left=left, label=legend)
            left = [start + width for start, width in zip(left, widths)]
        marks = [(i, bar["mark"]) for i, bar in enumerate(chart["bars"]) if bar.get("mark") is not None]
        if marks:
            axes.scatter([mark for _, mark in marks], [i for i, _ in marks], marker="|", s=200, color="black",
                         label=chart.get("markName", "the paper"))
        axes.invert_yaxis()
        axes.set_xlabel(chart["unit"])
        axes.set_title(chart["title"] + (" (virtual)" if self.is_virtual else ""))
        axes.legend()
        return axes

    def _plot_lines(self, chart: Dict[str, Any], axes: Any) -> Any:
        if axes is None:
            _, axes = pyplot().subplots(figsize=(8, 4))
        for line, style in zip(chart["lines"], itertools.cycle(("o-", "s--", "^:"))):
            axes.plot([point["x"] for point in line["points"]], [point["y"] for point in line["points"]], style,
                      label=line["name"])
        axes.set_xlabel(chart["x_label"])
        axes.set_ylabel(chart["y_label"])
        axes.set_title(chart["title"] + (" (virtual)" if self.is_virtual else ""))
        axes.legend()
        return axes

    def _repr_html_(self) -> str:
        rows = [(row["figure"], row["quantity"], row["paper"], row["ours"], row["unit"], row["status"])
                for row in self["rows"]]
        return html_table(("figure", "quantity", "paper", "ours", "unit", "status"), rows, self.is_virtual,
                          str(self.get("paper", "")))
