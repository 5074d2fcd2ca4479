/* Small OpenCL programs of the kinds that people write, through the loader, each against the host's
 * own arithmetic. Usage: icd_programs [name]; without a name all of them. */
#define _DEFAULT_SOURCE
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static cl_device_id device;
static cl_context context;
static cl_command_queue queue;

#define CHECK(call)                                                               \
  do {                                                                            \
    cl_int check_code = (call);                                                   \
    if (check_code != CL_SUCCESS) {                                               \
      fprintf(stderr, "line %d: %s gave %d\n", __LINE__, #call, (int)check_code); \
      return 1;                                                                   \
    }                                                                             \
  } while (0)

#define DEMAND(condition, ...)                \
  do {                                        \
    if (!(condition)) {                       \
      fprintf(stderr, "line %d: ", __LINE__); \
      fprintf(stderr, __VA_ARGS__);           \
      fprintf(stderr, "\n");                  \
      return 1;                               \
    }                                         \
  } while (0)

static cl_program build(const char* source, const char* options) {
  cl_int code;
  cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &code);
  if (code != CL_SUCCESS) return NULL;
  if (clBuildProgram(program, 1, &device, options, NULL, NULL) != CL_SUCCESS) {
    static char log[16384];
    clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
    fprintf(stderr, "%s\n", log);
    return NULL;
  }
  return program;
}

static cl_kernel kernel_of(const char* source, const char* name, const char* options) {
  cl_program program = build(source, options);
  if (program == NULL) return NULL;
  cl_int code;
  cl_kernel kernel = clCreateKernel(program, name, &code);
  clReleaseProgram(program);
  return code == CL_SUCCESS ? kernel : NULL;
}

static cl_mem buffer(size_t size, const void* data) {
  cl_int code;
  return clCreateBuffer(context, data != NULL ? CL_MEM_COPY_HOST_PTR : CL_MEM_READ_WRITE, size,
                        (void*)(size_t)data, &code);
}

static int reduction(void) {
  enum { N = 4096, GROUP = 256 };
  cl_kernel kernel = kernel_of(
      "__kernel void sum(__global const int* in, __global int* out, __local int* tile) {\n"
      "  uint l = get_local_id(0);\n"
      "  tile[l] = in[get_global_id(0)];\n"
      "  barrier(CLK_LOCAL_MEM_FENCE);\n"
      "  for (uint s = get_local_size(0) / 2; s > 0; s >>= 1) {\n"
      "    if (l < s) tile[l] += tile[l + s];\n"
      "    barrier(CLK_LOCAL_MEM_FENCE);\n"
      "  }\n"
      "  if (l == 0) out[get_group_id(0)] = tile[0];\n"
      "}\n",
      "sum", "");
  DEMAND(kernel != NULL, "no kernel");
  int in[N];
  int out[N / GROUP];
  int wanted = 0;
  for (int i = 0; i < N; ++i) {
    in[i] = i * 7 - 1000;
    wanted += in[i];
  }
  cl_mem a = buffer(sizeof in, in);
  cl_mem b = buffer(sizeof out, NULL);
  CHECK(clSetKernelArg(kernel, 0, sizeof a, &a));
  CHECK(clSetKernelArg(kernel, 1, sizeof b, &b));
  CHECK(clSetKernelArg(kernel, 2, GROUP * sizeof(int), NULL));
  const size_t global = N;
  const size_t local = GROUP;
  CHECK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL));
  CHECK(clEnqueueReadBuffer(queue, b, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL));
  int sum = 0;
  for (int i = 0; i < N / GROUP; ++i) sum += out[i];
  DEMAND(sum == wanted, "sum %d, wanted %d", sum, wanted);
  CHECK(clReleaseMemObject(a));
  CHECK(clReleaseMemObject(b));
  CHECK(clReleaseKernel(kernel));
  return 0;
}

