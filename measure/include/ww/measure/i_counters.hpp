// The contract of performance counters: values per dispatch under the vendor's own names.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "ww/core/result.hpp"

namespace ww::measure {

struct Dispatch {
  std::string kernel;
  std::int64_t start_ns{};  // device clock, as the sensor's
  std::int64_t end_ns{};
};

// Counters of one device. Threading: one caller at a time. Finish the queue before reading them.
class Counters {
 public:
  virtual ~Counters() = default;
  // Dispatches since power-on; ids are 0-based and consecutive.
  [[nodiscard]] virtual std::uint64_t dispatch_count() const = 0;
  [[nodiscard]] virtual Result<Dispatch> dispatch(std::uint64_t id) const = 0;
  // Each counter summed over dispatches [first, end). Error device_error.
  [[nodiscard]] virtual Result<std::map<std::string, double>> sum(std::uint64_t first,
                                                                  std::uint64_t end) const = 0;
};

// Payload bytes between L1 and L2 by the counter map of the target. Errors: unsupported (a target
// without a map), bad_data (counters missing, negative or not finite).
[[nodiscard]] Result<double> l1_l2_bytes(const std::string& gfx_target,
                                         const std::map<std::string, double>& counters);

}  // namespace ww::measure
