#include "ww/kernels/patterns.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <utility>

#include "ww/core/split_mix.hpp"

namespace ww::kernels {
namespace {

constexpr std::array<std::pair<Pattern, std::string_view>, 10> names{{
    {Pattern::zeros, "zeros"},
    {Pattern::ones, "ones"},
    {Pattern::aa, "aa"},
    {Pattern::half_random, "half_random"},
    {Pattern::random, "random"},
    {Pattern::density_25, "density_25"},
    {Pattern::density_75, "density_75"},
    {Pattern::pairs_equal, "pairs_equal"},
    {Pattern::pairs_opposite, "pairs_opposite"},
    {Pattern::uniform_lines, "uniform_lines"},
}};

}  // namespace

std::string_view to_string(Pattern pattern) {
  for (const auto& [entry, name] : names) {
    if (entry == pattern) return name;
  }
  return "unknown";
}

Result<Pattern> pattern_from_string(std::string_view text) {
  for (const auto& [entry, name] : names) {
    if (name == text) return entry;
  }
  return fail(ErrorCode::invalid_argument, "unknown data pattern '" + std::string(text) + "'");
}

void fill(std::span<std::byte> data, Pattern pattern, std::uint64_t seed) {
  constexpr std::uint64_t even = 0x5555555555555555u;
  constexpr std::size_t words_per_line = 8;
  SplitMix generator(seed);
  const auto word = [&](std::size_t index) -> std::uint64_t {
    switch (pattern) {
      case Pattern::zeros: return 0;
      case Pattern::ones: return ~std::uint64_t{0};
      case Pattern::aa: return 0xAAAAAAAAAAAAAAAAu;
      case Pattern::half_random: return generator.next() & 0x3333333333333333u;
      case Pattern::random: return generator.next();
      case Pattern::density_25: return generator.next() & generator.next();
      case Pattern::density_75: return generator.next() | generator.next();
      case Pattern::pairs_equal: {
        const std::uint64_t bits = generator.next() & even;
        return bits | bits << 1;
      }
      case Pattern::pairs_opposite: {
        const std::uint64_t bits = generator.next() & even;
        return bits | (bits ^ even) << 1;
      }
      case Pattern::uniform_lines: {
        // One bit a line would toggle half of the time only roughly. Groups of four lines run
        // through all sixteen ways, equally often on each of up to sixteen channels.
        const std::size_t chunk = index / (4 * words_per_line);
        const std::size_t way = (chunk / 16 * 7 + chunk % 16 * 5 + seed) % 16;
        return (way >> (index / words_per_line % 4) & 1) != 0 ? ~std::uint64_t{0} : 0;
      }
    }
    return 0;
  };
  for (std::size_t i = 0; i * sizeof(std::uint64_t) < data.size(); ++i) {
    const std::uint64_t value = word(i);
    const std::size_t at = i * sizeof value;
    std::memcpy(data.data() + at, &value, std::min(sizeof value, data.size() - at));
  }
}

double toggle_rate(std::span<const std::byte> data, std::size_t width_bytes) {
  if (width_bytes == 0 || data.size() < 2 * width_bytes) return 0.0;
  const std::size_t pieces = data.size() / width_bytes;
  std::uint64_t toggles = 0;
  for (std::size_t i = width_bytes; i < pieces * width_bytes; ++i) {
    const unsigned difference = std::to_integer<unsigned>(data[i] ^ data[i - width_bytes]);
    toggles += static_cast<unsigned>(std::popcount(difference));
  }
  return static_cast<double>(toggles) / (8.0 * static_cast<double>((pieces - 1) * width_bytes));
}

}  // namespace ww::kernels
