// Sets up the tests of timing mode: the Dapper chip, and a ring of lines.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "machine/testing/test_gpu.hpp"
#include "ww/sim/gpu/timing.hpp"

namespace ww::sim::gpu::test {

inline constexpr std::uint32_t kChannels = 4;
inline constexpr std::uint32_t kStride =
    kChannels * 256 / 4;  // words: the next line of one channel

inline TimingConfig dapper_system() {
  return default_timing(load_chip("dapper").architecture());
}

inline std::unique_ptr<TestGpu> gpu_with(const TimingConfig& config) {
  return std::make_unique<TestGpu>(
      Options{.threads = 1, .timing = std::make_shared<const TimingConfig>(config)}, false,
      "dapper");
}

inline const TimingStats& last(TestGpu& test) {
  return test.gpu().timing_report()->dispatches.back().stats;
}

// A ring of words in lines of channel 0.
inline std::vector<std::uint32_t> ring(std::uint32_t lines) {
  std::vector<std::uint32_t> next(std::size_t{lines} * kStride);
  for (std::uint32_t i = 0; i < lines; ++i) next[i * kStride] = (i + 1) % lines * kStride;
  return next;
}

}  // namespace ww::sim::gpu::test
