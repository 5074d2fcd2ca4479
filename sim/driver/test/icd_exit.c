/* Launches kernels while the process ends. Usage: icd_exit handler: an exit handler that was there
 * before the driver launches one; icd_exit thread: another thread makes launch after launch;
 * icd_exit kill, icd_exit leave: after three launches it is killed, or leaves by _exit(). */
#define _DEFAULT_SOURCE
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kItems = 1 << 14 };

static cl_command_queue queue;
static cl_kernel kernel;
static cl_mem data;
static int zeros[kItems];

static void check(cl_int code, const char* what) {
  if (code == CL_SUCCESS) return;
  fprintf(stderr, "%s: %d\n", what, code);
  _exit(1);
}

static void launch(int value) {
  const size_t global = kItems;
  check(clSetKernelArg(kernel, 1, sizeof value, &value), "clSetKernelArg");
  check(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL),
        "clEnqueueNDRangeKernel");
  check(clFinish(queue), "clFinish");
}

static void at_exit(void) {
  int last = 0;
  launch(41);
  check(clEnqueueReadBuffer(queue, data, CL_TRUE, sizeof(int), sizeof last, &last, 0, NULL, NULL),
        "clEnqueueReadBuffer");
  if (last != 1 + 1 + 41) _exit(1);
}

static void* launches(void* unused) {
  for (int value = 0;; ++value) launch(value);
  return unused;
}

int main(int argc, char** argv) {
  const char* const way = argc > 1 ? argv[1] : "thread";
  const int in_handler = strcmp(way, "handler") == 0;
  if (in_handler && atexit(at_exit) != 0) return 1;
  cl_platform_id platform;
  cl_device_id device;
  cl_int code;
  check(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
  check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_DEFAULT, 1, &device, NULL), "clGetDeviceIDs");
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
  check(code, "clCreateContext");
  queue = clCreateCommandQueue(context, device, 0, &code);
  check(code, "clCreateCommandQueue");
  const char* source =
      "kernel void add(global int* a, int v) { a[get_global_id(0)] += get_global_id(0) + v; }";
  cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &code);
  check(code, "clCreateProgramWithSource");
  check(clBuildProgram(program, 1, &device, "", NULL, NULL), "clBuildProgram");
  kernel = clCreateKernel(program, "add", &code);
  check(code, "clCreateKernel");
  data =
      clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof zeros, zeros, &code);
  check(code, "clCreateBuffer");
  check(clSetKernelArg(kernel, 0, sizeof(cl_mem), &data), "clSetKernelArg");
  launch(0);
  if (strcmp(way, "kill") == 0 || strcmp(way, "leave") == 0) {
    launch(1);
    launch(2);
    if (way[0] == 'k') raise(SIGKILL);
    _exit(0);
  }
  pthread_t thread;
  if (!in_handler) {
    if (pthread_create(&thread, NULL, launches, NULL) != 0) return 1;
    usleep(300000);
  }
  return 0;
}
