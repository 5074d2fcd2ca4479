// Finds the home of a byte of memory on a part of MI300's kind: I/O die, HBM stack of that die,
// channel of that stack. Each channel has a slice of the Infinity Cache before it.
//
// Source: Linux, drivers/ras/amd/atl (the hash of MI300 with NPS1, all terms on): each bit of a
// place is the parity of some address bits. Blocks of 256 B go to the 16 channels of a stack within
// 4 KiB; the I/O die changes every 4 KiB.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace ww::sim::gpu {

struct MemoryHome {
  static constexpr int kIoDies = 4;
  static constexpr int kStacks = 2;     // of an I/O die
  static constexpr int kChannels = 16;  // of a stack
  static constexpr int kSlices = kIoDies * kStacks * kChannels;
  int io_die{};
  int stack{};
  int channel{};
  [[nodiscard]] constexpr int slice() const {
    return (io_die * kStacks + stack) * kChannels + channel;
  }
  bool operator==(const MemoryHome&) const = default;
};

namespace detail {
template <class... Bits>
constexpr std::uint64_t address_bits(Bits... bits) {
  return ((std::uint64_t{1} << bits) | ...);
}
inline constexpr std::array<std::uint64_t, 4> kChannelBits{
    address_bits(8, 12, 15, 22, 29, 36, 43), address_bits(9, 13, 16, 23, 30, 37, 44),
    address_bits(10, 14, 17, 24, 31, 38, 45), address_bits(11, 18, 25, 32, 39, 46)};
inline constexpr std::uint64_t kStackBits = address_bits(14, 19, 26, 33, 40, 47);
inline constexpr std::array<std::uint64_t, 2> kIoDieBits{address_bits(12, 20, 27, 34, 41),
                                                         address_bits(13, 21, 28, 35, 42)};
constexpr int parity(std::uint64_t bits) {
  return std::popcount(bits) & 1;
}
}  // namespace detail

// The home of a physical address, counted from the start of device memory [bytes].
[[nodiscard]] constexpr MemoryHome memory_home(std::uint64_t address) {
  MemoryHome home;
  for (std::size_t bit = 0; bit < detail::kChannelBits.size(); ++bit) {
    home.channel |= detail::parity(address & detail::kChannelBits[bit]) << bit;
  }
  home.stack = detail::parity(address & detail::kStackBits);
  for (std::size_t bit = 0; bit < detail::kIoDieBits.size(); ++bit) {
    home.io_die |= detail::parity(address & detail::kIoDieBits[bit]) << bit;
  }
  return home;
}

}  // namespace ww::sim::gpu
