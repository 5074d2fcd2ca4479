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

// Device memory, released with the object. Keep it as long as a kernel's argument names it.
class DeviceBuffer {
 public:
  virtual ~DeviceBuffer() = default;
  [[nodiscard]] virtual std::size_t size() const = 0;
  // Blocking, from byte `offset` on. Errors out_of_range, device_error.
  virtual Status write(std::size_t offset, std::span<const std::byte> data) = 0;
  [[nodiscard]] virtual Status read(std::size_t offset, std::span<std::byte> data) = 0;
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
  // Queues one launch in three dimensions: work-items in all and in a group; unused dimensions are
  // 1. Error unsupported from hosts that launch in one dimension alone.
  virtual Status launch_grid(const std::array<std::size_t, 3>& global,
                             const std::array<std::size_t, 3>& local) {
    static_cast<void>(global);
    static_cast<void>(local);
    return fail(ErrorCode::unsupported, "this host launches in one dimension alone");
  }
};

// Threading: one caller at a time.
class ComputeHost {
 public:
  virtual ~ComputeHost() = default;
  [[nodiscard]] virtual std::string device_name() const = 0;
  [[nodiscard]] virtual std::string driver_version() const = 0;
  virtual Result<std::unique_ptr<DeviceBuffer>> create_buffer(std::size_t bytes) = 0;
  // Compiles OpenCL C and gives the device's binary. Error device_error with the build log;
  // missing_dependency when the driver says that it has no compiler.
  virtual Result<std::vector<std::byte>> build(const std::string& text,
                                               const std::string& name) = 0;
  // Loads a binary, patched or not, and gives its kernel.
  virtual Result<std::unique_ptr<LoadedKernel>> load(std::span<const std::byte> binary,
                                                     const std::string& kernel) = 0;
  // Sends queued launches on their way, and waits for them.
  virtual Status flush() = 0;
  virtual Status finish() = 0;
};

}  // namespace ww::microbench
