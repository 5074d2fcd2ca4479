// Denormal floats: what CL_DEVICE_SINGLE_FP_CONFIG says of them is what compiled code does, bit by
// bit beside the host's sums, products and multiply-adds. A device that has them may give them up
// for a program; one that has not makes them zeros of the same sign, as operands and as results.
// The chip is WIREWATT_CHIP's.
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <random>
#include <string_view>
#include <vector>

#include "virtual_device.hpp"

namespace {

constexpr std::size_t kItems = 4096;

constexpr const char* kSource =
    "__kernel void sums(__global float* out, __global const float* in) {\n"
    "  const size_t i = get_global_id(0);\n"
    "  out[4 * i] = in[3 * i] + in[3 * i + 1];\n"
    "  out[4 * i + 1] = in[3 * i] - in[3 * i + 1];\n"
    "  out[4 * i + 2] = in[3 * i] * in[3 * i + 2];\n"
    "  out[4 * i + 3] = fma(in[3 * i], in[3 * i + 2], in[3 * i + 1]);\n"
    "}\n";
constexpr const char* kNames[] = {"x + y", "x - y", "x * z", "fma(x, z, y)"};

float flushed(float value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0F, value) : value;
}

// x and y within some 2^30 of the least normal number on either side, z around 1: the results are
// as often denormal as not.
std::vector<float> operands() {
  using Limits = std::numeric_limits<float>;
  constexpr float kEdges[] = {0.0F,
                              -0.0F,
                              Limits::denorm_min(),
                              -Limits::denorm_min(),
                              0x1.fffffcp-127F,  // the largest denormal
                              Limits::min(),
                              -Limits::min(),
                              0x1.000002p-126F};
  std::mt19937 random(5);
  std::vector<float> in(3 * kItems);
  for (std::size_t i = 0; i < in.size(); ++i) {
    const auto bits = static_cast<std::uint32_t>(random());
    const std::uint32_t exponent = i % 3 == 2 ? 112 + (bits >> 23) % 20 : (bits >> 23) % 24;
    in[i] = std::bit_cast<float>((bits & 0x807FFFFFU) | exponent << 23);
    const std::size_t item = i / 3;
    if (item < 64 && i % 3 < 2) in[i] = kEdges[i % 3 == 0 ? item % 8 : item / 8];
  }
  return in;
}

std::vector<float> host_results(const std::vector<float>& in, bool keeps) {
  const auto as_device = [keeps](float value) { return keeps ? value : flushed(value); };
  std::vector<float> out;
  for (std::size_t i = 0; i < kItems; ++i) {
    const float x = as_device(in[3 * i]);
    const float y = as_device(in[3 * i + 1]);
    const float z = as_device(in[3 * i + 2]);
    for (const float result : {x + y, x - y, x * z, std::fma(x, z, y)}) {
      out.push_back(as_device(result));
    }
  }
  return out;
}

std::vector<float> device_results(const VirtualDevice& device, const std::vector<float>& in,
                                  const char* options) {
  cl_program program = device.build(kSource, options);
  cl_int code{};
  cl_kernel kernel = clCreateKernel(program, "sums", &code);
  must(code, "clCreateKernel");
  std::vector<float> out(4 * kItems);
  cl_mem from = clCreateBuffer(device.context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
                               in.size() * sizeof(float), const_cast<float*>(in.data()), &code);
  must(code, "clCreateBuffer");
  cl_mem to =
      clCreateBuffer(device.context, CL_MEM_WRITE_ONLY, out.size() * sizeof(float), nullptr, &code);
  must(code, "clCreateBuffer");
  must(clSetKernelArg(kernel, 0, sizeof(cl_mem), &to), "clSetKernelArg");
  must(clSetKernelArg(kernel, 1, sizeof(cl_mem), &from), "clSetKernelArg");
  must(clEnqueueNDRangeKernel(device.queue, kernel, 1, nullptr, &kItems, nullptr, 0, nullptr,
                              nullptr),
       "clEnqueueNDRangeKernel");
  must(clEnqueueReadBuffer(device.queue, to, CL_TRUE, 0, out.size() * sizeof(float), out.data(), 0,
                           nullptr, nullptr),
       "clEnqueueReadBuffer");
  clReleaseMemObject(from);
  clReleaseMemObject(to);
  clReleaseKernel(kernel);
  clReleaseProgram(program);
  return out;
}

// How many results differ, bit by bit; the first of each kind is printed.
int differences(const std::vector<float>& in, const std::vector<float>& got,
                const std::vector<float>& wanted) {
  int count[4]{};
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (std::bit_cast<std::uint32_t>(got[i]) == std::bit_cast<std::uint32_t>(wanted[i])) continue;
    if (count[i % 4]++ == 0) {
      const float* operand = &in[3 * (i / 4)];
      std::printf("%s of %a, %a, %a is %a, wanted %a\n", kNames[i % 4], double{operand[0]},
                  double{operand[1]}, double{operand[2]}, double{got[i]}, double{wanted[i]});
    }
  }
  return count[0] + count[1] + count[2] + count[3];
}

}  // namespace

// Usage: icd_denormals keeps|flushes
int main(int count, char** words) {
  const bool keeps = count == 2 && std::string_view(words[1]) == "keeps";
  const VirtualDevice device;
  cl_device_fp_config config = 0;
  must(clGetDeviceInfo(device.device, CL_DEVICE_SINGLE_FP_CONFIG, sizeof config, &config, nullptr),
       "clGetDeviceInfo");
  const bool says_so = ((config & CL_FP_DENORM) != 0) == keeps;
  if (!says_so) std::printf("the device says something else\n");

  const auto in = operands();
  const int plain = differences(in, device_results(device, in, ""), host_results(in, keeps));
  const int zeroed =
      differences(in, device_results(device, in, "-cl-denorms-are-zero"), host_results(in, false));
  std::printf("%zu results, %d differ, without denormals %d\n", 4 * kItems, plain, zeroed);
  return says_so && plain == 0 && zeroed == 0 ? 0 : 1;
}
