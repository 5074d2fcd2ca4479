#include "network/approx_noc/frequent_patterns.hpp"

#include <array>

namespace ww::sim::net {
namespace {

bool fits_signed(std::uint32_t value, int bits) {
  const auto as_signed = static_cast<std::int32_t>(value);
  return as_signed >= -(1 << (bits - 1)) && as_signed < 1 << (bits - 1);
}

bool half_is_signed8(std::uint32_t half) {
  return (half & 0xFF80) == 0 || (half & 0xFF80) == 0xFF80;
}

bool fits(FrequentPattern pattern, std::uint32_t value) {
  switch (pattern) {
    case FrequentPattern::zeros: return value == 0;
    case FrequentPattern::signed4: return fits_signed(value, 4);
    case FrequentPattern::signed8: return fits_signed(value, 8);
    case FrequentPattern::signed16: return fits_signed(value, 16);
    case FrequentPattern::high_half: return (value & 0xFFFF) == 0;
    case FrequentPattern::two_signed8:
      return half_is_signed8(value & 0xFFFF) && half_is_signed8(value >> 16);
    case FrequentPattern::same_bytes: return value == (value & 0xFF) * 0x01010101u;
    case FrequentPattern::none: return true;
  }
  return false;
}

// Patterns by length; of equal lengths the caller's candidates find the exact one first.
constexpr std::array kByLength{FrequentPattern::zeros,      FrequentPattern::signed4,
                               FrequentPattern::signed8,    FrequentPattern::same_bytes,
                               FrequentPattern::signed16,   FrequentPattern::high_half,
                               FrequentPattern::two_signed8};

}  // namespace

int data_bits(FrequentPattern pattern) {
  constexpr std::array kBits{3, 4, 8, 16, 16, 16, 8, 32};
  return kBits[static_cast<std::size_t>(pattern)];
}

Match match_pattern(std::uint32_t word, std::uint32_t free) {
  const std::uint32_t kept = word & ~free;
  const std::uint32_t bytes = (word >> 24) * 0x01010101u;
  const std::array candidates{word, kept, kept | free, kept | (bytes & free)};
  for (const FrequentPattern pattern : kByLength) {
    for (const std::uint32_t value : candidates) {
      if (fits(pattern, value)) {
        return {pattern, value};
      }
    }
  }
  return {FrequentPattern::none, word};
}

void write_patterns(std::span<const Match> matches, BitWriter& out) {
  constexpr std::size_t kLongestRun = 8;
  for (std::size_t i = 0; i < matches.size();) {
    const Match& match = matches[i];
    out.put(static_cast<std::uint32_t>(match.pattern), 3);
    std::size_t run = 1;
    std::uint32_t data = match.value;
    switch (match.pattern) {
      case FrequentPattern::zeros:
        while (run < kLongestRun && i + run < matches.size() &&
               matches[i + run].pattern == FrequentPattern::zeros) {
          ++run;
        }
        data = static_cast<std::uint32_t>(run - 1);
        break;
      case FrequentPattern::high_half: data = match.value >> 16; break;
      case FrequentPattern::two_signed8:
        data = (match.value >> 16 & 0xFF) << 8 | (match.value & 0xFF);
        break;
      default: break;
    }
    out.put(data, data_bits(match.pattern));
    i += run;
  }
}

}  // namespace ww::sim::net
