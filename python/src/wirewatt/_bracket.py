"""Brackets a stretch of a program, by libwirewatt (its header is the contract)."""

from __future__ import annotations

import ctypes.util
import math
import os
import pathlib
import re
from typing import Any, Dict, List, Optional, Tuple

from cffi import FFI

from ._figure import Figure
from ._program import BadResult, EnvironmentTrouble, UsageError, WirewattError, native_folder, program

_STATUSES = ("ok", "transferred", "unavailable", "not_identified", "rejected", "misfit")
_SEGMENTS = ("registers_l1", "l1_l2", "l2_memory")
_DEVICE, _INTERCONNECT = -1, -2
_ERRORS = {1: UsageError, 2: EnvironmentTrouble, 3: BadResult, 4: EnvironmentTrouble, 5: EnvironmentTrouble,
           6: EnvironmentTrouble}
_loaded: Optional[Tuple[FFI, Any]] = None


def _header() -> str:
    here = pathlib.Path(__file__).resolve()
    for file in (here.parent / "wirewatt.h", here.parents[3] / "apps/library/include/wirewatt/wirewatt.h"):
        if file.exists():
            return file.read_text()
    raise EnvironmentTrouble(f"wirewatt.h is not beside {here}; install the package again")


def _declarations(header: str) -> str:
    """What cffi understands of the header: no preprocessor lines, no comments, no export marks."""
    text = re.sub(r"/\*.*?\*/", "", header, flags=re.S)
    text = re.sub(r"^\s*#.*(?:\\\n.*)*$", "", text, flags=re.M)
    text = re.sub(r'extern "C" \{(.*)\}', r"\1", text, flags=re.S)
    return text.replace("WIREWATT_EXPORT ", "")


def _library() -> Tuple[FFI, Any]:
    global _loaded
    if _loaded is None:
        ffi = FFI()
        ffi.cdef(_declarations(_header()))
        beside = pathlib.Path(program()).resolve().parent.parent / "lib" / "libwirewatt.so.0"
        named = os.environ.get("WIREWATT_LIBRARY")
        candidates = [named] if named else [
            str(native_folder() / "lib" / "libwirewatt.so.0"), str(beside), "libwirewatt.so.0"]
        errors = []
        for candidate in candidates:
            try:
                _loaded = ffi, ffi.dlopen(candidate)
                break
            except OSError as error:
                errors.append(str(error))
        if _loaded is None:
            raise EnvironmentTrouble(
                "libwirewatt.so.0 cannot be loaded; install the package libwirewatt0 or set WIREWATT_LIBRARY to "
                "its path\n" + "\n".join(errors))
    return _loaded


class Kernel:
    """What the launches of one kernel cost above the power at rest: `energy` is a figure in joules, of all
    `launches`. `launches_wanted` would resolve it; None if no number would."""

    def __init__(self, name: str, launches: int, energy: Figure, launches_wanted: Optional[float]) -> None:
        self.name = name
        self.launches = launches
        self.energy = energy
        self.launches_wanted = launches_wanted


class Bracket:
    """What a stretch cost, once it has ended: `device`, `interconnect` and `segments` are figures in joules.
    `kernels` are those of its kernels, by name, and `covariance` that of their joules [J^2], in the same order; it
    is empty if the readings part no kernel."""

    def __init__(self) -> None:
        self.is_virtual = False
        self.seconds = math.nan
        self.dispatches = 0
        self.device = self.interconnect = Figure(None, unit="J", status="unavailable", reason="it has not ended")
        self.segments: Dict[str, Figure] = {}
        self.kernels: Dict[str, Kernel] = {}
        self.covariance: List[List[float]] = []

    def _repr_html_(self) -> str:
        rows = {"device": self.device, "interconnect": self.interconnect, **self.segments,
                **{kernel.name: kernel.energy for kernel in self.kernels.values()}}
        cells = "".join(f"<tr><td>{name}</td><td>{figure}</td></tr>" for name, figure in rows.items())
        label = " (virtual)" if self.is_virtual else ""
        return f"<table><caption>{self.seconds:.4g} s{label}</caption>{cells}</table>"


