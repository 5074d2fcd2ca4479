// Sets up the tests of HIP's entry points: its codes, device code, and a process that uses HIP. The
// device code is OpenCL C that the driver's own compile worker turns into a code object: no HIP
// compiler is needed.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "common/compile/compile_client.hpp"
#include "hip_declarations.hpp"

#ifndef WW_HIP_CHIP
#define WW_HIP_CHIP "mi210"
#endif

namespace ww::sim::driver {

constexpr int kInvalidValue = 1;
constexpr int kInvalidPitch = 12;
constexpr int kInvalidConfiguration = 9;
constexpr int kInvalidSymbol = 13;
constexpr int kInvalidDirection = 21;
constexpr int kInvalidFunction = 98;
constexpr int kInvalidDevice = 101;
constexpr int kInvalidImage = 200;
constexpr int kInvalidContext = 201;
constexpr int kNoBinary = 209;
constexpr int kInvalidHandle = 400;
constexpr int kNotFound = 500;
constexpr int kNotReady = 600;
constexpr int kContextIsDestroyed = 709;  // of streams and events that are gone, too
constexpr int kTooManyBlocks = 720;
constexpr int kNotSupported = 801;

constexpr const char* kSource = R"cl(
__constant int table[4] = {3, 5, 7, 11};
kernel void add(global const float* a, global const float* b, global float* c) {
  size_t i = get_global_id(0);
  c[i] = a[i] + b[i];
}
kernel void copy(global const float* a, global float* c) { c[get_global_id(0)] = a[get_global_id(0)]; }
kernel void scale(global const float* a, global float* c, float s) {
  c[get_global_id(0)] = s * a[get_global_id(0)];
}
kernel void triad(global const float* a, global const float* b, global float* c, float s) {
  size_t i = get_global_id(0);
  c[i] = a[i] + s * b[i];
}
kernel void fill(global float* c, float s) { c[get_global_id(0)] = s; }
kernel void where(global uint* p) {
  uint id;
  __asm__ volatile("s_getreg_b32 %0, hwreg(HW_REG_HW_ID)" : "=s"(id));
  p[get_global_id(0)] = id;
}
kernel void increment(global int* p) { p[get_global_id(0)] += 1; }
kernel void unknown_instruction(global int* p) {
  __asm__ volatile(".long 0xffffffff");
  p[get_global_id(0)] = 1;
}
kernel void trap(global int* p) {
  p[get_global_id(0)] = 1;
  __builtin_trap();
}
kernel void store_nowhere(global int* p) { *(global int* volatile)0x123456789000 = 1; }
kernel __attribute__((reqd_work_group_size(64, 1, 1))) void big_lds(global int* p) {
  local int words[8192];
  words[get_local_id(0)] = p[get_local_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  p[get_local_id(0)] = words[63 - get_local_id(0)];
}
)cl";

// Compiled once; for groups of up to 256, as OpenCL C is.
inline const std::string& code_object() {
  static const std::string code = [] {
    CompileClient client(WW_COMPILE_WORKER, 60'000);
    CompileRequest request;
    request.isa = "amdgcn-amd-amdhsa--gfx90a";
    request.source = kSource;
    request.options = {"-O3"};
    auto answer = client.run(request);
    EXPECT_EQ(answer.status, CompileStatus::success) << answer.log;
    return answer.output;
  }();
  return code;
}

template <class T>
T* allocate(std::size_t count) {
  void* memory = nullptr;
  EXPECT_EQ(hipMalloc(&memory, count * sizeof(T)), 0);
  return static_cast<T*>(memory);
}

class Hip : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    setenv("WIREWATT_CHIP", WW_HIP_CHIP, 1);
    setenv("WIREWATT_THREADS", "1", 1);
    ASSERT_EQ(hipInit(0), 0);
  }
  void SetUp() override {
    ASSERT_EQ(hipDeviceReset(), 0);
    static_cast<void>(hipGetLastError());
    ASSERT_EQ(hipModuleLoadData(&module_, code_object().data()), 0);
  }
  void TearDown() override { EXPECT_EQ(hipModuleUnload(module_), 0); }

  hipFunction_t function(const char* name) {
    hipFunction_t found = nullptr;
    EXPECT_EQ(hipModuleGetFunction(&found, module_, name), 0) << name;
    return found;
  }
  template <class... Arguments>
  int launch(const char* name, unsigned blocks, unsigned threads, Arguments... arguments) {
    void* values[] = {static_cast<void*>(&arguments)..., nullptr};
    return hipModuleLaunchKernel(function(name), blocks, 1, 1, threads, 1, 1, 0, nullptr, values,
                                 nullptr);
  }

  hipModule_t module_{};
};

}  // namespace ww::sim::driver
