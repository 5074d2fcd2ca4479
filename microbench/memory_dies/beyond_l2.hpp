// Reads behind the L2 of a chip whose memory dies stand beside it (RDNA 3), for the bound on the
// link to them (ww/model/beyond_l2.hpp): all compute units read half of what the L2 holds over and
// over, or four times as much in turn, which never hits there; with as many loads and waits, whose
// length hides how long a load takes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "bench/bench.hpp"
#include "device/device.hpp"
#include "ww/core/campaign_store.hpp"
#include "ww/core/result.hpp"
#include "ww/model/beyond_l2.hpp"

namespace ww::microbench {

class BeyondL2 {
 public:
  // Whether the part has such dies: gfx1100 and gfx1101, of which Navi 33 (gfx1102) is one die.
  [[nodiscard]] static bool is_for(const Device& device);
  // Builds the kernel and fills its memory with random bits of `seed`. The bench must outlive it.
  // Errors of the host.
  static Result<std::unique_ptr<BeyondL2>> create(Bench& bench, std::uint64_t seed);

  // Launches for so long. `point`: place in model::kBeyondL2Points. Rejected where the counters'
  // bytes or hits of the L2 are not the point's. `payload_bits` are those that waves load.
  Status perform(int point, double seconds, StoredRun& run);

 private:
  explicit BeyondL2(Bench& bench) : bench_(bench) {}
  [[nodiscard]] std::string judge(const StoredRun& run, int point) const;

  Bench& bench_;
  std::string hash_;
  std::size_t groups_{};
  std::uint32_t waves_{};
  std::uint32_t pages_{};  // that the L2 holds; a wave of each launch has the same number of them
  // The kernel is destroyed before the buffers that its arguments name.
  std::unique_ptr<DeviceBuffer> memory_, output_;
  std::unique_ptr<LoadedKernel> stream_;
};

}  // namespace ww::microbench
