// Traffic of an NVIDIA GPU's links and memory while programs run on it, from Hopper on: the
// driver's performance monitoring (GPM), which needs neither root nor a profiler. It counts the
// whole GPU, and nothing of its L2.
#pragma once

#include <memory>
#include <optional>

#include "ww/core/result.hpp"
#include "ww/measure/pci_address.hpp"

namespace ww::measure {

// Between two moments. A rate is absent where the GPU does not count it.
struct NvidiaTraffic {
  double seconds{};
  // Bytes a second between memory and L2, reads and writes together: the share of the memory's
  // cycles that were used, times its highest rate. An upper bound, because a cycle that is used
  // need not move all of its bytes.
  std::optional<double> memory_at_most;
  std::optional<double> nvlink_sent, nvlink_received;  // bytes a second, all links
  std::optional<double> pcie_sent, pcie_received;
};

// The quantities by name, for whoever shows them.
struct NamedTraffic {
  const char* name;   // "memory_at_most"
  const char* words;  // "memory, at most"
  std::optional<double> NvidiaTraffic::*rate;
};
inline constexpr NamedTraffic kNamedTraffic[] = {
    {"memory_at_most", "memory, at most", &NvidiaTraffic::memory_at_most},
    {"nvlink_sent", "NVLink, sent", &NvidiaTraffic::nvlink_sent},
    {"nvlink_received", "NVLink, received", &NvidiaTraffic::nvlink_received},
    {"pcie_sent", "PCIe, sent", &NvidiaTraffic::pcie_sent},
    {"pcie_received", "PCIe, received", &NvidiaTraffic::pcie_received}};

class NvidiaTrafficMeter {
 public:
  // Errors: unsupported (before Hopper; a driver before 550, in which other calls fail after this
  // one was used), permission_denied, those of list_nvidia_gpus().
  static Result<std::unique_ptr<NvidiaTrafficMeter>> open(const PciAddress& pci);
  virtual ~NvidiaTrafficMeter() = default;

  // Traffic since the last call that returned some, or since open(). Nothing where less than 0.1 s
  // have passed, which the driver asks for. Errors: device_error.
  virtual Result<std::optional<NvidiaTraffic>> take() = 0;
};

}  // namespace ww::measure
