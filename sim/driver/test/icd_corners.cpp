// Corners of the language and of the instruction sets that other people's programs met: each kernel
// runs as one work-item and its numbers are compared with those that it must give. The chip is
// WIREWATT_CHIP's.
#include <array>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "virtual_device.hpp"

namespace {

constexpr std::size_t kNumbers = 128;
constexpr std::uint32_t kUntouched = 0xdeadbeef;
using Numbers = std::array<std::uint32_t, kNumbers>;

struct Corner {
  const char* name;
  std::string source;  // __kernel void corner(__global uint* out, __global const uint* in, ...)
  std::size_t local_bytes;  // of a third argument; 0: there is none
  std::vector<std::uint32_t> wanted;
};

// The first is -8; the others say their place.
Numbers input() {
  Numbers numbers;
  for (std::uint32_t i = 0; i < kNumbers; ++i) numbers[i] = i;
  numbers[0] = static_cast<std::uint32_t>(-8);
  return numbers;
}

std::vector<std::uint32_t> words(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  return {static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32)};
}

// A function that is called and needs more scalar registers than there are.
Corner many_scalars() {
  std::string body;
  std::string uses;
  std::uint32_t wanted = 7;
  for (std::uint32_t i = 10; i < 120; ++i) {
    const std::string n = std::to_string(i);
    body += "  int v" + n + ";\n  __asm__ volatile(\"v_readfirstlane_b32 %0, %1\" : \"=s\"(v" + n +
            ") : \"v\"(p[" + n + "]));\n";
    uses += "  x = (x ^ v" + n + ") * 3;\n";
    wanted = (wanted ^ i) * 3;
  }
  return {"many_scalars",
          "__attribute__((noinline)) int mix(__global const uint* p, int x) {\n" + body +
              "  __asm__ volatile(\"\" : \"+v\"(x));\n" + uses +
              "  return x;\n}\n"
              "__kernel void corner(__global uint* out, __global const uint* in) {\n"
              "  out[0] = mix(in, in[7]);\n}\n",
          0,
          {wanted}};
}

// Halves where the device says that it has them, and no macro that says so where it does not.
Corner halves(bool present) {
  if (!present) {
    return {
        "no_halves",
        "#ifdef cl_khr_fp16\n#error there are none\n#endif\n"
        "__kernel void corner(__global uint* out, __global const uint* in) { out[0] = in[1]; }\n",
        0,
        {1}};
  }
  return {"halves",
          "#ifndef cl_khr_fp16\n#error there are none\n#endif\n"
          "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
          "__kernel void corner(__global uint* out, __global const uint* in) {\n"
          "  half x = (half)in[2] / (half)3;\n"
          "  out[0] = as_ushort(x);\n"
          "  out[1] = as_ushort(sin(x));\n"
          "  out[2] = as_ushort(cos(x));\n"
          "  half2 y = fma((half2)(x, 1.0h), (half2)(2.0h, -x), (half2)(0.25h, 6.0e-8h));\n"
          "  out[3] = as_uint(y);\n"
          "  out[4] = as_uint(sin(y)) & 0xffffu;\n"
          "}\n",
          0,
          // 2/3, its sine and cosine; 1.583 and -0.6665; the sine of the first
          {0x3955, 0x38f2, 0x3a4a, 0xb9553e55, 0x3c00}};
}

