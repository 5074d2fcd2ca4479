#include "ww/session/priced_bytes.hpp"

#include <utility>

namespace ww::session {

Result<model::KernelEstimate> price_bytes(const model::WireModel& wires, double bytes) {
  model::KernelTraffic traffic;
  traffic.kernel = "bytes";
  traffic.dispatches = 1;
  for (auto& segment : traffic.segments) segment.bytes = bytes;
  WW_ASSIGN(estimate, model::estimate(wires, {traffic}, {}));
  return std::move(estimate.total);
}

std::optional<double> l2_memory_at_most_j(const model::WireModel& wires, double bytes) {
  const auto priced = price_bytes(wires, bytes);
  if (!priced) return std::nullopt;
  const auto segment = static_cast<std::size_t>(model::WireSegment::l2_memory);
  const auto& energy = priced->segments[segment].energy_j;
  return energy ? std::optional(energy->high) : std::nullopt;
}

}  // namespace ww::session
