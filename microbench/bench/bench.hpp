// An open device as experiments use it: launches and waits, searches for a throttle, reads the
// sensor. What every experiment does in the same way is done here and in the engine.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "device/device.hpp"
#include "host/pinning.hpp"
#include "ww/core/campaign_store.hpp"
#include "ww/core/result.hpp"
#include "ww/measure/recorder.hpp"

namespace ww::microbench {

class Bench {
 public:
  // Device and pinning must outlive the bench.
  Bench(Device& device, const Pinning& pinning)
      : device_(device), pinning_(pinning), recorder_(*device.sensor) {}

  [[nodiscard]] Device& device() const { return device_; }
  [[nodiscard]] const Pinning& pinning() const { return pinning_; }

  // Queues one piece of work. A piece is one dispatch, or more where launch_count is given so.
  using Launch = std::function<Status()>;
  struct Launched {
    std::uint64_t first{}, end{};  // dispatches
    std::int64_t start_ns{}, end_ns{};
    std::int64_t launches{};
  };
  // Queues `count` launches and waits for them. Error device_error where the device did not see
  // `dispatches` (of each launch) times as many dispatches.
  Result<Launched> launch_count(std::int64_t count, const Launch& launch, int dispatches = 1);
  // Launches until `seconds` of device time have passed, in batches, then waits. For `pause_share`
  // of the time nothing runs, in pauses about 10 ms apart.
  Result<Launched> launch_for(double seconds, const Launch& launch, int dispatches = 1,
                              double pause_share = 0);
  // Length of a launch [ns], as launch_for or note_length last saw it.
  [[nodiscard]] double launch_ns() const { return launch_ns_; }
  void note_length(const Launched& done);
  // Share of the time of these launches in which one ran: short launches leave gaps, and pauses may
  // lie between batches. Nothing where the device's driver does not time single launches.
  Result<std::optional<double>> busy_share(const Launched& done) const;

  void sleep(double seconds);
  Status select_state(int dvfs_state);

  // A throttle under which a kernel runs at `low` to `high` of its full rate. `share_of` measures
  // the share at a throttle. Waiting grows in proportion to the throttle once it exceeds the
  // queueing: the search doubles, then bisects. Where two neighbouring throttles lie on both sides
  // of the range, the last one tried is taken. Error bad_data where no throttle lowers the rate.
  struct Throttled {
    std::uint32_t throttle{};
    double share{};
  };
  Result<Throttled> find_throttle(double low, double high,
                                  const std::function<Result<double>(std::uint32_t)>& share_of);

  // Appends the readings since the last call: one unbroken series in a session.
  Status read_sensor(StoredRun& run);

  // Launches for `seconds` of device time, or until the temperature has not moved for eight
  // seconds, at least fifteen. Notes when, how often, and the readings.
  Status heat(double seconds, const Launch& launch, StoredRun& run);

 private:
  Device& device_;
  const Pinning& pinning_;
  measure::Recorder recorder_;
  double launch_ns_{300'000};
};

// Marks a run as measured and not to be used; the first reason stands.
void reject(StoredRun& run, std::string reason);

}  // namespace ww::microbench
