// A campaign on cards of RDNA from the command line, without one: HIP's runtime is a stub that
// executes code objects on the virtual GPU (amd_card_test.cpp says how). Nothing is known of their
// dies; whether their streams pass the caches of shader arrays is found on the card.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <regex>

#include "process.hpp"
#include "stub_card.hpp"
#include "testing/fake_amd_tree.hpp"
#include "ww/core/campaign_store.hpp"
#include "ww/core/process.hpp"

namespace ww::e2e {
namespace {

using measure::testing::FakeAmdTree;
using nlohmann::json;
using ::testing::HasSubstr;

struct Kind {
  const char* name;
  const char* device_id;
  int clock_mhz;
  const char* chip;  // the virtual one behind the card
  int l2_kib;        // of a small one
  int engine_off;    // its number; 8: none is
  bool has_array_caches;
  const char* target;  // that it shows
};
// An RX 6800 has three of Navi 21's four engines. The emulator has no instructions of RDNA 4: the
// stub takes wirewatt's kernels for gfx1201 and executes those of gfx1100, on a chip without GL1.
constexpr Kind kRx6800{"AMD Radeon RX 6800", "0x73bf", 2105, "rx6800", 2048, 1, true, "gfx1030"};
constexpr Kind kRx7900{
    "AMD Radeon RX 7900 XTX", "0x744c", 2500, "rx7900", 3072, 8, true, "gfx1100"};
constexpr Kind kRx9070{"AMD Radeon RX 9070", "0x7550", 2500, "rx7900", 3072, 8, false, "gfx1201"};

void change(const std::string& file, const std::string& pattern, const std::string& with) {
  std::ifstream in(file);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  std::ofstream(file) << std::regex_replace(text, std::regex(pattern), with);
}

std::string setting(const char* variable, const char* otherwise) {
  const char* set = std::getenv(variable);
  return set != nullptr ? set : otherwise;
}

// Readings that hardly scatter and have fine steps: two campaigns then differ by their method
// alone.
void quieten(const std::string& chip) {
  for (const char* key :
       {"noise_relative", "wander_relative", "outlier_probability", "voltage_noise_mv",
        "sensor_noise_c", "ambient_wander_c", "ambient_drift_c_per_hour"}) {
    change(chip, std::string("\n") + key + " = [^\n]*", std::string("\n") + key + " = 0.0");
  }
  change(chip, "\nresolution_w = [^\n]*", "\nresolution_w = 0.001");
  change(chip, "\nvoltage_resolution_mv = [^\n]*", "\nvoltage_resolution_mv = 0.1");
}

// WW_TEST_SEED seeds the campaigns, and WW_TEST_QUIET_SENSORS quietens the chip's sensors.
class RdnaCard : public ::testing::Test {
 protected:
  void SetUp() override {
    if (find_program("clang-19").empty() || find_program("ld.lld-19").empty()) {
      GTEST_SKIP() << "HIP's code objects need clang-19 and lld-19 when wirewatt is built";
    }
  }
  // The card, and the chip behind it.
  void make(const Kind& card) {
    tree_.emplace(folder_.path() / "sys",
                  measure::testing::FakeAmdOptions{.name = card.name, .metrics_content = 1});
    const std::string mhz = std::to_string(card.clock_mhz);
    tree_->write(tree_->device() / "device", card.device_id);
    tree_->write(tree_->device() / "pp_dpm_sclk", "0: 500Mhz\n1: " + mhz + "Mhz *");
    tree_->write(tree_->hwmon() / "freq1_label", "sclk");
    tree_->write(tree_->hwmon() / "freq1_input", mhz + "000000");
    const auto node = folder_.path() / "sys/class/kfd/kfd/topology/nodes/1";
    tree_->write(node / "properties", "simd_count 240\nsimd_per_cu 2\nlocation_id 768\ndomain 0");
    std::filesystem::create_directories(node / "caches/0");
    tree_->write(node / "caches/0/properties", "level 2\nsize " + std::to_string(card.l2_kib));
    target_ = card.target;
    chip_ = write_small_chip(folder_.path(), card.chip, 4, card.l2_kib << 10);
    change(chip_, "\nl2_ways", "\nengine_off = " + std::to_string(card.engine_off) + "\nl2_ways");
    if (!card.has_array_caches)
      change(chip_, "\ngl1_(bytes|ways|hit_cycles|bytes_per_clock) = \\d+", "");
    if (!setting("WW_TEST_QUIET_SENSORS", "").empty()) quieten(chip_);
  }
  [[nodiscard]] Finished calibrate(const std::string& device, const std::string& folder,
                                   const Environment& environment) const {
    return run({wirewatt(), "-q", "calibrate", "--device", device, "--quick", "--seed",
                setting("WW_TEST_SEED", "1"), "--no-clock-control", "--out",
                (folder_.path() / folder).string(), "--json"},
               environment);
  }
  [[nodiscard]] Finished calibrate_card() const {
    return calibrate("hip:0", "card", environment());
  }
  [[nodiscard]] Environment environment() const {
    Environment all = stub_card_environment(folder_.path(), chip_);
    if (target_ == "gfx1201") all.emplace_back("WW_STUB_HIP_TARGET", target_);
    return all;
  }
  [[nodiscard]] json model_in(const std::string& folder) const {
    std::ifstream file(folder_.path() / folder / "model.json");
    return parse_json(file);
  }

