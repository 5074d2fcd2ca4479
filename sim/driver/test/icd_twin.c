// The OpenCL twin of hip_programs' "twin": a vector addition, a reduction and a transposition with
// the same sizes, data and order of buffers, so that bytes and energy can be compared. It prints
// where its first buffer lies, as distances on the chip depend on addresses. icd_twin FILE BYTES
// saves its code object and leaves a gap before its first buffer.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

enum { kItems = 1 << 18, kBlock = 256, kSide = 512, kTile = 16 };

static const char* source =
    "uint item(void) {\n"
    "  return __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() +\n"
    "         __builtin_amdgcn_workitem_id_x();\n"
    "}\n"
    "void meet(void) {\n"
    "  __builtin_amdgcn_fence(__ATOMIC_RELEASE, \"workgroup\");\n"
    "  __builtin_amdgcn_s_barrier();\n"
    "  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, \"workgroup\");\n"
    "}\n"
    "kernel void stream_add(global const float* a, global const float* b, global float* c) {\n"
    "  c[item()] = a[item()] + b[item()];\n"
    "}\n"
    "kernel void where(global const float* a, global ulong* at) { *at = (ulong)a; }\n"
    "kernel void reduce(global const int* in, volatile global int* out) {\n"
    "  local int part[256];\n"
    "  const uint lane = __builtin_amdgcn_workitem_id_x();\n"
    "  part[lane] = in[item()];\n"
    "  meet();\n"
    "  for (uint half_size = 128; half_size > 0; half_size /= 2) {\n"
    "    if (lane < half_size) part[lane] += part[lane + half_size];\n"
    "    meet();\n"
    "  }\n"
    "  if (lane == 0) atomic_add(out, part[0]);\n"
    "}\n"
    "kernel void transpose(global const float* in, global float* out, int side) {\n"
    "  local float tile[16][17];\n"
    "  const int x = __builtin_amdgcn_workitem_id_x(), y = __builtin_amdgcn_workitem_id_y();\n"
    "  const int left = __builtin_amdgcn_workgroup_id_x() * 16;\n"
    "  const int top = __builtin_amdgcn_workgroup_id_y() * 16;\n"
    "  tile[y][x] = in[(top + y) * side + left + x];\n"
    "  meet();\n"
    "  out[(left + y) * side + top + x] = tile[x][y];\n"
    "}\n";

static void check(cl_int code, const char* what) {
  if (code == CL_SUCCESS) return;
  fprintf(stderr, "%s: %d\n", what, code);
  exit(1);
}

static cl_context context;
static cl_command_queue queue;

static cl_mem buffer(size_t bytes, const void* data) {
  cl_int code = CL_SUCCESS;
  cl_mem made = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, &code);
  check(code, "clCreateBuffer");
  if (data != NULL) {
    check(clEnqueueWriteBuffer(queue, made, CL_TRUE, 0, bytes, data, 0, NULL, NULL), "write");
  }
  return made;
}

static void launch(cl_program program, const char* name, cl_uint dimensions, const size_t* global,
                   const size_t* local, const cl_mem* buffers, cl_uint count, const cl_int* side) {
  cl_int code = CL_SUCCESS;
  cl_kernel kernel = clCreateKernel(program, name, &code);
  check(code, name);
  for (cl_uint i = 0; i < count; ++i) {
    check(clSetKernelArg(kernel, i, sizeof(cl_mem), &buffers[i]), "clSetKernelArg");
  }
  if (side != NULL) check(clSetKernelArg(kernel, count, sizeof *side, side), "clSetKernelArg");
  check(clEnqueueNDRangeKernel(queue, kernel, dimensions, NULL, global, local, 0, NULL, NULL),
        name);
  check(clFinish(queue), "clFinish");
}

static void save_code(cl_program program, const char* path) {
  size_t size = 0;
  check(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL), "size");
  unsigned char* code = malloc(size);
  check(clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof code, &code, NULL), "binary");
  FILE* file = fopen(path, "wb");
  check(file == NULL || fwrite(code, 1, size, file) != size || fclose(file) != 0, path);
  free(code);
}

int main(int count, char** arguments) {
  cl_platform_id platform;
  cl_device_id device;
  cl_int code = CL_SUCCESS;
  check(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
  check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
  context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
  check(code, "clCreateContext");
  queue = clCreateCommandQueue(context, device, 0, &code);
  check(code, "clCreateCommandQueue");
  cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &code);
  check(code, "clCreateProgramWithSource");
  check(clBuildProgram(program, 1, &device, "-cl-std=CL1.2", NULL, NULL), "clBuildProgram");
  if (count > 1) save_code(program, arguments[1]);

  float* a = malloc(kItems * sizeof *a);
  float* b = malloc(kItems * sizeof *b);
  int* in = malloc(kItems * sizeof *in);
  int expected = 0;
  for (int i = 0; i < kItems; ++i) {
    a[i] = (float)i;
    b[i] = (float)(2 * i + 1);
    expected += in[i] = i % 101;
  }
  const size_t items = kItems, block = kBlock;
  if (count > 2) buffer(strtoull(arguments[2], NULL, 10), NULL);
  const cl_mem add[] = {buffer(kItems * 4, a), buffer(kItems * 4, b), buffer(kItems * 4, NULL)};
  launch(program, "stream_add", 1, &items, &block, add, 3, NULL);
  const int zero = 0;
  const cl_mem sum[] = {buffer(kItems * 4, in), buffer(4, &zero)};
  launch(program, "reduce", 1, &items, &block, sum, 2, NULL);
  int total = 0;
  check(clEnqueueReadBuffer(queue, sum[1], CL_TRUE, 0, 4, &total, 0, NULL, NULL), "read");
  const size_t sides[] = {kSide, kSide}, tiles[] = {kTile, kTile};
  const cl_int side = kSide;
  const cl_mem turn[] = {buffer(kItems * 4, a), buffer(kItems * 4, NULL)};
  launch(program, "transpose", 2, sides, tiles, turn, 2, &side);
  float* out = malloc(kItems * sizeof *out);
  check(clEnqueueReadBuffer(queue, turn[1], CL_TRUE, 0, kItems * 4, out, 0, NULL, NULL), "read");
  int bad = total != expected;
  for (int y = 0; y < kSide; ++y) {
    for (int x = 0; x < kSide; ++x) bad += out[x * kSide + y] != a[y * kSide + x];
  }
  const size_t one = 1;
  const cl_mem place[] = {add[0], buffer(8, NULL)};
  launch(program, "where", 1, &one, &one, place, 2, NULL);
  cl_ulong at = 0;
  check(clEnqueueReadBuffer(queue, place[1], CL_TRUE, 0, 8, &at, 0, NULL, NULL), "read");
  printf("twin %s at %llu\n", bad == 0 ? "ok" : "FAILED", (unsigned long long)at);
  return bad != 0;
}
