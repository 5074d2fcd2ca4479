#include "host/opencl_host.hpp"

#include <fmt/format.h>

#include <utility>

#include "host/opencl_names.hpp"
#include "ww/core/cl_approximable.h"
#include "ww/kernels/sources.hpp"

namespace ww::microbench {
namespace {

// What the caller got wrong has a code of its own; the rest is the device's.
ErrorCode kind_of(cl_int code) {
  switch (code) {
    case CL_INVALID_ARG_INDEX:
    case CL_INVALID_ARG_SIZE:
    case CL_INVALID_ARG_VALUE:
    case CL_INVALID_KERNEL_ARGS: return ErrorCode::invalid_argument;
    case CL_INVALID_BUFFER_SIZE:
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
    case CL_INVALID_WORK_GROUP_SIZE:
    case CL_INVALID_WORK_ITEM_SIZE:
    case CL_INVALID_GLOBAL_WORK_SIZE: return ErrorCode::out_of_range;
    case CL_INVALID_KERNEL_NAME: return ErrorCode::not_found;
    default: return ErrorCode::device_error;
  }
}

tl::unexpected<Error> opencl_failure(const char* call, cl_int code, std::string context = {}) {
  return fail(kind_of(code), fmt::format("{} failed: {}", call, opencl_error_name(code)),
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
  Buffer(const OpenClApi& api, cl_command_queue queue, cl_mem memory, std::size_t size,
         ww_cl_set_approximable_fn set_approximable)
      : api_(api),
        queue_(queue),
        memory_(memory),
        size_(size),
        set_approximable_(set_approximable) {}
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
  Status set_approximable(ApproximableType type, float threshold) override {
    if (set_approximable_ == nullptr) return {};
    const auto words = type == ApproximableType::int32     ? WW_CL_INT32
                       : type == ApproximableType::float32 ? WW_CL_FLOAT32
                                                           : WW_CL_UINT8;
    const cl_int status = set_approximable_(memory_, words, threshold);
    if (status != CL_SUCCESS) return opencl_failure(WW_CL_SET_APPROXIMABLE, status);
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
  ww_cl_set_approximable_fn set_approximable_;
};

// A queue that stamps its commands, made when it is first needed: profiling slows a driver's
// launches.
class TimingQueue {
 public:
  TimingQueue(const OpenClApi& api, cl_context context, cl_device_id device)
      : api_(api), context_(context), device_(device) {}
  ~TimingQueue() {
    if (queue_ != nullptr) api_.clReleaseCommandQueue(queue_);
  }
  TimingQueue(const TimingQueue&) = delete;
  TimingQueue& operator=(const TimingQueue&) = delete;
  Result<cl_command_queue> get() {
    if (queue_ != nullptr) return queue_;
    cl_int status = CL_SUCCESS;
    queue_ = api_.clCreateCommandQueue(context_, device_, CL_QUEUE_PROFILING_ENABLE, &status);
    if (status != CL_SUCCESS) {
      queue_ = nullptr;
      return opencl_failure("clCreateCommandQueue", status);
    }
    return queue_;
  }

 private:
  const OpenClApi& api_;
  cl_context context_;
  cl_device_id device_;
  cl_command_queue queue_{};
};

class Kernel final : public LoadedKernel {
 public:
  Kernel(const OpenClApi& api, cl_command_queue queue, std::shared_ptr<TimingQueue> timing,
         cl_program program, cl_kernel kernel, std::string name)
      : api_(api),
        queue_(queue),
        timing_(std::move(timing)),
        program_(program),
        kernel_(kernel),
        name_(std::move(name)) {}
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
    // NOLINTNEXTLINE(bugprone-sizeof-expression): a handle is passed, not what it points to
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
  Result<double> time_launch(std::size_t groups, std::size_t group_size) override {
    WW_ASSIGN(queue, timing_->get());
    if (const cl_int status = api_.clFinish(queue_); status != CL_SUCCESS) {
      return opencl_failure("clFinish", status, name_);
    }
    const std::size_t global = groups * group_size;
    cl_event event = nullptr;
    cl_int status = api_.clEnqueueNDRangeKernel(queue, kernel_, 1, nullptr, &global, &group_size, 0,
                                                nullptr, &event);
    if (status != CL_SUCCESS) return opencl_failure("clEnqueueNDRangeKernel", status, name_);
    cl_ulong begin = 0;
    cl_ulong end = 0;
    status = api_.clFinish(queue);
    if (status == CL_SUCCESS) {
      status = api_.clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof begin, &begin,
                                            nullptr);
    }
    if (status == CL_SUCCESS) {
      status =
          api_.clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, nullptr);
    }
    api_.clReleaseEvent(event);
    if (status != CL_SUCCESS) return opencl_failure("timing a launch", status, name_);
    return static_cast<double>(end - begin) * 1e-9;
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
  std::shared_ptr<TimingQueue> timing_;
  cl_program program_;
  cl_kernel kernel_;
  std::string name_;
};

class Host final : public ComputeHost {
 public:
  Host(const OpenClApi& api, cl_device_id device, cl_context context, cl_command_queue queue)
      : api_(api),
        device_(device),
        context_(context),
        queue_(queue),
        timing_(std::make_shared<TimingQueue>(api, context, device)) {}
  ~Host() override {
    api_.clFinish(queue_);
    timing_.reset();
    api_.clReleaseCommandQueue(queue_);
    api_.clReleaseContext(context_);
  }

  std::string device_name() const override { return device_text(api_, device_, CL_DEVICE_NAME); }
  std::string driver_version() const override {
    return device_text(api_, device_, CL_DRIVER_VERSION);
  }
  HostFacts facts() const override {
    HostFacts known;
    known.api = "opencl";
    known.device = device_name();
    known.driver = driver_version();
    const OpenClIdentity identity = identify_opencl({platform_name(), known.device, known.driver});
    known.target = identity.target.empty() ? nvidia_target() : identity.target;
    known.no_code = identity.no_code;
    // Our own driver behind whatever name of a device.
    known.is_virtual = platform_name().starts_with("wirewatt");
    known.pci_bus = pci_bus();
    cl_uint units = 0;
    if (query(CL_DEVICE_MAX_COMPUTE_UNITS, units)) known.compute_units = static_cast<int>(units);
    cl_ulong cache = 0;
    if (query(CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, cache)) {
      known.l2_bytes = static_cast<std::int64_t>(cache);
    }
    const auto bytes = [this](cl_device_info which) {
      cl_ulong value = 0;
      return query(which, value) ? static_cast<std::int64_t>(value) : 0;
    };
    known.memory_bytes = bytes(CL_DEVICE_GLOBAL_MEM_SIZE);
    known.constant_bytes = bytes(CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE);
    known.local_bytes = bytes(CL_DEVICE_LOCAL_MEM_SIZE);
    std::size_t largest = 0;
    if (query(CL_DEVICE_MAX_WORK_GROUP_SIZE, largest)) {
      known.largest_group = static_cast<int>(largest);
    }
    constexpr std::int64_t kHertzOfMegahertz = 1'000'000;
    cl_uint megahertz = 0;
    if (query(CL_DEVICE_MAX_CLOCK_FREQUENCY, megahertz)) {
      known.clock_hz = megahertz * kHertzOfMegahertz;
    }
    return known;
  }

  // Null where the platform has no cl_ww_approximable.
  [[nodiscard]] ww_cl_set_approximable_fn set_approximable() const {
    cl_platform_id platform = nullptr;
    if (!query(CL_DEVICE_PLATFORM, platform)) return nullptr;
    return reinterpret_cast<ww_cl_set_approximable_fn>(
        api_.clGetExtensionFunctionAddressForPlatform(platform, WW_CL_SET_APPROXIMABLE));
  }

  Result<std::unique_ptr<DeviceBuffer>> create_buffer(std::size_t bytes) override {
    if (bytes == 0) return fail(ErrorCode::invalid_argument, "a buffer of 0 B");
    // Some drivers take any size and fail at the first use.
    cl_ulong most = 0;
    if (api_.clGetDeviceInfo(device_, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof most, &most, nullptr) ==
            CL_SUCCESS &&
        most != 0 && bytes > most) {
      return fail(ErrorCode::out_of_range,
                  fmt::format("a buffer of {} B; the device allows {} B", bytes, most),
                  device_name());
    }
    cl_int status = CL_SUCCESS;
    const cl_mem memory = api_.clCreateBuffer(context_, CL_MEM_READ_WRITE, bytes, nullptr, &status);
    if (status != CL_SUCCESS) {
      return opencl_failure("clCreateBuffer", status, fmt::format("{} B", bytes));
    }
    return std::make_unique<Buffer>(api_, queue_, memory, bytes, set_approximable());
  }

  Result<std::vector<std::byte>> build(const std::string& text, const std::string& name) override {
    cl_int status = CL_SUCCESS;
    const char* pointer = text.c_str();
    const std::size_t length = text.size();
    const cl_program program =
        api_.clCreateProgramWithSource(context_, 1, &pointer, &length, &status);
    if (status != CL_SUCCESS) return opencl_failure("clCreateProgramWithSource", status, name);
    auto binary = built_binary(program, name, kernels::compiler_options(text, facts().target));
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
    return std::make_unique<Kernel>(api_, queue_, timing_, program, handle, kernel);
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
  template <class T>
  bool query(cl_device_info what, T& value) const {
    // NOLINTNEXTLINE(bugprone-sizeof-expression): a platform's handle is a value, too
    return api_.clGetDeviceInfo(device_, what, sizeof value, &value, nullptr) == CL_SUCCESS;
  }
  // NVIDIA's devices give their compute capability (cl_nv_device_attribute_query).
  std::string nvidia_target() const {
    cl_uint major = 0;
    cl_uint minor = 0;
    if (query(0x4000, major) && query(0x4001, minor)) return fmt::format("sm_{}{}", major, minor);
    return {};
  }
  std::string platform_name() const {
    cl_platform_id platform = nullptr;
    if (!query(CL_DEVICE_PLATFORM, platform)) return {};
    return info_text([&](std::size_t size, void* value, std::size_t* needed) {
      return api_.clGetPlatformInfo(platform, CL_PLATFORM_NAME, size, value, needed);
    });
  }
  std::string pci_bus() const {
    struct {
      cl_uint domain, bus, device, function;
    } khr{};
    if (query(0x410F, khr)) {  // CL_DEVICE_PCI_BUS_INFO_KHR
      return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", khr.domain, khr.bus, khr.device,
                         khr.function);
    }
    struct {
      cl_uint type;
      unsigned char unused[17];
      char bus, device, function;
    } amd{};
    static_assert(sizeof amd == 24);
    if (query(0x4037, amd)) {  // CL_DEVICE_TOPOLOGY_AMD
      return fmt::format("0000:{:02x}:{:02x}.{:x}", static_cast<unsigned char>(amd.bus),
                         static_cast<unsigned char>(amd.device),
                         static_cast<unsigned char>(amd.function));
    }
    cl_uint bus = 0;
    cl_uint slot = 0;
    if (query(0x4008, bus) && query(0x4009, slot)) {  // CL_DEVICE_PCI_{BUS,SLOT}_ID_NV
      return fmt::format("0000:{:02x}:{:02x}.0", bus, slot >> 3);
    }
    return {};
  }

  Status build_program(cl_program program, const std::string& name,
                       const std::vector<std::string>& more_options = {}) {
    std::string options = "-cl-std=CL1.2";
    for (const std::string& option : more_options) options += " " + option;
    const cl_int status =
        api_.clBuildProgram(program, 1, &device_, options.c_str(), nullptr, nullptr);
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

  Result<std::vector<std::byte>> built_binary(cl_program program, const std::string& name,
                                              const std::vector<std::string>& more_options) {
    WW_TRY(build_program(program, name, more_options));
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
  std::shared_ptr<TimingQueue> timing_;
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
