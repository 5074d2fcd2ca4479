"""Transposes a matrix by PyOpenCL, the naive way or by tiles in local memory: transpose.py naive|tiled"""

import sys

import numpy
import pyopencl

SOURCE = """
kernel void naive(global const float* in, global float* out, int n) {
  out[get_global_id(0) * n + get_global_id(1)] = in[get_global_id(1) * n + get_global_id(0)];
}
kernel void tiled(global const float* in, global float* out, int n) {
  local float tile[16][17];
  int x = get_local_id(0), y = get_local_id(1), i = get_group_id(0) * 16, j = get_group_id(1) * 16;
  tile[y][x] = in[(j + y) * n + i + x];
  barrier(CLK_LOCAL_MEM_FENCE);
  out[(i + y) * n + j + x] = tile[x][y];
}
"""

SIZE = 256
context = pyopencl.Context([pyopencl.get_platforms()[0].get_devices()[0]])
queue = pyopencl.CommandQueue(context)
kernel = pyopencl.Kernel(pyopencl.Program(context, SOURCE).build(), sys.argv[1])
matrix = numpy.random.default_rng(1).random((SIZE, SIZE), dtype=numpy.float32)
source = pyopencl.Buffer(context, pyopencl.mem_flags.COPY_HOST_PTR, hostbuf=matrix)
target = pyopencl.Buffer(context, pyopencl.mem_flags.READ_WRITE, matrix.nbytes)
kernel(queue, matrix.shape, (16, 16), source, target, numpy.int32(SIZE))
result = numpy.empty_like(matrix)
pyopencl.enqueue_copy(queue, result, target)
assert numpy.array_equal(result, matrix.T)
