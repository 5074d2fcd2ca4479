// The contract of a compute host: builds kernels, loads patched ones, launches them on one device
// and one in-order queue.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ww/core/result.hpp"

namespace ww::microbench {

// Facts about a device that a host has without running anything.
struct HostFacts {
  std::string api;     // "opencl", "hip", "cuda"
  std::string device;  // as the driver names it
  std::string driver;
  std::string target;       // "gfx90a", "sm_90"; empty where the driver does not say
  std::string pci_bus;      // "0000:c1:00.0"; empty where the driver does not say
  int compute_units{};      // CUs or SMs; 0 where the driver does not say
  std::int64_t l2_bytes{};  // likewise
  // Limits, 0 where not known: memory of the device, for constants, local to a work-group; the
  // largest work-group, and the highest clock [Hz].
  std::int64_t memory_bytes{};
  std::int64_t constant_bytes{};
  std::int64_t local_bytes{};
  int largest_group{};
  std::int64_t clock_hz{};
  bool is_virtual{};      // a simulated GPU behind this API: nothing from it is a measurement
  std::string no_code{};  // why its binaries cannot be patched; empty where they may
};

// The type of a buffer's words, for devices that may change them slightly on their way to a core.
enum class ApproximableType { int32, float32, uint8 };

// Device memory, released with the object. Keep it as long as a kernel's argument names it.
class DeviceBuffer {
 public:
  virtual ~DeviceBuffer() = default;
  [[nodiscard]] virtual std::size_t size() const = 0;
  // Writes from byte `offset` on, and blocks until it is done. Errors out_of_range, device_error.
  virtual Status write(std::size_t offset, std::span<const std::byte> data) = 0;
  [[nodiscard]] virtual Status read(std::size_t offset, std::span<std::byte> data) = 0;
  // Declares that its words may arrive changed by up to the fraction `threshold` of their value.
  // Below 0, the run chooses the fraction. Devices that change nothing ignore it. Errors
  // device_error.
  virtual Status set_approximable(ApproximableType type, float threshold) {
    static_cast<void>(type);
    static_cast<void>(threshold);
    return {};
  }
};

// A kernel with its arguments. An argument stays set until it is set again.
class LoadedKernel {
 public:
  virtual ~LoadedKernel() = default;
  virtual Status set(unsigned index, std::span<const std::byte> value) = 0;
  virtual Status set(unsigned index, const DeviceBuffer& buffer) = 0;
  Status set(unsigned index, std::uint32_t value) {
    return set(index, std::as_bytes(std::span(&value, 1)));
  }
  Status set(unsigned index, std::uint64_t value) {
    return set(index, std::as_bytes(std::span(&value, 1)));
  }
  // Queues one launch: `groups` work-groups of `group_size` work-items, one dimension.
  virtual Status launch(std::size_t groups, std::size_t group_size) = 0;
  // Times one launch: waits for queued work, launches, waits, and returns the time [s] between the
  // device's own events around it. Error unsupported from hosts without events.
  virtual Result<double> time_launch(std::size_t groups, std::size_t group_size) {
    static_cast<void>(groups);
    static_cast<void>(group_size);
    return fail(ErrorCode::unsupported, "this host has no events");
  }
  // Queues one launch in three dimensions: work-items in all and in a group; unused dimensions are
  // 1. Error unsupported from hosts that launch in one dimension alone.
  virtual Status launch_grid(const std::array<std::size_t, 3>& global,
                             const std::array<std::size_t, 3>& local) {
    static_cast<void>(global);
    static_cast<void>(local);
    return fail(ErrorCode::unsupported, "this host launches in one dimension alone");
  }
};

// Threading: one caller at a time. Each kind of mistake of a program has an error code:
// out_of_range (a buffer or work-group larger than the device allows, a transfer beyond a buffer),
// invalid_argument (an argument that the kernel does not have, or of another size), not_found (a
// kernel that the binary does not have). device_error is the device's own: a fault or a lost
// context. Once the driver reports a lost context, every later call returns that error.
class ComputeHost {
 public:
  virtual ~ComputeHost() = default;
  [[nodiscard]] virtual std::string device_name() const = 0;
  [[nodiscard]] virtual std::string driver_version() const = 0;
  [[nodiscard]] virtual HostFacts facts() const {
    HostFacts known;
    known.device = device_name();
    known.driver = driver_version();
    return known;
  }
  // Parts of a package that are devices of their own and whose memory kernels of each reach; this
  // device is number 0. 1 for a device by itself, and from hosts that do not know.
  [[nodiscard]] virtual int parts() const { return 1; }
  // From now on launches run on that part, and new buffers lie in its memory. Error out_of_range.
  virtual Status use_part(int part) {
    if (part == 0) return {};
    return fail(ErrorCode::out_of_range, "the device is no package of several parts");
  }
  virtual Result<std::unique_ptr<DeviceBuffer>> create_buffer(std::size_t bytes) = 0;
  // Compiles OpenCL C and returns the device's binary. Errors: device_error with the build log;
  // missing_dependency if the driver reports that it has no compiler.
  virtual Result<std::vector<std::byte>> build(const std::string& text,
                                               const std::string& name) = 0;
  // Loads a binary, patched or not, and returns its kernel.
  virtual Result<std::unique_ptr<LoadedKernel>> load(std::span<const std::byte> binary,
                                                     const std::string& kernel) = 0;
  // flush() submits queued launches; finish() waits for them.
  virtual Status flush() = 0;
  virtual Status finish() = 0;
};

}  // namespace ww::microbench
