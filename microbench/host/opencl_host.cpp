#include "host/opencl_host.hpp"

#include <fmt/format.h>

#include <deque>
#include <optional>
#include <utility>

#include "host/call_deadline.hpp"
#include "host/opencl_names.hpp"
#include "host/shared_library.hpp"
#include "ww/core/cl_approximable.h"
#include "ww/kernels/sources.hpp"

namespace ww::microbench {
namespace {

// Gives the caller's mistakes codes of their own; the rest is the device's.
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

// The devices of a context, each with its queues, and the one on which launches run.
class Parts {
 public:
  Parts(const OpenClApi& api, cl_context context, std::vector<cl_device_id> devices,
        std::vector<cl_command_queue> queues)
      : api_(api), devices_(std::move(devices)), queues_(std::move(queues)) {
    for (const cl_device_id device : devices_) timing_.emplace_back(api, context, device);
  }
  ~Parts() {
    timing_.clear();
    for (const cl_command_queue queue : queues_) api_.clReleaseCommandQueue(queue);
  }
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  [[nodiscard]] const std::vector<cl_device_id>& devices() const { return devices_; }
  [[nodiscard]] cl_command_queue queue() const { return queues_[used_]; }
  [[nodiscard]] TimingQueue& timing() { return timing_[used_]; }
  [[nodiscard]] std::size_t used() const { return used_; }
  void use(std::size_t part) { used_ = part; }
  // The virtual GPU executes on this processor, and takes as long as that takes.
  void wait_without_deadline() { hangs_ = false; }
  [[nodiscard]] cl_int finish(cl_command_queue queue) const {
    std::optional<CallDeadline> deadline;
    if (hangs_) deadline.emplace();
    return api_.clFinish(queue);
  }

 private:
  const OpenClApi& api_;
  bool hangs_{true};  // it may
  std::vector<cl_device_id> devices_;
  std::vector<cl_command_queue> queues_;
  std::deque<TimingQueue> timing_;
  std::size_t used_{};
};

class Kernel final : public LoadedKernel {
 public:
  Kernel(const OpenClApi& api, std::shared_ptr<Parts> parts, cl_program program, cl_kernel kernel,
         std::string name)
      : api_(api),
        parts_(std::move(parts)),
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
    WW_ASSIGN(queue, parts_->timing().get());
    if (const cl_int status = parts_->finish(parts_->queue()); status != CL_SUCCESS) {
      return opencl_failure("clFinish", status, name_);
    }
    const std::size_t global = groups * group_size;
    cl_event event = nullptr;
    cl_int status = api_.clEnqueueNDRangeKernel(queue, kernel_, 1, nullptr, &global, &group_size, 0,
                                                nullptr, &event);
    if (status != CL_SUCCESS) return opencl_failure("clEnqueueNDRangeKernel", status, name_);
    cl_ulong begin = 0;
    cl_ulong end = 0;
    status = parts_->finish(queue);
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
    const cl_int status = api_.clEnqueueNDRangeKernel(parts_->queue(), kernel_, dimensions, nullptr,
                                                      global, local, 0, nullptr, nullptr);
    if (status != CL_SUCCESS) return opencl_failure("clEnqueueNDRangeKernel", status, name_);
    return {};
  }
  Status set_raw(unsigned index, std::size_t size, const void* value) {
    const cl_int status = api_.clSetKernelArg(kernel_, index, size, value);
    if (status == CL_SUCCESS) return {};
    return opencl_failure("clSetKernelArg", status, fmt::format("{}, argument {}", name_, index));
  }
  const OpenClApi& api_;
  std::shared_ptr<Parts> parts_;
  cl_program program_;
  cl_kernel kernel_;
  std::string name_;
};

class Host final : public ComputeHost {
 public:
  Host(const OpenClApi& api, cl_context context, std::shared_ptr<Parts> parts)
      : api_(api), device_(parts->devices().front()), context_(context), parts_(std::move(parts)) {
    if (is_virtual()) parts_->wait_without_deadline();
  }
  ~Host() override {
    static_cast<void>(parts_->finish(parts_->queue()));
    parts_.reset();
    api_.clReleaseContext(context_);
  }

  int parts() const override { return static_cast<int>(parts_->devices().size()); }
  Status use_part(int part) override {
    if (part < 0 || part >= parts()) {
      return fail(ErrorCode::out_of_range, fmt::format("there is no part {}", part), device_name());
    }
    WW_TRY(finish());
    parts_->use(static_cast<std::size_t>(part));
    return {};
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
    known.is_virtual = is_virtual();
    known.pci_bus = pci_bus();
    cl_uint units = 0;
    if (query(CL_DEVICE_MAX_COMPUTE_UNITS, units)) known.compute_units = static_cast<int>(units);
    // CL_DEVICE_GLOBAL_MEM_CACHE_SIZE is not the L2: AMD's and NVIDIA's drivers give the L1.
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
    return reinterpret_cast<ww_cl_set_approximable_fn>(platform_function(WW_CL_SET_APPROXIMABLE));
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
    auto buffer =
        std::make_unique<Buffer>(api_, parts_->queue(), memory, bytes, set_approximable());
    // A context's buffers begin in its first device's memory.
    if (parts_->used() != 0) {
      status = api_.clEnqueueMigrateMemObjects(parts_->queue(), 1, &memory, 0, 0, nullptr, nullptr);
      if (status != CL_SUCCESS) return opencl_failure("clEnqueueMigrateMemObjects", status);
    }
    return buffer;
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
    const std::vector<cl_device_id>& devices = parts_->devices();
    const std::vector bytes(devices.size(), reinterpret_cast<const unsigned char*>(binary.data()));
    const std::vector sizes(devices.size(), binary.size());
    std::vector<cl_int> of_binary(devices.size());
    cl_int status = CL_SUCCESS;
    const cl_program program = api_.clCreateProgramWithBinary(
        context_, static_cast<cl_uint>(devices.size()), devices.data(), sizes.data(),
        const_cast<const unsigned char**>(bytes.data()), of_binary.data(), &status);
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
    return std::make_unique<Kernel>(api_, parts_, program, handle, kernel);
  }

