/* What a program must never get away with, and what must never take the program along: sources that
 * break compilers, arguments and sizes that the standard forbids, dead handles, damaged binaries,
 * kernels without end. Every call must give the standard's own code, and afterwards a plain kernel
 * must still run. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cl_platform_id platform;
static cl_device_id device;
static cl_context context, other;
static cl_command_queue queue;
static int failures;

static void expect(cl_int got, cl_int wanted, const char* what) {
  if (got == wanted) return;
  printf("FAILED %s: %d instead of %d\n", what, (int)got, (int)wanted);
  ++failures;
}

static cl_program program_of(const char* source) {
  cl_int code = -1;
  cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &code);
  expect(code, CL_SUCCESS, "clCreateProgramWithSource");
  return program;
}

/* Builds; a failure must leave a log. */
static void build_fails(const char* source, const char* options, cl_int wanted, const char* what) {
  cl_program program = program_of(source);
  expect(clBuildProgram(program, 1, &device, options, NULL, NULL), wanted, what);
  size_t size = 0;
  clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
  cl_build_status status = CL_BUILD_NONE;
  clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_STATUS, sizeof status, &status, NULL);
  if (size < 8 || status != CL_BUILD_ERROR) {
    printf("FAILED %s: a log of %zu bytes, status %d\n", what, size, (int)status);
    ++failures;
  }
  clReleaseProgram(program);
}

static void hostile_sources(void) {
  build_fails("__kernel void k(__global int* o) { o[0] = ", "", CL_BUILD_PROGRAM_FAILURE,
              "unterminated source");
  build_fails("/* no end", "", CL_BUILD_PROGRAM_FAILURE, "unterminated comment");
  build_fails("#include \"program.cl\"\n", "", CL_BUILD_PROGRAM_FAILURE, "an include of nothing");
  build_fails("__kernel void k() { __asm__ volatile(\"no_such_instruction v0, 12\"); }", "",
              CL_BUILD_PROGRAM_FAILURE, "inline assembly that is none");
  build_fails("__kernel void k(int n) { k2(n); }\n#error stop\n", "", CL_BUILD_PROGRAM_FAILURE,
              "#error");
  build_fails("__kernel int k() { return 1; }", "", CL_BUILD_PROGRAM_FAILURE,
              "a kernel with a result");
  build_fails(
      "int f(int n) { return n < 2 ? 1 : f(n - 1) * f(n - 2); }\n"
      "__kernel void k(__global int* o) { o[0] = no_such(f(o[0])); }",
      "", CL_BUILD_PROGRAM_FAILURE, "an undeclared function");
  build_fails("__kernel void k() {}", "-cl-std=CL9.9", CL_INVALID_BUILD_OPTIONS,
              "an unknown language");
  build_fails("__kernel void k() {}", "-DX=\"open", CL_INVALID_BUILD_OPTIONS, "an open quote");

  /* A file that includes itself. */
  FILE* file = fopen("icd_hostile_self.h", "w");
  if (file != NULL) {
    fputs("#include \"icd_hostile_self.h\"\n", file);
    fclose(file);
    build_fails("#include \"icd_hostile_self.h\"\n__kernel void k() {}", "",
                CL_BUILD_PROGRAM_FAILURE, "an include without end");
    remove("icd_hostile_self.h");
  }

  /* Brackets and macros that double thirty times: more text than there is memory. */
  const size_t deep = 100000;
  char* brackets = malloc(deep + 200);
  int at = sprintf(brackets, "__kernel void k(__global int* o) { o[0] = ");
  memset(brackets + at, '(', deep);
  strcpy(brackets + at + deep, "1;}");
  build_fails(brackets, "", CL_BUILD_PROGRAM_FAILURE, "100,000 open brackets");
  free(brackets);
}