static int matrix_multiply(void) {
  enum { N = 64 };
  cl_kernel kernel = kernel_of(
      "#define T 16\n"
      "__kernel void multiply(__global const float* a, __global const float* b,\n"
      "                       __global float* c, int n) {\n"
      "  __local float ta[T][T];\n"
      "  __local float tb[T][T];\n"
      "  int x = get_global_id(0), y = get_global_id(1);\n"
      "  int lx = get_local_id(0), ly = get_local_id(1);\n"
      "  float sum = 0;\n"
      "  for (int k = 0; k < n; k += T) {\n"
      "    ta[ly][lx] = a[y * n + k + lx];\n"
      "    tb[ly][lx] = b[(k + ly) * n + x];\n"
      "    barrier(CLK_LOCAL_MEM_FENCE);\n"
      "    for (int i = 0; i < T; ++i) sum += ta[ly][i] * tb[i][lx];\n"
      "    barrier(CLK_LOCAL_MEM_FENCE);\n"
      "  }\n"
      "  c[y * n + x] = sum;\n"
      "}\n",
      "multiply", "-cl-mad-enable");
  DEMAND(kernel != NULL, "no kernel");
  static float a[N * N];
  static float b[N * N];
  static float c[N * N];
  const cl_int n = N;
  for (int i = 0; i < N * N; ++i) {
    a[i] = (float)(i % 13) - 6.0f;
    b[i] = (float)(i % 7) - 3.0f;
  }
  cl_mem am = buffer(sizeof a, a);
  cl_mem bm = buffer(sizeof b, b);
  cl_mem cm = buffer(sizeof c, NULL);
  CHECK(clSetKernelArg(kernel, 0, sizeof am, &am));
  CHECK(clSetKernelArg(kernel, 1, sizeof bm, &bm));
  CHECK(clSetKernelArg(kernel, 2, sizeof cm, &cm));
  CHECK(clSetKernelArg(kernel, 3, sizeof n, &n));
  const size_t global[] = {N, N};
  const size_t local[] = {16, 16};
  CHECK(clEnqueueNDRangeKernel(queue, kernel, 2, NULL, global, local, 0, NULL, NULL));
  CHECK(clEnqueueReadBuffer(queue, cm, CL_TRUE, 0, sizeof c, c, 0, NULL, NULL));
  for (int y = 0; y < N; ++y) {
    for (int x = 0; x < N; ++x) {
      float sum = 0; /* small integers: exact in any order */
      for (int k = 0; k < N; ++k) sum += a[y * N + k] * b[k * N + x];
      DEMAND(c[y * N + x] == sum, "c[%d][%d] is %g, wanted %g", y, x, (double)c[y * N + x],
             (double)sum);
    }
  }
  CHECK(clReleaseMemObject(am));
  CHECK(clReleaseMemObject(bm));
  CHECK(clReleaseMemObject(cm));
  CHECK(clReleaseKernel(kernel));
  return 0;
}

static int histogram(void) {
  enum { N = 8192, BINS = 32 };
  cl_kernel kernel = kernel_of(
      "__kernel void count(__global const uchar* in, __global uint* bins) {\n"
      "  __local uint mine[32];\n"
      "  uint l = get_local_id(0);\n"
      "  if (l < 32) mine[l] = 0;\n"
      "  barrier(CLK_LOCAL_MEM_FENCE);\n"
      "  atomic_inc(&mine[in[get_global_id(0)] & 31]);\n"
      "  barrier(CLK_LOCAL_MEM_FENCE);\n"
      "  if (l < 32) atomic_add(&bins[l], mine[l]);\n"
      "}\n",
      "count", "");
  DEMAND(kernel != NULL, "no kernel");
  static unsigned char in[N];
  cl_uint bins[BINS];
  cl_uint wanted[BINS] = {0};
  unsigned state = 1;
  for (int i = 0; i < N; ++i) {
    state = state * 1664525u + 1013904223u;
    in[i] = (unsigned char)(state >> 24);
    ++wanted[in[i] & 31];
  }
  cl_mem a = buffer(sizeof in, in);
  cl_mem b = buffer(sizeof bins, NULL);
  const cl_uint zero = 0;
  CHECK(clEnqueueFillBuffer(queue, b, &zero, sizeof zero, 0, sizeof bins, 0, NULL, NULL));
  CHECK(clSetKernelArg(kernel, 0, sizeof a, &a));
  CHECK(clSetKernelArg(kernel, 1, sizeof b, &b));
  const size_t global = N;
  const size_t local = 128;
  CHECK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL));
  CHECK(clEnqueueReadBuffer(queue, b, CL_TRUE, 0, sizeof bins, bins, 0, NULL, NULL));
  for (int i = 0; i < BINS; ++i) {
    DEMAND(bins[i] == wanted[i], "bin %d is %u, wanted %u", i, bins[i], wanted[i]);
  }
  CHECK(clReleaseMemObject(a));
  CHECK(clReleaseMemObject(b));
  CHECK(clReleaseKernel(kernel));
  return 0;
}

