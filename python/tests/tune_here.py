"""Kernel Tuner with the observer on the virtual GPU:
wirewatt run --device virtual:w9100 -- python3 tune_here.py MODEL"""

import pathlib
import sys

import numpy
from kernel_tuner import tune_kernel

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "examples"))

from kernel_tuner_observer import WirewattObserver

SOURCE = """__kernel void add(__global float* c, __global const float* a, int n) {
  int i = get_group_id(0) * block_size_x + get_local_id(0);
  if (i < n) c[i] = a[i] + 1; }"""
size = numpy.int32(1 << 14)
a = numpy.arange(size, dtype=numpy.float32)
results, _ = tune_kernel("add", SOURCE, int(size), [numpy.zeros_like(a), a, size], {"block_size_x": [64, 256]},
                         answer=[a + 1, None, None], lang="opencl", iterations=3, quiet=True,
                         observers=[WirewattObserver("virtual", sys.argv[1])])
assert len(results) == 2, results
assert all(result["wires_j"] > 0 for result in results), results
print("tuned", *(result["wires_j"] for result in results))
