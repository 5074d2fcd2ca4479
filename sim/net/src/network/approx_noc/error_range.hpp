// Approx-NoC (Boyapati et al., ISCA 2017): which bits of a word do not matter.
//
// The range of a value is a right shift of it by n = floor(log2(1 / threshold)), which stands in
// for a product: 3 for 10% (so 12.5%), 2 for 15 and 20% (so 25%). That is the flaw that Dapper
// (section V.D) names: words may be off by more than the threshold. The floor(log2(range)) low bits
// of the word then do not matter. `exact_range` takes threshold x value instead.
#pragma once

#include <cstdint>

#include "ww/sim/net/i_network.hpp"

namespace ww::sim::net {

struct ErrorRange {
  WordType type{WordType::exact};
  double threshold{};
  bool exact_range{};
  bool bytes_as_words{};  // uint8: the four pixels as one 32-bit integer
};

// Bits of a 32-bit word that do not matter.
//   int32    low bits, from the magnitude
//   float32  low bits of the mantissa field, from that field as an integer; none of zeros,
//            subnormals, infinities and NaN
//   uint8    low bits of each byte, from its own value
[[nodiscard]] std::uint32_t free_bits(const ErrorRange& range, std::uint32_t word);

}  // namespace ww::sim::net