static int three_dimensions(void) {
  cl_kernel kernel = kernel_of(
      "__kernel void ids(__global uint* out) {\n"
      "  uint x = get_global_id(0) - get_global_offset(0);\n"
      "  uint y = get_global_id(1) - get_global_offset(1);\n"
      "  uint z = get_global_id(2) - get_global_offset(2);\n"
      "  uint at = (z * get_global_size(1) + y) * get_global_size(0) + x;\n"
      "  out[at] = get_global_id(0) | get_global_id(1) << 8 | get_global_id(2) << 16 |\n"
      "            (get_group_id(0) + get_group_id(1) + get_group_id(2)) << 24 |\n"
      "            get_work_dim() << 30;\n"
      "}\n",
      "ids", "");
  DEMAND(kernel != NULL, "no kernel");
  enum { X = 12, Y = 6, Z = 4 };
  cl_uint out[X * Y * Z];
  cl_mem a = buffer(sizeof out, NULL);
  CHECK(clSetKernelArg(kernel, 0, sizeof a, &a));
  const size_t offset[] = {3, 5, 7};
  const size_t global[] = {X, Y, Z};
  const size_t local[] = {4, 3, 2};
  CHECK(clEnqueueNDRangeKernel(queue, kernel, 3, offset, global, local, 0, NULL, NULL));
  CHECK(clEnqueueReadBuffer(queue, a, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL));
  for (cl_uint z = 0; z < Z; ++z) {
    for (cl_uint y = 0; y < Y; ++y) {
      for (cl_uint x = 0; x < X; ++x) {
        const cl_uint wanted =
            (x + 3) | (y + 5) << 8 | (z + 7) << 16 | (x / 4 + y / 3 + z / 2) << 24 | 3u << 30;
        const cl_uint got = out[(z * Y + y) * X + x];
        DEMAND(got == wanted, "(%u,%u,%u) is %08x, wanted %08x", x, y, z, got, wanted);
      }
    }
  }
  CHECK(clReleaseMemObject(a));
  CHECK(clReleaseKernel(kernel));
  return 0;
}

static int vectors_and_structs(void) {
  cl_kernel kernel = kernel_of(
      "typedef struct { float4 scale; int shift; short pad; uchar flag; } Parameters;\n"
      "__constant short table[4] = {10, 20, 30, 40};\n"
      "__kernel void mix_types(Parameters p, __global const char4* in, __global float4* out,\n"
      "                        __global short2* half_out, long bias, __constant float* c) {\n"
      "  uint i = get_global_id(0);\n"
      "  int4 v = convert_int4(in[i]) << p.shift;\n"
      "  out[i] = convert_float4(v) * p.scale + c[i & 1] + (float)(bias >> 32);\n"
      "  half_out[i] = (short2)(table[i & 3], p.pad + p.flag);\n"
      "}\n",
      "mix_types", "");
  DEMAND(kernel != NULL, "no kernel");
  enum { N = 64 };
  struct {
    cl_float4 scale;
    cl_int shift;
    cl_short pad;
    cl_uchar flag;
  } p;
  memset(&p, 0, sizeof p);
  for (int i = 0; i < 4; ++i) p.scale.s[i] = (float)(i + 1) * 0.5f;
  p.shift = 2;
  p.pad = -5;
  p.flag = 200;
  cl_char in[N * 4];
  const float c[2] = {1.0f, -1.0f};
  const cl_long bias = (cl_long)3 << 32;
  for (int i = 0; i < N * 4; ++i) in[i] = (cl_char)(i * 5 - 100);
  float out[N * 4];
  cl_short half_out[N * 2];
  cl_mem a = buffer(sizeof in, in);
  cl_mem b = buffer(sizeof out, NULL);
  cl_mem h = buffer(sizeof half_out, NULL);
  cl_mem k = buffer(sizeof c, c);
  CHECK(clSetKernelArg(kernel, 0, sizeof p, &p));
  CHECK(clSetKernelArg(kernel, 1, sizeof a, &a));
  CHECK(clSetKernelArg(kernel, 2, sizeof b, &b));
  CHECK(clSetKernelArg(kernel, 3, sizeof h, &h));
  CHECK(clSetKernelArg(kernel, 4, sizeof bias, &bias));
  CHECK(clSetKernelArg(kernel, 5, sizeof k, &k));
  const size_t global = N;
  CHECK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
  CHECK(clEnqueueReadBuffer(queue, b, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL));
  CHECK(clEnqueueReadBuffer(queue, h, CL_TRUE, 0, sizeof half_out, half_out, 0, NULL, NULL));
  for (int i = 0; i < N * 4; ++i) {
    const float wanted = (float)(in[i] * 4) * p.scale.s[i % 4] + c[i / 4 & 1] + 3.0f;
    DEMAND(out[i] == wanted, "out[%d] is %g, wanted %g", i, (double)out[i], (double)wanted);
  }
  for (int i = 0; i < N; ++i) {
    DEMAND(half_out[2 * i] == 10 * ((i & 3) + 1) && half_out[2 * i + 1] == 195, "short %d: %d %d",
           i, half_out[2 * i], half_out[2 * i + 1]);
  }
  CHECK(clReleaseMemObject(a));
  CHECK(clReleaseMemObject(b));
  CHECK(clReleaseMemObject(h));
  CHECK(clReleaseMemObject(k));
  CHECK(clReleaseKernel(kernel));
  return 0;
}

