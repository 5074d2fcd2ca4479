// Recordings that cannot be fitted, or not wholly: refused by name, kept with their reasons.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "testing/fitting.hpp"

namespace ww::model {
namespace {

using namespace testing;
using ::testing::HasSubstr;

struct Broken {
  const char* name;
  std::function<void(SyntheticSpec&)> plan;
  std::function<void(SyntheticCampaign&)> spoil;
  ErrorCode code;
  const char* message;
};
std::ostream& operator<<(std::ostream& out, const Broken& broken) {
  return out << broken.name;
}

void each_sample(SyntheticCampaign& campaign, const std::function<void(SensorReading&)>& change) {
  for (auto& run : campaign.runs) {
    for (auto& sample : run.samples) change(sample);
  }
}
void keep(SyntheticCampaign& campaign, const std::function<bool(const StoredRun&)>& wanted) {
  std::erase_if(campaign.runs, [&](const StoredRun& run) { return !wanted(run); });
}
void nothing(SyntheticSpec&) {}

class BrokenCampaign : public ::testing::TestWithParam<Broken> {};

TEST_P(BrokenCampaign, IsRefusedByName) {
  const Broken& broken = GetParam();
  auto spec = seeded(1);
  spec.variants = {{"random", 0, 0.95, 0.5, 1, 0}};
  broken.plan(spec);
  auto campaign = make_campaign(spec);
  broken.spoil(campaign);
  const auto result = fit(campaign);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, broken.code) << result.error().text();
  EXPECT_THAT(result.error().text(), HasSubstr(broken.message));
}

INSTANTIATE_TEST_SUITE_P(
    All, BrokenCampaign,
    ::testing::Values(
        Broken{"Empty", nothing, [](auto& c) { c.runs.clear(); }, ErrorCode::bad_data, "empty"},
        Broken{"NoIdle", nothing,
               [](auto& c) {
                 keep(c, [](const StoredRun& r) {
                   return r.kind != RunKind::idle && r.kind != RunKind::cooldown;
                 });
               },
               ErrorCode::bad_data, "no usable idle"},
        Broken{"OneTemperature",
               [](SyntheticSpec& s) {
                 s.hot_spot_k_per_w = s.die_k_per_w = s.sink_k_per_w = 1e-4;
                 s.ambient_drift_c = 0;
               },
               [](auto&) {}, ErrorCode::bad_data, "one temperature only"},
        Broken{"NoTemperature", nothing,
               [](auto& c) { each_sample(c, [](SensorReading& s) { s.temperature_mc.reset(); }); },
               ErrorCode::bad_data, "temperature sensor returned nothing"},
        Broken{
            "NoStreams", nothing,
            [](auto& c) { keep(c, [](const StoredRun& r) { return r.kind != RunKind::stream; }); },
            ErrorCode::bad_data, "no stream runs"},
        Broken{"OneStream", nothing,
               [](auto& c) {
                 bool seen = false;
                 keep(c, [&](const StoredRun& r) {
                   if (r.kind != RunKind::stream) return true;
                   return !std::exchange(seen, true);
                 });
               },
               ErrorCode::bad_data, "one stream run only"},
        Broken{"OneRun", nothing, [](auto& c) { c.runs.resize(1); }, ErrorCode::bad_data,
               "no stream runs"},
        Broken{"NegativePower", nothing,
               [](auto& c) { each_sample(c, [](SensorReading& s) { s.power_uw = -*s.power_uw; }); },
               ErrorCode::bad_data, "zero or negative"},
        Broken{"NegativeInStreams", nothing,
               [](auto& c) {
                 for (auto& run : c.runs) {
                   if (run.kind != RunKind::stream) continue;
                   for (auto& sample : run.samples) sample.power_uw = -1000;
                 }
               },
               ErrorCode::bad_data, "zero or negative"},
        Broken{"AbsentPower", nothing,
               [](auto& c) { each_sample(c, [](SensorReading& s) { s.power_uw.reset(); }); },
               ErrorCode::bad_data, "power sensor returned nothing"},
        Broken{"FrozenPower", nothing,
               [](auto& c) { each_sample(c, [](SensorReading& s) { s.power_uw = 100'000'000; }); },
               ErrorCode::bad_data, "frozen"},
        Broken{"NotANumberOfBits", nothing,
               [](auto& c) {
                 for (auto& run : c.runs) run.payload_bits = std::nan("");
               },
               ErrorCode::bad_data, "no traffic"},
        Broken{"NoFloorplan", nothing, [](auto& c) { c.facts.erase("floorplan_toml"); },
               ErrorCode::bad_data, "floorplan"},
        Broken{"NoSensorFact", nothing, [](auto& c) { c.facts.erase("sensor"); },
               ErrorCode::bad_data, "sensor"},
        Broken{"SensorNotJson", nothing, [](auto& c) { c.facts["sensor"] = "{"; },
               ErrorCode::parse_error, "sensor"},
        Broken{"AbsurdDelay", nothing,
               [](auto& c) {
                 auto j = nlohmann::json::parse(c.facts["sensor"]);
                 j["delay_s"] = -3;
                 c.facts["sensor"] = j.dump();
               },
               ErrorCode::out_of_range, "sensor.delay_s"},
        Broken{"TextForAClock", nothing,
               [](auto& c) {
                 auto j = nlohmann::json::parse(c.facts["dvfs"]);
                 j[0]["clock_hz"] = "fast";
                 c.facts["dvfs"] = j.dump();
               },
               ErrorCode::parse_error,
               "facts of the campaign: 'dvfs[0].clock_hz' must be a number"},
        Broken{"NoStates", nothing, [](auto& c) { c.facts["dvfs"] = "[]"; }, ErrorCode::parse_error,
               "dvfs"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(Fit, BadRunsAreKeptWithTheirReasonAndTheRestIsFitted) {
  auto campaign = make_campaign(seeded(6));
  int seen = 0;
  for (auto& run : campaign.runs) {
    if (run.kind != RunKind::stream) continue;
    ++seen;
    if (seen == 3) {
      run.status = RunStatus::rejected;
      run.reason = "throttled";
    }
    if (seen == 5) run.engine = 9;
    if (seen == 7) {
      for (auto& sample : run.samples) sample.power_uw = 0;
    }
    if (seen == 9) {
      for (auto& sample : run.samples) sample.clock_khz = 700'000;
    }
    if (seen == 11) run.samples.clear();
  }
  const auto result = fit(campaign);
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->rejected, 5);
  std::vector<std::string> reasons;
  for (const auto& row : result->plateaus) {
    if (!row.used) reasons.push_back(row.reason);
  }
  EXPECT_THAT(reasons, ::testing::UnorderedElementsAre(
                           "throttled", HasSubstr("engine 9"), HasSubstr("zero or negative"),
                           HasSubstr("700 MHz"), HasSubstr("fewer than")));
  EXPECT_LT(std::abs(error_percent(campaign, result->energy_per_bit_mm.row.value.value_or(0))), 5);
}

}  // namespace
}  // namespace ww::model
