// Remembers memory that a trace has shown lately, and which bytes: of bounded size, a block that
// another one displaces is forgotten.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "ww/sim/net/random.hpp"

namespace ww::sim::net {

class KnownMemory {
 public:
  KnownMemory() : blocks_(kBlocks) {}

  void write(std::uint64_t address, const std::byte* bytes, std::size_t count) {
    each(address, count, [&](std::uint64_t number, std::size_t at, std::size_t length) {
      Block& block = blocks_[number % kBlocks];
      if (block.number != number) {
        block.number = number;
        block.known = 0;
      }
      std::memcpy(&block.bytes[at], bytes, length);
      block.known |= mask(at, length);
      bytes += length;
    });
  }

  void forget(std::uint64_t address, std::size_t count) {
    each(address, count, [&](std::uint64_t number, std::size_t at, std::size_t length) {
      Block& block = blocks_[number % kBlocks];
      block.known &= block.number == number ? ~mask(at, length) : ~std::uint64_t{0};
    });
  }

  // Reads what is known and draws the rest. Returns how many bytes were known.
  std::size_t read(std::uint64_t address, std::byte* bytes, std::size_t count, Random& random) {
    std::size_t known = 0;
    each(address, count, [&](std::uint64_t number, std::size_t at, std::size_t length) {
      const Block& block = blocks_[number % kBlocks];
      const std::uint64_t here = block.number == number ? block.known & mask(at, length) : 0;
      std::memcpy(bytes, &block.bytes[at], length);
      for (std::uint64_t left = mask(at, length) & ~here; left != 0; left &= left - 1) {
        bytes[static_cast<std::size_t>(std::countr_zero(left)) - at] =
            static_cast<std::byte>(random.bits() >> 56);
      }
      known += static_cast<std::size_t>(std::popcount(here));
      bytes += length;
    });
    return known;
  }

 private:
  static constexpr std::size_t kBytes = 64;
  static constexpr std::size_t kBlocks = std::size_t{1} << 16;
  struct Block {
    std::uint64_t number{~std::uint64_t{0}};
    std::uint64_t known{};
    std::array<std::byte, kBytes> bytes{};
  };

  static std::uint64_t mask(std::size_t at, std::size_t length) {
    const std::uint64_t ones =
        length == kBytes ? ~std::uint64_t{0} : (std::uint64_t{1} << length) - 1;
    return ones << at;
  }
  // f(block number, offset in the block, length) for each block of a range.
  template <class F>
  static void each(std::uint64_t address, std::size_t count, F&& f) {
    while (count != 0) {
      const std::size_t at = address % kBytes;
      const std::size_t length = std::min(count, kBytes - at);
      f(address / kBytes, at, length);
      address += length;
      count -= length;
    }
  }

  std::vector<Block> blocks_;
};

}  // namespace ww::sim::net