static int mathematics(void) {
  cl_kernel kernel = kernel_of(
      "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
      "__kernel void functions(__global const float* x, __global float* f,\n"
      "                        __global double* d) {\n"
      "  uint i = get_global_id(0);\n"
      "  f[4 * i] = sin(x[i]);\n"
      "  f[4 * i + 1] = exp(x[i]);\n"
      "  f[4 * i + 2] = sqrt(x[i]) / 3.0f;\n"
      "  f[4 * i + 3] = pow(x[i] + 1.0f, 1.5f) + log(x[i] + 1.0f);\n"
      "  double y = x[i];\n"
      "  d[2 * i] = y * y / 7.0 - sqrt(y);\n"
      "  d[2 * i + 1] = fma(y, 1.0 / 3.0, floor(y)) + (double)(long)(y * 1000.0);\n"
      "}\n",
      "functions", "");
  DEMAND(kernel != NULL, "no kernel");
  enum { N = 128 };
  float x[N];
  float f[4 * N];
  double d[2 * N];
  for (int i = 0; i < N; ++i) x[i] = (float)i * 0.11f;
  cl_mem a = buffer(sizeof x, x);
  cl_mem b = buffer(sizeof f, NULL);
  cl_mem c = buffer(sizeof d, NULL);
  CHECK(clSetKernelArg(kernel, 0, sizeof a, &a));
  CHECK(clSetKernelArg(kernel, 1, sizeof b, &b));
  CHECK(clSetKernelArg(kernel, 2, sizeof c, &c));
  const size_t global = N;
  CHECK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
  CHECK(clEnqueueReadBuffer(queue, b, CL_TRUE, 0, sizeof f, f, 0, NULL, NULL));
  CHECK(clEnqueueReadBuffer(queue, c, CL_TRUE, 0, sizeof d, d, 0, NULL, NULL));
  for (int i = 0; i < N; ++i) {
    const double y = x[i];
    const double single[4] = {sin(y), exp(y), sqrt(y) / 3.0, pow(y + 1, 1.5) + log(y + 1)};
    for (int j = 0; j < 4; ++j) {
      /* The standard allows 16 ulp for pow and exp, 2.5 for the quotient. */
      const double error = fabs(f[4 * i + j] - single[j]);
      DEMAND(error <= 2e-6 * fabs(single[j]) + 1e-6, "function %d of %g is %g, wanted %g", j, y,
             (double)f[4 * i + j], single[j]);
    }
    const double twice[2] = {y * y / 7.0 - sqrt(y),
                             fma(y, 1.0 / 3.0, floor(y)) + (double)(long)(y * 1000.0)};
    for (int j = 0; j < 2; ++j) {
      DEMAND(fabs(d[2 * i + j] - twice[j]) <= 1e-14 * fabs(twice[j]) + 1e-14,
             "double %d of %g is %.17g, wanted %.17g", j, y, d[2 * i + j], twice[j]);
    }
  }
  CHECK(clReleaseMemObject(a));
  CHECK(clReleaseMemObject(b));
  CHECK(clReleaseMemObject(c));
  CHECK(clReleaseKernel(kernel));
  return 0;
}

