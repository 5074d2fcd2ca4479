"""wirewatt: what a GPU's wires cost, measured.

    import wirewatt
    calibration = wirewatt.calibrate("virtual:w9100", out="first-run", quick=True)
    print(calibration.energy)                          # 215.0 (167.0..304.1) fJ/bit/mm
    with wirewatt.bracket(model="first-run") as stretch:
        launch_kernels()
        finish_the_queue()
    print(stretch.interconnect)                        # joules with their interval

Every figure has a status and an interval. What comes from the virtual GPU says so (`is_virtual`) and is
no measurement. Where a figure is missing its value is None, and `reason` says why.
"""

from ._bracket import Bracket, Kernel, Session, bracket
from ._commands import (
    Calibration,
    Device,
    Estimate,
    attribute,
    calibrate,
    devices,
    estimate,
    export,
    fit,
    ladder,
    project,
    report,
    reproduce,
    run_program,
    score,
    simulate,
    sweep,
    topology,
    workloads,
)
from ._documents import Document, Reproduction, Simulation
from ._figure import Figure
from ._program import (
    BadResult,
    EnvironmentTrouble,
    Progress,
    UsageError,
    WirewattError,
    program,
    version,
)
from ._tables import Campaign, Sweep

__all__ = [
    "BadResult",
    "Bracket",
    "Calibration",
    "Campaign",
    "Device",
    "Document",
    "EnvironmentTrouble",
    "Estimate",
    "Figure",
    "Kernel",
    "Progress",
    "Reproduction",
    "Session",
    "Simulation",
    "Sweep",
    "UsageError",
    "WirewattError",
    "__version__",
    "attribute",
    "bracket",
    "calibrate",
    "devices",
    "estimate",
    "export",
    "fit",
    "ladder",
    "program",
    "project",
    "report",
    "reproduce",
    "run_program",
    "score",
    "simulate",
    "sweep",
    "topology",
    "version",
    "workloads",
]


def __getattr__(name: str) -> str:
    # The package has the version of the program that it calls.
    if name == "__version__":
        return version()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
