// Launches: by the host stub's address, by module function, cooperative; and the configuration that
// <<<>>> leaves for the stub.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <set>
#include <span>
#include <type_traits>
#include <vector>

#include "common/launch/findings.hpp"
#include "common/launch/launch.hpp"
#include "common/runtime/tool_loader.hpp"
#include "hip/memory/registered_host.hpp"
#include "hip/module/hidden_buffers.hpp"
#include "hip/module/hostcall.hpp"
#include "hip/module/module.hpp"
#include "hip/module/occupancy.hpp"
#include "hip/stream/stream.hpp"
#include "hip/stream/work.hpp"
#include "ww/sim/gpu/memory_fault.hpp"

namespace ww::sim::driver::hip {
namespace {

// The words of `extra`, in any order until the end.
const void* const kBufferPointer = reinterpret_cast<const void*>(1);
const void* const kBufferSize = reinterpret_cast<const void*>(2);
const void* const kExtraEnd = reinterpret_cast<const void*>(3);

struct LaunchRequest {
  Dim3 blocks;
  Dim3 threads;  // of a whole block
  std::uint32_t dynamic_lds{};
  void* const* arguments{};
  void** extra{};
  Cooperation cooperation{};
  Dim3 last{0, 0, 0};  // threads of the last block along an axis, where they are fewer than in the
                       // others; else 0
};

struct CallConfiguration {
  Dim3 blocks;
  Dim3 threads;
  std::size_t dynamic_lds{};
  void* stream{};
};

// Configurations that the calling thread has pushed and not yet popped: one, unless a launch's
// arguments launch in their turn. Nothing destroys it: launches work while the program ends.
struct CallConfigurations {
  static constexpr std::size_t kMax = 64;
  std::array<CallConfiguration, kMax> entries;
  std::size_t count;
};
static_assert(std::is_trivially_destructible_v<CallConfigurations>);

CallConfigurations& call_configurations() {
  thread_local CallConfigurations stack{};
  return stack;
}

bool hidden_argument(const binpatch::KernelArgument& argument) {
  return argument.value_kind.starts_with("hidden_");
}

std::size_t kernarg_bytes(const binpatch::Kernel& kernel) {
  std::size_t bytes = std::max(kernel.kernarg_segment_size, kernel.descriptor.kernarg_size);
  for (const auto& argument : kernel.arguments) {
    bytes = std::max<std::size_t>(bytes, std::size_t{argument.offset} + argument.size);
  }
  return bytes;
}

// The host has no description of a kernel's parameters but the code object's.
int pack_arguments(const binpatch::Kernel& kernel, void* const* values,
                   std::vector<std::byte>& kernarg) {
  for (const auto& argument : kernel.arguments) {
    if (hidden_argument(argument)) continue;
    if (values == nullptr || *values == nullptr) return kInvalidValue;
    std::memcpy(kernarg.data() + argument.offset, *values++, argument.size);
  }
  return kSuccess;
}

int pack_buffer(const binpatch::Kernel& kernel, void** extra, std::vector<std::byte>& kernarg) {
  const void* buffer = nullptr;
  std::size_t size = 0;
  for (; *extra != kExtraEnd; extra += 2) {
    if (*extra == kBufferPointer) {
      buffer = extra[1];
    } else if (*extra == kBufferSize && extra[1] != nullptr) {
      size = *static_cast<const std::size_t*>(extra[1]);
    } else {
      return kInvalidValue;
    }
  }
  std::size_t explicit_bytes = 0;
  for (const auto& argument : kernel.arguments) {
    if (hidden_argument(argument)) continue;
    explicit_bytes = std::max<std::size_t>(explicit_bytes, argument.offset + argument.size);
  }
  if (buffer == nullptr || size < explicit_bytes) return kInvalidValue;
  std::memcpy(kernarg.data(), buffer, std::min(size, explicit_bytes));
  return kSuccess;
}

int check_shape(const binpatch::Kernel& kernel, const LaunchRequest& request, LaunchShape& shape) {
  const std::uint64_t blocks[3] = {request.blocks.x, request.blocks.y, request.blocks.z};
  const std::uint32_t threads[3] = {request.threads.x, request.threads.y, request.threads.z};
  const std::uint32_t last[3] = {request.last.x, request.last.y, request.last.z};
  std::uint64_t block = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (blocks[axis] == 0 || threads[axis] == 0) return kInvalidValue;
    if (threads[axis] > kMaxBlockThreads) return kInvalidConfiguration;
    block *= threads[axis];
    const std::uint64_t items =
        blocks[axis] * threads[axis] - (last[axis] != 0 ? threads[axis] - last[axis] : 0);
    if (items > UINT32_MAX) return kInvalidConfiguration;
    shape.global[axis] = static_cast<std::uint32_t>(items);
    shape.local[axis] = threads[axis];
  }
  shape.dimensions = 3;
  if (block > kMaxBlockThreads) return kInvalidConfiguration;
  if (kernel.max_flat_workgroup_size != 0 && block > kernel.max_flat_workgroup_size) {
    return kLaunchFailure;  // beyond __launch_bounds__
  }
  if (kernel.needs_even_workgroups && (last[0] != 0 || last[1] != 0 || last[2] != 0)) {
    print_line(fmt::format(
        "HIP: kernel '{}' was compiled for blocks that are all alike, and the last one would be "
        "smaller; compile with -fno-offload-uniform-block, or launch whole blocks",
        kernel.name));
    return kInvalidValue;
  }
  const auto lds = std::uint64_t{kernel.descriptor.group_segment_fixed_size} + request.dynamic_lds;
  const auto most = static_cast<std::uint64_t>(device().chip().architecture().lds_bytes_per_cu);
  return lds > most ? kInvalidValue : kSuccess;
}

// The reason that ends a kernel is the device's error; it shows when the program next waits for it
// or uses its memory. A launch that does not fit is the call's error.
int launch_failed(const binpatch::Kernel& kernel, const Error& error) {
  print_line(why_it_failed(kernel, error));
  if (!has_begun(error)) return kLaunchOutOfResources;
  if (error.code == ErrorCode::unsupported) {
    device_error() = kNotSupported;
  } else {
    // The codes of AMD's runtime: a trap, by which assert() ends a kernel, is a failed launch.
    device_error() =
        error.message.starts_with(gpu::kMemoryFault) ? kIllegalAddress : kLaunchFailure;
  }
  return kSuccess;
}

// A launch whose arguments are copied.
struct PackedLaunch {
  const Function* function{};
  LaunchShape shape;
  std::uint32_t dynamic_lds{};
  Cooperation cooperation{};
  std::vector<std::byte> kernarg;
};

tl::expected<PackedLaunch, int> pack(const Function& function, const LaunchRequest& request) {
  const binpatch::Kernel& kernel = *function.kernel;
  PackedLaunch packed{&function, {}, request.dynamic_lds, request.cooperation, {}};
  if (const int bad = check_shape(kernel, request, packed.shape); bad != kSuccess) {
    return tl::unexpected<int>(bad);
  }
  if (!function.missing.empty()) {
    print_line(
        fmt::format("HIP: kernel '{}' needs the argument {}, which the virtual GPU does not have",
                    kernel.name, function.missing));
    device_error() = kNotSupported;  // what it should compute is not there
    return tl::unexpected<int>(kNotSupported);
  }
  packed.kernarg.resize(kernarg_bytes(kernel));
  const int code = request.extra != nullptr
                       ? pack_buffer(kernel, request.extra, packed.kernarg)
                       : pack_arguments(kernel, request.arguments, packed.kernarg);
  if (code != kSuccess) return tl::unexpected<int>(code);
  write_hidden_arguments(kernel.arguments, packed.shape, request.dynamic_lds, packed.kernarg);
  return packed;
}

int run(PackedLaunch& packed) {
  const Module& module = *packed.function->module;
  const binpatch::Kernel& kernel = *packed.function->kernel;
  const LaunchShape& shape = packed.shape;
  if (!place_hostcall_buffer(kernel, packed.kernarg) ||
      !place_hidden_buffers(kernel, packed.cooperation, shape, packed.kernarg)) {
    return kOutOfMemory;
  }
  // AMD's library has one queue for cooperative launches, which no stream's mask applies to.
  const bool cooperative = packed.cooperation != Cooperation::none;
  const gpu::Grid grid{shape.dimensions, shape.global, shape.local, cooperative,
                       cooperative ? CuMask{} : cus_of_work()};
  const TwinsInUse twins;
  const auto done =
      device().launch(module.program, kernel.name, grid, packed.kernarg, packed.dynamic_lds);
  print_buffer(*module.object, kernel);
  end_hostcalls();
  note_mistakes(module.program, *module.object, kernel.name, packed.kernarg, done.has_value());
  Runtime::get().record_launch();
  note_launches();
  if (!done) return launch_failed(kernel, done.error());
  return kSuccess;
}

// The launch as calls of graphs describe it: `named` is the stub or the function, and the arguments
// are the node's own.
KernelCall call_of(const void* named, const LaunchRequest& request, const PackedLaunch& packed) {
  auto arguments = std::make_shared<KernelArguments>();
  arguments->bytes = packed.kernarg;
  for (const auto& argument : packed.function->kernel->arguments) {
    if (hidden_argument(argument)) continue;
    arguments->pointers.push_back(arguments->bytes.data() + argument.offset);
  }
  return {{request.threads, nullptr, named, request.blocks, arguments->pointers.data(),
           request.dynamic_lds},
          arguments,
          {}};
}

// Makes a launch the work of a graph, which may run after its module was unloaded.
NodeWork as_work(const void* named, const LaunchRequest& request, PackedLaunch packed) {
  KernelCall call = call_of(named, request, packed);
  return {[packed = std::move(packed)]() mutable -> int {
            return is_function(packed.function) ? run(packed) : kInvalidDeviceFunction;
          },
          std::move(call), nullptr};
}

// Every block of a cooperative launch has to be on the chip at once.
int check_cooperative(const Function& function, const LaunchRequest& request) {
  for (const Dim3& size : {request.blocks, request.threads}) {
    if (size.x == 0 || size.y == 0 || size.z == 0) return kInvalidConfiguration;
  }
  LaunchShape shape;
  const int bad = check_shape(*function.kernel, request, shape);
  if (bad != kSuccess) return bad == kInvalidValue ? kCooperativeLaunchTooLarge : bad;
  const auto resident = resident_blocks(function, request.threads, request.dynamic_lds);
  if (!resident) return resident.error();
  const auto cus =
      static_cast<std::uint64_t>(device().chip().architecture().compute_units_of_device());
  const std::uint64_t blocks =
      std::uint64_t{request.blocks.x} * request.blocks.y * request.blocks.z;
  return blocks > *resident * cus ? kCooperativeLaunchTooLarge : kSuccess;
}

int launch(const void* named, const Function& function, const LaunchRequest& request,
           const void* stream) {
  if (request.cooperation != Cooperation::none) {
    if (const int bad = check_cooperative(function, request); bad != kSuccess) return bad;
  }
  const auto capture = capture_for_work(stream);
  if (!capture) return capture.error();
  auto packed = pack(function, request);
  if (!packed) return packed.error();
  if (*capture == nullptr) return run(*packed);
  note_work(stream, NodeKind::kernel, as_work(named, request, std::move(*packed)));
  return kSuccess;
}

int launch_stub(const void* stub, const LaunchRequest& request, std::size_t dynamic_lds,
                void* stream) {
  return guarded_work([&]() -> int {
    if (!is_stream(stream)) return kContextIsDestroyed;
    if (dynamic_lds > UINT32_MAX) return kInvalidValue;
    const auto function = function_of_stub(stub);
    if (!function) return function.error();
    LaunchRequest whole = request;
    whole.dynamic_lds = static_cast<std::uint32_t>(dynamic_lds);
    return launch(stub, **function, whole, stream);
  });
}

int launch_function(const void* handle, const LaunchRequest& request, void* stream) {
  return guarded_work([&]() -> int {
    if (!is_function(handle)) return kInvalidHandle;
    if (!is_stream(stream)) return kContextIsDestroyed;
    if (request.arguments != nullptr && request.extra != nullptr) return kInvalidValue;
    return launch(handle, *static_cast<const Function*>(handle), request, stream);
  });
}

// Returns the function that a kernel node names: by a host stub, or of a captured launch.
tl::expected<const Function*, int> function_named(const void* named) {
  if (is_function(named)) return static_cast<const Function*>(named);
  const auto function = function_of_stub(named);
  if (!function) return tl::unexpected<int>(function.error());
  return *function;
}

// Checks a cooperative launch on several devices: there may be one.
template <class Launch>
int check_devices(const char* call, const Launch* launches, int count, unsigned flags) {
  constexpr unsigned kMaxFlags = 3;  // no waiting before, none after
  return guarded([&]() -> int {
    if (launches == nullptr || count <= 0 || flags > kMaxFlags || !is_ordinal(count - 1)) {
      return kInvalidValue;
    }
    if (count > 1) return refuse_form(std::string(call) + " on several devices");
    return launches->stream == nullptr ? kInvalidHandle : kSuccess;
  });
}

// A launch, and where they are given the events that note the times before and after it.
template <class Launch>
int between_events(void* start, void* stop, const void* stream, Launch&& launch_now) {
  if (start != nullptr) {
    const int bad = guarded([&] { return record_event(start, stream); });
    if (bad != kSuccess) return bad;
  }
  const int code = launch_now();
  if (code != kSuccess || stop == nullptr) return code;
  return guarded([&] { return record_event(stop, stream); });
}

int push_configuration(const CallConfiguration& configuration) {
  CallConfigurations& stack = call_configurations();
  if (stack.count == CallConfigurations::kMax) return finish(kInvalidConfiguration);
  stack.entries[stack.count++] = configuration;
  return kSuccess;
}

// Arguments that hipSetupArgument() has put together for the thread's next launch.
constexpr std::size_t kMaxArgumentBytes = 64 * 1024;
std::vector<std::byte>& argument_buffer() {
  thread_local std::vector<std::byte> buffer;
  return buffer;
}

}  // namespace