/* The extremes that the vendor's library takes for undefined. */
static int extremes(void) {
  cl_kernel kernel = kernel_of(
      "__kernel void extremes(__global const int* in, __global uint* out) {\n"
      "  uint i = get_global_id(0);\n"
      "  int x = in[i];\n"
      "  out[3 * i] = (abs(x) > 0x7fffffffu) + 2 * (uint)(abs((long)x << 32) >> 63);\n"
      "  out[3 * i + 1] = (uint)mad_sat((int)(ushort)(x | 0x8000), 65535, x);\n"
      "  out[3 * i + 2] = (uint)mad_sat((int2)(x, x), (int2)(3, -3), (int2)(7)).y;\n"
      "}\n",
      "extremes", "");
  DEMAND(kernel != NULL, "no kernel");
  enum { N = 64 };
  cl_int in[N];
  cl_uint out[3 * N];
  for (int i = 0; i < N; ++i) in[i] = (cl_int)(2654435761u * (cl_uint)i);
  in[1] = INT32_MIN;
  in[2] = INT32_MAX;
  cl_mem a = buffer(sizeof in, in);
  cl_mem b = buffer(sizeof out, NULL);
  CHECK(clSetKernelArg(kernel, 0, sizeof a, &a));
  CHECK(clSetKernelArg(kernel, 1, sizeof b, &b));
  const size_t global = N;
  CHECK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
  CHECK(clEnqueueReadBuffer(queue, b, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL));
  for (int i = 0; i < N; ++i) {
    cl_long wanted[3] = {in[i] == INT32_MIN ? 3 : 0,
                         (cl_long)((in[i] & 0xffff) | 0x8000) * 65535 + in[i],
                         (cl_long)in[i] * -3 + 7};
    for (int k = 0; k < 3; ++k) {
      if (wanted[k] > INT32_MAX) wanted[k] = INT32_MAX;
      if (wanted[k] < INT32_MIN) wanted[k] = INT32_MIN;
      DEMAND((cl_int)out[3 * i + k] == wanted[k], "result %d of %d is %d", k, in[i],
             (cl_int)out[3 * i + k]);
    }
  }
  CHECK(clReleaseMemObject(a));
  CHECK(clReleaseMemObject(b));
  CHECK(clReleaseKernel(kernel));
  return 0;
}

static int branches(void) {
  cl_kernel kernel = kernel_of(
      "int collatz(uint n) { int s = 0; while (n != 1) { n = n & 1 ? 3 * n + 1 : n / 2; ++s; }\n"
      "  return s; }\n"
      "__kernel void steps(__global int* out) {\n"
      "  uint i = get_global_id(0);\n"
      "  switch (i % 3) {\n"
      "    case 0: out[i] = collatz(i + 1); break;\n"
      "    case 1: out[i] = -(int)(i % 7) * (int)(i / 5); break;\n"
      "    default: out[i] = (int)popcount(i) + (int)clz(i) + mul_hi((int)i << 20, 4096);\n"
      "  }\n"
      "}\n",
      "steps", "");
  DEMAND(kernel != NULL, "no kernel");
  enum { N = 1000 };
  int out[N];
  cl_mem a = buffer(sizeof out, NULL);
  CHECK(clSetKernelArg(kernel, 0, sizeof a, &a));
  const size_t global = N;
  CHECK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
  CHECK(clEnqueueReadBuffer(queue, a, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL));
  for (int i = 0; i < N; ++i) {
    int wanted = 0;
    if (i % 3 == 0) {
      for (unsigned n = (unsigned)i + 1; n != 1; n = n & 1 ? 3 * n + 1 : n / 2) ++wanted;
    } else if (i % 3 == 1) {
      wanted = -(i % 7) * (i / 5);
    } else {
      const int high = (int)(((long long)(int)((unsigned)i << 20) * 4096) >> 32);
      wanted = __builtin_popcount((unsigned)i) + __builtin_clz((unsigned)i) + high;
    }
    DEMAND(out[i] == wanted, "out[%d] is %d, wanted %d", i, out[i], wanted);
  }
  CHECK(clReleaseMemObject(a));
  CHECK(clReleaseKernel(kernel));
  return 0;
}

/* A larger private array than registers hold: scratch memory. */
static int scratch(void) {
  cl_kernel kernel = kernel_of(
      "__kernel void sort(__global int* data) {\n"
      "  int mine[32];\n"
      "  uint base = get_global_id(0) * 32;\n"
      "  for (int i = 0; i < 32; ++i) mine[i] = data[base + i];\n"
      "  for (int i = 1; i < 32; ++i) {\n"
      "    int v = mine[i], j = i;\n"
      "    while (j > 0 && mine[j - 1] > v) { mine[j] = mine[j - 1]; --j; }\n"
      "    mine[j] = v;\n"
      "  }\n"
      "  for (int i = 0; i < 32; ++i) data[base + i] = mine[i];\n"
      "}\n",
      "sort", "");
  DEMAND(kernel != NULL, "no kernel");
  enum { ROWS = 100, N = ROWS * 32 };
  static int data[N];
  long long before = 0;
  long long after = 0;
  for (int i = 0; i < N; ++i) {
    data[i] = (i * 7919) % 1009 - 500;
    before += data[i];
  }
  cl_mem a = buffer(sizeof data, data);
  CHECK(clSetKernelArg(kernel, 0, sizeof a, &a));
  const size_t global = ROWS;
  CHECK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
  CHECK(clEnqueueReadBuffer(queue, a, CL_TRUE, 0, sizeof data, data, 0, NULL, NULL));
  for (int i = 0; i < N; ++i) {
    after += data[i];
    DEMAND(i % 32 == 0 || data[i - 1] <= data[i], "row %d is not sorted", i / 32);
  }
  DEMAND(before == after, "elements were lost");
  CHECK(clReleaseMemObject(a));
  CHECK(clReleaseKernel(kernel));
  return 0;
}

