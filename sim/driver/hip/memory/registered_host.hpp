// Memory of the host that the program had before and declared to HIP (hipHostRegister). Copies need
// nothing of it. A kernel gets a twin in the chip's memory, which has the host's bytes when the
// launch begins and gives them back when it has ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace ww::sim::driver::hip {

struct RegisteredHost {
  std::uint64_t address{};  // of the host
  std::uint64_t bytes{};
  unsigned flags{};
  int device{};          // that the thread had chosen
  std::uint64_t twin{};  // on the chip; 0: no kernel can have it yet
};

// Around an address of the host. Needs the lock, as all of this does.
[[nodiscard]] std::optional<RegisteredHost> find_registered(std::uint64_t address);
// The host's own bytes behind a place in a twin; null for any other place, and where that range
// leaves the twin.
[[nodiscard]] std::byte* host_behind_twin(std::uint64_t address, std::size_t bytes);

// Keeps the twins in use for the time of a launch.
class TwinsInUse {
 public:
  TwinsInUse();
  ~TwinsInUse();
  TwinsInUse(const TwinsInUse&) = delete;
  TwinsInUse& operator=(const TwinsInUse&) = delete;
};

}  // namespace ww::sim::driver::hip
