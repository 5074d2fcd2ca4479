// Preloaded into an OpenCL program, this library keeps what the program builds: the source of each
// program object as NAME.cl, and its compile options as NAME.options, in the folder that the
// environment variable WW_KEEP_SOURCES names. NAME is a hash of both, so that what is built twice
// is kept once. Used by tests/validation/studies/conformance_kernels.
#define _GNU_SOURCE
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct Source {
  cl_program program;
  char* text;
  struct Source* next;
};

static struct Source* sources;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

// FNV-1a, continued from `hash`.
static uint64_t hash_of(const char* text, uint64_t hash) {
  for (; *text != '\0'; ++text) hash = (hash ^ (unsigned char)*text) * 0x100000001b3U;
  return hash;
}

static void write_file(const char* folder, uint64_t hash, const char* ending, const char* text) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%016llx.%s", folder, (unsigned long long)hash, ending);
  FILE* file = fopen(path, "w");
  if (file == NULL) {
    perror(path);
    return;
  }
  fputs(text, file);
  fclose(file);
}

// A program's handle may be given again after its release: the newest source stands first.
static void keep(cl_program program, const char* options) {
  const char* folder = getenv("WW_KEEP_SOURCES");
  if (folder == NULL) return;
  if (options == NULL) options = "";
  pthread_mutex_lock(&lock);
  const struct Source* source = sources;
  while (source != NULL && source->program != program) source = source->next;
  if (source != NULL) {
    const uint64_t hash = hash_of(options, hash_of(source->text, 0xcbf29ce484222325U));
    write_file(folder, hash, "cl", source->text);
    write_file(folder, hash, "options", options);
  }
  pthread_mutex_unlock(&lock);
}

cl_program clCreateProgramWithSource(cl_context context, cl_uint count, const char** strings,
                                     const size_t* lengths, cl_int* error) {
  cl_program (*next)(cl_context, cl_uint, const char**, const size_t*, cl_int*) =
      dlsym(RTLD_NEXT, "clCreateProgramWithSource");
  const cl_program program = next(context, count, strings, lengths, error);
  if (program == NULL) return program;
  size_t size = 1;
  for (cl_uint i = 0; i < count; ++i) {
    size += lengths != NULL && lengths[i] != 0 ? lengths[i] : strlen(strings[i]);
  }
  struct Source* source = malloc(sizeof *source);
  char* text = malloc(size);
  if (source == NULL || text == NULL) abort();
  source->program = program;
  source->text = text;
  for (cl_uint i = 0; i < count; ++i) {
    const size_t length = lengths != NULL && lengths[i] != 0 ? lengths[i] : strlen(strings[i]);
    memcpy(text, strings[i], length);
    text += length;
  }
  *text = '\0';
  pthread_mutex_lock(&lock);
  source->next = sources;
  sources = source;
  pthread_mutex_unlock(&lock);
  return program;
}

static int sources_alone(void) {
  return getenv("WW_KEEP_SOURCES_ALONE") != NULL;
}

cl_int clBuildProgram(cl_program program, cl_uint count, const cl_device_id* devices,
                      const char* options, void(CL_CALLBACK* notify)(cl_program, void*),
                      void* data) {
  cl_int (*next)(cl_program, cl_uint, const cl_device_id*, const char*,
                 void(CL_CALLBACK*)(cl_program, void*), void*) = dlsym(RTLD_NEXT, "clBuildProgram");
  keep(program, options);
  if (!sources_alone()) return next(program, count, devices, options, notify, data);
  if (notify != NULL) notify(program, data);
  return CL_SUCCESS;
}

cl_int clGetProgramBuildInfo(cl_program program, cl_device_id device, cl_program_build_info name,
                             size_t size, void* value, size_t* needed) {
  cl_int (*next)(cl_program, cl_device_id, cl_program_build_info, size_t, void*, size_t*) =
      dlsym(RTLD_NEXT, "clGetProgramBuildInfo");
  const cl_int error = next(program, device, name, size, value, needed);
  if (sources_alone() && error == CL_SUCCESS && name == CL_PROGRAM_BUILD_STATUS && value != NULL) {
    *(cl_build_status*)value = CL_BUILD_SUCCESS;
  }
  return error;
}

// A program with an empty kernel `f`, made once in each context.
static cl_program empty_program(cl_context context) {
  static struct Empty {
    cl_context context;
    cl_program program;
    struct Empty* next;
  } * made;
  for (const struct Empty* empty = made; empty != NULL; empty = empty->next) {
    if (empty->context == context) return empty->program;
  }
  cl_program (*create)(cl_context, cl_uint, const char**, const size_t*, cl_int*) =
      dlsym(RTLD_NEXT, "clCreateProgramWithSource");
  cl_int (*build)(cl_program, cl_uint, const cl_device_id*, const char*,
                  void(CL_CALLBACK*)(cl_program, void*), void*) =
      dlsym(RTLD_NEXT, "clBuildProgram");
  const char* text = "kernel void f(void) {}";
  struct Empty* empty = malloc(sizeof *empty);
  if (empty == NULL) abort();
  empty->context = context;
  empty->program = create(context, 1, &text, NULL, NULL);
  empty->next = made;
  made = empty;
  build(empty->program, 0, NULL, "", NULL, NULL);
  return empty->program;
}

cl_kernel clCreateKernel(cl_program program, const char* name, cl_int* error) {
  cl_kernel (*next)(cl_program, const char*, cl_int*) = dlsym(RTLD_NEXT, "clCreateKernel");
  cl_context context;
  if (!sources_alone() ||
      clGetProgramInfo(program, CL_PROGRAM_CONTEXT, sizeof context, &context, NULL) != CL_SUCCESS) {
    return next(program, name, error);
  }
  pthread_mutex_lock(&lock);
  const cl_program empty = empty_program(context);
  pthread_mutex_unlock(&lock);
  return next(empty, "f", error);
}

cl_int clSetKernelArg(cl_kernel kernel, cl_uint index, size_t size, const void* value) {
  cl_int (*next)(cl_kernel, cl_uint, size_t, const void*) = dlsym(RTLD_NEXT, "clSetKernelArg");
  return sources_alone() ? CL_SUCCESS : next(kernel, index, size, value);
}

cl_int clCompileProgram(cl_program program, cl_uint count, const cl_device_id* devices,
                        const char* options, cl_uint headers, const cl_program* header_programs,
                        const char** names, void(CL_CALLBACK* notify)(cl_program, void*),
                        void* data) {
  cl_int (*next)(cl_program, cl_uint, const cl_device_id*, const char*, cl_uint, const cl_program*,
                 const char**, void(CL_CALLBACK*)(cl_program, void*), void*) =
      dlsym(RTLD_NEXT, "clCompileProgram");
  keep(program, options);
  if (sources_alone()) return CL_SUCCESS;
  return next(program, count, devices, options, headers, header_programs, names, notify, data);
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                              const size_t* offset, const size_t* global, const size_t* local,
                              cl_uint count, const cl_event* waits, cl_event* event) {
  if (sources_alone()) {
    return clEnqueueMarkerWithWaitList(queue, count, waits, event);
  }
  cl_int (*next)(cl_command_queue, cl_kernel, cl_uint, const size_t*, const size_t*, const size_t*,
                 cl_uint, const cl_event*, cl_event*) = dlsym(RTLD_NEXT, "clEnqueueNDRangeKernel");
  return next(queue, kernel, dimensions, offset, global, local, count, waits, event);
}
