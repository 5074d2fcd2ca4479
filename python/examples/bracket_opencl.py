"""Joules of a stretch of a PyOpenCL program. Without a GPU, run it on the virtual one:

    wirewatt run --device virtual:w9100 -- python3 python/examples/bracket_opencl.py first-run
"""

import sys

import numpy
import pyopencl

import wirewatt

SOURCE = "kernel void twice(global float* x) { x[get_global_id(0)] *= 2; }"

model = sys.argv[1] if len(sys.argv) > 1 else ""
context = pyopencl.Context([pyopencl.get_platforms()[0].get_devices()[0]])
queue = pyopencl.CommandQueue(context)
kernel = pyopencl.Program(context, SOURCE).build().twice
values = numpy.arange(1 << 16, dtype=numpy.float32)
buffer = pyopencl.Buffer(context, pyopencl.mem_flags.COPY_HOST_PTR, hostbuf=values)

with wirewatt.bracket("virtual", model) as stretch:
    for _ in range(10):
        kernel(queue, values.shape, None, buffer)
    queue.finish()

pyopencl.enqueue_copy(queue, values, buffer)
assert values[1] == 1024
print(f"{stretch.dispatches} kernels in {stretch.seconds:.3g} s{' (virtual)' if stretch.is_virtual else ''}")
print("device      ", stretch.device)
print("interconnect", stretch.interconnect)
for name, figure in stretch.segments.items():
    print(f"{name:12}", figure)