/* So many values that registers run out in groups of 1024 work-items: what is computed anew then
 * must come of what is still there. */
static int short_of_registers(void) {
  enum { ITEMS = 2048, N = 16 * ITEMS };
  static const size_t groups[] = {64, 512, 1024};
  cl_kernel kernel = kernel_of(
      "__kernel void product(__global const ulong* a, __global const ulong* b,\n"
      "                      __global const ulong* c, __global ulong* out) {\n"
      "  const int i = get_global_id(0);\n"
      "  vstore16(mad_sat(vload16(i, a), vload16(i, b), vload16(i, c)), i, out);\n"
      "}\n",
      "product", "");
  DEMAND(kernel != NULL, "no kernel");
  static uint64_t in[3][N];
  static uint64_t out[N];
  uint64_t state = 1;
  cl_mem memory[4];
  for (cl_uint k = 0; k < 4; ++k) {
    for (int i = 0; k < 3 && i < N; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      in[k][i] = state >> (state >> 58); /* small and large ones */
    }
    memory[k] = buffer(sizeof out, k < 3 ? in[k] : NULL);
    CHECK(clSetKernelArg(kernel, k, sizeof memory[k], &memory[k]));
  }
  for (size_t g = 0; g < sizeof groups / sizeof groups[0]; ++g) {
    const size_t global = ITEMS;
    memset(out, 0, sizeof out);
    CHECK(clEnqueueWriteBuffer(queue, memory[3], CL_TRUE, 0, sizeof out, out, 0, NULL, NULL));
    CHECK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &groups[g], 0, NULL, NULL));
    CHECK(clEnqueueReadBuffer(queue, memory[3], CL_TRUE, 0, sizeof out, out, 0, NULL, NULL));
    for (int i = 0; i < N; ++i) {
      const unsigned __int128 sum = (unsigned __int128)in[0][i] * in[1][i] + in[2][i];
      const uint64_t wanted = sum >> 64 != 0 ? UINT64_MAX : (uint64_t)sum;
      DEMAND(out[i] == wanted, "groups of %zu, value %d: %llx, not %llx", groups[g], i,
             (unsigned long long)out[i], (unsigned long long)wanted);
    }
  }
  for (int k = 0; k < 4; ++k) CHECK(clReleaseMemObject(memory[k]));
  CHECK(clReleaseKernel(kernel));
  return 0;
}

static int mapped_memory(void) {
  cl_kernel kernel =
      kernel_of("__kernel void increment(__global int* data) { data[get_global_id(0)] += 1; }\n",
                "increment", "");
  DEMAND(kernel != NULL, "no kernel");
  enum { N = 1024 };
  cl_int code;
  cl_mem a = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, N * sizeof(int),
                            NULL, &code);
  CHECK(code);
  CHECK(clSetKernelArg(kernel, 0, sizeof a, &a));
  const size_t global = N;
  for (int round = 0; round < 3; ++round) {
    int* view = clEnqueueMapBuffer(queue, a, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                                   N * sizeof(int), 0, NULL, NULL, &code);
    CHECK(code);
    for (int i = 0; i < N; ++i) {
      DEMAND(round == 0 || view[i] == i * round + round, "round %d: %d", round, view[i]);
      view[i] = i * (round + 1) + round;
    }
    CHECK(clEnqueueUnmapMemObject(queue, a, view, 0, NULL, NULL));
    CHECK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
  }
  CHECK(clFinish(queue));
  CHECK(clReleaseMemObject(a));
  CHECK(clReleaseKernel(kernel));
  return 0;
}

/* A kernel's equal launches beside memory that the host shows as mapped: what the host has written
 * there is not taken back. */
