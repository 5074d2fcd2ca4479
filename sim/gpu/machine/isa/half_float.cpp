#include "machine/isa/half_float.hpp"

#include <cstring>

#include "machine/isa/lane_table.hpp"

namespace ww::sim::gpu::exec {

// Through the lane table's own conversion, so that every path rounds equally.
void to_halves(std::uint32_t* words) {
  const VectorEntry& entry = lanes().vector[static_cast<std::size_t>(Opcode::v_cvt_f16_f32)];
  LaneContext context;
  alignas(64) std::uint32_t source[kLanes];
  std::memcpy(source, words, sizeof source);
  entry.function[0](words, source, source, source, context);
}

std::uint32_t add_halves(std::uint32_t a, std::uint32_t b) {
  alignas(64) std::uint32_t sums[kLanes] = {};
  sums[0] = std::bit_cast<std::uint32_t>(half_value(a & 0xFFFFU) + half_value(b & 0xFFFFU));
  sums[1] = std::bit_cast<std::uint32_t>(half_value(a >> 16) + half_value(b >> 16));
  to_halves(sums);
  return (sums[0] & 0xFFFFU) | sums[1] << 16;
}

}  // namespace ww::sim::gpu::exec
