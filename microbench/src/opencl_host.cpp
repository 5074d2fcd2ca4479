#include "opencl_host.hpp"

#include <fmt/format.h>

#include <utility>

namespace ww::microbench {
namespace {

tl::unexpected<Error> opencl_failure(const char* call, cl_int code, std::string context = {}) {
  return fail(ErrorCode::device_error, fmt::format("{} failed: {}", call, opencl_error_name(code)),
              std::move(context));
}

// Text of clGet*Info; empty when it cannot be had.
template <class Getter>
std::string info_text(const Getter& getter) {
  std::size_t size = 0;
  if (getter(0, nullptr, &size) != CL_SUCCESS || size == 0) return {};
  std::string text(size, '\0');
  if (getter(size, text.data(), nullptr) != CL_SUCCESS) return {};
  while (!text.empty() && text.back() == '\0') text.pop_back();
  return text;
}

std::string device_text(const OpenClApi& api, cl_device_id device, cl_device_info what) {
  return info_text([&](std::size_t size, void* value, std::size_t* needed) {
    return api.clGetDeviceInfo(device, what, size, value, needed);
  });
}

Result<std::vector<cl_platform_id>> platforms_of(const OpenClApi& api) {
  cl_uint count = 0;
  const cl_int status = api.clGetPlatformIDs(0, nullptr, &count);
  if (status == -1001 || (status == CL_SUCCESS && count == 0)) return std::vector<cl_platform_id>{};
  if (status != CL_SUCCESS) return opencl_failure("clGetPlatformIDs", status);
  std::vector<cl_platform_id> platforms(count);
  if (const cl_int again = api.clGetPlatformIDs(count, platforms.data(), nullptr);
      again != CL_SUCCESS) {
    return opencl_failure("clGetPlatformIDs", again);
  }
  return platforms;
}

std::vector<cl_device_id> devices_of(const OpenClApi& api, cl_platform_id platform) {
  cl_uint count = 0;
  if (api.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) != CL_SUCCESS) return {};
  std::vector<cl_device_id> devices(count);
  if (count == 0 || api.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, devices.data(),
                                       nullptr) != CL_SUCCESS) {
    return {};
  }
  return devices;
}

class Buffer final : public DeviceBuffer {
 public:
  Buffer(const OpenClApi& api, cl_command_queue queue, cl_mem memory, std::size_t size)
      : api_(api), queue_(queue), memory_(memory), size_(size) {}
  ~Buffer() override { api_.clReleaseMemObject(memory_); }

  std::size_t size() const override { return size_; }
  cl_mem memory() const { return memory_; }

  Status write(std::size_t offset, std::span<const std::byte> data) override {
    WW_TRY(check(offset, data.size()));
    const cl_int status = api_.clEnqueueWriteBuffer(queue_, memory_, CL_TRUE, offset, data.size(),
                                                    data.data(), 0, nullptr, nullptr);
    if (status != CL_SUCCESS) return opencl_failure("clEnqueueWriteBuffer", status);
    return {};
  }
  Status read(std::size_t offset, std::span<std::byte> data) override {
    WW_TRY(check(offset, data.size()));
    const cl_int status = api_.clEnqueueReadBuffer(queue_, memory_, CL_TRUE, offset, data.size(),
                                                   data.data(), 0, nullptr, nullptr);
    if (status != CL_SUCCESS) return opencl_failure("clEnqueueReadBuffer", status);
    return {};
  }

 private:
  [[nodiscard]] Status check(std::size_t offset, std::size_t bytes) const {
    if (bytes <= size_ && offset <= size_ - bytes) return {};
    return fail(ErrorCode::out_of_range,
                fmt::format("{} B at {} in a buffer of {} B", bytes, offset, size_));
  }
  const OpenClApi& api_;
  cl_command_queue queue_;
  cl_mem memory_;
  std::size_t size_;
};

class Kernel final : public LoadedKernel {
 public:
  Kernel(const OpenClApi& api, cl_command_queue queue, cl_program program, cl_kernel kernel,
         std::string name)
      : api_(api), queue_(queue), program_(program), kernel_(kernel), name_(std::move(name)) {}
  ~Kernel() override {
    api_.clReleaseKernel(kernel_);
    api_.clReleaseProgram(program_);
  }

