// Declares what HIP and CUDA's driver API share: modules loaded from memory, packed arguments, one
// stream. The two differ in names and in what a module is; module_host.cpp is the host over either.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/microbench/i_compute_host.hpp"

namespace ww::microbench {

// Where an explicit argument lies in a kernel's packed arguments [bytes].
struct ArgumentSlot {
  std::uint32_t offset{};
  std::uint32_t size{};
};

struct ModuleGrid {
  std::array<unsigned, 3> groups{1, 1, 1};
  std::array<unsigned, 3> local{1, 1, 1};
};

// One device of one driver, made current by its maker. Codes are the driver's; 0 is success.
// Threading: one caller at a time.
class ModuleDriver {
 public:
  using Handle = void*;
  virtual ~ModuleDriver() = default;

  [[nodiscard]] virtual HostFacts facts() const = 0;
  // Makes the device the one that allocations, loads, launches, events and waits mean. Needed in
  // processes that open several.
  virtual int make_current() = 0;
  // Compiles OpenCL C into a module image. As ComputeHost::build.
  virtual Result<std::vector<std::byte>> build(const std::string& text,
                                               const std::string& name) = 0;
  // The explicit arguments of a kernel of an image. Errors: parse_error, not_found.
  virtual Result<std::vector<ArgumentSlot>> arguments(std::span<const std::byte> image,
                                                      const std::string& kernel) = 0;

  virtual int allocate(std::uint64_t& address, std::size_t bytes) = 0;
  virtual int release(std::uint64_t address) = 0;
  virtual int copy_in(std::uint64_t to, std::span<const std::byte> data) = 0;
  virtual int copy_out(std::span<std::byte> data, std::uint64_t from) = 0;
  // `log` gets what the driver's assembler says.
  virtual int load(Handle& module, std::span<const std::byte> image, std::string& log) = 0;
  virtual int unload(Handle module) = 0;
  virtual int find(Handle& function, Handle module, const std::string& kernel) = 0;
  virtual int launch(Handle function, const ModuleGrid& grid, std::span<std::byte> arguments) = 0;
  virtual int synchronize() = 0;
  virtual int make_event(Handle& event) = 0;
  virtual int drop_event(Handle event) = 0;
  virtual int record(Handle event) = 0;
  virtual int milliseconds(float& between, Handle begin, Handle end) = 0;
  [[nodiscard]] virtual std::string error_name(int code) const = 0;
};

// cuLaunchKernel and hipModuleLaunchKernel take packed arguments in one form; only the mark that
// ends it differs.
template <class Launch>
int launch_packed(Launch* call, ModuleDriver::Handle function, const ModuleGrid& grid,
                  std::span<std::byte> packed, void* end) {
  std::size_t size = packed.size();
  // ..._LAUNCH_PARAM_BUFFER_POINTER, ..._BUFFER_SIZE
  std::array<void*, 5> extra{reinterpret_cast<void*>(1), packed.data(), reinterpret_cast<void*>(2),
                             &size, end};
  return call(function, grid.groups[0], grid.groups[1], grid.groups[2], grid.local[0],
              grid.local[1], grid.local[2], 0, nullptr, nullptr, extra.data());
}

// HIP and CUDA share the numbers of the errors that matter here.
namespace module_error {
inline constexpr int invalid_value = 1;
inline constexpr int out_of_memory = 2;
inline constexpr int kInvalidConfiguration = 9;  // hip: work-group too large
inline constexpr int not_found = 500;
inline constexpr int kLaunchOutOfResources = 701;
inline constexpr int launch_timeout = 702;
inline constexpr int peer_access_already_enabled = 704;
// From 700 on (but for 701) the context is lost: illegal address, assertion, launch failure...
[[nodiscard]] constexpr bool loses_context(int code) {
  return (code >= 700 && code < 720 && code != kLaunchOutOfResources &&
          code != peer_access_already_enabled && code != 705 && code != 708 && code != 712 &&
          code != 713) ||
         code == 999;
}
}  // namespace module_error

// The devices of a host, its parts; one of them for a device by itself. Kernels of each reach the
// memory of all, and the first is current.
using ModuleParts = std::vector<std::unique_ptr<ModuleDriver>>;

[[nodiscard]] std::unique_ptr<ComputeHost> make_module_host(ModuleParts parts);

// "hip:0", "cuda:1": the n-th device of the driver, counted from 0. Errors: missing_dependency (no
// driver library, or one without a needed entry point: names library and package; no such device),
// device_error.
[[nodiscard]] Result<std::unique_ptr<ModuleDriver>> open_hip(int device);
[[nodiscard]] Result<std::unique_ptr<ModuleDriver>> open_cuda(int device);
// The facts of the n-th device. Of NVIDIA's no context is made, so that a look at all devices takes
// none of their memory. Errors: as above.
[[nodiscard]] Result<HostFacts> hip_facts(int device);
[[nodiscard]] Result<HostFacts> cuda_facts(int device);
// The n-th device and the one at a PCI address ("0000:c9:00.0"), with access to each other's
// memory. Errors: unsupported where HIP does not show the second, or says that they do not reach
// each other, or not over xGMI; those of open_hip.
[[nodiscard]] Result<ModuleParts> open_hip_pair(int device, const std::string& other_pci);
// Says that HIP does not show the second, and what it shows: "hip:0 at 0000:c1:00.0", ....
[[nodiscard]] std::string hidden_die(const std::string& other_pci,
                                     const std::vector<std::string>& shown);
[[nodiscard]] Result<int> hip_device_count();
[[nodiscard]] Result<int> cuda_device_count();

}  // namespace ww::microbench
