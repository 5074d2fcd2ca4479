// A kernel for each known error of the compilers: right where the driver avoids it or the release
// does not have it, and wrong as listed elsewhere, so that the list stays true. The argument is the
// LLVM release that compiles for WIREWATT_CHIP's chip.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "common/compile/known_errors.hpp"
#include "virtual_device.hpp"

namespace {

constexpr std::size_t kItems = 1024;

struct Sample {
  int pull_request;
  const char* name;
  const char* value;  // of x, y and z
  std::function<std::uint64_t(std::uint32_t, std::uint32_t, std::uint64_t)> right;
  std::vector<int> wrong;  // releases whose code gives wrong numbers here
};

const std::uint32_t kLow24 = 0xFFFFFF;

std::vector<Sample> samples() {
  return {
      {198729,
       "product",
       "(ulong)(x & 0xFFFFFF) * (y & 0xFFFFFF) + z",
       [](auto x, auto y, auto z) { return std::uint64_t{x & kLow24} * (y & kLow24) + z; },
       {}},
      {198729,
       "product of a shorter factor",
       "z + (ulong)(x & 0xFFFFFF) * (y & 0xFFFF)",
       [](auto x, auto y, auto z) { return z + std::uint64_t{x & kLow24} * (y & 0xFFFF); },
       {}},
      {105831,
       "high half",
       "(ulong)((long)(short)x * (3ul * (ushort)y))",
       [](auto x, auto y, auto) {
         return static_cast<std::uint64_t>(std::int64_t{static_cast<std::int16_t>(x)}) *
                (3 * std::uint64_t{y & 0xFFFF});
       },
       {15}},
      {196418,
       "quotient",
       "(uint)(int)(short)x / ((y & 0xFF) | 1)",
       [](auto x, auto y, auto) {
         return std::uint64_t{static_cast<std::uint32_t>(static_cast<std::int16_t>(x)) /
                              ((y & 0xFF) | 1)};
       },
       {15, 19}},
      {119325,
       "quotient of 64 bits",
       "(ulong)(long)(char)x / (ulong)((y & 0xFF) | 1)",
       [](auto x, auto y, auto) {
         return static_cast<std::uint64_t>(std::int64_t{static_cast<std::int8_t>(x)}) /
                ((y & 0xFF) | 1);
       },
       {15, 19}},
      {209711,
       "quotient of 24 bits",
       "(x & 0xFFFFFF) / ((y & 0xFFFFFF) | 1)",
       [](auto x, auto y, auto) { return std::uint64_t{(x & kLow24) / ((y & kLow24) | 1)}; },
       {}},
  };
}

cl_mem buffer_of(const VirtualDevice& gpu, std::size_t bytes, void* from) {
  cl_int code{};
  cl_mem memory =
      clCreateBuffer(gpu.context, CL_MEM_READ_WRITE | (from != nullptr ? CL_MEM_COPY_HOST_PTR : 0),
                     bytes, from, &code);
  must(code, "clCreateBuffer");
  return memory;
}

}  // namespace

int main(int count, char** words) {
  const int release = count > 1 ? std::atoi(words[1]) : ww::sim::driver::kClangRelease;
  std::array<std::uint32_t, kItems> x{};
  std::array<std::uint32_t, kItems> y{};
  std::array<std::uint64_t, kItems> z{};
  std::uint64_t state = 7;
  const auto draw = [&state] {  // PCG's multiplier
    state = state * 6364136223846793005U + 1442695040888963407U;
    return state >> 24;
  };
  for (std::size_t i = 0; i < kItems; ++i) {
    x[i] = static_cast<std::uint32_t>(draw());
    y[i] = static_cast<std::uint32_t>(draw());
    z[i] = draw();
  }
  const VirtualDevice gpu;
  cl_mem in[] = {buffer_of(gpu, sizeof x, x.data()), buffer_of(gpu, sizeof y, y.data()),
                 buffer_of(gpu, sizeof z, z.data())};
  cl_mem out = buffer_of(gpu, sizeof z, nullptr);
  int failures = 0;
  for (const Sample& sample : samples()) {
    cl_program program = gpu.build(
        std::string("__kernel void sample(__global ulong* o, __global const uint* xs, "
                    "__global const uint* ys, __global const ulong* zs) {\n"
                    "  const size_t i = get_global_id(0);\n"
                    "  const uint x = xs[i], y = ys[i];\n  const ulong z = zs[i];\n  o[i] = ") +
        sample.value + ";\n}\n");
    cl_int code{};
    cl_kernel kernel = clCreateKernel(program, "sample", &code);
    must(code, "clCreateKernel");
    must(clSetKernelArg(kernel, 0, sizeof(cl_mem), &out), "clSetKernelArg");
    for (cl_uint i = 0; i < 3; ++i) {
      must(clSetKernelArg(kernel, i + 1, sizeof(cl_mem), &in[i]), "clSetKernelArg");
    }
    must(clEnqueueNDRangeKernel(gpu.queue, kernel, 1, nullptr, &kItems, nullptr, 0, nullptr,
                                nullptr),
         "clEnqueueNDRangeKernel");
    std::array<std::uint64_t, kItems> seen{};
    must(clEnqueueReadBuffer(gpu.queue, out, CL_TRUE, 0, sizeof seen, seen.data(), 0, nullptr,
                             nullptr),
         "clEnqueueReadBuffer");
    int wrong = 0;
    for (std::size_t i = 0; i < kItems; ++i) wrong += seen[i] != sample.right(x[i], y[i], z[i]);
    const bool expected = std::ranges::find(sample.wrong, release) != sample.wrong.end();
    const auto errors = ww::sim::driver::known_errors();
    const bool listed = std::ranges::any_of(errors, [&](const auto& error) {
      return error.pull_request == sample.pull_request && error.first <= release &&
             release <= error.last && !error.avoided;
    });
    const bool good = (wrong != 0) == expected && (listed || wrong == 0);
    std::printf("%-28s %4d of %zu wrong%s  %s\n", sample.name, wrong, kItems,
                expected ? ", as listed" : "", good ? "ok" : "FAILED");
    failures += good ? 0 : 1;
    clReleaseKernel(kernel);
    clReleaseProgram(program);
  }
  for (const auto& error : ww::sim::driver::known_errors()) {
    const auto all = samples();
    if (std::ranges::find(all, error.pull_request, &Sample::pull_request) != all.end()) continue;
    std::printf("no sample of %d FAILED\n", error.pull_request);
    ++failures;
  }
  return failures == 0 ? 0 : 1;
}
