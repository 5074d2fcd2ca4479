// The chiplet campaign on a card of several dies from the command line, without one: HIP's runtime
// is a stub that executes gfx942 code objects on the virtual MI300X, and the package's energy
// accumulators are the driver's pm_metrics in a tree of kernel files. What runs is what runs on a
// card. Compared with the same campaign through the virtual GPU's own door.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "process.hpp"
#include "stub_card.hpp"
#include "testing/fake_amd_tree.hpp"
#include "ww/core/process.hpp"

namespace ww::e2e {
namespace {

using measure::testing::FakeAmdTree;
using nlohmann::json;
using ::testing::HasSubstr;

class AmdPackage : public ::testing::Test {
 protected:
  AmdPackage()
      : tree_(folder_.path() / "sys",
              {.name = "AMD Instinct MI300X", .metrics_content = 1, .with_package = true}) {
    tree_.write(tree_.device() / "device", "0x74a1");
    tree_.write(tree_.device() / "current_compute_partition", "SPX");
    tree_.write(tree_.device() / "pp_dpm_sclk", "0: 500Mhz\n1: 2100Mhz *");
    tree_.write(tree_.hwmon() / "freq1_label", "sclk");
    tree_.write(tree_.hwmon() / "freq1_input", "2100000000");
  }
  void SetUp() override {
    if (find_program("clang-19").empty() || find_program("ld.lld-19").empty()) {
      GTEST_SKIP() << "gfx942 needs clang-19 and lld-19";
    }
  }
  [[nodiscard]] Environment environment() const {
    return stub_card_environment(folder_.path(), "mi300x");
  }
  [[nodiscard]] Finished calibrate(const std::string& device,
                                   const Environment& environment) const {
    return run({wirewatt(), "calibrate", "--device", device, "--quick", "--no-clock-control",
                "--out", (folder_.path() / device).string(), "--json"},
               environment);
  }

  TemporaryFolder folder_;
  FakeAmdTree tree_;
};

TEST_F(AmdPackage, ThatIsDividedIsRefused) {
  tree_.write(tree_.device() / "current_compute_partition", "CPX");
  const auto finished = calibrate("hip:0", environment());
  EXPECT_EQ(finished.exit_code, 1) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("CPX"));
}

TEST_F(AmdPackage, HasTheSameFiguresThroughTheDriversFilesAsThroughTheDoor) {
  const auto finished = calibrate("hip:0", environment());
  ASSERT_EQ(finished.exit_code, 0) << finished.err << finished.out;
  const json card = finished.json();
  const auto other = calibrate("virtual:mi300x", {});
  ASSERT_EQ(other.exit_code, 0) << other.err;
  const json door = other.json();
  EXPECT_EQ(card.at("virtual"), true);
  for (std::size_t i = 0; i < card.at("hop_classes").size(); ++i) {
    const json& ours = card.at("hop_classes").at(i);
    const json& theirs = door.at("hop_classes").at(i);
    EXPECT_EQ(ours.at("name"), theirs.at("name"));
    EXPECT_EQ(ours.at("status"), theirs.at("status")) << ours;
    if (ours.at("value").is_null()) continue;
    const auto number = [](const json& row, const char* key) { return row.at(key).get<double>(); };
    // Both see the same rails, so the gain is not in the difference.
    const double apart = number(ours, "value") - number(theirs, "value");
    const auto half = [&](const json& row) {
      return (number(row, "sensed_high") - number(row, "sensed_low")) / 2;
    };
    EXPECT_LE(std::abs(apart), std::hypot(half(ours), half(theirs))) << ours << theirs;
    std::printf("%s: %.4f [%.4f, %.4f], through the door %.4f [%.4f, %.4f] pJ/bit (virtual)\n",
                ours.at("name").get<std::string>().c_str(), number(ours, "value"),
                number(ours, "low"), number(ours, "high"), number(theirs, "value"),
                number(theirs, "low"), number(theirs, "high"));
  }
}

}  // namespace
}  // namespace ww::e2e
