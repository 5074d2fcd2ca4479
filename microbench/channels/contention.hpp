// Tells whether two addresses share a channel of the L2 from launches that a real card's events
// time: with jitter, with launches that come late, and with a clock that climbs meanwhile.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/microbench/topology.hpp"

namespace ww::microbench {

// Seconds of a launch whose wavefronts read at two addresses, `loops` times four loads each.
using TimeContention =
    std::function<Result<double>(std::uint64_t first, std::uint64_t second, std::uint32_t loops)>;

// Every time is compared with launches on one address just before and after it, so that a clock
// that changes slowly cancels. Events that repeat exactly, as an emulator's do, are asked with
// short launches. All others get launches of half a millisecond, beside which events' jitter of
// microseconds is small (openxla/xla PR 47065), on a card that has worked for half a second.
class ContentionMeter {
 public:
  explicit ContentionMeter(TimeContention time) : time_(std::move(time)) {}

  // Chooses the launches and finds how long one channel and two take. Errors of the launches.
  Status prepare();
  // Empty where two channels take clearly less time than one, else why nothing can be asked.
  [[nodiscard]] const std::string& reason() const { return reason_; }
  // Needs an empty reason. Errors of the launches.
  Result<bool> same(std::uint64_t first, std::uint64_t second);

 private:
  // Times of `repeats` launches, as shares of the launches on one address around each.
  Result<std::vector<double>> shares(std::uint64_t first, std::uint64_t second, int repeats);
  Result<double> alone() { return time_(0, 0, loops_); }
  Status lengthen();
  Status find_levels();
  [[nodiscard]] bool is_clear(double share) const;

  TimeContention time_;
  std::uint32_t loops_{};
  bool exact_{};
  double apart_{};  // share of the time of one channel that two channels take
  double last_alone_{};
  std::string reason_;
};

// The address map of a device, from such launches alone; `asked` is called for each pair of
// addresses. found = false with a reason where it is not found. Errors of the launches.
[[nodiscard]] Result<AddressMap> address_map_by_contention(const TimeContention& time,
                                                           const std::function<void()>& asked);

}  // namespace ww::microbench