/* Long sources are not hostile: they build. */
static void large_sources(void) {
  char* source = malloc(1 << 20);
  int at = sprintf(source, "__kernel void k(__global int* o) { int x = o[0];\n");
  for (int i = 0; i < 5000; ++i) at += sprintf(source + at, "x = x * %d + %d;\n", i | 1, i);
  sprintf(source + at, "o[0] = x; }\n");
  cl_program program = program_of(source);
  expect(clBuildProgram(program, 1, &device, "", NULL, NULL), CL_SUCCESS, "5,000 lines");
  clReleaseProgram(program);

  /* 600 arguments are more than CL_DEVICE_MAX_PARAMETER_SIZE; what the compiler makes of them
   * either builds or fails, and is no reason to end. */
  at = sprintf(source, "__kernel void k(__global int* o");
  for (int i = 0; i < 1500; ++i) at += sprintf(source + at, ", int a%d", i);
  sprintf(source + at, ") { o[0] = a0 + a599; }\n");
  program = program_of(source);
  const cl_int code = clBuildProgram(program, 1, &device, "", NULL, NULL);
  if (code == CL_SUCCESS) {
    cl_int made = 0;
    cl_kernel kernel = clCreateKernel(program, "k", &made);
    expect(made, CL_SUCCESS, "a kernel of 1,501 arguments");
    clReleaseKernel(kernel);
  } else {
    expect(code, CL_BUILD_PROGRAM_FAILURE, "1,501 arguments");
  }
  clReleaseProgram(program);
  free(source);
}

static const char* kPlain =
    "__kernel void plain(__global int* o, int a, __local int* t) {\n"
    "  t[get_local_id(0)] = a; barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  o[get_global_id(0)] = t[0] + (int)get_global_id(0);\n}\n"
    "__kernel void forever(__global volatile int* o) { while (o[0] == 0) o[1] += 1; }\n"
    "__kernel void nowhere(__global int* o) { o[get_global_id(0)] = 1; }\n"
    "__kernel void unknown(__global int* o) {\n"
    "  __asm__ volatile(\".long 0xffffffff\"); o[get_global_id(0)] = 1;\n}\n";

static void wrong_arguments(cl_kernel kernel, cl_mem buffer) {
  const int a = 3;
  const char small = 1;
  cl_mem foreign = NULL;
  cl_int code = -1;
  foreign = clCreateBuffer(other, CL_MEM_READ_WRITE, 64, NULL, &code);
  expect(code, CL_SUCCESS, "clCreateBuffer in another context");
  expect(clSetKernelArg(NULL, 0, sizeof buffer, &buffer), CL_INVALID_KERNEL, "no kernel");
  expect(clSetKernelArg(kernel, 3, sizeof a, &a), CL_INVALID_ARG_INDEX, "argument 3 of 3");
  expect(clSetKernelArg(kernel, 0, sizeof a, &a), CL_INVALID_ARG_SIZE, "an int for a buffer");
  expect(clSetKernelArg(kernel, 0, sizeof context, &context), CL_INVALID_MEM_OBJECT,
         "a context for a buffer");
  expect(clSetKernelArg(kernel, 0, sizeof foreign, &foreign), CL_INVALID_MEM_OBJECT,
         "another context's buffer");
  expect(clSetKernelArg(kernel, 1, sizeof small, &small), CL_INVALID_ARG_SIZE, "a char for an int");
  expect(clSetKernelArg(kernel, 1, sizeof a, NULL), CL_INVALID_ARG_VALUE, "no value");
  expect(clSetKernelArg(kernel, 2, 0, NULL), CL_INVALID_ARG_SIZE, "no local memory");
  expect(clSetKernelArg(kernel, 2, 64, &a), CL_INVALID_ARG_VALUE, "a value for local memory");
  const size_t one = 1;
  expect(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL),
         CL_INVALID_KERNEL_ARGS, "arguments that were never set");
  clReleaseMemObject(foreign);
}

static void wrong_sizes(cl_kernel kernel) {
  size_t most = 0;
  clGetDeviceInfo(device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof most, &most, NULL);
  const size_t zero[3] = {0, 1, 1}, some[3] = {64, 64, 1}, odd[3] = {48, 1, 1};
  const size_t huge[3] = {most * 2, 1, 1}, wide[3] = {64, 64, 1}, many[3] = {most * 4, 1, 1};
  const size_t far[1] = {(size_t)-8};
  expect(clEnqueueNDRangeKernel(queue, kernel, 0, NULL, some, NULL, 0, NULL, NULL),
         CL_INVALID_WORK_DIMENSION, "no dimension");
  expect(clEnqueueNDRangeKernel(queue, kernel, 4, NULL, some, NULL, 0, NULL, NULL),
         CL_INVALID_WORK_DIMENSION, "four dimensions");
  expect(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, NULL, NULL, 0, NULL, NULL),
         CL_INVALID_GLOBAL_WORK_SIZE, "no global size");
  expect(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, zero, NULL, 0, NULL, NULL),
         CL_INVALID_GLOBAL_WORK_SIZE, "an empty range");
  expect(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, some, zero, 0, NULL, NULL),
         CL_INVALID_WORK_GROUP_SIZE, "empty groups");
  expect(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, some, odd, 0, NULL, NULL),
         CL_INVALID_WORK_GROUP_SIZE, "groups that do not divide the range");
  expect(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, many, huge, 0, NULL, NULL),
         CL_INVALID_WORK_ITEM_SIZE, "a group over the limit");
  expect(clEnqueueNDRangeKernel(queue, kernel, 2, NULL, some, wide, 0, NULL, NULL),
         CL_INVALID_WORK_GROUP_SIZE, "a square over the limit");
  expect(clEnqueueNDRangeKernel(queue, kernel, 1, far, some, NULL, 0, NULL, NULL),
         CL_INVALID_GLOBAL_OFFSET, "an offset that wraps");
  expect(clEnqueueNDRangeKernel(NULL, kernel, 1, NULL, some, NULL, 0, NULL, NULL),
         CL_INVALID_COMMAND_QUEUE, "no queue");
  /* Local memory that no compute unit has. */
  expect(clSetKernelArg(kernel, 2, 1 << 20, NULL), CL_SUCCESS, "a megabyte of local memory");
  expect(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, some, NULL, 0, NULL, NULL),
         CL_OUT_OF_RESOURCES, "its launch");
  expect(clSetKernelArg(kernel, 2, 4096, NULL), CL_SUCCESS, "local memory");
}