tl::expected<NodeWork, int> kernel_work(const KernelNodeParameters& parameters, bool cooperative) {
  const auto function = function_named(parameters.named);
  if (!function) return tl::unexpected<int>(function.error());
  const LaunchRequest request{
      parameters.blocks,      parameters.threads,
      parameters.dynamic_lds, parameters.arguments,
      parameters.extra,       cooperative ? Cooperation::grid : Cooperation::none};
  if (cooperative) {
    if (const int bad = check_cooperative(**function, request); bad != kSuccess) {
      return tl::unexpected<int>(bad);
    }
  }
  auto packed = pack(**function, request);
  if (!packed) return tl::unexpected<int>(packed.error());
  return as_work(parameters.named, request, std::move(*packed));
}

// The calls of compilers before HIP 4, one argument at a time. The shape is on the same stack.
WW_HIP_EXPORT int hipConfigureCall(Dim3 blocks, Dim3 threads, std::size_t dynamic_lds,
                                   void* stream) {
  argument_buffer().clear();
  return push_configuration({blocks, threads, dynamic_lds, stream});
}
WW_HIP_EXPORT int hipSetupArgument(const void* value, std::size_t bytes, std::size_t offset) {
  if (value == nullptr || bytes > kMaxArgumentBytes || offset > kMaxArgumentBytes - bytes) {
    return finish(kInvalidValue);
  }
  std::vector<std::byte>& buffer = argument_buffer();
  buffer.resize(std::max(buffer.size(), offset + bytes));
  std::memcpy(buffer.data() + offset, value, bytes);
  return kSuccess;
}
WW_HIP_EXPORT int hipLaunchByPtr(const void* stub) {
  CallConfigurations& stack = call_configurations();
  if (stack.count == 0) return finish(kMissingConfiguration);
  const CallConfiguration shape = stack.entries[--stack.count];
  std::vector<std::byte> buffer = std::move(argument_buffer());
  argument_buffer().clear();
  std::size_t bytes = buffer.size();
  void* extra[] = {const_cast<void*>(kBufferPointer), buffer.data(), const_cast<void*>(kBufferSize),
                   &bytes, const_cast<void*>(kExtraEnd)};
  const bool has_arguments = bytes != 0;
  void* none = nullptr;
  return launch_stub(stub,
                     {shape.blocks, shape.threads, 0, has_arguments ? nullptr : &none,
                      has_arguments ? extra : nullptr},
                     shape.dynamic_lds, shape.stream);
}

