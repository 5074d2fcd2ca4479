#include "machine/compute_unit/line_update.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace ww::sim::gpu::exec {
namespace {

// Bytes of a line that was written in part, as the emulator packs them and one by one.
void expect_packed(std::uint64_t written) {
  std::array<std::byte, kLineBytes> line;
  for (std::size_t i = 0; i < line.size(); ++i) line[i] = static_cast<std::byte>(3 * i + 1);
  std::vector<std::byte> expected;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if ((written >> i & 1U) != 0) expected.push_back(line[i]);
  }
  std::array<std::byte, kLineBytes> packed{};
  const std::size_t size = pack_line(line.data(), written, packed.data());
  EXPECT_EQ(std::vector(packed.begin(), packed.begin() + static_cast<std::ptrdiff_t>(size)),
            expected)
      << std::hex << written;
}

TEST(LineUpdate, PacksWrittenBytesInOrder) {
  for (const std::uint64_t written :
       {std::uint64_t{0}, ~std::uint64_t{0}, std::uint64_t{0xF}, std::uint64_t{0xF} << 60,
        std::uint64_t{0xF0F0'00F0'0FFF'000F}, std::uint64_t{0x1}, std::uint64_t{0x7},
        std::uint64_t{0x1E}, std::uint64_t{0xFFFF'FFFF'FFFF'FFFE},
        std::uint64_t{0x8421'1248'F00F'3CC3}}) {
    expect_packed(written);
  }
}

}  // namespace
}  // namespace ww::sim::gpu::exec