  Status set(unsigned index, std::span<const std::byte> value) override {
    return set_raw(index, value.size(), value.data());
  }
  Status set(unsigned index, const DeviceBuffer& buffer) override {
    const auto* own = dynamic_cast<const Buffer*>(&buffer);
    if (own == nullptr) return fail(ErrorCode::invalid_argument, "a buffer of another host", name_);
    const cl_mem memory = own->memory();
    return set_raw(index, sizeof memory, &memory);
  }
  Status launch(std::size_t groups, std::size_t group_size) override {
    const std::size_t global = groups * group_size;
    return launch_raw(1, &global, &group_size);
  }
  Status launch_grid(const std::array<std::size_t, 3>& global,
                     const std::array<std::size_t, 3>& local) override {
    return launch_raw(3, global.data(), local.data());
  }

 private:
  Status launch_raw(cl_uint dimensions, const std::size_t* global, const std::size_t* local) {
    const cl_int status = api_.clEnqueueNDRangeKernel(queue_, kernel_, dimensions, nullptr, global,
                                                      local, 0, nullptr, nullptr);
    if (status != CL_SUCCESS) return opencl_failure("clEnqueueNDRangeKernel", status, name_);
    return {};
  }
  Status set_raw(unsigned index, std::size_t size, const void* value) {
    const cl_int status = api_.clSetKernelArg(kernel_, index, size, value);
    if (status == CL_SUCCESS) return {};
    return opencl_failure("clSetKernelArg", status, fmt::format("{}, argument {}", name_, index));
  }
  const OpenClApi& api_;
  cl_command_queue queue_;
  cl_program program_;
  cl_kernel kernel_;
  std::string name_;
};

class Host final : public ComputeHost {
 public:
  Host(const OpenClApi& api, cl_device_id device, cl_context context, cl_command_queue queue)
      : api_(api), device_(device), context_(context), queue_(queue) {}
  ~Host() override {
    api_.clFinish(queue_);
    api_.clReleaseCommandQueue(queue_);
    api_.clReleaseContext(context_);
  }

  std::string device_name() const override { return device_text(api_, device_, CL_DEVICE_NAME); }
  std::string driver_version() const override {
    return device_text(api_, device_, CL_DRIVER_VERSION);
  }

  Result<std::unique_ptr<DeviceBuffer>> create_buffer(std::size_t bytes) override {
    cl_int status = CL_SUCCESS;
    const cl_mem memory = api_.clCreateBuffer(context_, CL_MEM_READ_WRITE, bytes, nullptr, &status);
    if (status != CL_SUCCESS) {
      return opencl_failure("clCreateBuffer", status, fmt::format("{} B", bytes));
    }
    return std::make_unique<Buffer>(api_, queue_, memory, bytes);
  }

  Result<std::vector<std::byte>> build(const std::string& text, const std::string& name) override {
    cl_int status = CL_SUCCESS;
    const char* pointer = text.c_str();
    const std::size_t length = text.size();
    const cl_program program =
        api_.clCreateProgramWithSource(context_, 1, &pointer, &length, &status);
    if (status != CL_SUCCESS) return opencl_failure("clCreateProgramWithSource", status, name);
    auto binary = built_binary(program, name);
    api_.clReleaseProgram(program);
    return binary;
  }

  Result<std::unique_ptr<LoadedKernel>> load(std::span<const std::byte> binary,
                                             const std::string& kernel) override {
    const auto* bytes = reinterpret_cast<const unsigned char*>(binary.data());
    const std::size_t size = binary.size();
    cl_int status = CL_SUCCESS;
    cl_int of_binary = CL_SUCCESS;
    const cl_program program =
        api_.clCreateProgramWithBinary(context_, 1, &device_, &size, &bytes, &of_binary, &status);
    if (status != CL_SUCCESS) return opencl_failure("clCreateProgramWithBinary", status, kernel);
    if (auto built = build_program(program, kernel); !built) {
      api_.clReleaseProgram(program);
      return tl::unexpected(built.error());
    }
    const cl_kernel handle = api_.clCreateKernel(program, kernel.c_str(), &status);
    if (status != CL_SUCCESS) {
      api_.clReleaseProgram(program);
      return opencl_failure("clCreateKernel", status, kernel);
    }
    return std::make_unique<Kernel>(api_, queue_, program, handle, kernel);
  }

  Status flush() override {
    const cl_int status = api_.clFlush(queue_);
    if (status != CL_SUCCESS) return opencl_failure("clFlush", status);
    return {};
  }
  Status finish() override {
    const cl_int status = api_.clFinish(queue_);
    if (status != CL_SUCCESS) return opencl_failure("clFinish", status);
    return {};
  }