static void wrong_buffers(void) {
  cl_int code = -1;
  cl_ulong largest = 0;
  char bytes[64] = {0};
  clGetDeviceInfo(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof largest, &largest, NULL);
  clCreateBuffer(context, CL_MEM_READ_WRITE, 0, NULL, &code);
  expect(code, CL_INVALID_BUFFER_SIZE, "an empty buffer");
  clCreateBuffer(context, CL_MEM_READ_WRITE, (size_t)largest + 1, NULL, &code);
  expect(code, CL_INVALID_BUFFER_SIZE, "too large a buffer");
  clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_READ_ONLY, 64, NULL, &code);
  expect(code, CL_INVALID_VALUE, "flags that exclude each other");
  clCreateBuffer(context, CL_MEM_USE_HOST_PTR, 64, NULL, &code);
  expect(code, CL_INVALID_HOST_PTR, "no host pointer");
  clCreateBuffer(context, 0, 64, bytes, &code);
  expect(code, CL_INVALID_HOST_PTR, "an unwanted host pointer");
  clCreateBuffer((cl_context)queue, 0, 64, NULL, &code);
  expect(code, CL_INVALID_CONTEXT, "a queue for a context");

  cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 64, NULL, &code);
  cl_mem foreign = clCreateBuffer(other, CL_MEM_READ_WRITE, 64, NULL, &code);
  expect(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 60, 8, bytes, 0, NULL, NULL), CL_INVALID_VALUE,
         "a read beyond the end");
  expect(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, 8, NULL, 0, NULL, NULL), CL_INVALID_VALUE,
         "a read to nowhere");
  expect(clEnqueueWriteBuffer(queue, foreign, CL_TRUE, 0, 8, bytes, 0, NULL, NULL),
         CL_INVALID_CONTEXT, "another context's buffer");
  expect(clEnqueueCopyBuffer(queue, buffer, buffer, 0, 8, 16, 0, NULL, NULL), CL_MEM_COPY_OVERLAP,
         "a copy onto itself");
  expect(clEnqueueFillBuffer(queue, buffer, bytes, 3, 0, 48, 0, NULL, NULL), CL_INVALID_VALUE,
         "a pattern of 3 bytes");
  const cl_event nothing = NULL;
  expect(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, 8, bytes, 1, NULL, NULL),
         CL_INVALID_EVENT_WAIT_LIST, "a list of one without a list");
  expect(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, 8, bytes, 0, &nothing, NULL),
         CL_INVALID_EVENT_WAIT_LIST, "a list of none with a list");
  expect(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, 8, bytes, 1, &nothing, NULL),
         CL_INVALID_EVENT_WAIT_LIST, "no event");
  expect(clWaitForEvents(0, NULL), CL_INVALID_VALUE, "waiting for nothing");
  cl_event user = clCreateUserEvent(other, &code);
  expect(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, 8, bytes, 1, &user, NULL),
         CL_INVALID_CONTEXT, "another context's event");
  /* An event that failed fails what waits for it. */
  cl_event mine = clCreateUserEvent(context, &code);
  cl_event read = NULL;
  expect(clEnqueueReadBuffer(queue, buffer, CL_FALSE, 0, 8, bytes, 1, &mine, &read), CL_SUCCESS,
         "a read that waits");
  expect(clReleaseMemObject(buffer), CL_SUCCESS, "a release while the buffer is in use");
  expect(clSetUserEventStatus(mine, -7), CL_SUCCESS, "a failed user event");
  expect(clSetUserEventStatus(mine, CL_COMPLETE), CL_INVALID_OPERATION, "its second status");
  expect(clWaitForEvents(1, &read), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, "the read");
  clReleaseEvent(read);
  clReleaseEvent(mine);
  clReleaseEvent(user);
  expect(clReleaseEvent(user), CL_INVALID_EVENT, "an event's second release");
  expect(clReleaseMemObject(foreign), CL_SUCCESS, "a release");
  expect(clReleaseMemObject(foreign), CL_INVALID_MEM_OBJECT, "its second release");
}

