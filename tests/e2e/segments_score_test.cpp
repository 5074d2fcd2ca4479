// Segments measured, fitted, and judged by the seal.
#include <gtest/gtest.h>

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
  const json result = json::parse(scored.out);
  EXPECT_TRUE(result.at("virtual").get<bool>());
  const json& rows = result.at("segments");
  ASSERT_EQ(rows.size(), 3U);
  const json& legs = rows.at(0);
  EXPECT_EQ(legs.at("segment"), "legs");
  ASSERT_EQ(legs.at("status"), "ok") << legs.at("reason");
  EXPECT_TRUE(legs.at("covered_sensed").get<bool>()) << legs.dump();
  EXPECT_LT(legs.at("low").get<double>(), legs.at("fit").get<double>());
  // Every CU is built alike: no recording tells what lies within it.
  const json& registers = rows.at(2);
  EXPECT_EQ(registers.at("status"), "not_identified");
  EXPECT_TRUE(registers.at("fit").is_null());
  EXPECT_NE(registers.at("reason").get<std::string>().find("same way"), std::string::npos);
  EXPECT_GT(registers.at("truth").get<double>(), 0);
}

}  // namespace
}  // namespace ww::e2e
