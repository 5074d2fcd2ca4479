#include "ww/sim/gpu/channel_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>

namespace ww::sim::gpu {
namespace {

constexpr int kHighestBit = 40;

Status map_error(const std::string& key, const std::string& message) {
  return fail(ErrorCode::out_of_range, message, "channel_map." + key);
}

bool is_permutation_of(std::vector<int> values, int count) {
  std::ranges::sort(values);
  std::vector<int> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), 0);
  return values == all;
}

// Address channel of a block, bit by bit.
std::uint32_t hash_of(const ChannelMap& map, std::uint64_t block, int first_bit) {
  std::uint32_t hashed = 0;
  for (std::size_t i = 0; i < map.hash.size(); ++i) {
    for (const int bit : map.hash[i]) {
      hashed ^= static_cast<std::uint32_t>(block >> (bit - first_bit) & 1U) << i;
    }
  }
  return hashed;
}

int interleave_bit(int interleave_bytes) {
  return std::countr_zero(static_cast<unsigned>(interleave_bytes));
}

}  // namespace

Status check_channel_map(const ChannelMap& map, int channels, int interleave_bytes) {
  if (!map.steer.empty() && !is_permutation_of(map.steer, channels)) {
    return map_error("steer", fmt::format("every channel from 0 to {} once", channels - 1));
  }
  if (map.hash.empty()) return {};
  const auto count = static_cast<unsigned>(channels);
  if (!std::has_single_bit(count) ||
      map.hash.size() != static_cast<std::size_t>(std::countr_zero(count))) {
    return map_error("hash", fmt::format("a row for each bit of a channel's number is needed, and "
                                         "a power of two of channels; there are {} rows and {} "
                                         "channels",
                                         map.hash.size(), channels));
  }
  const int first = interleave_bit(interleave_bytes);
  for (const auto& row : map.hash) {
    for (const int bit : row) {
      if (bit < first || bit >= kHighestBit) {
        return map_error("hash", fmt::format("address bits from {} to {}; bit {} is not one", first,
                                             kHighestBit - 1, bit));
      }
    }
  }
  std::vector<int> of_row;
  of_row.reserve(static_cast<std::size_t>(channels));
  for (int block = 0; block < channels; ++block) {
    of_row.push_back(static_cast<int>(hash_of(map, static_cast<std::uint64_t>(block), first)));
  }
  if (!is_permutation_of(of_row, channels)) {
    return map_error("hash", fmt::format("{} blocks in a row must go to {} channels; some of the "
                                         "parities of their bits alone are the same",
                                         channels, channels));
  }
  return {};
}

ChannelLookup::ChannelLookup(const ChannelMap& map, int channels, int interleave_bytes)
    : hashed_(!map.hash.empty()),
      channels_(static_cast<std::uint64_t>(channels)),
      steer_(static_cast<std::size_t>(channels)),
      unsteer_(steer_.size()),
      in_row_(steer_.size()) {
  const int first = interleave_bit(interleave_bytes);
  for (std::size_t i = 0; i < kBytes && hashed_; ++i) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      parity_[i][byte] =
          static_cast<std::uint8_t>(hash_of(map, std::uint64_t{byte} << (8 * i), first));
    }
  }
  for (std::size_t c = 0; c < steer_.size(); ++c) {
    steer_[c] = static_cast<std::uint8_t>(map.steer.empty() ? static_cast<int>(c) : map.steer[c]);
    unsteer_[steer_[c]] = static_cast<std::uint8_t>(c);
    in_row_[hashed_ ? hash_of(map, c, first) : c] = static_cast<std::uint8_t>(c);
  }
}

std::uint64_t ChannelLookup::block(std::uint64_t row, std::uint32_t channel) const {
  const std::uint64_t first = row * channels_;
  std::uint32_t wanted = unsteer_[channel];
  if (hashed_) {
    // Parities add: the row's own is taken out, and what is left is a block's of row 0.
    for (std::size_t i = 0; i < kBytes; ++i) wanted ^= parity_[i][first >> (8 * i) & 255];
  }
  return first + in_row_[wanted];
}

}  // namespace ww::sim::gpu
