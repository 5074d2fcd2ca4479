// A small OpenCL program on the virtual GPU and a small model, for tests of the library.
#pragma once

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <CL/cl.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ww/core/atomic_file.hpp"
#include "ww/core/temporary_folder.hpp"

namespace ww::library_testing {

inline const char* const kSource =
    "__kernel void copy(__global const uint* a, __global uint* b) {"
    "  b[get_global_id(0)] = a[get_global_id(0)]; }";
inline constexpr std::size_t kWords = 1 << 16;

// A calibration's model, as small as the estimate needs.
inline std::string small_model(const std::string& status = "ok",
                               const std::string& target = "gfx701") {
  static const auto scratch = ScratchFolder::create("library").value();
  const auto file = scratch.path() / (status + "_" + target + ".json");
  EXPECT_TRUE(write_file_atomically(file, R"({
    "format": "wirewatt-model/1", "device": "virtual:w9100", "virtual": true,
    "target": ")" + target + R"(",
    "energy_fj_per_bit_mm": {"status": ")" + status +
                                              R"(", "value": 200, "low": 190, "high": 210,
      "sensed_low": 199, "sensed_high": 201, "convention": "per_random_bit", "reason": ""},
    "reference": {"voltage_v": 1.17, "clock_hz": 9.3e8},
    "distances": {"floorplan": "w9100", "registers_to_l1_mm": 3.5, "l2_to_memory_mm": 11.5,
      "near_mm": 5.25, "far_mm": 15.75, "engine_to_quadrant_mm": [[5.25, 15.75], [15.75, 5.25]]},
    "constants": []})"));
  return file.string();
}

class CopyProgram : public ::testing::Test {
 protected:
  void SetUp() override {
    cl_platform_id platform = nullptr;
    cl_device_id device = nullptr;
    ASSERT_EQ(clGetPlatformIDs(1, &platform, nullptr), CL_SUCCESS);
    ASSERT_EQ(clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, nullptr), CL_SUCCESS);
    context_ = clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr);
    queue_ = clCreateCommandQueue(context_, device, 0, nullptr);
    const char* text = kSource;
    program_ = clCreateProgramWithSource(context_, 1, &text, nullptr, nullptr);
    ASSERT_EQ(clBuildProgram(program_, 1, &device, "", nullptr, nullptr), CL_SUCCESS);
    kernel_ = clCreateKernel(program_, "copy", nullptr);
    const std::vector<std::uint32_t> data(kWords, 0xA5A5A5A5U);
    for (cl_uint argument = 0; argument < 2; ++argument) {
      buffers_[argument] =
          clCreateBuffer(context_, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, 4 * kWords,
                         const_cast<std::uint32_t*>(data.data()), nullptr);
      ASSERT_EQ(clSetKernelArg(kernel_, argument, sizeof(cl_mem), &buffers_[argument]), CL_SUCCESS);
    }
  }
  void TearDown() override {
    for (cl_mem buffer : buffers_) clReleaseMemObject(buffer);
    clReleaseKernel(kernel_);
    clReleaseProgram(program_);
    clReleaseCommandQueue(queue_);
    clReleaseContext(context_);
  }
  void launch(int times) {
    for (int i = 0; i < times; ++i) {
      ASSERT_EQ(clEnqueueNDRangeKernel(queue_, kernel_, 1, nullptr, &kWords, nullptr, 0, nullptr,
                                       nullptr),
                CL_SUCCESS);
    }
    clFinish(queue_);
  }
  cl_context context_{};
  cl_command_queue queue_{};
  cl_program program_{};
  cl_kernel kernel_{};
  cl_mem buffers_[2]{};
};

}  // namespace ww::library_testing
