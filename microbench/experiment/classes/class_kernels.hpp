// The kernels of single classes of work on one device.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "device/device.hpp"
#include "host/pinning.hpp"
#include "ww/core/result.hpp"
#include "ww/kernels/patterns.hpp"

namespace ww::microbench {

// Where the pieces of 16 bytes that a kernel touches fit.
enum class Reach { l1, l2, memory };

// Settings of one run.
struct ClassPoint {
  std::string_view kernel;  // a function of cl/classes.cl without its "class_"
  kernels::Pattern pattern{kernels::Pattern::random};
  Reach reach{Reach::l2};
  std::uint32_t lanes{64};  // of a wavefront; limited to its size
  int groups_per_cu{8};     // of 256 work-items
  int one_cu_of{1};         // one compute unit in this many has work
  // "integer, random", "read, zeros, memory", "integer, random, 16 lanes".
  [[nodiscard]] std::string name() const;
};
[[nodiscard]] std::span<const ClassPoint> class_points();

// Beside the device's counters of a run.
inline constexpr std::string_view kBusySeconds = "busy_seconds";

class ClassKernels {
 public:
  // Builds and loads them, and writes the data. Device and pinning must outlive the kernels.
  static Result<std::unique_ptr<ClassKernels>> create(Device& device, const Pinning& pinning,
                                                      std::uint64_t seed);
  Status select(const ClassPoint& point, std::uint32_t loops);
  Status launch(const ClassPoint& point);
  [[nodiscard]] const std::string& hash() const { return hash_; }

 private:
  explicit ClassKernels(Device& device) : device_(device) {}
  [[nodiscard]] std::size_t bytes_within(Reach reach) const;
  Result<LoadedKernel*> kernel_of(const ClassPoint& point);

  Device& device_;
  std::vector<std::byte> binary_;
  std::string hash_;
  unsigned wave_size_{64};
  // Kernels are destroyed before the buffers that their arguments name.
  std::map<kernels::Pattern, std::unique_ptr<DeviceBuffer>> data_;
  std::unique_ptr<DeviceBuffer> target_, output_;
  std::map<std::string, std::unique_ptr<LoadedKernel>, std::less<>> kernels_;
};

}  // namespace ww::microbench
