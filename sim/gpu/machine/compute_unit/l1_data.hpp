// Bytes of the L1 lines that are not what memory holds: an approximating network delivered others,
// and later hits get those.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace ww::sim::gpu::exec {

class L1Data {
 public:
  explicit L1Data(std::uint32_t slots) : differs_(slots), bytes_(slots) {}

  // Null where the slot's line is as in memory.
  [[nodiscard]] const std::byte* line(std::uint32_t slot) const {
    return differs_[slot] != 0 ? bytes_[slot].data() : nullptr;
  }
  void keep(std::uint32_t slot, const std::byte* bytes) {
    differs_[slot] = 1;
    std::memcpy(bytes_[slot].data(), bytes, bytes_[slot].size());
  }
  void as_memory(std::uint32_t slot) { differs_[slot] = 0; }

 private:
  std::vector<std::uint8_t> differs_;
  std::vector<std::array<std::byte, 64>> bytes_;
};

}  // namespace ww::sim::gpu::exec