std::vector<Corner> corners(bool with_halves) {
  return {
      // gfx9 has the constant among those that an instruction names in eight bits.
      {"inverse_of_two_pi",
       "__kernel void corner(__global uint* out, __global const uint* in) {\n"
       "  vstore2(as_uint2((double)in[3] * 0.15915494309189532), 0, out);\n"
       "}\n",
       0, words(3 * 0.15915494309189532)},
      {"private_memory_from_behind",
       "__kernel void corner(__global uint* out, __global const uint* in) {\n"
       "  volatile int own[16];\n"
       "  for (int i = 0; i < 16; ++i) own[i] = i + 100;\n"
       "  out[0] = own[(int)in[0] + 12];\n"
       "  out[1] = own[(int)in[0] + 8];\n"
       "}\n",
       0,
       {104, 100}},
      // Local memory is given in blocks: programs that ask for too few bytes get away with it.
      {"rest_of_the_local_block",
       "__kernel void corner(__global uint* out, __global const uint* in, __local ulong* own) {\n"
       "  own[0] = in[5];\n"
       "  own[1] = in[6];\n"
       "  barrier(CLK_LOCAL_MEM_FENCE);\n"
       "  out[0] = own[0];\n"
       "  out[1] = own[1];\n"
       "}\n",
       sizeof(cl_ulong),
       {5, 6}},
      {"three_halves",
       "__kernel void corner(__global uint* out, __global const uint* in) {\n"
       "  float3 x = (float3)(in[1], in[2], in[3]);\n"
       "  __global half* halves = (__global half*)out;\n"
       "  vstorea_half3(x, 0, halves);\n"
       "  vstorea_half3_rtz(x + 1.0f, 1, halves);\n"
       "  volatile ushort own[7];\n"
       "  for (int i = 0; i < 7; ++i) own[i] = 0;\n"
       "  vstorea_half3_rte(vloada_half3(1, halves), 1, (half*)own);\n"
       "  for (int i = 0; i < 3; ++i) out[4 + i] = own[4 + i];\n"
       "}\n",
       0,
       {0x40003c00, 0xdead4200, 0x42004000, 0xdead4400, 0x4000, 0x4200, 0x4400}},
      {"byte_order_mark",
       "\xEF\xBB\xBF__kernel void corner(__global uint* out, __global const uint* in) {\n"
       "  out[0] = in[9];\n"
       "}\n",
       0,
       {9}},
      many_scalars(),
      halves(with_halves),
  };
}

class Device : VirtualDevice {
 public:
  [[nodiscard]] bool has(const char* extension) const {
    char extensions[1024] = {};
    must(clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, sizeof extensions, extensions, nullptr),
         "clGetDeviceInfo");
    return std::strstr(extensions, extension) != nullptr;
  }

  [[nodiscard]] bool gives(const Corner& corner) const {
    std::string log;
    cl_program program = try_build(corner.source, log);
    if (program == nullptr) {
      std::printf("%s does not build:\n%s\n", corner.name, log.c_str());
      return false;
    }
    cl_int code{};
    cl_kernel kernel = clCreateKernel(program, "corner", &code);
    must(code, "clCreateKernel");
    Numbers numbers;
    numbers.fill(kUntouched);
    cl_mem out = buffer(numbers);
    cl_mem in = buffer(input());
    must(clSetKernelArg(kernel, 0, sizeof out, &out), "clSetKernelArg");
    must(clSetKernelArg(kernel, 1, sizeof in, &in), "clSetKernelArg");
    if (corner.local_bytes != 0) {
      must(clSetKernelArg(kernel, 2, corner.local_bytes, nullptr), "clSetKernelArg");
    }
    const std::size_t one = 1;
    must(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &one, &one, 0, nullptr, nullptr),
         "clEnqueueNDRangeKernel");
    must(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof numbers, numbers.data(), 0, nullptr,
                             nullptr),
         "clEnqueueReadBuffer");
    clReleaseMemObject(out);
    clReleaseMemObject(in);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    return same(corner, numbers);
  }

 private:
  [[nodiscard]] cl_mem buffer(Numbers numbers) const {
    cl_int code{};
    cl_mem memory = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                   sizeof numbers, numbers.data(), &code);
    must(code, "clCreateBuffer");
    return memory;
  }

  [[nodiscard]] static bool same(const Corner& corner, const Numbers& numbers) {
    bool good = true;
    for (std::size_t i = 0; i < kNumbers; ++i) {
      const std::uint32_t wanted = i < corner.wanted.size() ? corner.wanted[i] : kUntouched;
      if (numbers[i] == wanted) continue;
      std::printf("%s: number %zu is %#x, wanted %#x\n", corner.name, i, numbers[i], wanted);
      good = false;
    }
    return good;
  }
};

}  // namespace

int main() {
  const Device device;
  int failures = 0;
  for (const Corner& corner : corners(device.has("cl_khr_fp16"))) {
    const bool good = device.gives(corner);
    std::printf("%-28s %s\n", corner.name, good ? "ok" : "FAILED");
    failures += good ? 0 : 1;
  }
  return failures == 0 ? 0 : 1;
}
