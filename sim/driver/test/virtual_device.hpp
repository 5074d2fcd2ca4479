// The virtual GPU as test programs meet it, through the loader.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

// Ends the program where a call fails.
inline void must(cl_int code, const char* what) {
  if (code == CL_SUCCESS) return;
  std::fprintf(stderr, "%s gave %d\n", what, code);
  std::exit(1);
}

struct VirtualDevice {
  cl_device_id device{};
  cl_context context{};
  cl_command_queue queue{};

  VirtualDevice() {
    cl_platform_id platform{};
    cl_int code{};
    must(clGetPlatformIDs(1, &platform, nullptr), "clGetPlatformIDs");
    must(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr), "clGetDeviceIDs");
    context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code);
    must(code, "clCreateContext");
    queue = clCreateCommandQueue(context, device, 0, &code);
    must(code, "clCreateCommandQueue");
  }
  ~VirtualDevice() {
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
  }
  VirtualDevice(const VirtualDevice&) = delete;
  VirtualDevice& operator=(const VirtualDevice&) = delete;

  // The program, or nullptr where it does not build and `log` says why.
  [[nodiscard]] cl_program try_build(const std::string& source, std::string& log,
                                     const char* options = "") const {
    const char* text = source.c_str();
    cl_int code{};
    cl_program program = clCreateProgramWithSource(context, 1, &text, nullptr, &code);
    must(code, "clCreateProgramWithSource");
    if (clBuildProgram(program, 1, &device, options, nullptr, nullptr) == CL_SUCCESS)
      return program;
    std::vector<char> told(1 << 16);
    clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, told.size(), told.data(), nullptr);
    log = told.data();
    clReleaseProgram(program);
    return nullptr;
  }
  // Ends the test where the program does not build.
  [[nodiscard]] cl_program build(const std::string& source, const char* options = "") const {
    std::string log;
    cl_program program = try_build(source, log, options);
    if (program != nullptr) return program;
    std::fprintf(stderr, "%s\n%s\n", source.c_str(), log.c_str());
    std::exit(1);
  }
};
