// Voltage and clock: separated on a grid, and only there. Minutes of calibrations.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "pattern.hpp"
#include "process.hpp"

namespace ww::e2e {
namespace {

using nlohmann::json;

// The W9100's chip with states that leave its one curve: the lowest clock also at the highest
// voltage, and the clock below the highest at a low one. Its voltage is telemetry, because a load
// line that is assumed hides how energy goes with the voltage.
std::string with_a_grid() {
  std::ifstream stream(source_folder() / "sim/gpu/chips/w9100.toml");
  std::ostringstream content;
  content << stream.rdbuf();
  std::string chip =
      replaced(content.str(), R"(\n\[\[dvfs\]\]\nvoltage_v = [^\n]*\nclock_hz = [^\n]*\n)", "");
  const std::string reference = R"(\nreference_state = [^\n]*)";
  EXPECT_TRUE(found(chip, reference));
  chip = replaced(chip, reference, "\nreference_state = 4");
  chip = replaced(
      chip,
      R"(\nvoltage_resolution_mv = [^\n]*\nvoltage_noise_mv = [^\n]*\nvoltage_requested = true)",
      "\nvoltage_resolution_mv = 1.0\nvoltage_noise_mv = 0.8");
  EXPECT_FALSE(found(chip, "voltage_requested"));
  constexpr const char* grid[][2] = {{"0.9000", "500e6"},
                                     {"1.1687", "500e6"},
                                     {"1.0750", "800e6"},
                                     {"0.9500", "860e6"},
                                     {"1.1687", "930e6"}};
  for (const auto& [volt, hertz] : grid) {
    chip += std::string("\n[[dvfs]]\nvoltage_v = ") + volt + "\nclock_hz = " + hertz + "\n";
  }
  return chip;
}

std::map<std::string, json> scored(const std::string& device, const std::filesystem::path& out) {
  const auto made =
      run({wirewatt(), "-q", "calibrate", "--device", device, "--out", out.string(), "--json"});
  EXPECT_EQ(made.exit_code, 0) << made.err;
  const auto finished = run({wirewatt(), "score", out.string(), "--json"});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  std::map<std::string, json> constants;
  if (finished.exit_code != 0) return constants;
  const json result = finished.json();
  for (const auto& constant : result.at("constants")) {
    constants[constant.at("name").get<std::string>()] = constant;
  }
  return constants;
}

TEST(Exponents, AreToldApartOnAGridOfVoltagesAndClocks) {
  TemporaryFolder folder;
  const auto file = folder.path() / "grid.toml";
  std::ofstream(file) << with_a_grid();
  const auto constants = scored("virtual:" + file.string(), folder.path() / "run");
  for (const char* name : {"voltage_exponent", "frequency_exponent"}) {
    ASSERT_TRUE(constants.contains(name));
    const json& found = constants.at(name);
    EXPECT_EQ(found.at("status"), "ok") << found.at("reason");
    EXPECT_TRUE(found.at("covered_sensed").is_boolean() && found.at("covered_sensed").get<bool>())
        << found.dump();
    RecordProperty(name, found.dump());
  }
}

TEST(Exponents, AreNotIdentifiedAlongOneCurve) {
  TemporaryFolder folder;
  const auto constants = scored("virtual:w9100", folder.path() / "run");
  for (const char* name : {"voltage_exponent", "frequency_exponent"}) {
    ASSERT_TRUE(constants.contains(name));
    EXPECT_EQ(constants.at(name).at("status"), "not_identified");
    EXPECT_NE(constants.at(name).at("reason").get<std::string>().find("off that curve"),
              std::string::npos);
  }
  EXPECT_EQ(constants.at("voltage_exponent_along_curve").at("status"), "ok");
}

}  // namespace
}  // namespace ww::e2e
