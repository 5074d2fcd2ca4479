// An API test: a context and a queue on the fake virtual GPU, called through the dispatch table.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "fake_virtual_gpu.hpp"
#include "opencl/object/object.hpp"

namespace ww::sim::driver {

class ApiTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { ::setenv("WIREWATT_COMPILE_WORKER", WW_COMPILE_WORKER, 1); }
  void SetUp() override {
    fake::state().launches.clear();
    fake::state().on_launch = nullptr;
    ASSERT_EQ(cl.clGetPlatformIDs(1, &platform, nullptr), CL_SUCCESS);
    ASSERT_EQ(cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr), CL_SUCCESS);
    cl_int code = -1;
    context = cl.clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code);
    ASSERT_EQ(code, CL_SUCCESS);
    queue = cl.clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &code);
    ASSERT_EQ(code, CL_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(cl.clReleaseCommandQueue(queue), CL_SUCCESS);
    EXPECT_EQ(cl.clReleaseContext(context), CL_SUCCESS);
  }

  cl_program build(const std::string& source, const char* options = "") {
    const char* text = source.c_str();
    cl_int code = -1;
    cl_program program = cl.clCreateProgramWithSource(context, 1, &text, nullptr, &code);
    EXPECT_EQ(code, CL_SUCCESS);
    EXPECT_EQ(cl.clBuildProgram(program, 1, &device, options, nullptr, nullptr), CL_SUCCESS)
        << log(program);
    return program;
  }
  std::string log(cl_program program) {
    std::size_t size = 0;
    EXPECT_EQ(cl.clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size),
              CL_SUCCESS);
    std::string text(size, '\0');
    EXPECT_EQ(
        cl.clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, text.data(), nullptr),
        CL_SUCCESS);
    return text.substr(0, text.find('\0'));
  }
  cl_mem buffer(std::size_t size, cl_mem_flags flags = CL_MEM_READ_WRITE, void* host = nullptr) {
    cl_int code = -1;
    cl_mem memory = cl.clCreateBuffer(context, flags, size, host, &code);
    EXPECT_EQ(code, CL_SUCCESS);
    return memory;
  }
  cl_int status(cl_event event) {
    cl_int value = 99;
    EXPECT_EQ(
        cl.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof value, &value, nullptr),
        CL_SUCCESS);
    return value;
  }

  const cl_icd_dispatch& cl = dispatch_table();
  cl_platform_id platform{};
  cl_device_id device{};
  cl_context context{};
  cl_command_queue queue{};
};

}  // namespace ww::sim::driver
