// Runs labelled kernels and reports them to a tool as Kokkos does: the library of KOKKOS_TOOLS_LIBS
// is opened, its functions are looked up by name, and those that it lacks are left out. With
// "bracket" for an argument it measures the same kernels itself with libwirewatt.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "wirewatt/wirewatt.h"

namespace {

struct SpaceHandle {
  char name[64];
};
struct ToolSettings {
  bool requires_global_fencing;
  bool padding[255];
};

// The part of the interface that Kokkos calls; null where the tool has no such function.
struct Tool {
  void (*init)(int, std::uint64_t, std::uint32_t, void*){};
  void (*finalize)(){};
  void (*settings)(std::uint32_t, ToolSettings*){};
  void (*begin_for)(const char*, std::uint32_t, std::uint64_t*){};
  void (*end_for)(std::uint64_t){};
  void (*begin_reduce)(const char*, std::uint32_t, std::uint64_t*){};
  void (*end_reduce)(std::uint64_t){};
  void (*push)(const char*){};
  void (*pop)(){};
  void (*begin_copy)(SpaceHandle, const char*, const void*, SpaceHandle, const char*, const void*,
                     std::uint64_t){};
};

template <class Function>
void look_up(void* library, Function& function, const char* name) {
  function = reinterpret_cast<Function>(dlsym(library, name));
}

Tool load_tool() {
  Tool tool;
  const char* names = std::getenv("KOKKOS_TOOLS_LIBS");
  if (names == nullptr) return tool;
  const std::string first(names, std::strcspn(names, ";"));
  void* library = dlopen(first.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) {
    std::fprintf(stderr, "Error: Unable to load KOKKOS_TOOLS_LIBS library '%s': %s\n",
                 first.c_str(), dlerror());
    return tool;
  }
  look_up(library, tool.init, "kokkosp_init_library");
  look_up(library, tool.finalize, "kokkosp_finalize_library");
  look_up(library, tool.settings, "kokkosp_request_tool_settings");
  look_up(library, tool.begin_for, "kokkosp_begin_parallel_for");
  look_up(library, tool.end_for, "kokkosp_end_parallel_for");
  look_up(library, tool.begin_reduce, "kokkosp_begin_parallel_reduce");
  look_up(library, tool.end_reduce, "kokkosp_end_parallel_reduce");
  look_up(library, tool.push, "kokkosp_push_profile_region");
  look_up(library, tool.pop, "kokkosp_pop_profile_region");
  look_up(library, tool.begin_copy, "kokkosp_begin_deep_copy");
  return tool;
}

constexpr std::uint64_t kInterface = 20210623;
constexpr std::uint32_t kHipDevice = 3u << 24;
constexpr std::size_t kWords = 1 << 16;

class Kernels {
 public:
  Kernels() {
    cl_platform_id platform = nullptr;
    cl_device_id device = nullptr;
    clGetPlatformIDs(1, &platform, nullptr);
    clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, nullptr);
    cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr);
    queue_ = clCreateCommandQueue(context, device, 0, nullptr);
    const char* text =
        "__kernel void copy(__global const uint* a, __global uint* b) {"
        "  b[get_global_id(0)] = a[get_global_id(0)]; }";
    cl_program program = clCreateProgramWithSource(context, 1, &text, nullptr, nullptr);
    clBuildProgram(program, 1, &device, "", nullptr, nullptr);
    kernel_ = clCreateKernel(program, "copy", nullptr);
    std::vector<std::uint32_t> data(kWords, 0xA5A5A5A5U);
    for (cl_uint argument = 0; argument < 2; ++argument) {
      cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, 4 * kWords,
                                     data.data(), nullptr);
      clSetKernelArg(kernel_, argument, sizeof(cl_mem), &buffer);
    }
  }
  void run(int times) {
    for (int i = 0; i < times; ++i) {
      clEnqueueNDRangeKernel(queue_, kernel_, 1, nullptr, &kWords, nullptr, 0, nullptr, nullptr);
    }
    clFinish(queue_);  // the fence that a tool gets
  }

 private:
  cl_command_queue queue_{};
  cl_kernel kernel_{};
};

struct Work {
  const char* label;
  int launches;
  bool reduces;
};
// Long enough for some readings of the sensor each.
constexpr int kFilled = 1500;
constexpr Work kInSolve[] = {{"axpy", 1500, false}, {"dot", 2000, true}, {"axpy", 1500, false}};

void run_for_tool() {
  const Tool tool = load_tool();
  if (tool.init != nullptr) tool.init(0, kInterface, 0, nullptr);
  ToolSettings settings{};
  settings.requires_global_fencing = true;
  if (tool.settings != nullptr) tool.settings(1, &settings);
  Kernels kernels;
  const auto run = [&](const Work& work) {
    std::uint64_t id = 0;
    const auto begin = work.reduces ? tool.begin_reduce : tool.begin_for;
    const auto end = work.reduces ? tool.end_reduce : tool.end_for;
    if (begin != nullptr) begin(work.label, kHipDevice, &id);
    kernels.run(work.launches);
    if (end != nullptr) end(id);
  };
  if (tool.push != nullptr) tool.push("solve");
  for (const Work& work : kInSolve) run(work);
  if (tool.pop != nullptr) tool.pop();
  run({"fill", kFilled, false});
  if (tool.finalize != nullptr) tool.finalize();
  std::printf("fencing %d\n", settings.requires_global_fencing ? 1 : 0);
}

int run_with_brackets(const char* model) {
  Kernels kernels;
  wirewatt_session* session = nullptr;
  if (wirewatt_open("", model, &session) != WIREWATT_OK) {
    std::fprintf(stderr, "%s\n", wirewatt_error());
    return 1;
  }
  const auto run = [&](const char* label, int launches) {
    wirewatt_begin(session);
    kernels.run(launches);
    wirewatt_reading reading{};
    reading.size = sizeof reading;
    wirewatt_end(session, &reading);
    std::printf("%s %.17g %.17g %.17g %.17g\n", label, reading.device.value,
                reading.interconnect.value, reading.segment[WIREWATT_L1_L2].value, reading.seconds);
  };
  for (const Work& work : kInSolve) run(work.label, work.launches);
  run("fill", kFilled);
  wirewatt_close(session);
  return 0;
}

}  // namespace

int main(int count, char** words) {
  if (count > 2 && std::strcmp(words[1], "bracket") == 0) return run_with_brackets(words[2]);
  run_for_tool();
  return 0;
}