static void damaged_binaries(cl_program program) {
  size_t size = 0;
  clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL);
  unsigned char* good = malloc(size);
  unsigned char* bad = malloc(size);
  clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof good, &good, NULL);
  unsigned random = 1;
  const unsigned char* list[1] = {bad};
  for (int round = 0; round < 200; ++round) {
    memcpy(bad, good, size);
    size_t length = size;
    random = random * 1664525u + 1013904223u;
    if (round % 3 == 0) length = 1 + random % size;
    for (int i = 0; round % 3 != 0 && i < 1 + round / 8; ++i) {
      random = random * 1664525u + 1013904223u;
      bad[(random >> 8) % size] ^= (unsigned char)(random >> 3);
    }
    cl_int status = 0, code = 0;
    cl_program damaged =
        clCreateProgramWithBinary(context, 1, &device, &length, list, &status, &code);
    if (damaged == NULL) {
      expect(code, CL_INVALID_BINARY, "a damaged binary");
      continue;
    }
    code = clBuildProgram(damaged, 1, &device, "", NULL, NULL);
    if (code != CL_SUCCESS && code != CL_BUILD_PROGRAM_FAILURE && code != CL_INVALID_BINARY) {
      expect(code, CL_BUILD_PROGRAM_FAILURE, "the build of a damaged binary");
    }
    clReleaseProgram(damaged);
  }
  size_t none = 0;
  cl_int status = 0, code = 0;
  clCreateProgramWithBinary(context, 1, &device, &none, list, &status, &code);
  expect(code, CL_INVALID_VALUE, "an empty binary");
  free(good);
  free(bad);
}

static void dead_handles(cl_program program) {
  cl_int code = 0;
  cl_program gone = program_of(kPlain);
  expect(clReleaseProgram(gone), CL_SUCCESS, "a release");
  expect(clReleaseProgram(gone), CL_INVALID_PROGRAM, "a program's second release");
  expect(clBuildProgram(gone, 0, NULL, NULL, NULL, NULL), CL_INVALID_PROGRAM, "a dead program");
  expect(clRetainKernel(NULL), CL_INVALID_KERNEL, "no kernel");
  expect(clRetainContext((cl_context)program), CL_INVALID_CONTEXT, "a program for a context");
  expect(clFinish((cl_command_queue)program), CL_INVALID_COMMAND_QUEUE, "a program for a queue");
  clCreateKernel(program, "no_such", &code);
  expect(code, CL_INVALID_KERNEL_NAME, "a kernel that is not there");
  clCreateKernel(program, NULL, &code);
  expect(code, CL_INVALID_VALUE, "a kernel without a name");
}

