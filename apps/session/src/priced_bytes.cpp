#include "estimate/priced_bytes.hpp"

#include <utility>

namespace ww::cli {

Result<model::KernelEstimate> price_bytes(const model::WireModel& wires, double bytes) {
  model::KernelTraffic traffic;
  traffic.kernel = "bytes";
  traffic.dispatches = 1;
  for (auto& segment : traffic.segments) segment.bytes = bytes;
  WW_ASSIGN(estimate, model::estimate(wires, {traffic}, {}));
  return std::move(estimate.total);
}

}  // namespace ww::cli
