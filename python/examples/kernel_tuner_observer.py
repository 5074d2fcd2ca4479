"""An observer for Kernel Tuner: joules of a kernel's wires for each configuration, on a GPU with a sensor.

    from kernel_tuner_observer import WirewattObserver
    tune_kernel(..., observers=[WirewattObserver(model="first-run", bytes_l1_l2=4 * n)])

Kernel Tuner calls the methods around each launch. One launch is shorter than most sensors, so device_j is often
missing; wires_j needs what the kernel moves, from arithmetic or a profiler.
"""

from typing import Any, Dict, List, Optional

import wirewatt

try:
    from kernel_tuner.observers import BenchmarkObserver
except ImportError:  # the methods are what counts
    BenchmarkObserver = object


class WirewattObserver(BenchmarkObserver):
    def __init__(self, device: str = "", model: str = "", bytes_l1_l2: Optional[float] = None) -> None:
        self._where = device, model
        self._bytes = bytes_l1_l2
        self._wires: List[float] = []
        self._device: List[float] = []

    def register_device(self, dev: Any) -> None:
        """Kernel Tuner has opened the device here; the virtual GPU is there from then on."""
        self.dev = dev
        self._session = wirewatt.Session(*self._where)

    def before_start(self) -> None:
        self._session.begin()
        if self._bytes is not None:
            self._session.add_traffic("l1_l2", self._bytes)

    def after_finish(self) -> None:
        stretch = self._session.end()
        for figure, values in ((stretch.interconnect, self._wires), (stretch.device, self._device)):
            if figure.value is not None:
                values.append(figure.value)

    def get_results(self) -> Dict[str, Optional[float]]:
        results = {"wires_j": _mean(self._wires), "device_j": _mean(self._device)}
        self._wires, self._device = [], []
        return results


def _mean(values: List[float]) -> Optional[float]:
    return sum(values) / len(values) if values else None
