/* Builds and launches program after program, each with a source of its own, and watches the memory
 * of this process and of the compile worker. WW_SOAK: how many (default 12). Fails when a result is
 * wrong, or when resident memory is not flat after the first quarter: beyond some slack for the
 * allocator a launch may leave its counters behind, which applications can ask for later. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 1024 };
static const double kSlackMib = 2.0, kWorkerSlackMib = 8.0, kLaunchMib = 768.0 / 1048576.0;

/* Resident pages of a process, -1 when it is gone. */
static long resident(long process) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%ld/statm", process);
  FILE* file = fopen(path, "r");
  long size = 0, pages = -1;
  if (file != NULL) {
    if (fscanf(file, "%ld %ld", &size, &pages) != 2) pages = -1;
    fclose(file);
  }
  return pages;
}

/* The compile worker: this process's child. 0 when there is none. */
static long worker(void) {
  DIR* folder = opendir("/proc");
  long found = 0;
  for (struct dirent* entry = folder ? readdir(folder) : NULL; entry; entry = readdir(folder)) {
    const long process = atol(entry->d_name);
    if (process <= 0) continue;
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/stat", process);
    FILE* file = fopen(path, "r");
    long parent = 0;
    if (file != NULL) {
      if (fscanf(file, "%*d (%*[^)]) %*c %ld", &parent) == 1 && parent == getpid()) found = process;
      fclose(file);
    }
  }
  if (folder) closedir(folder);
  return found;
}

static double mib(long pages) {
  return (double)pages * (double)sysconf(_SC_PAGESIZE) / 1048576.0;
}

#define CHECK(call)                                                          \
  do {                                                                       \
    const cl_int code_ = (call);                                             \
    if (code_ != CL_SUCCESS) {                                               \
      fprintf(stderr, "%s gave %d in round %d\n", #call, (int)code_, round); \
      return 1;                                                              \
    }                                                                        \
  } while (0)

static int one_round(cl_context context, cl_device_id device, cl_command_queue queue, int round) {
  char source[512];
  snprintf(source, sizeof source,
           "__kernel void k(__global int* out, __global const int* in, __local int* t) {\n"
           "  const int i = get_global_id(0);\n"
           "  t[get_local_id(0)] = in[i] * %d; barrier(CLK_LOCAL_MEM_FENCE);\n"
           "  out[i] = t[get_local_size(0) - 1 - get_local_id(0)] + %d;\n}\n",
           round % 97 + 1, round);
  const char* text = source;
  cl_int code = CL_SUCCESS;
  cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &code);
  CHECK(code);
  CHECK(clBuildProgram(program, 1, &device, "", NULL, NULL));
  cl_kernel kernel = clCreateKernel(program, "k", &code);
  CHECK(code);
  int data[N];
  for (int i = 0; i < N; ++i) data[i] = i ^ round;
  cl_mem in =
      clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof data, data, &code);
  CHECK(code);
  cl_mem out = clCreateBuffer(context, CL_MEM_WRITE_ONLY, sizeof data, NULL, &code);
  CHECK(code);
  const size_t global = N, local = 64;
  cl_event event;
  CHECK(clSetKernelArg(kernel, 0, sizeof out, &out));
  CHECK(clSetKernelArg(kernel, 1, sizeof in, &in));
  CHECK(clSetKernelArg(kernel, 2, local * sizeof(int), NULL));
  CHECK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, &event));
  int result[N];
  CHECK(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof result, result, 1, &event, NULL));
  for (int i = 0; i < N; ++i) {
    const int other = i / 64 * 64 + 63 - i % 64;
    if (result[i] != data[other] * (round % 97 + 1) + round) {
      fprintf(stderr, "round %d: item %d is %d\n", round, i, result[i]);
      return 1;
    }
  }
  CHECK(clReleaseEvent(event));
  CHECK(clReleaseMemObject(in));
  CHECK(clReleaseMemObject(out));
  CHECK(clReleaseKernel(kernel));
  CHECK(clReleaseProgram(program));
  return 0;
}

int main(void) {
  const char* asked = getenv("WW_SOAK");
  const int rounds = asked != NULL ? atoi(asked) : 12;
  int round = -1;
  cl_platform_id platform;
  cl_device_id device;
  cl_int code = CL_SUCCESS;
  CHECK(clGetPlatformIDs(1, &platform, NULL));
  CHECK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, NULL));
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
  CHECK(code);
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, &code);
  CHECK(code);
  long own = 0, child = 0;
  for (round = 0; round < rounds; ++round) {
    if (one_round(context, device, queue, round) != 0) return 1;
    if (round == rounds / 4) {
      own = resident(getpid());
      child = resident(worker());
    }
  }
  const double grown = mib(resident(getpid()) - own);
  const double worker_grown = mib(resident(worker()) - child);
  printf(
      "%d programs; resident memory grew by %.1f MiB here (to %.1f), %.1f MiB in the compile "
      "worker (to %.1f) over the last three quarters\n",
      rounds, grown, mib(resident(getpid())), worker_grown, mib(resident(worker())));
  CHECK(clReleaseCommandQueue(queue));
  CHECK(clReleaseContext(context));
  const double allowed = kSlackMib + kLaunchMib * rounds;
  if (grown < allowed && worker_grown < kWorkerSlackMib) return 0;
  fprintf(stderr, "that is more than %.1f MiB here or %.1f MiB in the worker\n", allowed,
          kWorkerSlackMib);
  return 1;
}
