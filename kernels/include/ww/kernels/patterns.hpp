// The data that the streams carry (IISWC'16, Fig. 6), written into buffers by the host.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "ww/core/result.hpp"

namespace ww::kernels {

enum class Pattern {
  zeros,
  ones,
  aa,           // 0xAA in every byte: neighbours differ, nothing toggles
  half_random,  // two random bits, two zeros, and so on: toggle rate 0.25
  random,       // every bit independent: toggle rate 0.5
  // Independent bits of density p toggle 2 p (1 - p), in any order of lines on a bus. Densities p
  // and 1 - p therefore differ only in values.
  density_25,
  density_75,
  // Random bits in pairs of neighbours (2i, 2i + 1) that are equal or opposite. Both have the same
  // toggles and values. If neighbouring bits are neighbouring wires, their coupling differs.
  pairs_equal,
  pairs_opposite,
  // Every line of 64 B is all ones or all zeros, in all orders equally often. All wires change
  // together, whatever their order, so nothing couples. Toggle rate 0.5.
  uniform_lines,
};
inline constexpr std::array<Pattern, 10> all_patterns{
    Pattern::zeros,          Pattern::ones,         Pattern::aa,         Pattern::half_random,
    Pattern::random,         Pattern::density_25,   Pattern::density_75, Pattern::pairs_equal,
    Pattern::pairs_opposite, Pattern::uniform_lines};

[[nodiscard]] std::string_view to_string(Pattern pattern);
[[nodiscard]] Result<Pattern> pattern_from_string(std::string_view text);

// Fills `data`. Random bits come from `seed` alone and are independent from line to line, so that
// any two lines that follow each other on a wire differ in half of the random positions.
void fill(std::span<std::byte> data, Pattern pattern, std::uint64_t seed);

// Share of bit positions that differ between consecutive pieces of `width_bytes`, as on a bus of
// that width that carries `data` in order. 0 for fewer than two pieces.
[[nodiscard]] double toggle_rate(std::span<const std::byte> data, std::size_t width_bytes);

}  // namespace ww::kernels
