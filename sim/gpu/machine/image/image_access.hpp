// An image instruction on its way: where its texels are, and what becomes of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "machine/image/image_format.hpp"
#include "machine/isa/micro_op.hpp"

namespace ww::sim::gpu::exec {

struct MemoryOperation;
struct Wave;

// Taps of a sample that is made of several texels. Tap i is the nearer or the farther one in x (bit
// 0), y (bit 1) and z (bit 2).
struct TapSet {
  static constexpr std::size_t kMax = 8;
  std::size_t count{};
  std::array<std::uint64_t, kMax> inside{};  // lanes whose tap is a texel and not the border
  std::uint64_t address[kMax][kLanes];
  std::uint8_t fraction[3][kLanes];      // of the farther ones, in 1/256
  std::uint32_t data[kMax][kLanes * 4];  // lane-major texels, as in OperationBytes
};

struct ImageAccess {
  TexelFormat format{};
  std::uint32_t texel_bytes{};
  std::uint8_t channels{};  // dmask
  bool halves{};            // d16: two channels a register
  // Channel of each tap that becomes one of a gather's result, from 1 on; else 0.
  std::uint8_t gathered{};
  std::uint64_t inside{};  // lanes with a texel; the others get the border
  Channels border{};
  std::int64_t cycles{};  // that the texture unit is taken
  TapSet taps;            // where the operation is spread
};

// Calls f(tap) for each of the lane's texels.
template <class F>
void for_taps(const TapSet& taps, std::size_t lane, F&& f) {
  for (std::size_t tap = 0; tap < taps.count; ++tap) {
    if ((taps.inside[tap] >> lane & 1U) != 0) f(tap);
  }
}

// Writes the registers of a load or sample whose texels are there.
void complete_image(Wave& wave, MemoryOperation& operation);

}  // namespace ww::sim::gpu::exec