  TemporaryFolder folder_;
  std::optional<FakeAmdTree> tree_;
  std::string chip_, target_;
};

class RdnaCards : public RdnaCard, public ::testing::WithParamInterface<Kind> {};

TEST_P(RdnaCards, AreCalibratedAsTheVirtualOneIs) {
  make(GetParam());
  const Finished finished = calibrate_card();
  ASSERT_EQ(finished.exit_code, 0) << finished.err << finished.out;
  const json result = finished.json();
  EXPECT_EQ(result["virtual"], true);
  EXPECT_EQ(result["device"], "hip:0");
  EXPECT_THAT(
      result["array_caches"].get<std::string>(),
      HasSubstr(GetParam().has_array_caches ? "that another shader array had written was stale"
                                            : "no cache between the L1s and the L2"));
  EXPECT_LT(result["rejected"].get<int>(), result["runs"].get<int>() / 10);

  // The findings stay in the campaign.
  const auto store = CampaignStore::open_read_only(folder_.path() / "card");
  ASSERT_TRUE(store) << store.error().text();
  const json opening = json::parse(**store->get(campaign_keys::opening));
  const json& caches = opening.at("array_caches");
  EXPECT_EQ(caches.at("verdict"), "passed_by");
  EXPECT_EQ(caches.at("past").size(), caches.at("plain").size());
  EXPECT_GT(caches.at("rates").at("long_bytes_per_s").get<double>(), 0);
  EXPECT_LT(caches.at("max_hits").get<double>(), 0.01);

  const Finished door = calibrate("virtual:" + chip_, "door", {});
  ASSERT_EQ(door.exit_code, 0) << door.err;
  // HIP does not count RDNA's compute units: all must have read the lists all the same.
  const auto twin_store = CampaignStore::open_read_only(folder_.path() / "door");
  ASSERT_TRUE(twin_store) << twin_store.error().text();
  const json twin_rates =
      json::parse(**twin_store->get(campaign_keys::opening)).at("array_caches").at("rates");
  for (const char* list : {"short_bytes_per_s", "long_bytes_per_s"}) {
    const auto rate = twin_rates.at(list).get<double>();
    EXPECT_NEAR(caches.at("rates").at(list).get<double>(), rate, 0.05 * rate) << list;
  }
  const json model = model_in("card");
  const json twin = model_in("door");
  // A card reports no nominal voltage: its answer is for the one that was read.
  const auto volt = [](const json& of) { return of["reference"]["voltage_v"].get<double>(); };
  const double over = volt(twin) / volt(model);
  const double expected = twin["energy_fj_per_bit_ns"]["value"].get<double>() / (over * over);
  const json& energy = model["energy_fj_per_bit_ns"];
  const auto value = energy["value"].get<double>();
  std::printf(
      "%s: %.2f [%.1f, %.1f] fJ/bit/ns, through the door %.2f at the same voltage: %+.2f%% "
      "(virtual)\n%s\n",
      GetParam().name, value, energy["low"].get<double>(), energy["high"].get<double>(), expected,
      100 * (value / expected - 1), result["array_caches"].get<std::string>().c_str());
  // Two campaigns of a few minutes, each with noise of its own.
  const auto half = [](const json& of) {
    return (of["sensed_high"].get<double>() - of["sensed_low"].get<double>()) / 2;
  };
  const double apart = std::hypot(half(energy), half(twin["energy_fj_per_bit_ns"]) / (over * over));
  EXPECT_NEAR(value, expected, apart);
  EXPECT_LT(apart, 0.08 * expected);
  EXPECT_FALSE(model["misfit"]["flagged"].get<bool>()) << model["misfit"].dump(1);
}

INSTANTIATE_TEST_SUITE_P(Cards, RdnaCards, ::testing::Values(kRx6800, kRx7900, kRx9070),
                         [](const auto& info) {
                           return std::regex_replace(info.param.name, std::regex(" "), "_");
                         });

// Events of real cards are noisy, some are late, and the clock climbs while nobody works.
TEST_F(RdnaCard, HasItsChannelsFoundThroughNoisyEvents) {
  make(kRx6800);
  for (const char* seed : {"1"}) {
    Environment all = environment();
    all.emplace_back("WW_STUB_HIP_JITTER_US", "1");
    all.emplace_back("WW_STUB_HIP_LATE", "0.02");
    all.emplace_back("WW_STUB_HIP_RAMP_MS", "10");
    all.emplace_back("WW_STUB_HIP_SEED", seed);
    all.emplace_back("XDG_CACHE_HOME", (folder_.path() / seed).string());
    const Finished finished =
        run({wirewatt(), "-q", "topology", "--device", "hip:0", "--json"}, all);
    ASSERT_EQ(finished.exit_code, 0) << finished.err;
    const json address = finished.json().at("address");
    EXPECT_TRUE(address.at("found").get<bool>()) << address.dump();
    EXPECT_EQ(address.at("channels"), 16);
    EXPECT_EQ(address.at("interleave_bytes"), 256);
  }
}

// A card whose GL1 answers all loads, whatever they ask for.
TEST_F(RdnaCard, WhoseArrayCachesAnswerIsRefusedWithTheFigure) {
  make(kRx6800);
  change(chip_, "\ngl1_ways", "\ngl1_ignores_bits = 1\ngl1_ways");
  const Finished finished = calibrate_card();
  EXPECT_EQ(finished.exit_code, 1) << finished.out;
  EXPECT_THAT(finished.err, HasSubstr("(GL1) answer its streams"));
  EXPECT_THAT(finished.err, HasSubstr("were stale for the streams' loads"));
}

}  // namespace
}  // namespace ww::e2e
