// The runs of the calibration: tunes the streams, performs single runs and
// judges their traffic.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/bench.hpp"
#include "device/device.hpp"
#include "experiment/plan.hpp"
#include "experiment/stream_kernels.hpp"
#include "ww/core/campaign_store.hpp"
#include "ww/core/result.hpp"

namespace ww::microbench {

// Judgement of a streaming run, apart from the sensor: empty when good, else
// the reason for rejection. Bounds as in the paper's section IV: traffic as
// computed within 0.5%, at least 90% of the channels' peak when saturated, L2
// hit rate over 99.9%, L1 hit rate under 1%, all CUs of the engine at work. On RDNA
// the same 1% bounds what the caches of shader arrays (GL1) may serve.
struct StreamFacts {
  std::string target;  // "gfx1030": which counters there are
  double expected_bytes{};
  double counted_bytes{};
  double peak_bytes{};   // of the quadrant's channels over the run
  bool peak_is_tuned{};  // as found when tuning, not as published
  bool saturated{};
  int working_cus{};
  int engine_cus{};
  std::map<std::string, double> counters;
};
[[nodiscard]] std::string judge_stream(const StreamFacts& facts);

class Runner {
 public:
  // Bench and kernels must outlive the runner.
  Runner(Bench& bench, StreamKernels& kernels)
      : device_(bench.device()), bench_(bench), kernels_(kernels) {}

  // Finds loop counts that make launches of about `launch_ns`, and the throttle
  // of the lower rate (50 to 60% of the saturated one); with `ladder` those of
  // the other rates, too. Errors: device_error, bad_data where no throttle does
  // it.
  Result<PlanInputs::Tuning> tune(std::int64_t launch_ns, bool ladder);
  void use(const PlanInputs::Tuning& tuning) { tuning_ = tuning; }

  // One launch that shows whether the kernel is pinned. Error bad_data when it
  // is not.
  Status check_pinned();
  // A second of streaming over all pairs: clocks and caches settle; then
  // `settle_s` of idling. Its readings go with the next run's.
  Status warm_up(double settle_s);
  // Returns the launch that heats the chip.
  Bench::Launch furnace();
  // Selects what a step test switches on and off, and notes it.
  Result<Bench::Launch> step_load(const PlannedRun& run, StoredRun& stored);
  Status perform_stream(const PlannedRun& run, StoredRun& stored);
  Status perform_lock_in(const PlannedRun& run, StoredRun& stored);
  Status perform_known_bytes(StoredRun& stored);

 private:
  // Time that one more loop adds to a launch.
  Result<double> ns_per_loop(std::uint32_t few, std::uint32_t many,
                             const std::function<Status(std::uint32_t)>& launch,
                             const std::function<Result<double>(std::uint32_t)>& time);
  // Devices without counters of each launch: wavefronts of one launch of what
  // is selected; what a run's first launches must have done before it; the
  // run's bytes (`waves`: of all its launches, where one launch was counted),
  // from counters elsewhere. Error bad_data or unsupported where counters do
  // not show them.
  Result<double> count_one_launch();
  // Has the stream's lines in the L2 before a run begins, where counters separate its launches.
  Status bring_lines(const Stream& stream);
  Result<double> begin_counting();
  Result<double> counted_bytes(double waves, std::uint32_t loops);
  // Payload of all the run's launches, without the bytes of their lists.
  [[nodiscard]] Result<double> payload_by_counters(const StoredRun& stored, double waves) const;
  // Whether a rate is compared with what tuning found: where the capacity of channels and engines
  // is not known, or the engines could not use it.
  [[nodiscard]] bool peak_is_tuned() const {
    return device_.traffic != Traffic::counters || device_.homes.has_value();
  }
  [[nodiscard]] double clock_hz(int dvfs_state) const;
  [[nodiscard]] double peak_bytes(int quadrant, int dvfs_state, std::int64_t length_ns) const;
  // A throttle that gives `low` to `high` of the saturated rate, and the time
  // of one loop.
  struct Throttled {
    std::uint32_t throttle{};
    double share{}, ns_per_loop{};
  };
  Result<Throttled> find_throttle(Rate rate, double low, double high, double saturated_ns);
  // Loops and throttle of a rate.
  [[nodiscard]] std::pair<std::uint32_t, std::uint32_t> setting(Rate rate) const;

  Device& device_;
  Bench& bench_;
  StreamKernels& kernels_;
  PlanInputs::Tuning tuning_;
};

}  // namespace ww::microbench
