#include "network/approx_noc/error_range.hpp"

#include <bit>
#include <cmath>

namespace ww::sim::net {
namespace {

// floor(log2(range)) low bits of a value.
std::uint32_t low_bits(const ErrorRange& how, std::uint32_t value) {
  std::uint32_t range = 0;
  if (how.exact_range) {
    range = static_cast<std::uint32_t>(std::floor(how.threshold * value));
  } else {
    const auto shift = static_cast<int>(std::floor(-std::log2(how.threshold)));
    range = shift > 31 ? 0 : value >> shift;
  }
  return range == 0 ? 0 : (std::uint32_t{1} << (std::bit_width(range) - 1)) - 1;
}

}  // namespace

std::uint32_t free_bits(const ErrorRange& how, std::uint32_t word) {
  if (!(how.threshold > 0)) {
    return 0;
  }
  constexpr std::uint32_t kMantissa = (1u << 23) - 1;
  switch (how.type) {
    case WordType::exact: return 0;
    case WordType::int32: {
      const std::uint32_t magnitude = word >> 31 != 0 ? ~word + 1 : word;
      return low_bits(how, magnitude);
    }
    case WordType::float32: {
      const std::uint32_t exponent = word >> 23 & 0xFF;
      return exponent == 0 || exponent == 0xFF ? 0 : low_bits(how, word & kMantissa);
    }
    case WordType::uint8: {
      if (how.bytes_as_words) {
        return low_bits(how, word);
      }
      std::uint32_t bits = 0;
      for (int shift = 0; shift < 32; shift += 8) {
        bits |= low_bits(how, word >> shift & 0xFF) << shift;
      }
      return bits;
    }
  }
  return 0;
}

}  // namespace ww::sim::net