 private:
  Status build_program(cl_program program, const std::string& name) {
    const cl_int status =
        api_.clBuildProgram(program, 1, &device_, "-cl-std=CL1.2", nullptr, nullptr);
    if (status == CL_SUCCESS) return {};
    std::string log = info_text([&](std::size_t size, void* value, std::size_t* needed) {
      return api_.clGetProgramBuildInfo(program, device_, CL_PROGRAM_BUILD_LOG, size, value,
                                        needed);
    });
    const auto context = fmt::format("kernel {}", name);
    if (status == CL_COMPILER_NOT_AVAILABLE) {
      if (log.empty()) log = "the driver has no compiler";
      return fail(ErrorCode::missing_dependency, std::move(log), context);
    }
    return fail(ErrorCode::device_error,
                fmt::format("the build failed: {}\n{}", opencl_error_name(status), log), context);
  }

  Result<std::vector<std::byte>> built_binary(cl_program program, const std::string& name) {
    WW_TRY(build_program(program, name));
    std::size_t size = 0;
    cl_int status =
        api_.clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr);
    if (status != CL_SUCCESS) return opencl_failure("clGetProgramInfo", status, name);
    if (size == 0) {
      return fail(ErrorCode::device_error, "the driver gives no binary of what it built", name);
    }
    std::vector<std::byte> binary(size);
    auto* pointer = reinterpret_cast<unsigned char*>(binary.data());
    status = api_.clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof pointer, &pointer, nullptr);
    if (status != CL_SUCCESS) return opencl_failure("clGetProgramInfo", status, name);
    return binary;
  }

  const OpenClApi& api_;
  cl_device_id device_;
  cl_context context_;
  cl_command_queue queue_;
};

}  // namespace

Result<std::vector<OpenClDevice>> enumerate_opencl(const OpenClApi& api) {
  WW_ASSIGN(platforms, platforms_of(api));
  std::vector<OpenClDevice> found;
  for (std::size_t p = 0; p < platforms.size(); ++p) {
    const std::string platform_name =
        info_text([&](std::size_t size, void* value, std::size_t* needed) {
          return api.clGetPlatformInfo(platforms[p], CL_PLATFORM_NAME, size, value, needed);
        });
    const auto devices = devices_of(api, platforms[p]);
    for (std::size_t d = 0; d < devices.size(); ++d) {
      OpenClDevice entry;
      entry.platform = static_cast<int>(p);
      entry.device = static_cast<int>(d);
      entry.platform_name = platform_name;
      entry.device_name = device_text(api, devices[d], CL_DEVICE_NAME);
      cl_device_type type = 0;
      cl_bool available = CL_FALSE;
      cl_bool compiler = CL_FALSE;
      api.clGetDeviceInfo(devices[d], CL_DEVICE_TYPE, sizeof type, &type, nullptr);
      api.clGetDeviceInfo(devices[d], CL_DEVICE_AVAILABLE, sizeof available, &available, nullptr);
      api.clGetDeviceInfo(devices[d], CL_DEVICE_COMPILER_AVAILABLE, sizeof compiler, &compiler,
                          nullptr);
      entry.is_gpu = (type & CL_DEVICE_TYPE_GPU) != 0;
      entry.available = available == CL_TRUE;
      entry.has_compiler = compiler == CL_TRUE;
      found.push_back(std::move(entry));
    }
  }
  return found;
}

Result<std::unique_ptr<ComputeHost>> open_opencl_host(const OpenClApi& api, int platform,
                                                      int device) {
  WW_ASSIGN(platforms, platforms_of(api));
  if (platform < 0 || static_cast<std::size_t>(platform) >= platforms.size()) {
    return fail(ErrorCode::not_found, fmt::format("no OpenCL platform {}", platform));
  }
  const auto devices = devices_of(api, platforms[static_cast<std::size_t>(platform)]);
  if (device < 0 || static_cast<std::size_t>(device) >= devices.size()) {
    return fail(ErrorCode::not_found,
                fmt::format("no device {} on OpenCL platform {}", device, platform));
  }
  const cl_device_id id = devices[static_cast<std::size_t>(device)];
  cl_int status = CL_SUCCESS;
  const cl_context context = api.clCreateContext(nullptr, 1, &id, nullptr, nullptr, &status);
  if (status != CL_SUCCESS) return opencl_failure("clCreateContext", status);
  const cl_command_queue queue = api.clCreateCommandQueue(context, id, 0, &status);
  if (status != CL_SUCCESS) {
    api.clReleaseContext(context);
    return opencl_failure("clCreateCommandQueue", status);
  }
  return std::make_unique<Host>(api, id, context, queue);
}

}  // namespace ww::microbench
