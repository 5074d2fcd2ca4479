// The ladder on an NVIDIA card without one: CUDA's driver is a stub that executes the PTX, and
// every access goes through L1s, an L2 of two sides and memory, whose energies the fit never sees
// (microbench/test_support/stub_levels.hpp). NVML's stub shows the power that all of it draws.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <sstream>
#include <string>

#include "nvidia_stub.hpp"
#include "ww/core/campaign_store.hpp"
#include "ww/core/mean.hpp"

namespace ww::e2e {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

// Energies are of a random bit at the full voltage [pJ]. Half of the ways between SMs and lines
// cross, where a set lies on both sides.
struct LevelsOfCard {
  double registers{0.3}, l1{0.5}, l2{1.6}, crossing{0.7}, memory{6};
  double instruction_pj{0.5};      // of a lane
  double load_line_per_w{3.1e-4};  // 0.25 mOhm at 0.9 V

  [[nodiscard]] double l2_step() const { return l2 + crossing / 2; }
  // With so many instructions for each access of 16 B.
  [[nodiscard]] double to_l2(double instructions) const {
    return registers + l1 + l2_step() + instructions * instruction_pj / 128;
  }
};

std::string lines_of(const LevelsOfCard& card) {
  std::ostringstream out;
  out << "sms 8\nclock_hz 1.5e9\nnear_ticks 210\nfar_ticks 400\nl1_bytes 131072\nl2_bytes 1048576\n"
      << "pj_per_register_bit " << card.registers << "\npj_per_l1_bit " << card.l1
      << "\npj_per_l2_bit " << card.l2 << "\npj_per_crossing_bit " << card.crossing
      << "\npj_per_memory_bit " << card.memory << "\npj_per_instruction " << card.instruction_pj
      << "\nload_line_per_w " << card.load_line_per_w
      << "\nidle_w 60\nactive_w 40\nnoise_w 0.1\nperiod_s 0.02\nwindow_s 0.02\nk_per_w 0.05\n"
         "leak_w_per_k 0.2\n";
  return out.str();
}

class NvidiaLadder : public ::testing::Test {
 protected:
  void SetUp() override {
    if (NvidiaStub::real_one_here()) GTEST_SKIP() << "an NVIDIA driver is installed here";
  }
  [[nodiscard]] json ladder() const {
    const auto finished = stub_.wirewatt_on(
        {"ladder", "--device", "cuda:0", "--quick", "--out", stub_.file("ladder"), "--json"});
    EXPECT_EQ(finished.exit_code, 0) << finished.err << finished.out;
    return finished.exit_code == 0 ? finished.json() : json::object();
  }
  [[nodiscard]] Result<CampaignStore> recording() const {
    return CampaignStore::open_read_only(stub_.file("ladder") + "/ladder.db");
  }
  // The runs of the points.
  [[nodiscard]] std::vector<StoredRun> streams() const {
    const auto store = recording();
    std::vector<StoredRun> runs =
        store ? store->runs().value_or(std::vector<StoredRun>{}) : std::vector<StoredRun>{};
    std::erase_if(
        runs, [](const StoredRun& run) { return run.kind != RunKind::stream || run.block == 0; });
    return runs;
  }
  // The energy at the mean voltage of the runs over that at the full voltage.
  [[nodiscard]] double at_mean_voltage(const LevelsOfCard& card) const {
    Mean power_w;
    for (const StoredRun& run : streams()) {
      for (const SensorReading& reading : run.samples) {
        if (reading.power_uw) power_w.add(1e-6 * static_cast<double>(*reading.power_uw));
      }
    }
    return std::pow(1 - card.load_line_per_w * power_w.value(), 2);
  }
  NvidiaStub stub_;
};

// Each step's figure holds the truth and is no further off than `share`.
void expect_steps(const json& found, const std::map<std::string, double>& truths, double share) {
  std::map<std::string, json> figures;
  for (const json& row : found.at("ladder_pj_per_bit")) figures[row.at("name")] = row;
  for (const auto& [name, truth] : truths) {
    const json& figure = figures[name];
    SCOPED_TRACE(name + " " + figure.dump() + ", truth " + std::to_string(truth));
    ASSERT_TRUE(figure.contains("value") && figure["value"].is_number());
    const double value = figure["value"];
    EXPECT_NEAR(value / truth, 1, share);
    EXPECT_LT(figure["sensed_low"].get<double>(), truth);
    EXPECT_GT(figure["sensed_high"].get<double>(), truth);
    std::printf("%-24s %7.3f pJ, truth %7.3f, %+.1f%%\n", name.c_str(), value, truth,
                100 * (value / truth - 1));
  }
}

TEST_F(NvidiaLadder, FindsTheStepsOfAHierarchyWhoseEnergiesItNeverSees) {
  const LevelsOfCard card;
  stub_.configure(lines_of(card));
  const json found = ladder();
  ASSERT_TRUE(found.contains("ladder_pj_per_bit")) << found;
  std::vector<std::string> names;
  for (const json& level : found["levels"]) names.push_back(level.at("name"));
  EXPECT_EQ(names, (std::vector<std::string>{"l1", "l2", "memory"}));
  // Half of the places of a chain are far, whatever the size of its set.
  EXPECT_NEAR(found["levels"][1]["latency_cycles"].get<double>(), 400, 40);
  const double scale = at_mean_voltage(card);
  expect_steps(found,
               {{"l2_read_less_l1", scale * card.l2_step()},
                {"memory_read_less_l2", scale * card.memory},
                {"memory_write_less_l2", scale * card.memory}},
               0.04);
  // The whole way: kernels take some 10 instructions for a store of 16 B, 14 for a load.
  expect_steps(found, {{"l2_read", scale * card.to_l2(14)}, {"l2_write", scale * card.to_l2(10)}},
               0.04);
  // Zeros cost half of what random bits do, but for what crosses: half a toggle a bit.
  expect_steps(
      found,
      {{"l1_read_per_toggle", scale * (card.registers + card.l1)},
       {"l2_read_per_toggle", scale * (card.registers + card.l1 + card.l2)},
       {"memory_read_per_toggle", scale * (card.registers + card.l1 + card.l2 + card.memory)}},
      0.12);
  EXPECT_EQ(found["voltage"]["measured"], false);
  EXPECT_THAT(found["voltage"]["reason"].get<std::string>(),
              HasSubstr("no reading shows the core's voltage"));

  // Launches are as long as they were when their rates were tuned.
  const auto store = recording();
  ASSERT_TRUE(store) << store.error().text();
  const json plan = parse_json(store->get(campaign_keys::plan).value().value_or("{}"));
  std::map<std::pair<std::string, int>, double> tuned;
  for (const json& point : plan["setup"]["points"]) {
    tuned[{point["stream"], point["wait"]}] = point["bits_per_s"];
  }
  int compared = 0;
  for (const StoredRun& run : streams()) {
    const auto point = tuned.find({run.pattern, run.throttle});
    if (point == tuned.end()) continue;
    const double seconds = static_cast<double>(run.end_ns - run.start_ns) * 1e-9;
    EXPECT_NEAR(run.payload_bits / seconds / point->second, 1, 0.05) << run.pattern;
    ++compared;
  }
  EXPECT_GT(compared, 100);
}

// A regulator that keeps its voltage is within the doubt of a load line that no reading shows.
TEST_F(NvidiaLadder, HoldsTheStepsOfACardWithoutALoadLine) {
  const LevelsOfCard card{.load_line_per_w = 0};
  stub_.configure(lines_of(card));
  const json found = ladder();
  ASSERT_TRUE(found.contains("ladder_pj_per_bit")) << found;
  expect_steps(found,
               {{"l2_read_less_l1", card.l2_step()},
                {"memory_read_less_l2", card.memory},
                {"memory_write_less_l2", card.memory}},
               0.15);
}

}  // namespace
}  // namespace ww::e2e
