// An OpenCL program that asks what its own kernel cost. Usage: bracket [model.json]
//   wirewatt run --device virtual:w9100 -- ./bracket first-run/model.json
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <cstdio>
#include <exception>
#include <stdexcept>
#include <vector>
#include <wirewatt/wirewatt.hpp>

namespace {

const char* const source = R"(
__kernel void add(__global const float* a, __global float* b) {
  const size_t i = get_global_id(0);
  b[i] += a[i];
})";

void check(cl_int code) {
  if (code != CL_SUCCESS) throw std::runtime_error("OpenCL error " + std::to_string(code));
}

void show(const char* name, const wirewatt_joules& joules, const std::string& reason) {
  if (joules.status == WIREWATT_FIGURE_OK || joules.status == WIREWATT_FIGURE_TRANSFERRED) {
    std::printf("%-14s %.4g J (%.4g to %.4g) %s\n", name, joules.value, joules.low, joules.high,
                reason.c_str());
  } else {
    std::printf("%-14s no figure: %s\n", name, reason.c_str());
  }
}

void run(const char* model) {
  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  cl_int code = CL_SUCCESS;
  check(clGetPlatformIDs(1, &platform, nullptr));
  check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, nullptr));
  cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code);
  check(code);
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, &code);
  check(code);
  cl_program program =
      clCreateProgramWithSource(context, 1, const_cast<const char**>(&source), nullptr, &code);
  check(code);
  check(clBuildProgram(program, 1, &device, "", nullptr, nullptr));
  cl_kernel kernel = clCreateKernel(program, "add", &code);
  check(code);
  const std::vector<float> data(1 << 16, 1.5F);
  const size_t bytes = data.size() * sizeof(float);
  for (cl_uint argument = 0; argument < 2; ++argument) {
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes,
                                   const_cast<float*>(data.data()), &code);
    check(code);
    check(clSetKernelArg(kernel, argument, sizeof buffer, &buffer));
  }

  wirewatt::session session("", model);
  const wirewatt_reading reading = session.measure([&] {
    const size_t items = data.size();
    for (int i = 0; i < 1000; ++i) {
      check(
          clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &items, nullptr, 0, nullptr, nullptr));
    }
    check(clFinish(queue));
  });
  std::printf("%s%s: %llu dispatches in %.3g s\n", session.device().c_str(),
              reading.is_virtual ? " (virtual, not a measurement)" : "",
              static_cast<unsigned long long>(reading.dispatches), reading.seconds);
  show("device", reading.device, session.reason(-1));
  show("interconnect", reading.interconnect, session.reason(-2));
  show("registers-L1", reading.segment[WIREWATT_REGISTERS_L1], session.reason(0));
  show("L1-L2", reading.segment[WIREWATT_L1_L2], session.reason(1));
  show("L2-memory", reading.segment[WIREWATT_L2_MEMORY], session.reason(2));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(argc > 1 ? argv[1] : "");
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  return 0;
}
