// Programs, kernels, their arguments and launches. OpenCL 1.2 specification, sections 5.6 to 5.8.
#include "error_world.hpp"

namespace ww::sim::driver {
namespace {

using W = ErrorWorld;

cl_int with_source(W& w, cl_context context, cl_uint count, const char** strings) {
  return w.created([&](cl_int* code) {
    return w.cl.clCreateProgramWithSource(context, count, strings, nullptr, code);
  });
}

cl_int with_binary(W& w, cl_context context, cl_uint count, const cl_device_id* devices,
                   const std::size_t* lengths, const unsigned char** binaries,
                   cl_int* status = nullptr) {
  return w.created([&](cl_int* code) {
    return w.cl.clCreateProgramWithBinary(context, count, devices, lengths, binaries, status, code);
  });
}

cl_int with_built_in(W& w, cl_context context, cl_uint count, const cl_device_id* devices,
                     const char* names) {
  return w.created([&](cl_int* code) {
    return w.cl.clCreateProgramWithBuiltInKernels(context, count, devices, names, code);
  });
}

cl_int build(W& w, cl_program program, const char* options = "", cl_uint count = 0,
             const cl_device_id* devices = nullptr, void* data = nullptr) {
  return w.cl.clBuildProgram(program, count, devices, options, nullptr, data);
}

// Builds a program of its own.
cl_int build_text(W& w, const char* text, const char* options = "") {
  cl_int code = CL_SUCCESS;
  cl_program program = w.cl.clCreateProgramWithSource(w.context, 1, &text, nullptr, &code);
  EXPECT_EQ(code, CL_SUCCESS);
  code = build(w, program, options);
  EXPECT_EQ(w.cl.clReleaseProgram(program), CL_SUCCESS);
  return code;
}

struct Compile {
  cl_program program{};
  const char* options = "";
  cl_uint devices{};
  const cl_device_id* list{};
  cl_uint headers{};
  const cl_program* header_programs{};
  const char** header_names{};
  void* data{};
};

cl_int compile(W& w, const Compile& c) {
  return w.cl.clCompileProgram(c.program, c.devices, c.list, c.options, c.headers,
                               c.header_programs, c.header_names, nullptr, c.data);
}

struct Link {
  cl_context context{};
  cl_uint programs = 1;
  const cl_program* list{};
  const char* options = "";
  cl_uint devices{};
  const cl_device_id* device_list{};
  void* data{};
};

cl_int link(W& w, const Link& l) {
  return w.created([&](cl_int* code) {
    return w.cl.clLinkProgram(l.context, l.devices, l.device_list, l.options, l.programs, l.list,
                              nullptr, l.data, code);
  });
}

cl_int kernel_of(W& w, cl_program program, const char* name) {
  return w.created([&](cl_int* code) { return w.cl.clCreateKernel(program, name, code); });
}

void source_rows(std::vector<ErrorRow>& rows) {
  static const char* text = "kernel void k() {}";
  static const char* missing[] = {text, nullptr};
  static const unsigned char junk[] = "junk that is no program at all";
  static const unsigned char* binaries[] = {junk};
  static const unsigned char* no_binary[] = {nullptr};
  static const std::size_t length = sizeof junk;
  static const std::size_t no_length = 0;
  const ErrorRow own[] = {
      {"clCreateProgramWithSource", CL_INVALID_CONTEXT, "a released object",
       [](W& w) { return with_source(w, w.dead_context, 1, &text); }},
      {"clCreateProgramWithSource", CL_INVALID_VALUE, "no strings",
       [](W& w) { return with_source(w, w.context, 0, &text); }},
      {"clCreateProgramWithSource", CL_INVALID_VALUE, "no list",
       [](W& w) { return with_source(w, w.context, 1, nullptr); }},
      {"clCreateProgramWithSource", CL_INVALID_VALUE, "a null string in the list",
       [](W& w) { return with_source(w, w.context, 2, missing); }},
      {"clCreateProgramWithBinary", CL_INVALID_CONTEXT, "a released object",
       [](W& w) { return with_binary(w, w.dead_context, 1, &w.device, &length, binaries); }},
      {"clCreateProgramWithBinary", CL_INVALID_VALUE, "no devices",
       [](W& w) { return with_binary(w, w.context, 1, nullptr, &length, binaries); }},
      {"clCreateProgramWithBinary", CL_INVALID_VALUE, "a list of no device",
       [](W& w) { return with_binary(w, w.context, 0, &w.device, &length, binaries); }},
      {"clCreateProgramWithBinary", CL_INVALID_VALUE, "no lengths",
       [](W& w) { return with_binary(w, w.context, 1, &w.device, nullptr, binaries); }},
      {"clCreateProgramWithBinary", CL_INVALID_VALUE, "no binaries",
       [](W& w) { return with_binary(w, w.context, 1, &w.device, &length, nullptr); }},
      {"clCreateProgramWithBinary", CL_INVALID_VALUE, "a length of nothing",
       [](W& w) { return with_binary(w, w.context, 1, &w.device, &no_length, binaries); }},
      {"clCreateProgramWithBinary", CL_INVALID_VALUE, "no binary in the list",
       [](W& w) { return with_binary(w, w.context, 1, &w.device, &length, no_binary); }},
      {"clCreateProgramWithBinary", CL_INVALID_DEVICE, "an object of another kind",
       [](W& w) {
         const auto wrong = w.wrong<cl_device_id>();
         return with_binary(w, w.context, 1, &wrong, &length, binaries);
       }},
      {"clCreateProgramWithBinary", CL_INVALID_BINARY, "junk",
       [](W& w) { return with_binary(w, w.context, 1, &w.device, &length, binaries); }},
      {"clCreateProgramWithBinary", CL_INVALID_BINARY, "junk: its own status",
       [](W& w) {
         cl_int status = 1;
         (void)with_binary(w, w.context, 1, &w.device, &length, binaries, &status);
         return status;
       }},
      {"clCreateProgramWithBuiltInKernels", CL_INVALID_CONTEXT, "no context",
       [](W& w) { return with_built_in(w, nullptr, 1, &w.device, "k"); }},
      {"clCreateProgramWithBuiltInKernels", CL_INVALID_VALUE, "no devices",
       [](W& w) { return with_built_in(w, w.context, 1, nullptr, "k"); }},
      {"clCreateProgramWithBuiltInKernels", CL_INVALID_VALUE, "a list of no device",
       [](W& w) { return with_built_in(w, w.context, 0, &w.device, "k"); }},
      {"clCreateProgramWithBuiltInKernels", CL_INVALID_VALUE, "no names",
       [](W& w) { return with_built_in(w, w.context, 1, &w.device, nullptr); }},
      {"clCreateProgramWithBuiltInKernels", CL_INVALID_VALUE, "a kernel that the device lacks",
       [](W& w) { return with_built_in(w, w.context, 1, &w.device, "k"); }},
      {"clCreateProgramWithBuiltInKernels", CL_INVALID_DEVICE, "an object of another kind",
       [](W& w) {
         const auto wrong = w.wrong<cl_device_id>();
         return with_built_in(w, w.context, 1, &wrong, "k");
       }},
  };
  rows.insert(rows.end(), std::begin(own), std::end(own));
}

void build_rows(std::vector<ErrorRow>& rows) {
  static const char* header_name = "h.h";
  static const char* no_name = nullptr;
  const ErrorRow own[] = {
      {"clBuildProgram", CL_INVALID_PROGRAM, "no program", [](W& w) { return build(w, nullptr); }},
      {"clBuildProgram", CL_INVALID_PROGRAM, "a released object",
       [](W& w) { return build(w, w.dead_program); }},
      {"clBuildProgram", CL_INVALID_VALUE, "a count of devices without a list",
       [](W& w) { return build(w, w.source, "", 1, nullptr); }},
      {"clBuildProgram", CL_INVALID_VALUE, "a list of no device",
       [](W& w) { return build(w, w.source, "", 0, &w.device); }},
      {"clBuildProgram", CL_INVALID_VALUE, "data for no callback",
       [](W& w) { return build(w, w.source, "", 0, nullptr, w.bytes); }},
      {"clBuildProgram", CL_INVALID_DEVICE, "an object of another kind",
       [](W& w) {
         const auto wrong = w.wrong<cl_device_id>();
         return build(w, w.source, "", 1, &wrong);
       }},
      {"clBuildProgram", CL_INVALID_BUILD_OPTIONS, "an option that does not exist",
       [](W& w) { return build_text(w, "kernel void k() {}", "-cl-no-such-option"); }},
      {"clBuildProgram", CL_INVALID_BUILD_OPTIONS, "a definition without a name",
       [](W& w) { return build_text(w, "kernel void k() {}", "-D"); }},
      {"clBuildProgram", CL_INVALID_OPERATION, "a program with kernels",
       [](W& w) { return build(w, w.built); }},
      {"clBuildProgram", CL_INVALID_OPERATION, "a program that a link made",
       [](W& w) { return build(w, w.linked); }},
      {"clBuildProgram", CL_BUILD_PROGRAM_FAILURE, "an undeclared function",
       [](W& w) { return build_text(w, "kernel void k() { missing(); }"); }},
      {"clBuildProgram", CL_BUILD_PROGRAM_FAILURE, "a function that nobody defines",
       [](W& w) { return build_text(w, "void missing(void); kernel void k() { missing(); }"); }},
      {"clCompileProgram", CL_INVALID_PROGRAM, "no program",
       [](W& w) { return compile(w, {.program = nullptr}); }},
      {"clCompileProgram", CL_INVALID_PROGRAM, "a released object",
       [](W& w) { return compile(w, {.program = w.dead_program}); }},
      {"clCompileProgram", CL_INVALID_PROGRAM, "a released header",
       [](W& w) {
         return compile(w, {.program = w.source,
                            .headers = 1,
                            .header_programs = &w.dead_program,
                            .header_names = &header_name});
       }},
      {"clCompileProgram", CL_INVALID_VALUE, "a count of devices without a list",
       [](W& w) { return compile(w, {.program = w.source, .devices = 1}); }},
      {"clCompileProgram", CL_INVALID_VALUE, "a list of no device",
       [](W& w) { return compile(w, {.program = w.source, .list = &w.device}); }},
      {"clCompileProgram", CL_INVALID_VALUE, "data for no callback",
       [](W& w) { return compile(w, {.program = w.source, .data = w.bytes}); }},
      {"clCompileProgram", CL_INVALID_VALUE, "headers without names",
       [](W& w) {
         return compile(w, {.program = w.source, .headers = 1, .header_programs = &w.source});
       }},
      {"clCompileProgram", CL_INVALID_VALUE, "names without headers",
       [](W& w) {
         return compile(w, {.program = w.source, .headers = 1, .header_names = &header_name});
       }},
      {"clCompileProgram", CL_INVALID_VALUE, "a list of no header",
       [](W& w) {
         return compile(
             w, {.program = w.source, .header_programs = &w.source, .header_names = &header_name});
       }},
      {"clCompileProgram", CL_INVALID_VALUE, "a header without a name",
       [](W& w) {
         return compile(w, {.program = w.source,
                            .headers = 1,
                            .header_programs = &w.source,
                            .header_names = &no_name});
       }},
      {"clCompileProgram", CL_INVALID_DEVICE, "an object of another kind",
       [](W& w) {
         const auto wrong = w.wrong<cl_device_id>();
         return compile(w, {.program = w.source, .devices = 1, .list = &wrong});
       }},
      {"clCompileProgram", CL_INVALID_COMPILER_OPTIONS, "an option that does not exist",
       [](W& w) { return compile(w, {.program = w.failed, .options = "-no-such-option"}); }},
      {"clCompileProgram", CL_INVALID_OPERATION, "a program with kernels",
       [](W& w) { return compile(w, {.program = w.built}); }},
      {"clCompileProgram", CL_INVALID_OPERATION, "a program without source",
       [](W& w) { return compile(w, {.program = w.linked}); }},
      {"clCompileProgram", CL_COMPILE_PROGRAM_FAILURE, "a mistake in the source",
       [](W& w) { return compile(w, {.program = w.failed}); }},
      {"clLinkProgram", CL_INVALID_CONTEXT, "no context",
       [](W& w) { return link(w, {.list = &w.compiled}); }},
      {"clLinkProgram", CL_INVALID_CONTEXT, "a released object",
       [](W& w) { return link(w, {.context = w.dead_context, .list = &w.compiled}); }},
      {"clLinkProgram", CL_INVALID_VALUE, "a count of devices without a list",
       [](W& w) { return link(w, {.context = w.context, .list = &w.compiled, .devices = 1}); }},
      {"clLinkProgram", CL_INVALID_VALUE, "a list of no device",
       [](W& w) {
         return link(w, {.context = w.context, .list = &w.compiled, .device_list = &w.device});
       }},
      {"clLinkProgram", CL_INVALID_VALUE, "a list of no program",
       [](W& w) { return link(w, {.context = w.context, .programs = 0, .list = &w.compiled}); }},
      {"clLinkProgram", CL_INVALID_VALUE, "no list",
       [](W& w) { return link(w, {.context = w.context}); }},
      {"clLinkProgram", CL_INVALID_VALUE, "data for no callback",
       [](W& w) { return link(w, {.context = w.context, .list = &w.compiled, .data = w.bytes}); }},
      {"clLinkProgram", CL_INVALID_PROGRAM, "a released object in the list",
       [](W& w) {
         const cl_program list[] = {w.compiled, w.dead_program};
         return link(w, {.context = w.context, .programs = 2, .list = list});
       }},
      {"clLinkProgram", CL_INVALID_DEVICE, "an object of another kind",
       [](W& w) {
         const auto wrong = w.wrong<cl_device_id>();
         return link(
             w, {.context = w.context, .list = &w.compiled, .devices = 1, .device_list = &wrong});
       }},
      {"clLinkProgram", CL_INVALID_LINKER_OPTIONS, "an option that does not exist",
       [](W& w) { return link(w, {.context = w.context, .list = &w.compiled, .options = "-x"}); }},
      {"clLinkProgram", CL_INVALID_OPERATION, "a program that was not compiled",
       [](W& w) {
         const cl_program list[] = {w.compiled, w.source};
         return link(w, {.context = w.context, .programs = 2, .list = list});
       }},
      {"clLinkProgram", CL_INVALID_OPERATION, "an executable",
       [](W& w) { return link(w, {.context = w.context, .list = &w.built}); }},
      {"clLinkProgram", CL_LINK_PROGRAM_FAILURE, "a function that nobody defines",
       [](W& w) {
         cl_int code = CL_SUCCESS;  // the program that has the log comes along
         cl_program made = w.cl.clLinkProgram(w.context, 0, nullptr, "", 1, &w.unresolved, nullptr,
                                              nullptr, &code);
         EXPECT_EQ(w.cl.clReleaseProgram(made), CL_SUCCESS);
         return code;
       }},
  };
  rows.insert(rows.end(), std::begin(own), std::end(own));
}

void kernel_rows(std::vector<ErrorRow>& rows) {
  const ErrorRow own[] = {
      {"clGetProgramInfo", CL_INVALID_PROGRAM_EXECUTABLE, "kernels of what is not built",
       [](W& w) {
         return w.cl.clGetProgramInfo(w.source, CL_PROGRAM_NUM_KERNELS, 0, nullptr, nullptr);
       }},
      {"clGetProgramInfo", CL_INVALID_PROGRAM_EXECUTABLE, "kernels' names of a failed build",
       [](W& w) {
         return w.cl.clGetProgramInfo(w.failed, CL_PROGRAM_KERNEL_NAMES, 0, nullptr, nullptr);
       }},
      {"clGetProgramInfo", CL_INVALID_VALUE, "room too small for the binaries' addresses",
       [](W& w) {
         return w.cl.clGetProgramInfo(w.built, CL_PROGRAM_BINARIES, 4, w.bytes, nullptr);
       }},
      {"clGetProgramBuildInfo", CL_INVALID_PROGRAM, "a released object",
       [](W& w) {
         return w.cl.clGetProgramBuildInfo(w.dead_program, w.device, CL_PROGRAM_BUILD_LOG, 0,
                                           nullptr, nullptr);
       }},
      {"clGetProgramBuildInfo", CL_INVALID_DEVICE, "no device",
       [](W& w) {
         return w.cl.clGetProgramBuildInfo(w.built, nullptr, CL_PROGRAM_BUILD_LOG, 0, nullptr,
                                           nullptr);
       }},
      {"clGetProgramBuildInfo", CL_INVALID_VALUE, "a query that does not exist",
       [](W& w) {
         return w.cl.clGetProgramBuildInfo(w.built, w.device, 0x7eee, 0, nullptr, nullptr);
       }},
      {"clGetProgramBuildInfo", CL_INVALID_VALUE, "room too small for the answer",
       [](W& w) {
         return w.cl.clGetProgramBuildInfo(w.failed, w.device, CL_PROGRAM_BUILD_LOG, 3, w.bytes,
                                           nullptr);
       }},
      {"clCreateKernel", CL_INVALID_PROGRAM, "a released object",
       [](W& w) { return kernel_of(w, w.dead_program, "plain"); }},
      {"clCreateKernel", CL_INVALID_PROGRAM_EXECUTABLE, "a program that is not built",
       [](W& w) { return kernel_of(w, w.source, "plain"); }},
      {"clCreateKernel", CL_INVALID_PROGRAM_EXECUTABLE, "a program that is only compiled",
       [](W& w) { return kernel_of(w, w.compiled, "k"); }},
      {"clCreateKernel", CL_INVALID_PROGRAM_EXECUTABLE, "a failed build",
       [](W& w) { return kernel_of(w, w.failed, "plain"); }},
      {"clCreateKernel", CL_INVALID_KERNEL_NAME, "a name that is not there",
       [](W& w) { return kernel_of(w, w.built, "plai"); }},
      {"clCreateKernel", CL_INVALID_KERNEL_NAME, "an empty name",
       [](W& w) { return kernel_of(w, w.built, ""); }},
      {"clCreateKernel", CL_INVALID_VALUE, "no name",
       [](W& w) { return kernel_of(w, w.built, nullptr); }},
      {"clCreateKernelsInProgram", CL_INVALID_PROGRAM, "a released object",
       [](W& w) { return w.cl.clCreateKernelsInProgram(w.dead_program, 0, nullptr, nullptr); }},
      {"clCreateKernelsInProgram", CL_INVALID_PROGRAM_EXECUTABLE, "a program that is not built",
       [](W& w) { return w.cl.clCreateKernelsInProgram(w.source, 0, nullptr, nullptr); }},
      {"clCreateKernelsInProgram", CL_INVALID_VALUE, "room for too few",
       [](W& w) {
         cl_kernel kernels[2]{};
         return w.cl.clCreateKernelsInProgram(w.built, 2, kernels, nullptr);
       }},
      {"clGetKernelArgInfo", CL_INVALID_KERNEL, "a released object",
       [](W& w) {
         return w.cl.clGetKernelArgInfo(w.dead_kernel, 0, CL_KERNEL_ARG_NAME, 0, nullptr, nullptr);
       }},
      {"clGetKernelArgInfo", CL_INVALID_ARG_INDEX, "an argument past the last",
       [](W& w) {
         return w.cl.clGetKernelArgInfo(w.kernel, 3, CL_KERNEL_ARG_NAME, 0, nullptr, nullptr);
       }},
      {"clGetKernelArgInfo", CL_INVALID_VALUE, "a query that does not exist",
       [](W& w) { return w.cl.clGetKernelArgInfo(w.kernel, 0, 0x7eee, 0, nullptr, nullptr); }},
      {"clGetKernelArgInfo", CL_INVALID_VALUE, "room too small for the answer",
       [](W& w) {
         return w.cl.clGetKernelArgInfo(w.kernel, 0, CL_KERNEL_ARG_NAME, 1, w.bytes, nullptr);
       }},
      {"clGetKernelArgInfo", CL_KERNEL_ARG_INFO_NOT_AVAILABLE, "a binary that does not say",
       [](W& w) {
         return w.cl.clGetKernelArgInfo(w.nameless, 0, CL_KERNEL_ARG_TYPE_NAME, 0, nullptr,
                                        nullptr);
       }},
      {"clGetKernelWorkGroupInfo", CL_INVALID_KERNEL, "a released object",
       [](W& w) {
         return w.cl.clGetKernelWorkGroupInfo(w.dead_kernel, w.device, CL_KERNEL_WORK_GROUP_SIZE, 0,
                                              nullptr, nullptr);
       }},
      {"clGetKernelWorkGroupInfo", CL_INVALID_DEVICE, "an object of another kind",
       [](W& w) {
         return w.cl.clGetKernelWorkGroupInfo(w.kernel, w.wrong<cl_device_id>(),
                                              CL_KERNEL_WORK_GROUP_SIZE, 0, nullptr, nullptr);
       }},
      {"clGetKernelWorkGroupInfo", CL_INVALID_VALUE, "a query that does not exist",
       [](W& w) {
         return w.cl.clGetKernelWorkGroupInfo(w.kernel, w.device, 0x7eee, 0, nullptr, nullptr);
       }},
      {"clGetKernelWorkGroupInfo", CL_INVALID_VALUE, "room too small for the answer",
       [](W& w) {
         return w.cl.clGetKernelWorkGroupInfo(w.kernel, w.device, CL_KERNEL_WORK_GROUP_SIZE, 4,
                                              w.bytes, nullptr);
       }},
      {"clGetKernelWorkGroupInfo", CL_INVALID_VALUE, "the range of a kernel that is not built in",
       [](W& w) {
         return w.cl.clGetKernelWorkGroupInfo(w.kernel, w.device, CL_KERNEL_GLOBAL_WORK_SIZE,
                                              sizeof w.bytes, w.bytes, nullptr);
       }},
  };
  rows.insert(rows.end(), std::begin(own), std::end(own));
}

}  // namespace

std::vector<ErrorRow> program_errors() {
  std::vector<ErrorRow> rows;
  source_rows(rows);
  build_rows(rows);
  kernel_rows(rows);
  return rows;
}

}  // namespace ww::sim::driver
