/* A plain OpenCL host program, as anybody writes one: saxpy, then the same through the program's
 * binary. It knows nothing of wirewatt but the platform's vendor, which it demands so that a test
 * cannot pass on another driver. Exit code 0: results are right. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 10000 };

static const char* source =
    "__kernel void saxpy(__global const float* x, __global float* y, float a, int n) {\n"
    "  int i = get_global_id(0);\n"
    "  if (i < n) y[i] = a * x[i] + y[i];\n"
    "}\n";

#define CHECK(call)                                            \
  do {                                                         \
    cl_int check_code = (call);                                \
    if (check_code != CL_SUCCESS) {                            \
      fprintf(stderr, "%s gave %d\n", #call, (int)check_code); \
      exit(1);                                                 \
    }                                                          \
  } while (0)

static cl_platform_id find_platform(void) {
  cl_platform_id platforms[16];
  cl_uint count = 0;
  CHECK(clGetPlatformIDs(16, platforms, &count));
  for (cl_uint i = 0; i < count && i < 16; ++i) {
    char vendor[64] = "";
    CHECK(clGetPlatformInfo(platforms[i], CL_PLATFORM_VENDOR, sizeof vendor, vendor, NULL));
    if (strcmp(vendor, "wirewatt") == 0) return platforms[i];
  }
  fprintf(stderr, "the wirewatt platform is not among the %u of the loader\n", count);
  exit(1);
}

static void run(cl_context context, cl_device_id device, cl_program program, const char* label) {
  static float x[N];
  static float y[N];
  static float result[N];
  const float a = 2.5f;
  const cl_int n = N;
  cl_int code;
  for (int i = 0; i < N; ++i) {
    x[i] = (float)i;
    y[i] = (float)(3 * i % 17);
  }
  cl_command_queue queue = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &code);
  CHECK(code);
  cl_mem x_buffer =
      clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof x, x, &code);
  CHECK(code);
  cl_mem y_buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof y, NULL, &code);
  CHECK(code);
  CHECK(clEnqueueWriteBuffer(queue, y_buffer, CL_FALSE, 0, sizeof y, y, 0, NULL, NULL));

  cl_kernel kernel = clCreateKernel(program, "saxpy", &code);
  CHECK(code);
  CHECK(clSetKernelArg(kernel, 0, sizeof x_buffer, &x_buffer));
  CHECK(clSetKernelArg(kernel, 1, sizeof y_buffer, &y_buffer));
  CHECK(clSetKernelArg(kernel, 2, sizeof a, &a));
  CHECK(clSetKernelArg(kernel, 3, sizeof n, &n));
  const size_t local = 64;
  const size_t global = (N + local - 1) / local * local;
  cl_event event;
  CHECK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, &event));
  CHECK(clEnqueueReadBuffer(queue, y_buffer, CL_TRUE, 0, sizeof result, result, 1, &event, NULL));
  CHECK(clFinish(queue));
  cl_ulong start = 0;
  cl_ulong end = 0;
  CHECK(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL));
  CHECK(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL));
  if (end <= start) {
    fprintf(stderr, "%s: the kernel took no chip time\n", label);
    exit(1);
  }
  for (int i = 0; i < N; ++i) {
    const float wanted = a * x[i] + y[i]; /* exact in float, fused or not */
    if (result[i] != wanted) {
      fprintf(stderr, "%s: y[%d] is %g, not %g\n", label, i, (double)result[i], (double)wanted);
      exit(1);
    }
  }
  printf("%s: %d elements right, %.1f us of chip time\n", label, N, (double)(end - start) / 1e3);
  CHECK(clReleaseEvent(event));
  CHECK(clReleaseKernel(kernel));
  CHECK(clReleaseMemObject(x_buffer));
  CHECK(clReleaseMemObject(y_buffer));
  CHECK(clReleaseCommandQueue(queue));
}

int main(void) {
  cl_int code;
  cl_platform_id platform = find_platform();
  cl_device_id device;
  CHECK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, NULL));
  char name[128];
  CHECK(clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name, name, NULL));
  printf("device: %s\n", name);
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
  CHECK(code);
  cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &code);
  CHECK(code);
  CHECK(clBuildProgram(program, 1, &device, "", NULL, NULL));
  run(context, device, program, "from source");

  size_t size = 0;
  CHECK(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL));
  unsigned char* binary = malloc(size);
  if (binary == NULL) return 1;
  CHECK(clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL));
  const unsigned char* binaries[] = {binary};
  cl_int status;
  cl_program loaded =
      clCreateProgramWithBinary(context, 1, &device, &size, binaries, &status, &code);
  CHECK(code);
  CHECK(status);
  CHECK(clBuildProgram(loaded, 1, &device, "", NULL, NULL));
  run(context, device, loaded, "from binary");

  free(binary);
  CHECK(clReleaseProgram(loaded));
  CHECK(clReleaseProgram(program));
  CHECK(clReleaseContext(context));
  return 0;
}
