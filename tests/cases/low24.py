#!/usr/bin/env python3
"""Runs the kernel low24 of an OpenCL C file on 128 numbers: products of their low 24 bits, added to 64 bits.
Usage: tests/cases/low24.py FILE (under `wirewatt run`)"""
import ctypes
import random
import sys

COUNT = 128
GPU, COPY = 4, 32  # CL_DEVICE_TYPE_GPU, CL_MEM_COPY_HOST_PTR
cl = ctypes.CDLL("libOpenCL.so.1")
for name in ("Context", "CommandQueue", "ProgramWithSource", "Kernel", "Buffer"):
    getattr(cl, "clCreate" + name).restype = ctypes.c_void_p


def good(code):
    if code != 0:
        sys.exit(f"OpenCL error {code}")


def pointer(value):
    return ctypes.c_void_p(value)


def device():
    platforms, count = (ctypes.c_void_p * 16)(), ctypes.c_uint()
    good(cl.clGetPlatformIDs(16, platforms, ctypes.byref(count)))
    for platform in platforms[:count.value]:
        found = ctypes.c_void_p()
        if cl.clGetDeviceIDs(pointer(platform), ctypes.c_ulong(GPU), 1, ctypes.byref(found), None) == 0:
            return found
    sys.exit("no GPU")


def main():
    gpu = device()
    context = pointer(cl.clCreateContext(None, 1, ctypes.byref(gpu), None, None, None))
    queue = pointer(cl.clCreateCommandQueue(context, gpu, ctypes.c_ulong(0), None))
    with open(sys.argv[1], "rb") as file:
        source = ctypes.c_char_p(file.read())
    program = pointer(cl.clCreateProgramWithSource(context, 1, ctypes.byref(source), None, None))
    good(cl.clBuildProgram(program, 0, None, None, None, None))
    kernel = pointer(cl.clCreateKernel(program, b"low24", None))
    draw = random.Random(7)
    x = [0xFF000003] + [draw.getrandbits(32) for _ in range(COUNT - 1)]
    y = [0xFF000005] + [draw.getrandbits(32) for _ in range(COUNT - 1)]
    z = [1] + [draw.getrandbits(40) for _ in range(COUNT - 1)]
    out = (ctypes.c_ulong * COUNT)()
    tables = [out, (ctypes.c_uint * COUNT)(*x), (ctypes.c_uint * COUNT)(*y), (ctypes.c_ulong * COUNT)(*z)]
    buffers = [pointer(cl.clCreateBuffer(context, ctypes.c_ulong(COPY), ctypes.c_size_t(ctypes.sizeof(table)), table,
                                         None)) for table in tables]
    for i, buffer in enumerate(buffers):
        good(cl.clSetKernelArg(kernel, i, ctypes.c_size_t(8), ctypes.byref(buffer)))
    size, group = ctypes.c_size_t(COUNT), ctypes.c_size_t(64)
    good(cl.clEnqueueNDRangeKernel(queue, kernel, 1, None, ctypes.byref(size), ctypes.byref(group), 0, None, None))
    good(cl.clEnqueueReadBuffer(queue, buffers[0], 1, ctypes.c_size_t(0), ctypes.c_size_t(8 * COUNT), out, 0, None,
                                None))
    right = [(a & 0xFFFFFF) * (b & 0xFFFFFF) + c for a, b, c in zip(x, y, z)]
    wrong = sum(seen != sure for seen, sure in zip(out, right))
    print(f"right: {out[0]}" if wrong == 0 else f"WRONG: {wrong} of {COUNT}, the first is {out[0]}, not {right[0]}")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
