#include "channels/contention.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "channels/address_map.hpp"
#include "ww/core/statistics.hpp"

namespace ww::microbench {
namespace {

constexpr std::uint32_t kShortLoops = 8;  // some 14 us
constexpr std::uint32_t kMaxLoops = 1U << 16U;
constexpr double kLaunchS = 0.5e-3;
// A clock that was idle climbs to its working state within some 100 ms of load.
constexpr double kWarmUpS = 0.5;
constexpr int kMaxWarmUps = 4000;
// Launches that repeat to within this share are timed by an emulator's own cycles.
constexpr double kExactShare = 2e-3;
// Launches of one pair then agree to within this share; the first one misses the L2.
constexpr double kAgreeingShare = 0.05;
constexpr int kFirstLaunches = 9;
constexpr int kRepeats = 3;
constexpr int kMaxRepeats = 15;
constexpr int kLevelRepeats = 7;
// Two channels take half as long as one; fixed costs of a launch leave less of a difference.
constexpr double kMinPairContrast = 0.15;
constexpr unsigned kLowestBit = 6;
constexpr unsigned kHighestBit = 20;
constexpr int kCheckedPairs = 120;

double spread(const std::vector<double>& values) {
  const auto [least, greatest] = std::ranges::minmax(values);
  return greatest - least;
}

// Half the range without the least and the greatest.
double noise_of(std::vector<double> values) {
  std::ranges::sort(values);
  return 0.5 * (values[values.size() - 2] - values[1]);
}

}  // namespace

Result<std::vector<double>> ContentionMeter::shares(std::uint64_t first, std::uint64_t second,
                                                    int repeats) {
  std::vector<double> shares;
  for (int i = 0; i < repeats; ++i) {
    WW_ASSIGN(pair, time_(first, second, loops_));
    WW_ASSIGN(after, alone());
    shares.push_back(pair / (0.5 * (last_alone_ + after)));
    last_alone_ = after;
  }
  return shares;
}

// Near one of the two levels rather than between or beyond them.
bool ContentionMeter::is_clear(double share) const {
  const double near = 0.25 * (1 - apart_);
  return std::abs(share - 1) < near || std::abs(share - apart_) < near;
}

Status ContentionMeter::lengthen() {
  exact_ = false;
  for (double seconds = 0; seconds < kLaunchS && loops_ < kMaxLoops;) {
    loops_ *= 2;
    std::vector<double> times;
    for (int i = 0; i < kRepeats; ++i) {
      WW_ASSIGN(time, alone());
      times.push_back(time);
    }
    seconds = median(times);
  }
  double worked = 0;
  for (int i = 0; i < kMaxWarmUps && worked < kWarmUpS; ++i) {
    WW_ASSIGN(time, alone());
    worked += time;
    last_alone_ = time;
  }
  return {};
}

Status ContentionMeter::find_levels() {
  WW_ASSIGN(same, shares(0, 0, exact_ ? kRepeats : kLevelRepeats));
  const double noise = exact_ ? 0.5 * spread(same) : noise_of(same);
  apart_ = 1;
  std::uint64_t farthest = 0;
  for (unsigned bit = kLowestBit; bit <= kHighestBit; ++bit) {
    WW_ASSIGN(pair, shares(0, std::uint64_t{1} << bit, exact_ ? 1 : kRepeats));
    if (median(pair) >= apart_) continue;
    apart_ = median(pair);
    farthest = std::uint64_t{1} << bit;
  }
  if (exact_) {
    WW_ASSIGN(again, shares(0, farthest, kRepeats));
    again.push_back(apart_);
    if (std::max(spread(again), spread(same)) > kAgreeingShare) {
      WW_TRY(lengthen());
      return find_levels();
    }
  }
  reason_.clear();
  if (!(1 - apart_ > std::max(4 * noise, kMinPairContrast))) {
    reason_ = fmt::format(
        "two addresses at best take {:.1f}% less time than one, within noise of {:.1f}% or no "
        "contention at a channel",
        100 * (1 - apart_), 100 * noise);
  }
  return {};
}

Status ContentionMeter::prepare() {
  loops_ = kShortLoops;
  std::vector<double> times;
  for (int i = 0; i < kFirstLaunches; ++i) {
    WW_ASSIGN(time, alone());
    times.push_back(time);
  }
  last_alone_ = times.back();
  times.erase(times.begin());  // it misses the L2
  exact_ = spread(times) <= kExactShare * median(times);
  if (!exact_) WW_TRY(lengthen());
  WW_TRY(find_levels());
  return {};
}

Result<bool> ContentionMeter::same(std::uint64_t first, std::uint64_t second) {
  WW_ASSIGN(seen, shares(first, second, exact_ ? 1 : kRepeats));
  while (!is_clear(median(seen)) && std::ssize(seen) < kMaxRepeats) {
    WW_ASSIGN(more, shares(first, second, exact_ ? kRepeats : 4));
    seen.insert(seen.end(), more.begin(), more.end());
    if (!exact_) continue;
    if (spread(seen) <= kAgreeingShare) break;
    // Repeats disagree, so that the events are not as exact as they seemed.
    WW_TRY(lengthen());
    WW_TRY(find_levels());
    if (!reason_.empty()) return false;
    return same(first, second);
  }
  return median(seen) > 0.5 * (1 + apart_);
}

Result<AddressMap> address_map_by_contention(const TimeContention& time,
                                             const std::function<void()>& asked) {
  ContentionMeter meter(time);
  WW_TRY(meter.prepare());
  if (!meter.reason().empty()) {
    AddressMap none;
    none.reason = meter.reason();
    return none;
  }
  const SameChannel pair = [&](std::uint64_t first, std::uint64_t second) {
    asked();
    return meter.same(first, second);
  };
  return find_address_map(pair, {kLowestBit, kHighestBit}, kCheckedPairs, 1);
}

}  // namespace ww::microbench
