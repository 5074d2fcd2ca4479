// Negative controls on chips made for the purpose: the method must fail, or say that it cannot
// decide, where its means are taken away.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "pattern.hpp"
#include "process.hpp"

namespace ww::e2e {
namespace {

using nlohmann::json;

// The W9100's chip file with some values replaced: {"key", "value"} replaces every "key = ...".
std::string w9100_with(const std::vector<std::pair<std::string, std::string>>& changes) {
  std::ifstream stream(source_folder() / "sim/gpu/chips/w9100.toml");
  std::ostringstream content;
  content << stream.rdbuf();
  std::string chip = replaced(content.str(), "\nfloorplan = [^\n]*", "");
  for (const auto& [key, value] : changes) {
    const std::string line = fmt::format("\n{} = [^\n]*", key);
    EXPECT_TRUE(found(chip, line)) << key << " is not in the chip file any more";
    chip = replaced(chip, line, fmt::format("\n{} = {}", key, value));
  }
  return chip;
}

json calibrate(const TemporaryFolder& folder, const std::string& chip, int expected_exit) {
  const auto file = folder.path() / "chip.toml";
  std::ofstream(file) << chip;
  const auto finished = run({wirewatt(), "calibrate", "--device", "virtual:" + file.string(),
                             "--quick", "--out", (folder.path() / "run").string(), "--json"});
  EXPECT_EQ(finished.exit_code, expected_exit) << finished.err;
  return finished.json().is_discarded() ? json{} : finished.json();
}

// The card of the paper has a fan at full speed. On one with a weak cooler and leaky transistors
// the heat that the long path itself makes shows up as leakage, and looks like wires. The voltage
// is telemetry: an assumed load line would hide how well heat is corrected for.
TEST(NegativeControl, OnAHotLeakyChipOnlyTheTemperatureCorrectionSavesTheAnswer) {
  TemporaryFolder folder;
  const auto chip = w9100_with({{"reference_w", "55.0"},
                                {"flat_share", "0.1"},
                                {"efold_c", "30.0"},
                                {"spreader_k_per_w", "0.12"},
                                {"spreader_tau_s", "0.25"},
                                {"sink_k_per_w", "0.06"},
                                {"ambient_c", "22.0"},
                                {"voltage_requested", "false"},
                                {"voltage_resolution_mv", "1.0"},
                                {"voltage_noise_mv", "0.8"}});
  const auto result = calibrate(folder, chip, 0);
  ASSERT_FALSE(result.is_null());
  const auto finished = run({wirewatt(), "score", (folder.path() / "run").string(), "--json"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const double truth = finished.json().at("sensed_truth_fj_per_bit_mm");
  const double corrected =
      result.at("energy_fj_per_bit_mm").at("value").get<double>() / truth - 1.0;
  const double uncorrected = result.at("uncorrected_fj_per_bit_mm").get<double>() / truth - 1.0;
  EXPECT_LT(std::abs(corrected), 0.06) << corrected;
  EXPECT_GT(std::abs(uncorrected), 3.0 * std::abs(corrected)) << uncorrected;
  EXPECT_GT(uncorrected, 0.05) << uncorrected;

  // Both figures stand in the report.
  std::ifstream page(folder.path() / "run" / "report.html");
  std::ostringstream content;
  content << page.rdbuf();
  EXPECT_TRUE(found_in_any_case(content.str(), "without temperature correction"));
}

// All of the L2 in the middle of the die: no engine is nearer to one quadrant than another is.
TEST(NegativeControl, WithoutADifferenceInDistanceTheEnergyIsNotIdentified) {
  TemporaryFolder folder;
  const auto chip = w9100_with({{"at", "[10.45, 10.45]"}});
  const auto result = calibrate(folder, chip, 1);
  ASSERT_FALSE(result.is_null());
  const auto& energy = result.at("energy_fj_per_bit_mm");
  EXPECT_TRUE(energy.at("value").is_null());
  EXPECT_EQ(energy.at("status"), "not_identified");
  EXPECT_NE(energy.at("reason").get<std::string>().find("distance"), std::string::npos);
}

}  // namespace
}  // namespace ww::e2e
