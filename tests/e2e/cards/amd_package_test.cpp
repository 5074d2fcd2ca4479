// The chiplet campaign on a card of several dies from the command line, without one: HIP's runtime
// is a stub that executes code objects on the virtual MI300X or MI250X, and the package's sensors
// are the driver's files in a tree of kernel files. What runs is what runs on a card. Compared with
// the same campaign through the virtual GPU's own door.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>

#include "process.hpp"
#include "stub_card.hpp"
#include "testing/fake_amd_tree.hpp"
#include "testing/fake_cards.hpp"
#include "ww/core/process.hpp"

namespace ww::e2e {
namespace {

using measure::testing::FakeAmdTree;
using measure::testing::FakeCards;
using nlohmann::json;
using ::testing::HasSubstr;

[[nodiscard]] Finished calibrate_into(const std::filesystem::path& folder,
                                      const std::string& device, const Environment& environment,
                                      const std::vector<std::string>& more = {}) {
  std::vector<std::string> command{wirewatt(), "calibrate",     "--device",
                                   device,     "--quick",       "--no-clock-control",
                                   "--out",    folder.string(), "--json"};
  command.insert(command.end(), more.begin(), more.end());
  return run(command, environment);
}

// Both see the same sensors, so the gain is not in the difference.
void expect_equal_figures(const json& card, const json& door) {
  EXPECT_EQ(card.at("virtual"), true);
  ASSERT_EQ(card.at("hop_classes").size(), door.at("hop_classes").size());
  for (std::size_t i = 0; i < card.at("hop_classes").size(); ++i) {
    const json& ours = card.at("hop_classes").at(i);
    const json& theirs = door.at("hop_classes").at(i);
    EXPECT_EQ(ours.at("name"), theirs.at("name"));
    EXPECT_EQ(ours.at("status"), theirs.at("status")) << ours;
    if (ours.at("value").is_null() || theirs.at("value").is_null()) continue;
    const auto number = [](const json& row, const char* key) { return row.at(key).get<double>(); };
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
    return calibrate_into(folder_.path() / device, device, environment);
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

// A hash of two bits spreads each list over four times as many sets, where it fits.
TEST_F(AmdPackage, WhoseL2KeepsTheListsIsRefused) {
  std::ifstream built_in(source_folder() / "sim/gpu/chips/mi300x.toml");
  std::string text(std::istreambuf_iterator<char>(built_in), {});
  const auto key = text.find("\nl2_ways");
  ASSERT_NE(key, std::string::npos);
  text.insert(key, "\nl2_set_hash_bits = 2");
  const auto chip = folder_.path() / "hashed.toml";
  std::ofstream(chip) << text;
  const auto finished = calibrate("hip:0", stub_card_environment(folder_.path(), chip.string()));
  EXPECT_EQ(finished.exit_code, 1) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("stay in it, so its sets are hashed"));
}

TEST_F(AmdPackage, HasTheSameFiguresThroughTheDriversFilesAsThroughTheDoor) {
  const auto finished = calibrate("hip:0", environment());
  ASSERT_EQ(finished.exit_code, 0) << finished.err << finished.out;
  const json card = finished.json();
  const auto other = calibrate("virtual:mi300x", {});
  ASSERT_EQ(other.exit_code, 0) << other.err;
  expect_equal_figures(card, other.json());
}

// MI250X: two dies, each a PCI device of its own. The first holds the sensor.
class TwoDies : public ::testing::Test {
 protected:
  TwoDies()
      : chip_(write_small_chip(folder_.path(), "mi250x", 2, 1 << 20)),
        first_(folder_.path() / "sys", {.name = "AMD Instinct MI250X", .metrics_content = 1}) {
    first_.write(first_.device() / "device", "0x7408");
    first_.write(first_.device() / "pp_dpm_sclk", "0: 500Mhz\n1: 1700Mhz *");
    first_.write(first_.hwmon() / "freq1_label", "sclk");
    first_.write(first_.hwmon() / "freq1_input", "1700000000");
    const auto second = FakeCards(folder_.path() / "sys").add(1, "0000:04:00.0", "0x7408");
    FakeCards::write(second / "hwmon/hwmon0/power1_average", "0\n");
    FakeCards::write(second / "hwmon/hwmon0/power1_cap", "0\n");
    FakeCards::write(second / "gpu_busy_percent", "0\n");
    const auto link = [this](int from, int to) {
      FakeCards::write(node(from) / "io_links/0/properties",
                       "type 11\nnode_to " + std::to_string(to) + "\nmax_bandwidth 200000\n");
    };
    FakeCards::write(node(2) / "properties", "simd_count 440\nlocation_id 1024\ndomain 0\n");
    link(1, 2);
    link(2, 1);
  }
  [[nodiscard]] std::filesystem::path node(int number) const {
    return folder_.path() / "sys/class/kfd/kfd/topology/nodes" / std::to_string(number);
  }
  [[nodiscard]] Finished calibrate(const std::string& device, const Environment& more = {},
                                   const std::vector<std::string>& arguments = {}) const {
    Environment environment = stub_card_environment(folder_.path(), chip_);
    environment.insert(environment.end(), more.begin(), more.end());
    return calibrate_into(folder_.path() / device, device, environment, arguments);
  }

  TemporaryFolder folder_;
  std::string chip_;
  FakeAmdTree first_;
};

TEST_F(TwoDies, HaveTheSameFigureThroughPeersAsThroughTheDoor) {
  const auto finished = calibrate("hip:0");
  ASSERT_EQ(finished.exit_code, 0) << finished.err << finished.out;
  const auto other = calibrate_into(folder_.path() / "door", "virtual:" + chip_, {});
  ASSERT_EQ(other.exit_code, 0) << other.err;
  expect_equal_figures(finished.json(), other.json());
}

TEST_F(TwoDies, OfWhichOneIsHiddenAreRefusedWithWhatHipShows) {
  const auto finished = calibrate("hip:0", {{"HIP_VISIBLE_DEVICES", "0"}});
  EXPECT_EQ(finished.exit_code, 1) << finished.err;
  EXPECT_THAT(finished.err, AllOf(HasSubstr("0000:04:00.0"), HasSubstr("hip:0 at 0000:03:00.0"),
                                  HasSubstr("HIP_VISIBLE_DEVICES")));
  const auto planned = calibrate("hip:0", {{"HIP_VISIBLE_DEVICES", "0"}}, {"--dry-run"});
  EXPECT_EQ(planned.exit_code, 1) << planned.out;
  EXPECT_THAT(planned.err, HasSubstr("hip:0 at 0000:03:00.0"));
  EXPECT_EQ(calibrate("hip:0", {}, {"--dry-run"}).exit_code, 0);
}

TEST_F(TwoDies, ThatDoNotReachEachOtherAreRefused) {
  const auto refused = calibrate("hip:0", {{"WW_STUB_HIP_PEERS", "none"}});
  EXPECT_EQ(refused.exit_code, 1) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("hipDeviceCanAccessPeer"));
  const auto by_host = calibrate("hip:1", {{"WW_STUB_HIP_PEERS", "pcie"}});
  EXPECT_EQ(by_host.exit_code, 1) << by_host.err;
  EXPECT_THAT(by_host.err, HasSubstr("not by xGMI"));
}

// Two dies of different packages have no links of four.
TEST_F(TwoDies, WithoutALinkBetweenThemAreNoPackage) {
  std::filesystem::remove_all(node(1) / "io_links");
  const auto finished = calibrate("hip:0");
  EXPECT_EQ(finished.exit_code, 1) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("which device is the other die"));
}

}  // namespace
}  // namespace ww::e2e
