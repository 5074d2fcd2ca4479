#include "ww/measure/replay.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ww::measure {
namespace {

class ReplaySensor final : public Sensor {
 public:
  ReplaySensor(std::vector<SensorReading> readings, std::vector<int> states)
      : readings_(std::move(readings)), states_(std::move(states)) {
    facts_.name = "replay";
    now_ns_ = readings_.front().time_ns;
  }

  const SensorFacts& facts() const override { return facts_; }
  std::int64_t now_ns() override { return now_ns_; }
  void sleep_until(std::int64_t time_ns) override { now_ns_ = std::max(now_ns_, time_ns); }

  Result<std::vector<SensorReading>> new_readings() override {
    const std::size_t first = next_;
    while (next_ < readings_.size() && readings_[next_].time_ns <= now_ns_) ++next_;
    return std::vector<SensorReading>(readings_.begin() + static_cast<std::ptrdiff_t>(first),
                                      readings_.begin() + static_cast<std::ptrdiff_t>(next_));
  }

  std::vector<DvfsState> dvfs_states() const override { return {}; }
  int dvfs_current() const override { return states_[next_ == 0 ? 0 : next_ - 1]; }
  Status select_dvfs(int) override {
    return fail(ErrorCode::unsupported, "a recording cannot change its clock", facts_.name);
  }

 private:
  SensorFacts facts_;
  std::vector<SensorReading> readings_;
  std::vector<int> states_;  // beside each reading
  std::size_t next_{};
  std::int64_t now_ns_{};
};

}  // namespace

Result<std::unique_ptr<Sensor>> make_replay_sensor(const CampaignStore& campaign,
                                                   std::int64_t session) {
  WW_ASSIGN(runs, campaign.runs());
  std::vector<SensorReading> readings;
  std::vector<int> states;
  bool found = false;
  for (const StoredRun& run : runs) {
    if (run.session != session) continue;
    found = true;
    readings.insert(readings.end(), run.samples.begin(), run.samples.end());
    states.insert(states.end(), run.samples.size(), run.dvfs_state);
  }
  if (!found) return fail(ErrorCode::not_found, fmt::format("no session {}", session), "replay");
  if (readings.empty()) {
    return fail(ErrorCode::bad_data, fmt::format("session {} holds no readings", session),
                "replay");
  }
  return std::make_unique<ReplaySensor>(std::move(readings), std::move(states));
}

}  // namespace ww::measure