// The compiler emits calls of these names.
// NOLINTBEGIN(bugprone-reserved-identifier)
WW_HIP_EXPORT int __hipPushCallConfiguration(Dim3 blocks, Dim3 threads, std::size_t dynamic_lds,
                                             void* stream) {
  return push_configuration({blocks, threads, dynamic_lds, stream});
}
WW_HIP_EXPORT int __hipPopCallConfiguration(Dim3* blocks, Dim3* threads, std::size_t* dynamic_lds,
                                            void** stream) {
  CallConfigurations& stack = call_configurations();
  if (stack.count == 0) return finish(kMissingConfiguration);
  const CallConfiguration& last = stack.entries[--stack.count];
  *blocks = last.blocks;
  *threads = last.threads;
  *dynamic_lds = last.dynamic_lds;
  *stream = last.stream;
  return kSuccess;
}
// NOLINTEND(bugprone-reserved-identifier)

WW_HIP_EXPORT int hipLaunchKernel(const void* stub, Dim3 blocks, Dim3 threads, void** arguments,
                                  std::size_t dynamic_lds, void* stream) {
  return launch_stub(stub, {blocks, threads, 0, arguments, nullptr}, dynamic_lds, stream);
}
WW_HIP_EXPORT int hipExtLaunchKernel(const void* stub, Dim3 blocks, Dim3 threads, void** arguments,
                                     std::size_t dynamic_lds, void* stream, void* start, void* stop,
                                     int) {
  return between_events(start, stop, stream, [&] {
    return hipLaunchKernel(stub, blocks, threads, arguments, dynamic_lds, stream);
  });
}
// Sizes in work-items. A block that is larger than all of them is as large as they are. Error
// kInvalidValue also where the last block is smaller than the others and the kernel was compiled
// for even ones.
WW_HIP_EXPORT int hipExtModuleLaunchKernel(const void* function, unsigned items_x, unsigned items_y,
                                           unsigned items_z, unsigned threads_x, unsigned threads_y,
                                           unsigned threads_z, std::size_t dynamic_lds,
                                           void* stream, void** arguments, void** extra,
                                           void* start, void* stop, unsigned) {
  const Dim3 threads{std::min(threads_x, items_x), std::min(threads_y, items_y),
                     std::min(threads_z, items_z)};
  if (threads.x == 0 || threads.y == 0 || threads.z == 0 || dynamic_lds > UINT32_MAX) {
    return finish(kInvalidValue);
  }
  const auto blocks = [](unsigned items, unsigned of_block) {
    return items / of_block + (items % of_block != 0 ? 1 : 0);
  };
  const LaunchRequest request{
      {blocks(items_x, threads.x), blocks(items_y, threads.y), blocks(items_z, threads.z)},
      threads,
      static_cast<std::uint32_t>(dynamic_lds),
      arguments,
      extra,
      Cooperation::none,
      {items_x % threads.x, items_y % threads.y, items_z % threads.z}};
  return between_events(start, stop, stream,
                        [&] { return launch_function(function, request, stream); });
}
WW_HIP_EXPORT int hipHccModuleLaunchKernel(const void* function, unsigned items_x, unsigned items_y,
                                           unsigned items_z, unsigned threads_x, unsigned threads_y,
                                           unsigned threads_z, std::size_t dynamic_lds,
                                           void* stream, void** arguments, void** extra,
                                           void* start, void* stop) {
  return hipExtModuleLaunchKernel(function, items_x, items_y, items_z, threads_x, threads_y,
                                  threads_z, dynamic_lds, stream, arguments, extra, start, stop, 0);
}
WW_HIP_EXPORT int hipLaunchCooperativeKernel(const void* stub, Dim3 blocks, Dim3 threads,
                                             void** arguments, unsigned dynamic_lds, void* stream) {
  return launch_stub(stub, {blocks, threads, 0, arguments, nullptr, Cooperation::grid}, dynamic_lds,
                     stream);
}
WW_HIP_EXPORT int hipModuleLaunchKernel(const void* function, unsigned blocks_x, unsigned blocks_y,
                                        unsigned blocks_z, unsigned threads_x, unsigned threads_y,
                                        unsigned threads_z, unsigned dynamic_lds, void* stream,
                                        void** arguments, void** extra) {
  return launch_function(function,
                         {{blocks_x, blocks_y, blocks_z},
                          {threads_x, threads_y, threads_z},
                          dynamic_lds,
                          arguments,
                          extra},
                         stream);
}
WW_HIP_EXPORT int hipModuleLaunchCooperativeKernel(const void* function, unsigned blocks_x,
                                                   unsigned blocks_y, unsigned blocks_z,
                                                   unsigned threads_x, unsigned threads_y,
                                                   unsigned threads_z, unsigned dynamic_lds,
                                                   void* stream, void** arguments) {
  return launch_function(function,
                         {{blocks_x, blocks_y, blocks_z},
                          {threads_x, threads_y, threads_z},
                          dynamic_lds,
                          arguments,
                          nullptr,
                          Cooperation::grid},
                         stream);
}
// One launch for each of the devices named. They do not meet: one ends before the next begins.
WW_HIP_EXPORT int hipExtLaunchMultiKernelMultiDevice(const StubLaunch* launches, int count,
                                                     unsigned flags) {
  constexpr unsigned kMaxFlags = 3;  // no waiting before, none after
  const int bad = guarded([&]() -> int {
    if (launches == nullptr || count <= 0 || flags > kMaxFlags || !is_ordinal(count - 1)) {
      return kInvalidValue;
    }
    std::set<int> devices;
    for (int i = 0; i < count; ++i) devices.insert(device_of_stream(launches[i].stream));
    return devices.size() == static_cast<std::size_t>(count) ? kSuccess : kInvalidValue;
  });
  if (bad != kSuccess) return bad;
  for (const StubLaunch& one : std::span(launches, static_cast<std::size_t>(count))) {
    const int code = launch_stub(one.stub, {one.blocks, one.threads, 0, one.arguments, nullptr},
                                 one.dynamic_lds, one.stream);
    if (code != kSuccess) return code;
  }
  return kSuccess;
}
// On several devices one's launch ends before the next one's begins, so that their grids cannot
// meet.
WW_HIP_EXPORT int hipLaunchCooperativeKernelMultiDevice(const StubLaunch* launches, int count,
                                                        unsigned flags) {
  const int bad = check_devices("hipLaunchCooperativeKernelMultiDevice", launches, count, flags);
  if (bad != kSuccess) return finish(bad);
  const StubLaunch& only = *launches;
  return launch_stub(only.stub,
                     {only.blocks, only.threads, 0, only.arguments, nullptr, Cooperation::devices},
                     only.dynamic_lds, only.stream);
}
WW_HIP_EXPORT int hipModuleLaunchCooperativeKernelMultiDevice(const FunctionLaunch* launches,
                                                              unsigned count, unsigned flags) {
  const int bad = check_devices("hipModuleLaunchCooperativeKernelMultiDevice", launches,
                                static_cast<int>(count), flags);
  if (bad != kSuccess) return finish(bad);
  const FunctionLaunch& only = *launches;
  return launch_function(
      only.function,
      {only.blocks, only.threads, only.dynamic_lds, only.arguments, nullptr, Cooperation::devices},
      only.stream);
}

}  // namespace ww::sim::driver::hip