static int mapped_beside_launches(void) {
  cl_kernel kernel = kernel_of(
      "__kernel void fill(__global int* data) {\n"
      "  const int i = get_global_id(0);\n"
      "  data[8 + i] = i + 1;\n"
      "}\n",
      "fill", "");
  DEMAND(kernel != NULL, "no kernel");
  enum { N = 8 };
  int zeros[2 * N] = {0};
  int out[2 * N];
  cl_int code;
  cl_mem a = buffer(sizeof zeros, zeros);
  CHECK(clSetKernelArg(kernel, 0, sizeof a, &a));
  const size_t global = N;
  for (int round = 0; round < 4; ++round) {
    CHECK(clEnqueueWriteBuffer(queue, a, CL_TRUE, 0, sizeof zeros, zeros, 0, NULL, NULL));
    int* view = NULL;
    if (round == 3) {
      view = clEnqueueMapBuffer(queue, a, CL_TRUE, CL_MAP_WRITE, 0, N * sizeof(int), 0, NULL, NULL,
                                &code);
      CHECK(code);
      for (int i = 0; i < N; ++i) view[i] = 77;
    }
    CHECK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
    if (view != NULL) CHECK(clEnqueueUnmapMemObject(queue, a, view, 0, NULL, NULL));
  }
  CHECK(clEnqueueReadBuffer(queue, a, CL_TRUE, 0, sizeof out, out, 0, NULL, NULL));
  for (int i = 0; i < N; ++i) {
    DEMAND(out[i] == 77 && out[N + i] == i + 1, "word %d: %d and %d", i, out[i], out[N + i]);
  }
  CHECK(clReleaseMemObject(a));
  CHECK(clReleaseKernel(kernel));
  return 0;
}

/* Two maps of one place, of which one writes; and lent memory that nobody may write. */
static int maps_of_one_place(void) {
  enum { N = 64 };
  int lent[N] = {0};
  int first = 0;
  cl_int code;
  cl_mem a =
      clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, sizeof lent, lent, &code);
  CHECK(code);
  int* read =
      clEnqueueMapBuffer(queue, a, CL_TRUE, CL_MAP_READ, 0, sizeof lent, 0, NULL, NULL, &code);
  CHECK(code);
  int* written =
      clEnqueueMapBuffer(queue, a, CL_TRUE, CL_MAP_WRITE, 0, sizeof lent, 0, NULL, NULL, &code);
  CHECK(code);
  written[0] = 5;
  CHECK(clEnqueueUnmapMemObject(queue, a, written, 0, NULL, NULL));
  CHECK(clEnqueueReadBuffer(queue, a, CL_TRUE, 0, sizeof first, &first, 0, NULL, NULL));
  DEMAND(first == 5, "%d after the map that wrote ended", first);
  CHECK(clEnqueueUnmapMemObject(queue, a, read, 0, NULL, NULL));
  CHECK(clReleaseMemObject(a));

  const size_t page = 65536;
  int* constant = mmap(NULL, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  DEMAND(constant != MAP_FAILED, "no memory");
  a = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_USE_HOST_PTR | CL_MEM_HOST_READ_ONLY, page,
                     constant, &code);
  CHECK(code);
  read = clEnqueueMapBuffer(queue, a, CL_TRUE, CL_MAP_READ, 0, page, 0, NULL, NULL, &code);
  CHECK(code);
  DEMAND(read[N] == 0, "%d in constant memory", read[N]);
  CHECK(clEnqueueUnmapMemObject(queue, a, read, 0, NULL, NULL));
  CHECK(clReleaseMemObject(a));
  munmap(constant, page);
  return 0;
}

/* The test looks for the lines on stdout. */
static int prints(void) {
  cl_kernel kernel = kernel_of(
      "__constant char kName[] = \"named\";\n"
      "__kernel void tell(__global const float* x, long big) {\n"
      "  uint i = get_global_id(0);\n"
      "  if (i == 0) printf(\"first: %ld %#x %c%%\\n\", big, 255, 'k');\n"
      "  if (i % 8 == 3)\n"
      "    printf(\"item %u of %d: %.2f %.0v4hlf\\n\", i, (int)get_global_size(0), x[i],\n"
      "           (float4)(1, 2, 3, 4));\n"
      "  if (i == 4)\n"
      "    printf(\"%s, %5s|%-5s| %s %v2lf %v4hhd\\n\", kName, \"abc\", \"de\",\n"
      "           x[i] > 1.0f ? \"more\" : \"less\", (double2)(0.5, 0.25), (char4)(1, -2, 3, 4));\n"
      "}\n",
      "tell", "");
  DEMAND(kernel != NULL, "no kernel");
  float x[64];
  for (int i = 0; i < 64; ++i) x[i] = (float)i * 0.5f;
  const cl_long big = -5000000000;
  cl_mem a = buffer(sizeof x, x);
  CHECK(clSetKernelArg(kernel, 0, sizeof a, &a));
  CHECK(clSetKernelArg(kernel, 1, sizeof big, &big));
  const size_t global = 64;
  CHECK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
  CHECK(clFinish(queue));
  CHECK(clReleaseMemObject(a));
  CHECK(clReleaseKernel(kernel));
  return 0;
}

