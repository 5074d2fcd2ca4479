// Bits one behind another, as they go over the links.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ww::sim::net {

class BitWriter {
 public:
  void clear() {
    bytes_.clear();
    bits_ = 0;
  }
  // The low `count` (<= 32) bits of a value, highest first.
  void put(std::uint32_t value, int count) {
    for (int i = count - 1; i >= 0; --i) {
      if (bits_ % 8 == 0) {
        bytes_.push_back(std::byte{0});
      }
      bytes_.back() |= static_cast<std::byte>((value >> i & 1u) << (7 - bits_ % 8));
      ++bits_;
    }
  }
  [[nodiscard]] std::size_t bits() const { return bits_; }
  [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
  std::size_t bits_{};
};

}  // namespace ww::sim::net
