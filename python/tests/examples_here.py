"""The observer for Kernel Tuner and the monitor with windows around launches on the virtual GPU, by the calls that
Kernel Tuner and a training loop make: wirewatt run --device virtual:w9100 -- python3 examples_here.py MODEL"""

import pathlib
import sys

import numpy
import pyopencl

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "examples"))

import wirewatt
from kernel_tuner_observer import WirewattObserver
from window_monitor import WindowMonitor

SOURCE = "kernel void twice(global float* x) { x[get_global_id(0)] *= 2; }"
context = pyopencl.Context([pyopencl.get_platforms()[0].get_devices()[0]])
queue = pyopencl.CommandQueue(context)
kernel = pyopencl.Program(context, SOURCE).build().twice
buffer = pyopencl.Buffer(context, pyopencl.mem_flags.READ_WRITE, 4 << 16)


def launch(times: int) -> None:
    for _ in range(times):
        kernel(queue, (1 << 16,), None, buffer)
    queue.finish()


observer = WirewattObserver("virtual", sys.argv[1])
observer.register_device(queue)
for _ in range(3):
    observer.before_start()
    launch(1)
    observer.after_finish()
assert "wirewatt_wire_energy_joules_total" in observer._session.metrics()
tuned = observer.get_results()
again = observer.get_results()
assert tuned["wires_j"] > 0, tuned
assert again == {"wires_j": None, "device_j": None}, again

monitor = WindowMonitor("virtual", sys.argv[1])
monitor.begin_window("epoch")
try:
    monitor.begin_window("step")
except wirewatt.UsageError as error:
    assert "epoch" in str(error), error
else:
    raise AssertionError("windows overlap")
launch(10)
window = monitor.end_window("epoch")
assert window.dispatches == 10, window.dispatches
# The first of all launches finds the L2 empty.
numpy.testing.assert_allclose(window.interconnect.value, 10 * tuned["wires_j"], rtol=0.1)
print(f"observer {tuned['wires_j']:.3g} J a launch, window {window.interconnect.value:.3g} J")
