#include "experiment/crossing_rates.hpp"

#include <algorithm>
#include <array>

namespace ww::microbench {
namespace {

constexpr double kCrossingLaunchSeconds = 3e-3;
constexpr std::uint32_t kFirstLoops = 64;  // of a launch whose length is not known yet
constexpr std::uint32_t kFirstFurnaceLoops = 16;
constexpr std::array kLowerRates{0.60, 0.35};
constexpr double kRateTolerance = 0.05;
constexpr double kEmptyTolerance = 0.03;

}  // namespace

std::uint32_t CrossingRates::loops(const CrossingPoint& point) const {
  const auto found = loops_.find({point.wait, point.far(), point.empty});
  return found == loops_.end() ? kFirstLoops : found->second;
}

CrossingPoint CrossingRates::as_run(CrossingPoint point) const {
  if (!point.empty) return point;
  const auto found = empty_waits_.find(point.wait);
  if (found != empty_waits_.end()) point.wait = found->second;
  return point;
}

// Iterations a second; sets the loops of a launch so that all launches take as long. The gaps
// between launches then weigh equally.
Result<double> CrossingRates::rate(Bench& bench, CrossingKernels& kernels,
                                   const CrossingPoint& point) {
  constexpr int kRounds = 5;
  constexpr int kTimedLaunches = 3;
  double rate = 0;
  for (int round = 0; round < kRounds; ++round) {
    const std::uint32_t loops = this->loops(point);
    WW_TRY(kernels.select(as_run(point), loops));
    WW_TRY(kernels.time_launch());  // the first launch after a change may wake the chip
    WW_TRY(kernels.select(as_run(point), loops));
    double seconds = 0;
    for (int i = 0; i < kTimedLaunches; ++i) {
      WW_ASSIGN(once, kernels.time_launch());
      seconds += once;
    }
    WW_ASSIGN(count, kernels.iterations());
    if (!(count > 0) || !(seconds > 0)) {
      return fail(ErrorCode::bad_data,
                  "no wavefront found itself on the side that it was pinned to",
                  bench.device().name);
    }
    rate = count / seconds;
    const double factor = kCrossingLaunchSeconds * kTimedLaunches / seconds;
    const bool fits = factor > 0.7 && factor < 1.5;
    const double wanted = fits ? loops : std::clamp(loops * factor, 8.0, 1e6);
    loops_[{point.wait, point.far(), point.empty}] = static_cast<std::uint32_t>(wanted);
    if (fits) break;
  }
  return rate;
}

Status CrossingRates::tune(Bench& bench, CrossingKernels& kernels) {
  const CrossingPoint far{0, 1, true, kShortestWait};
  WW_ASSIGN(full, rate(bench, kernels, far));
  std::vector<std::uint32_t> waits{kShortestWait};
  for (const double level : kLowerRates) {
    WW_ASSIGN(found, bench.find_throttle(level - kRateTolerance, level + kRateTolerance,
                                         [&](std::uint32_t wait) -> Result<double> {
                                           CrossingPoint slower = far;
                                           slower.wait = wait;
                                           WW_ASSIGN(slow, rate(bench, kernels, slower));
                                           return slow / full;
                                         }));
    if (found.throttle > waits.back()) waits.push_back(found.throttle);
  }
  for (const std::uint32_t wait : waits) {
    WW_ASSIGN(near_rate, rate(bench, kernels, {0, 0, true, wait}));
    WW_ASSIGN(far_rate, rate(bench, kernels, {0, 1, true, wait}));
    const CrossingPoint empty{.wait = wait, .empty = true};
    WW_ASSIGN(as_far, bench.find_throttle(1 - kEmptyTolerance, 1 + kEmptyTolerance,
                                          [&](std::uint32_t longer) -> Result<double> {
                                            empty_waits_[wait] = longer;
                                            WW_ASSIGN(now, rate(bench, kernels, empty));
                                            return now / far_rate;
                                          }));
    const double empty_rate = as_far.share * far_rate;
    near_per_s_.push_back(near_rate);
    far_per_s_.push_back(far_rate);
    empty_per_s_.push_back(empty_rate);
  }
  WW_TRY(tune_furnace(kernels));
  std::erase_if(loops_, [&waits](const auto& entry) {
    return std::ranges::find(waits, std::get<0>(entry.first)) == waits.end();
  });
  waits_ = std::move(waits);
  return {};
}

Status CrossingRates::tune_furnace(CrossingKernels& kernels) {
  WW_TRY(kernels.set_furnace(kFirstFurnaceLoops));
  WW_TRY(kernels.time_furnace());  // the first launch may wake the chip
  WW_ASSIGN(seconds, kernels.time_furnace());
  const double loops = kFirstFurnaceLoops * kCrossingLaunchSeconds / std::max(seconds, 1e-9);
  furnace_loops_ = static_cast<std::uint32_t>(std::clamp(loops, 1.0, 1e6));
  return {};
}

void CrossingRates::put(nlohmann::json& setup) const {
  auto loops = nlohmann::json::array();
  for (const auto& [key, count] : loops_) {
    const auto& [wait, far, empty] = key;
    loops.push_back({{"wait", wait}, {"far", far}, {"empty", empty}, {"loops", count}});
  }
  setup["waits"] = waits_;
  auto empty_waits = nlohmann::json::array();
  for (const std::uint32_t wait : waits_) empty_waits.push_back(empty_waits_.at(wait));
  setup["empty_waits"] = std::move(empty_waits);
  setup["loops"] = std::move(loops);
  setup["furnace_loops"] = furnace_loops_;
  setup["near_per_s"] = near_per_s_;
  setup["far_per_s"] = far_per_s_;
  setup["empty_per_s"] = empty_per_s_;
}

void CrossingRates::take(const JsonReader& setup) {
  setup.read("waits", waits_);
  std::vector<std::uint32_t> empty_waits;
  setup.read("empty_waits", empty_waits);
  for (std::size_t i = 0; i < std::min(waits_.size(), empty_waits.size()); ++i) {
    empty_waits_[waits_[i]] = empty_waits[i];
  }
  setup.read("furnace_loops", furnace_loops_);
  setup.read("near_per_s", near_per_s_);
  setup.read("far_per_s", far_per_s_);
  setup.read("empty_per_s", empty_per_s_);
  for (const JsonReader& entry : setup.objects("loops")) {
    std::uint32_t wait = 0;
    std::uint32_t loops = 0;
    bool far = false;
    bool empty = false;
    entry.read("wait", wait);
    entry.read("far", far);
    entry.read("empty", empty);
    entry.read("loops", loops);
    loops_[{wait, far, empty}] = loops;
  }
}

}  // namespace ww::microbench