// HIP's headers declare these two as C++ functions, so that programs, and libraries of AMD's, ask
// for them by other names. hipFunction_t, hipStream_t and hipEvent_t are pointers to these types.
struct ihipModuleSymbol_t;
struct ihipStream_t;
struct ihipEvent_t;

__attribute__((visibility("default"))) int hipExtModuleLaunchKernel(
    ihipModuleSymbol_t* function, std::uint32_t items_x, std::uint32_t items_y,
    std::uint32_t items_z, std::uint32_t threads_x, std::uint32_t threads_y,
    std::uint32_t threads_z, std::size_t dynamic_lds, ihipStream_t* stream, void** arguments,
    void** extra, ihipEvent_t* start, ihipEvent_t* stop, std::uint32_t flags) {
  return ww::sim::driver::hip::hipExtModuleLaunchKernel(
      static_cast<const void*>(function), items_x, items_y, items_z, threads_x, threads_y,
      threads_z, dynamic_lds, static_cast<void*>(stream), arguments, extra,
      static_cast<void*>(start), static_cast<void*>(stop), flags);
}
__attribute__((visibility("default"))) int hipHccModuleLaunchKernel(
    ihipModuleSymbol_t* function, std::uint32_t items_x, std::uint32_t items_y,
    std::uint32_t items_z, std::uint32_t threads_x, std::uint32_t threads_y,
    std::uint32_t threads_z, std::size_t dynamic_lds, ihipStream_t* stream, void** arguments,
    void** extra, ihipEvent_t* start, ihipEvent_t* stop) {
  return hipExtModuleLaunchKernel(function, items_x, items_y, items_z, threads_x, threads_y,
                                  threads_z, dynamic_lds, stream, arguments, extra, start, stop, 0);
}