  Status flush() override {
    const cl_int status = api_.clFlush(parts_->queue());
    if (status != CL_SUCCESS) return opencl_failure("clFlush", status);
    return {};
  }
  Status finish() override {
    const cl_int status = parts_->finish(parts_->queue());
    if (status != CL_SUCCESS) return opencl_failure("clFinish", status);
    return {};
  }

 private:
  template <class T>
  bool query(cl_device_info what, T& value) const {
    // NOLINTNEXTLINE(bugprone-sizeof-expression): a platform's handle is a value, too
    return api_.clGetDeviceInfo(device_, what, sizeof value, &value, nullptr) == CL_SUCCESS;
  }
  // Our own driver behind whatever name of a device, or a test's that stands for a card's.
  [[nodiscard]] bool is_virtual() const {
    return platform_name().starts_with("wirewatt") ||
           platform_function(kVirtualDeviceFunction) != nullptr;
  }
  // Null where the device's platform has no such extension function.
  [[nodiscard]] void* platform_function(const char* name) const {
    cl_platform_id platform = nullptr;
    if (!query(CL_DEVICE_PLATFORM, platform)) return nullptr;
    return api_.clGetExtensionFunctionAddressForPlatform(platform, name);
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
        api_.clBuildProgram(program, static_cast<cl_uint>(parts_->devices().size()),
                            parts_->devices().data(), options.c_str(), nullptr, nullptr);
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
    // The parts of a package are equal: the first one's binary is everybody's.
    const std::size_t devices = parts_->devices().size();
    std::vector<std::size_t> sizes(devices);
    cl_int status = api_.clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES,
                                          devices * sizeof(std::size_t), sizes.data(), nullptr);
    if (status != CL_SUCCESS) return opencl_failure("clGetProgramInfo", status, name);
    const std::size_t size = sizes.front();
    if (size == 0) {
      return fail(ErrorCode::device_error, "the driver gives no binary of what it built", name);
    }
    std::vector<std::byte> binary(size);
    std::vector<unsigned char*> pointers(devices);
    pointers.front() = reinterpret_cast<unsigned char*>(binary.data());
    status = api_.clGetProgramInfo(program, CL_PROGRAM_BINARIES, devices * sizeof(unsigned char*),
                                   pointers.data(), nullptr);
    if (status != CL_SUCCESS) return opencl_failure("clGetProgramInfo", status, name);
    return binary;
  }

  const OpenClApi& api_;
  cl_device_id device_;
  cl_context context_;
  std::shared_ptr<Parts> parts_;
};

// The device alone; where it is the first of a package that our own driver shows, all of them.
// Other drivers' devices of one platform need not reach each other's memory.
std::vector<cl_device_id> parts_of(const OpenClApi& api, cl_platform_id platform,
                                   const std::vector<cl_device_id>& devices, std::size_t device) {
  const std::string name = info_text([&](std::size_t size, void* value, std::size_t* needed) {
    return api.clGetPlatformInfo(platform, CL_PLATFORM_NAME, size, value, needed);
  });
  if (device == 0 && name.starts_with("wirewatt")) return devices;
  return {devices[device]};
}

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
    return fail(ErrorCode::missing_dependency, fmt::format("no OpenCL platform {}", platform));
  }
  const auto devices = devices_of(api, platforms[static_cast<std::size_t>(platform)]);
  if (device < 0 || static_cast<std::size_t>(device) >= devices.size()) {
    return fail(ErrorCode::missing_dependency,
                fmt::format("no device {} on OpenCL platform {}", device, platform));
  }
  const auto ids = parts_of(api, platforms[static_cast<std::size_t>(platform)], devices,
                            static_cast<std::size_t>(device));
  cl_int status = CL_SUCCESS;
  const cl_context context = api.clCreateContext(nullptr, static_cast<cl_uint>(ids.size()),
                                                 ids.data(), nullptr, nullptr, &status);
  if (status != CL_SUCCESS) return opencl_failure("clCreateContext", status);
  std::vector<cl_command_queue> queues;
  for (const cl_device_id id : ids) {
    const cl_command_queue queue = api.clCreateCommandQueue(context, id, 0, &status);
    if (status == CL_SUCCESS) {
      queues.push_back(queue);
      continue;
    }
    for (const cl_command_queue made : queues) api.clReleaseCommandQueue(made);
    api.clReleaseContext(context);
    return opencl_failure("clCreateCommandQueue", status);
  }
  return std::make_unique<Host>(api, context,
                                std::make_shared<Parts>(api, context, ids, std::move(queues)));
}

}  // namespace ww::microbench
