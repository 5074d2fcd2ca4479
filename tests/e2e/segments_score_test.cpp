// Segments measured, fitted, and judged by the seal.
#include <gtest/gtest.h>

#include <cmath>

#include "process.hpp"

namespace ww::e2e {
namespace {

using nlohmann::json;

TEST(Segments, OfTheW9100AreMeasuredAndScored) {
  TemporaryFolder folder;
  const auto out = (folder.path() / "segments").string();
  const auto measured = run(
      {wirewatt(), "-q", "segments", "--only", "legs", "--blocks", "2", "--out", out, "--json"});
  ASSERT_EQ(measured.exit_code, 0) << measured.err;
  const auto scored = run({wirewatt(), "-q", "score", out, "--json"});
  ASSERT_EQ(scored.exit_code, 0) << scored.err;
  const json result = scored.json();
  EXPECT_TRUE(result.at("virtual").get<bool>());
  const json& rows = result.at("segments");
  ASSERT_EQ(rows.size(), 4U);
  const json& legs = rows.at(0);
  EXPECT_EQ(legs.at("segment"), "legs");
  ASSERT_EQ(legs.at("status"), "ok") << legs.at("reason");
  EXPECT_TRUE(legs.at("covered_sensed").get<bool>()) << legs.dump();
  EXPECT_LT(legs.at("low").get<double>(), legs.at("fit").get<double>());
}

TEST(Segments, FindWhatABitToARegisterCostsButNotPerMillimetre) {
  TemporaryFolder folder;
  const auto out = (folder.path() / "segments").string();
  const json printed = copy_recording("registers_l1", out).printed;
  const json& diagnostics = printed.at("registers_l1_diagnostics");
  // The recording's sensor states its tolerances, and the absolute interval has them.
  const json& measured = printed.at("segments").at(3);
  const double sensor = std::hypot(printed.at("gain_tolerance_95").get<double>(),
                                   printed.at("regulator_slope_tolerance_95").get<double>());
  EXPECT_GT(sensor, 0.01);
  EXPECT_GT(measured.at("absolute_high").get<double>(),
            (1 + sensor) * measured.at("value").get<double>());
  EXPECT_LT(diagnostics.at("inflation").get<double>(), 10);
  const auto scored = run({wirewatt(), "-q", "score", out, "--json"});
  ASSERT_EQ(scored.exit_code, 0) << scored.err;
  const json result = scored.json();
  const json& rows = result.at("segments");
  const json& per_bit = rows.at(3);
  ASSERT_EQ(per_bit.at("status"), "ok") << per_bit.at("reason");
  EXPECT_TRUE(per_bit.at("covered_sensed").get<bool>()) << per_bit.dump();
  // Every CU is built equally: no recording shows how much of it is wire.
  const json& per_mm = rows.at(2);
  EXPECT_EQ(per_mm.at("status"), "not_identified");
  EXPECT_TRUE(per_mm.at("fit").is_null());
  EXPECT_NE(per_mm.at("reason").get<std::string>().find("differ by 0 mm"), std::string::npos);
  EXPECT_GT(per_mm.at("truth").get<double>(), 0);
}

}  // namespace
}  // namespace ww::e2e