/* A kernel that is stopped leaves a context of which nothing can be read any more. */
static void stopped(const char* name, int deferred, const char* what) {
  cl_int code = 0;
  cl_context own = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
  cl_command_queue queues[2] = {clCreateCommandQueue(own, device, 0, &code),
                                clCreateCommandQueue(own, device, 0, &code)};
  cl_mem memory = clCreateBuffer(own, CL_MEM_READ_WRITE, 64, NULL, &code), none = NULL;
  cl_program program = clCreateProgramWithSource(own, 1, &kPlain, NULL, &code);
  expect(clBuildProgram(program, 1, &device, "", NULL, NULL), CL_SUCCESS, what);
  cl_kernel kernel = clCreateKernel(program, name, &code);
  const int zeros[2] = {0, 0};
  int read[2];
  const size_t one = 64;
  clEnqueueWriteBuffer(queues[0], memory, CL_TRUE, 0, sizeof zeros, zeros, 0, NULL, NULL);
  clSetKernelArg(kernel, 0, sizeof memory, strcmp(name, "nowhere") == 0 ? &none : &memory);
  cl_event gate = clCreateUserEvent(own, &code), event = NULL, later = NULL;
  if (deferred) {
    expect(clEnqueueNDRangeKernel(queues[0], kernel, 1, NULL, &one, NULL, 1, &gate, &event),
           CL_SUCCESS, what);
    expect(clEnqueueReadBuffer(queues[0], memory, CL_FALSE, 0, sizeof read, read, 0, NULL, &later),
           CL_SUCCESS, "a read behind it");
    clSetUserEventStatus(gate, CL_COMPLETE);
    const cl_event both[2] = {event, later};
    for (int i = 0; i < 2; ++i) {
      cl_int status = 0;
      clGetEventInfo(both[i], CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
      expect(status, CL_OUT_OF_RESOURCES, i == 0 ? "its event" : "the read's event");
    }
    expect(clWaitForEvents(1, &later), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, "the wait");
    clReleaseEvent(event);
    clReleaseEvent(later);
  } else {
    expect(clEnqueueNDRangeKernel(queues[0], kernel, 1, NULL, &one, NULL, 0, NULL, NULL),
           CL_OUT_OF_RESOURCES, what);
  }
  for (int i = 0; i < 2; ++i) {
    expect(clFinish(queues[i]), CL_OUT_OF_RESOURCES, "clFinish after it");
    expect(clEnqueueReadBuffer(queues[i], memory, CL_TRUE, 0, sizeof read, read, 0, NULL, NULL),
           CL_OUT_OF_RESOURCES, "a read after it");
    clEnqueueMapBuffer(queues[i], memory, CL_TRUE, CL_MAP_READ, 0, 4, 0, NULL, NULL, &code);
    expect(code, CL_OUT_OF_RESOURCES, "a map after it");
    expect(clEnqueueMarkerWithWaitList(queues[i], 0, NULL, NULL), CL_OUT_OF_RESOURCES,
           "a marker after it");
  }
  clReleaseEvent(gate);
  clReleaseKernel(kernel);
  clReleaseProgram(program);
  clReleaseMemObject(memory);
  clReleaseCommandQueue(queues[0]);
  clReleaseCommandQueue(queues[1]);
  clReleaseContext(own);
}

int main(void) {
  cl_int code = 0;
  expect(clGetPlatformIDs(1, &platform, NULL), CL_SUCCESS, "clGetPlatformIDs");
  expect(clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, NULL), CL_SUCCESS,
         "clGetDeviceIDs");
  context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
  other = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
  queue = clCreateCommandQueue(context, device, 0, &code);
  expect(code, CL_SUCCESS, "clCreateCommandQueue");

  hostile_sources();
  large_sources();
  wrong_buffers();
  cl_program program = program_of(kPlain);
  clCreateKernel(program, "plain", &code);
  expect(code, CL_INVALID_PROGRAM_EXECUTABLE, "a kernel of a program that is not built");
  expect(clBuildProgram(program, 1, &device, "", NULL, NULL), CL_SUCCESS, "the plain program");
  cl_kernel kernel = clCreateKernel(program, "plain", &code);
  expect(code, CL_SUCCESS, "the plain kernel");
  cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 16384 * sizeof(int), NULL, &code);
  wrong_arguments(kernel, buffer);
  const int a = 40;
  clSetKernelArg(kernel, 0, sizeof buffer, &buffer);
  clSetKernelArg(kernel, 1, sizeof a, &a);
  clSetKernelArg(kernel, 2, 4096, NULL);
  wrong_sizes(kernel);
  damaged_binaries(program);
  dead_handles(program);
  stopped("forever", 0, "a kernel without end");
  stopped("nowhere", 0, "a store to null");
  stopped("nowhere", 1, "a store to null, later");
  stopped("unknown", 0, "an instruction that there is not");

  const size_t global = 1024, local = 64;
  int result[1024];
  expect(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL), CL_SUCCESS,
         "the plain kernel after all that");
  expect(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof result, result, 0, NULL, NULL),
         CL_SUCCESS, "its result");
  for (int i = 0; i < 1024; ++i) expect(result[i], 40 + i, "an item of it");

  expect(clReleaseMemObject(buffer), CL_SUCCESS, "a buffer that is a kernel's argument");
  expect(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL),
         CL_INVALID_KERNEL_ARGS, "a launch with a released buffer");
  clReleaseKernel(kernel);
  clReleaseProgram(program);
  clReleaseCommandQueue(queue);
  clReleaseContext(other);
  clReleaseContext(context);
  printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
