#include "common/runtime/chip_time.hpp"

#include "common/runtime/runtime.hpp"

namespace ww::sim::driver {
namespace {

// A x16 third-generation PCI Express link carries about 12 GB/s after protocol overhead, and a
// small transfer takes some microseconds however small it is.
constexpr double kHostLinkBytesPerNs = 12.0;
constexpr std::int64_t kHostTransferNs = 5000;
// Copies and fills within the device run as the memory does, both ways.
constexpr double kDeviceCopyBytesPerNs = 120.0;
constexpr std::int64_t kDeviceTransferNs = 4000;

}  // namespace

std::int64_t host_transfer_ns(std::size_t bytes) {
  return kHostTransferNs +
         static_cast<std::int64_t>(static_cast<double>(bytes) / kHostLinkBytesPerNs);
}

std::int64_t device_transfer_ns(std::size_t bytes) {
  return kDeviceTransferNs +
         static_cast<std::int64_t>(static_cast<double>(bytes) / kDeviceCopyBytesPerNs);
}

void charge(Timing& timing, std::int64_t duration_ns) {
  auto& gpu = Runtime::get().powered_gpu();
  timing.start_ns = gpu.now_ns();
  timing.end_ns = timing.start_ns + duration_ns;
  gpu.idle_until(timing.end_ns);
}

}  // namespace ww::sim::driver
