// c = a + b over fresh random floats, on the first device that the OpenCL loader shows: a plain
// program for tests/bench/bench_vgpu, which runs it under more than one driver.
//
//   bench_vector_add ELEMENTS LAUNCHES
//
// Each launch has inputs of its own. Prints one line of JSON; exit code 1 when a
// sum is wrong or a call fails.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const char* const kSource =
    "__kernel void add(__global const float* a, __global const float* b, __global float* c) {\n"
    "  const size_t i = get_global_id(0);\n"
    "  c[i] = a[i] + b[i];\n"
    "}\n";

static void must(cl_int error, const char* what) {
  if (error == CL_SUCCESS) return;
  fprintf(stderr, "%s failed: %d\n", what, error);
  exit(1);
}

static double cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// Floats in [0, 1) with all bits of their fractions (xorshift64*).
static void fill(float* values, size_t count, uint64_t state) {
  for (size_t i = 0; i < count; ++i) {
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    values[i] = (float)(state * 0x2545F4914F6CDD1DULL >> 32) * 0x1p-32f;
    if (values[i] >= 1.0f) values[i] = 0.5f;
  }
}

int main(int argc, char** argv) {
  const size_t count = argc > 1 ? (size_t)strtoull(argv[1], NULL, 10) : 1 << 20;
  const int launches = argc > 2 ? atoi(argv[2]) : 1;
  if (count == 0 || count % 256 != 0) {
    fprintf(stderr, "usage: %s ELEMENTS LAUNCHES; ELEMENTS is a multiple of 256\n", argv[0]);
    return 2;
  }
  cl_platform_id platform;
  cl_device_id device;
  cl_int error;
  must(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
  must(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
  must(error, "clCreateContext");
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, &error);
  must(error, "clCreateCommandQueue");
  const char* source = kSource;
  cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
  must(error, "clCreateProgramWithSource");
  must(clBuildProgram(program, 1, &device, "", NULL, NULL), "clBuildProgram");
  cl_kernel kernel = clCreateKernel(program, "add", &error);
  must(error, "clCreateKernel");

  const size_t bytes = count * sizeof(float);
  float* values[3];
  cl_mem buffers[3];
  for (int i = 0; i < 3; ++i) {
    values[i] = malloc(bytes);
    if (values[i] == NULL) must(CL_OUT_OF_HOST_MEMORY, "malloc");
    buffers[i] = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, &error);
    must(error, "clCreateBuffer");
    must(clSetKernelArg(kernel, (cl_uint)i, sizeof(cl_mem), &buffers[i]), "clSetKernelArg");
  }
  double seconds = 0;
  int good = 1;
  for (int launch = 0; launch < launches; ++launch) {
    for (int i = 0; i < 2; ++i) {
      fill(values[i], count, 0x9E3779B97F4A7C15ULL * (2 * (uint64_t)launch + (uint64_t)i + 1));
      must(clEnqueueWriteBuffer(queue, buffers[i], CL_TRUE, 0, bytes, values[i], 0, NULL, NULL),
           "clEnqueueWriteBuffer");
    }
    const size_t local = 256;
    const double begin = cpu_seconds();
    must(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &count, &local, 0, NULL, NULL),
         "clEnqueueNDRangeKernel");
    must(clFinish(queue), "clFinish");
    seconds += cpu_seconds() - begin;
    must(clEnqueueReadBuffer(queue, buffers[2], CL_TRUE, 0, bytes, values[2], 0, NULL, NULL),
         "clEnqueueReadBuffer");
    for (size_t i = 0; i < count; ++i) good = good && values[2][i] == values[0][i] + values[1][i];
  }
  printf(
      "{\"elements\": %zu, \"launches\": %d, \"accesses\": %.0f, \"launch_cpu_seconds\": %.6f, "
      "\"pass\": %s}\n",
      count, launches, 3.0 * (double)count * launches, seconds, good ? "true" : "false");
  for (int i = 0; i < 3; ++i) {
    clReleaseMemObject(buffers[i]);
    free(values[i]);
  }
  clReleaseKernel(kernel);
  clReleaseProgram(program);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  return good ? 0 : 1;
}
