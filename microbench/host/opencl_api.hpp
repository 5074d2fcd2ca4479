// The OpenCL loader, found at run time: a program built here runs where none is installed.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <string>

#include "ww/core/result.hpp"

namespace ww::microbench {

// Every entry point that the host uses.
// clang-format off
#define WW_OPENCL_FUNCTIONS(X)                \
  X(clGetPlatformIDs)                         \
  X(clGetPlatformInfo)                        \
  X(clGetDeviceIDs)                           \
  X(clGetDeviceInfo)                          \
  X(clCreateContext)                          \
  X(clReleaseContext)                         \
  X(clCreateCommandQueue)                     \
  X(clReleaseCommandQueue)                    \
  X(clCreateBuffer)                           \
  X(clReleaseMemObject)                       \
  X(clEnqueueWriteBuffer)                     \
  X(clEnqueueReadBuffer)                      \
  X(clEnqueueMigrateMemObjects)               \
  X(clCreateProgramWithSource)                \
  X(clCreateProgramWithBinary)                \
  X(clBuildProgram)                           \
  X(clGetProgramBuildInfo)                    \
  X(clGetProgramInfo)                         \
  X(clReleaseProgram)                         \
  X(clCreateKernel)                           \
  X(clReleaseKernel)                          \
  X(clSetKernelArg)                           \
  X(clEnqueueNDRangeKernel)                   \
  X(clFlush)                                  \
  X(clFinish)                                 \
  X(clGetEventProfilingInfo)                  \
  X(clReleaseEvent)                           \
  X(clGetExtensionFunctionAddressForPlatform)
// clang-format on

struct OpenClApi {
#define WW_OPENCL_MEMBER(name) decltype(&::name) name{};
  WW_OPENCL_FUNCTIONS(WW_OPENCL_MEMBER)
#undef WW_OPENCL_MEMBER
};

// Loads libOpenCL.so.1 once; the loader reads OCL_ICD_VENDORS at its first call and remembers.
// Error missing_dependency that names the package.
[[nodiscard]] Result<const OpenClApi*> load_opencl();

// "CL_INVALID_BINARY (-42)".
[[nodiscard]] std::string opencl_error_name(cl_int code);

}  // namespace ww::microbench