/* Reads and writes far behind its buffers; the test looks for the source lines on stderr. */
static int mistakes(void) {
  cl_kernel kernel = kernel_of(
      "int fetch(__global const int* from, int i) {\n"
      "  return from[i + 100000000];\n"
      "}\n"
      "__kernel void spoil(__global int* a) {\n"
      "  int i = get_global_id(0);\n"
      "  int x = fetch(a, i);\n"
      "\n"
      "  a[i + 200000000] = x;\n"
      "}\n",
      "spoil", "");
  DEMAND(kernel != NULL, "no kernel");
  cl_mem a = buffer(64 * sizeof(int), NULL);
  CHECK(clSetKernelArg(kernel, 0, sizeof a, &a));
  const size_t global = 64;
  CHECK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
  CHECK(clFinish(queue));
  CHECK(clReleaseMemObject(a));
  CHECK(clReleaseKernel(kernel));
  return 0;
}

/* A device says whether it has images, and keeps to it. */
static int images_as_said(void) {
  cl_bool support = CL_FALSE;
  CHECK(clGetDeviceInfo(device, CL_DEVICE_IMAGE_SUPPORT, sizeof support, &support, NULL));
  const cl_image_format format = {CL_RGBA, CL_FLOAT};
  cl_image_desc shape = {0};
  shape.image_type = CL_MEM_OBJECT_IMAGE2D;
  shape.image_width = shape.image_height = 16;
  cl_int code = CL_SUCCESS;
  cl_mem image = clCreateImage(context, CL_MEM_READ_ONLY, &format, &shape, NULL, &code);
  DEMAND(code == (support ? CL_SUCCESS : CL_INVALID_OPERATION), "an image gave %d", (int)code);
  if (image != NULL) CHECK(clReleaseMemObject(image));
  cl_uint formats = 0;
  CHECK(clGetSupportedImageFormats(context, CL_MEM_READ_ONLY, CL_MEM_OBJECT_IMAGE2D, 0, NULL,
                                   &formats));
  DEMAND((formats != 0) == (support != CL_FALSE), "%u formats", (unsigned)formats);
  const char* source =
      "__kernel void k(read_only image2d_t i, sampler_t s, __global float4* o) {\n"
      "  *o = read_imagef(i, s, (int2)(0, 0));\n"
      "}\n";
  cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &code);
  CHECK(code);
  code = clBuildProgram(program, 1, &device, "", NULL, NULL);
  DEMAND(code == (support ? CL_SUCCESS : CL_BUILD_PROGRAM_FAILURE), "the build gave %d", (int)code);
  CHECK(clReleaseProgram(program));
  return 0;
}

static const struct {
  const char* name;
  int (*run)(void);
} programs[] = {{"reduction", reduction},
                {"matrix_multiply", matrix_multiply},
                {"histogram", histogram},
                {"three_dimensions", three_dimensions},
                {"vectors_and_structs", vectors_and_structs},
                {"mathematics", mathematics},
                {"extremes", extremes},
                {"branches", branches},
                {"scratch", scratch},
                {"short_of_registers", short_of_registers},
                {"mapped_memory", mapped_memory},
                {"mapped_beside_launches", mapped_beside_launches},
                {"maps_of_one_place", maps_of_one_place},
                {"images_as_said", images_as_said},
                {"prints", prints},
                {"mistakes", mistakes}};

int main(int argc, char** argv) {
  cl_platform_id platform;
  char vendor[64] = "";
  CHECK(clGetPlatformIDs(1, &platform, NULL));
  CHECK(clGetPlatformInfo(platform, CL_PLATFORM_VENDOR, sizeof vendor, vendor, NULL));
  DEMAND(strcmp(vendor, "wirewatt") == 0, "this is the platform of %s", vendor);
  CHECK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_DEFAULT, 1, &device, NULL));
  cl_int code;
  context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
  CHECK(code);
  queue = clCreateCommandQueue(context, device, 0, &code);
  CHECK(code);
  int failures = 0;
  int ran = 0;
  for (size_t i = 0; i < sizeof programs / sizeof programs[0]; ++i) {
    if (argc > 1 && strcmp(argv[1], programs[i].name) != 0) continue;
    ++ran;
    const int failed = programs[i].run();
    printf("%-20s %s\n", programs[i].name, failed ? "FAILED" : "ok");
    failures += failed;
  }
  CHECK(clReleaseCommandQueue(queue));
  CHECK(clReleaseContext(context));
  return failures == 0 && ran > 0 ? 0 : 1;
}
