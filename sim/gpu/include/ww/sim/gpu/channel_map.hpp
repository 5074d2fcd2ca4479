// Maps an address to its L2 channel, where that is not plain interleaving. AMD's cards hash
// addresses over their channels (parities of address bits) and steer what comes out to the slices
// (a permutation: kernel's gfx_v9_0.c, TCP_CHAN_STEER). No card says so itself: a chip's map is no
// part of its data sheet, and a campaign has to find out.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "ww/core/result.hpp"

namespace ww::sim::gpu {

// First device address. Above 4 GiB, so that a 32-bit mistake in a kernel never hits an allocation.
inline constexpr std::uint64_t kDeviceBase = std::uint64_t{0x2'0000'0000};

struct ChannelMap {
  // Bit i of the address channel is the parity of these bits of the address; empty: plain
  // interleaving. A row for every bit of the channels' number, a power of two.
  std::vector<std::vector<int>> hash;
  std::vector<int> steer;  // [address channel] -> channel; empty: the same
  [[nodiscard]] bool plain() const { return hash.empty() && steer.empty(); }
  bool operator==(const ChannelMap&) const = default;
};

// Error out_of_range: rows or entries that do not fit the channels; bits within the interleave; a
// hash that gives one channel more addresses of a row than another, or a steer that is no
// permutation.
[[nodiscard]] Status check_channel_map(const ChannelMap& map, int channels, int interleave_bytes);

// The map, made fast. A block is a run of addresses on one channel, a row as many blocks as there
// are channels; in every row each channel has one block. For a checked map.
class ChannelLookup {
 public:
  ChannelLookup(const ChannelMap& map, int channels, int interleave_bytes);

  [[nodiscard]] std::uint32_t channel(std::uint64_t block) const {
    std::uint32_t hashed = 0;
    if (hashed_) {
      for (std::size_t i = 0; i < kBytes; ++i) hashed ^= parity_[i][block >> (8 * i) & 255];
    } else {
      hashed = static_cast<std::uint32_t>(block % channels_);
    }
    return steer_[hashed];
  }
  // The block of a row that is on the channel.
  [[nodiscard]] std::uint64_t block(std::uint64_t row, std::uint32_t channel) const;

 private:
  static constexpr std::size_t kBytes = 5;  // of a block's number that count
  bool hashed_{};
  std::uint64_t channels_{};
  std::array<std::array<std::uint8_t, 256>, kBytes> parity_{};
  std::vector<std::uint8_t> steer_;
  std::vector<std::uint8_t> unsteer_;
  std::vector<std::uint8_t> in_row_;  // [address channel] -> block of row 0
};

}  // namespace ww::sim::gpu