class Session:
    """A device whose stretches are measured. One thread uses a session at a time. Several threads may measure one
    device, each with a session of its own; a stretch has everything that the device did in it.

    device: "virtual", "gpu:0", "pci:0000:03:00.0", ..., or "" for the virtual one in this process, else the first real
    one that it may open (refused where HIP_VISIBLE_DEVICES or the like hides some of several). model: model.json of a
    calibration or its folder, or "" for the device's energy alone. anyway: use a model that is flagged as a misfit; its
    figures say so.
    On the virtual GPU the program must have been started by `wirewatt run --device virtual:w9100 -- ...`."""

    def __init__(self, device: str = "", model: "str | os.PathLike[str]" = "", anyway: bool = False) -> None:
        self._ffi, self._lib = _library()
        file = os.fspath(model)
        if file and os.path.isdir(file):
            file = os.path.join(file, "model.json")
        handle = self._ffi.new("wirewatt_session**")
        self._session = None
        options = self._lib.WIREWATT_ANYWAY if anyway else 0
        self._check(self._lib.wirewatt_open_with(device.encode(), file.encode(), options, handle))
        self._session = handle[0]

    def _check(self, status: int) -> None:
        if status == self._lib.WIREWATT_OK:
            return
        text = self._ffi.string(self._lib.wirewatt_error()).decode(errors="replace")
        raise _ERRORS.get(status, WirewattError)(text)

    def _open_session(self) -> Any:
        if self._session is None:
            raise UsageError("the session is closed")
        return self._session

    @property
    def device(self) -> str:
        return self._ffi.string(self._lib.wirewatt_device(self._open_session())).decode()

    def begin(self) -> None:
        """Begins a stretch. Finish the queue before."""
        self._check(self._lib.wirewatt_begin(self._open_session()))

    def add_traffic(self, segment: str, bytes_: float, toggle_rate: Optional[float] = None) -> None:
        """On real GPUs: payload bytes that crossed a segment since begin(); None: toggles are unknown."""
        if segment not in _SEGMENTS:
            raise UsageError(f"no segment '{segment}'; there are {', '.join(_SEGMENTS)}")
        rate = -1.0 if toggle_rate is None else toggle_rate
        self._check(self._lib.wirewatt_add_traffic(self._open_session(), _SEGMENTS.index(segment), bytes_, rate))

    def end(self, into: Optional[Bracket] = None) -> Bracket:
        """Ends the stretch. Finish the queue before."""
        session = self._open_session()
        reading = self._ffi.new("wirewatt_reading*")
        reading.size = self._ffi.sizeof("wirewatt_reading")
        self._check(self._lib.wirewatt_end(session, reading))
        out = into if into is not None else Bracket()
        out.is_virtual = bool(reading.is_virtual)
        out.seconds = reading.seconds
        out.dispatches = reading.dispatches
        out.device = self._figure(reading.device, _DEVICE, "device")
        out.interconnect = self._figure(reading.interconnect, _INTERCONNECT, "interconnect")
        out.segments = {name: self._figure(reading.segment[index], index, name)
                        for index, name in enumerate(_SEGMENTS)}
        count = self._lib.wirewatt_kernels(session)
        out.kernels = {kernel.name: kernel for kernel in map(self._kernel, range(count))}
        covariance = [[self._lib.wirewatt_kernel_covariance(session, one, other) for other in range(count)]
                      for one in range(count)]
        out.covariance = [] if any(math.isnan(value) for row in covariance for value in row) else covariance
        return out

    def add_launch(self, kernel: str, start_ns: int, end_ns: int) -> None:
        """On real GPUs: a launch since begin(), by time.monotonic_ns()."""
        self._check(self._lib.wirewatt_add_launch(self._open_session(), kernel.encode(), start_ns, end_ns))

    def set_response(self, window_s: Optional[float] = None, lag_s: Optional[float] = None,
                     relative_error: float = 0.05) -> None:
        """How a sensor without an energy counter responds, as `wirewatt doctor` finds it: one of the two times."""
        if (window_s is None) == (lag_s is None):
            raise UsageError("give either window_s or lag_s")
        kind = self._lib.WIREWATT_WINDOW if lag_s is None else self._lib.WIREWATT_LAG
        seconds = window_s if lag_s is None else lag_s
        self._check(self._lib.wirewatt_set_response(self._open_session(), kind, seconds, relative_error))

    def metrics(self) -> str:
        """The joules of all stretches so far as OpenMetrics text, for a page that a monitoring system scrapes."""
        session = self._open_session()
        size = self._lib.wirewatt_metrics(session, self._ffi.NULL, 0)
        text = self._ffi.new("char[]", max(size, 1))
        if self._lib.wirewatt_metrics(session, text, size) == 0:
            raise WirewattError(self._ffi.string(self._lib.wirewatt_error()).decode(errors="replace"))
        return self._ffi.string(text).decode(errors="replace")

    def _kernel(self, index: int) -> Kernel:
        found = self._ffi.new("wirewatt_kernel*")
        found.size = self._ffi.sizeof("wirewatt_kernel")
        self._check(self._lib.wirewatt_kernel_at(self._session, index, found))
        text = lambda of: self._ffi.string(of).decode(errors="replace")
        energy = self._joules(found.energy, text(found.reason), text(found.name))
        wanted = None if math.isnan(found.launches_wanted) else found.launches_wanted
        return Kernel(text(found.name), found.launches, energy, wanted)

    def _figure(self, joules: Any, index: int, name: str) -> Figure:
        reason = self._ffi.string(self._lib.wirewatt_reason(self._session, index)).decode(errors="replace")
        return self._joules(joules, reason, name)

    @staticmethod
    def _joules(joules: Any, reason: str, name: str) -> Figure:
        known = not math.isnan(joules.value)
        return Figure(value=joules.value if known else None, low=joules.low if known else None,
                      high=joules.high if known else None, unit="J", status=_STATUSES[joules.status],
                      reason=reason, name=name)

    def close(self) -> None:
        if self._session is not None:
            self._lib.wirewatt_close(self._session)
            self._session = None

    def __del__(self) -> None:
        # A session that was dropped without close(); one that did not open has nothing to close.
        if getattr(self, "_session", None) is not None:
            self.close()

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


class bracket:
    """`with wirewatt.bracket(model="first-run") as stretch: ...` measures the block. After it, `stretch` holds the
    figures. A session that is given is used and stays open; else one is opened for the block."""

    def __init__(self, device: str = "", model: "str | os.PathLike[str]" = "", anyway: bool = False,
                 session: Optional[Session] = None) -> None:
        self._own = session is None
        self._session = session if session is not None else Session(device, model, anyway)
        self._stretch = Bracket()

    def __enter__(self) -> Bracket:
        self._session.begin()
        return self._stretch

    def __exit__(self, kind: Any, *_: Any) -> None:
        try:
            # After an exception the stretch ends, too, so that the session can begin again.
            self._session.end(self._stretch)
        except WirewattError:
            if kind is None:
                raise
        finally:
            if self._own:
                self._session.close()
