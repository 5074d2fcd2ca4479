// FP-VAXX (Approx-NoC, ISCA 2017): frequent pattern compression (Alameldeen and Wood, 2004) of
// words of which some bits do not matter.
#pragma once

#include <cstdint>
#include <span>

#include "network/approx_noc/bit_writer.hpp"

namespace ww::sim::net {

// Three bits before each word. A run of zeros is one code for up to eight words.
enum class FrequentPattern : std::uint8_t {
  zeros,    // 3 bits: length of the run less one
  signed4,  // sign-extended
  signed8,
  signed16,
  high_half,    // the low half is zero: 16 bits
  two_signed8,  // each half a sign-extended byte: 16 bits
  same_bytes,   // 8 bits
  none,         // 32 bits
};
[[nodiscard]] int data_bits(FrequentPattern pattern);

struct Match {
  FrequentPattern pattern{FrequentPattern::none};
  std::uint32_t value{};  // what arrives: the word but for bits of `free`
};
// The shortest pattern that a value fits which differs from `word` in bits of `free` alone; the
// word itself where it fits that pattern, else the free bits all zeros, or all ones, or the top
// byte's.
[[nodiscard]] Match match_pattern(std::uint32_t word, std::uint32_t free);

// The codes of a block's words, whose values `matches` holds.
void write_patterns(std::span<const Match> matches, BitWriter& out);

}  // namespace ww::sim::net
