// Where the waves last loaded from, to find a stored value that a wave has just computed from what
// it loaded: a copy, a sum, a difference or a product needs no bytes in the file. Writer and reader
// keep the same table, of bounded size, and take the loaded words from their images.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include "memory_image.hpp"
#include "ww/sim/trace/trace.hpp"

namespace ww::sim::trace {

// How 32-bit words come from those of the latest load, x, and of the one before, y.
enum class Rule : std::uint8_t {
  x,
  y,
  float_sum,
  float_x_minus_y,
  float_y_minus_x,
  float_product,
  integer_sum,
  integer_x_minus_y,
};
inline constexpr unsigned kRules = 8;

class RecentLoads {
 public:
  // Words of all lanes.
  static constexpr std::size_t kMaxBytes = kLanes * std::size_t{kMaxValueBytes};
  using Words = std::array<std::uint32_t, kMaxBytes / 4>;

  RecentLoads() : entries_(kEntries) {}

  // All lanes of a wave load `bytes` one behind the other from `base` on.
  void loaded(std::uint32_t group, std::uint32_t wave, std::uint64_t base, std::size_t bytes) {
    Entry& entry = place(group, wave);
    if (entry.group != group || entry.wave != wave || entry.bytes != bytes) {
      entry = {group, wave, 0, static_cast<std::uint32_t>(bytes), {}};
    }
    entry.base[1] = entry.base[0];
    entry.base[0] = base;
    if (entry.count < 2) ++entry.count;
  }

  // The rule that gives these words, if there is one. It leaves the image as it is, as a reader of
  // words without a rule does: it looks at no load whose page is gone from there.
  std::optional<Rule> find(std::uint32_t group, std::uint32_t wave, const std::byte* words,
                           std::size_t bytes, MemoryImage& image) {
    const Entry& entry = place(group, wave);
    if (!image.has(entry.base[0], bytes) || !image.has(entry.base[1], bytes)) return std::nullopt;
    Words x;
    Words y;
    if (!operands(group, wave, bytes, image, x, y)) return std::nullopt;
    std::uint32_t first = 0;
    std::memcpy(&first, words, 4);
    for (unsigned i = 0; i < kRules; ++i) {
      const auto rule = static_cast<Rule>(i);
      if (one(rule, x[0], y[0]) != first) continue;
      Words result;
      if (apply(rule, x, y, bytes, result) && std::memcmp(result.data(), words, bytes) == 0) {
        return rule;
      }
    }
    return std::nullopt;
  }

  // The words that a rule gives; false where the wave has no two loads of that size.
  bool compute(Rule rule, std::uint32_t group, std::uint32_t wave, std::size_t bytes,
               MemoryImage& image, Words& result) {
    Words x;
    Words y;
    return operands(group, wave, bytes, image, x, y) && apply(rule, x, y, bytes, result);
  }

 private:
  static constexpr std::size_t kEntries = 4096;
  struct Entry {
    std::uint32_t group{};
    std::uint32_t wave{};
    std::uint32_t count{};
    std::uint32_t bytes{};
    std::array<std::uint64_t, 2> base{};
  };

  Entry& place(std::uint32_t group, std::uint32_t wave) {
    return entries_[(group * 5U + wave) % kEntries];
  }
  bool operands(std::uint32_t group, std::uint32_t wave, std::size_t bytes, MemoryImage& image,
                Words& x, Words& y) {
    const Entry& entry = place(group, wave);
    if (entry.count < 2 || entry.group != group || entry.wave != wave || entry.bytes != bytes) {
      return false;
    }
    image.get(entry.base[0], reinterpret_cast<std::byte*>(x.data()), bytes);
    image.get(entry.base[1], reinterpret_cast<std::byte*>(y.data()), bytes);
    return true;
  }
  static std::uint32_t one(Rule rule, std::uint32_t x, std::uint32_t y) {
    const auto number = [](std::uint32_t word) { return std::bit_cast<float>(word); };
    const auto word = [](float value) { return std::bit_cast<std::uint32_t>(value); };
    switch (rule) {
      case Rule::x: return x;
      case Rule::y: return y;
      case Rule::float_sum: return word(number(x) + number(y));
      case Rule::float_x_minus_y: return word(number(x) - number(y));
      case Rule::float_y_minus_x: return word(number(y) - number(x));
      case Rule::float_product: return word(number(x) * number(y));
      case Rule::integer_sum: return x + y;
      case Rule::integer_x_minus_y: return x - y;
    }
    return x;
  }
  // False where a result is a NaN: its bits are the machine's choice.
  static bool apply(Rule rule, const Words& x, const Words& y, std::size_t bytes, Words& result) {
    std::uint32_t nans = 0;
    for (std::size_t i = 0; i < bytes / 4; ++i) {
      result[i] = one(rule, x[i], y[i]);
      nans |= (result[i] & 0x7FFFFFFFU) > 0x7F800000U ? 1U : 0U;
    }
    return nans == 0 || rule < Rule::float_sum || rule > Rule::float_product;
  }

  std::vector<Entry> entries_;
};

}  // namespace ww::sim::trace
