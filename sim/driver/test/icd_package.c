// A package of several devices, as a plain OpenCL program meets it: contexts of all of them, queues
// of each, and buffers whose memory is another device's. WIREWATT_CHIP names the package; the
// arguments are its number of devices and the compute units of each.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                         \
  do {                                      \
    cl_int code_ = (call);                  \
    if (code_ != CL_SUCCESS) {              \
      printf("%s gave %d\n", #call, code_); \
      exit(1);                              \
    }                                       \
  } while (0)
#define EXPECT(condition)                 \
  do {                                    \
    if (!(condition)) {                   \
      printf("FAILED: %s\n", #condition); \
      exit(1);                            \
    }                                     \
  } while (0)

enum { kMaxDevices = 8, kWords = 1 << 20 };

static const char* kSource =
    "__kernel void add(__global const uint* from, __global uint* to) {\n"
    "  const size_t i = get_global_id(0);\n"
    "  to[i] = from[i] + 1;\n"
    "}\n";

// Nanoseconds of chip time.
static cl_ulong run(cl_command_queue queue, cl_kernel kernel, cl_mem from, cl_mem to) {
  const size_t global = kWords;
  const size_t local = 256;
  cl_event event;
  cl_ulong start;
  cl_ulong end;
  CHECK(clSetKernelArg(kernel, 0, sizeof from, &from));
  CHECK(clSetKernelArg(kernel, 1, sizeof to, &to));
  CHECK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, &event));
  CHECK(clFinish(queue));
  CHECK(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL));
  CHECK(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL));
  CHECK(clReleaseEvent(event));
  return end - start;
}

int main(int argc, char** argv) {
  EXPECT(argc == 3);
  const cl_uint wanted = (cl_uint)atoi(argv[1]);
  cl_platform_id platform;
  CHECK(clGetPlatformIDs(1, &platform, NULL));
  cl_device_id devices[kMaxDevices];
  cl_uint count;
  CHECK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, kMaxDevices, devices, &count));
  EXPECT(count == wanted);
  cl_ulong memory = 0;
  for (cl_uint i = 0; i < count; ++i) {
    cl_uint units;
    cl_ulong bytes;
    CHECK(clGetDeviceInfo(devices[i], CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL));
    CHECK(clGetDeviceInfo(devices[i], CL_DEVICE_GLOBAL_MEM_SIZE, sizeof bytes, &bytes, NULL));
    EXPECT(units == (cl_uint)atoi(argv[2]));
    EXPECT(memory == 0 || memory == bytes);
    memory = bytes;
  }
  // A context of one device has no queue of another.
  cl_int code;
  cl_context alone = clCreateContext(NULL, 1, devices, NULL, NULL, &code);
  CHECK(code);
  EXPECT(clCreateCommandQueue(alone, devices[count - 1], 0, &code) == NULL);
  EXPECT(code == CL_INVALID_DEVICE);
  CHECK(clReleaseContext(alone));

  cl_context context = clCreateContext(NULL, count, devices, NULL, NULL, &code);
  CHECK(code);
  cl_uint of_context;
  CHECK(clGetContextInfo(context, CL_CONTEXT_NUM_DEVICES, sizeof of_context, &of_context, NULL));
  EXPECT(of_context == count);
  cl_command_queue queues[2];
  for (int i = 0; i < 2; ++i) {
    cl_device_id device = devices[i == 0 ? 0 : count - 1];
    queues[i] = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &code);
    CHECK(code);
    cl_device_id of_queue;
    CHECK(clGetCommandQueueInfo(queues[i], CL_QUEUE_DEVICE, sizeof of_queue, &of_queue, NULL));
    EXPECT(of_queue == device);
  }
  // The binary that was built for one runs on each.
  cl_program source = clCreateProgramWithSource(context, 1, &kSource, NULL, &code);
  CHECK(code);
  CHECK(clBuildProgram(source, 0, NULL, "", NULL, NULL));
  size_t sizes[kMaxDevices];
  unsigned char* binaries[kMaxDevices];
  const unsigned char* given[kMaxDevices];
  size_t bytes;
  CHECK(clGetProgramInfo(source, CL_PROGRAM_BINARY_SIZES, sizeof sizes, sizes, &bytes));
  EXPECT(bytes == count * sizeof(size_t));
  for (cl_uint i = 0; i < count; ++i) given[i] = binaries[i] = malloc(sizes[i]);
  CHECK(clGetProgramInfo(source, CL_PROGRAM_BINARIES, sizeof binaries, binaries, NULL));
  cl_int status[kMaxDevices];
  cl_program program =
      clCreateProgramWithBinary(context, count, devices, sizes, given, status, &code);
  CHECK(code);
  for (cl_uint i = 0; i < count; ++i) CHECK(status[i]);
  CHECK(clBuildProgram(program, count, devices, "", NULL, NULL));
  for (cl_uint i = 0; i < count; ++i) free(binaries[i]);
  cl_kernel kernel = clCreateKernel(program, "add", &code);
  CHECK(code);

  cl_uint* words = malloc(kWords * sizeof *words);
  for (cl_uint i = 0; i < kWords; ++i) words[i] = i;
  cl_mem from = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, kWords * sizeof *words, words, &code);
  CHECK(code);
  cl_mem to = clCreateBuffer(context, CL_MEM_READ_WRITE, kWords * sizeof *words, NULL, &code);
  CHECK(code);
  // Memory is the first device's, then the last one's.
  cl_ulong ns[2][2];
  for (int home = 0; home < 2; ++home) {
    cl_mem both[2] = {from, to};
    CHECK(clEnqueueMigrateMemObjects(queues[home], 2, both, 0, 0, NULL, NULL));
    for (int reader = 0; reader < 2; ++reader) {
      run(queues[reader], kernel, from, to);
      ns[reader][home] = run(queues[reader], kernel, from, to);
      CHECK(clEnqueueReadBuffer(queues[reader], to, CL_TRUE, 0, kWords * sizeof *words, words, 0,
                                NULL, NULL));
      for (cl_uint i = 0; i < kWords; ++i) EXPECT(words[i] == i + 1);
    }
  }
  printf("%lu %lu %lu %lu ns\n", ns[0][0], ns[0][1], ns[1][0], ns[1][1]);
  EXPECT(ns[0][1] > ns[0][0] && ns[1][0] > ns[1][1]);
  free(words);
  CHECK(clReleaseMemObject(from));
  CHECK(clReleaseMemObject(to));
  CHECK(clReleaseKernel(kernel));
  CHECK(clReleaseProgram(program));
  CHECK(clReleaseProgram(source));
  for (int i = 0; i < 2; ++i) CHECK(clReleaseCommandQueue(queues[i]));
  CHECK(clReleaseContext(context));
  printf("ok\n");
  return 0;
}
