// NVIDIA cards without a sharp partition of their L2: latency is a sum of SM and slice and a small
// product, as arXiv 2606.22588 found on an L40 and a 4090. There is no crossing to measure; the
// answer is per bit and ns of latency, and the stub's truth is known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "nvidia_stub.hpp"

namespace ww::e2e {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr double kSmClockHz = 1.7e9;

struct SmearedCard {
  unsigned sms{72};
  double far_less_near_ticks{50};  // from one corner of the chip to the other
  double pj_across{1.2};           // of a random bit over the same way
  double idle_w{60};
};

std::string smeared(const SmearedCard& card) {
  // A third of the SMs works, with 2048 threads each; about 100 ticks go on instructions.
  constexpr double kFarBitsPerS = 8e12;
  const double far_reduction = card.sms / 3.0 * 2048 * 32 * kSmClockHz / kFarBitsPerS - 100;
  std::ostringstream out;
  out << "sms " << card.sms << "\ngpcs 8\nhas_sides 0\nclock_hz " << kSmClockHz
      << "\nnear_ticks 230\nfar_ticks " << 230 + card.far_less_near_ticks
      << "\nsmear_ticks 30\njitter_ticks 6\nfar_reduction_ticks " << far_reduction
      << "\nnear_reduction_ticks " << 0.85 * far_reduction << "\npj_per_crossing_bit "
      << 0.5 * card.pj_across << "\npj_per_crossing_one " << card.pj_across
      << "\npj_per_bit 2\npj_per_one 0.8\npj_per_instruction 1\nidle_w " << card.idle_w
      << "\nactive_w 40\nnoise_w 0.63\nperiod_s 0.1\nwindow_s 0.025\nk_per_w 0.05\nleak_w_per_k "
         "0.2\n";
  return out.str();
}

class NvidiaLatency : public ::testing::Test {
 protected:
  void SetUp() override {
    if (NvidiaStub::real_one_here()) GTEST_SKIP() << "an NVIDIA driver is installed here";
  }
  [[nodiscard]] json topology() const {
    const auto finished =
        stub_.wirewatt_on({"topology", "--device", "cuda:0", "--fresh", "--json"});
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    return finished.json();
  }
  NvidiaStub stub_;
};

TEST_F(NvidiaLatency, OfACardWithoutSidesIsAnsweredPerNsAndSaysWhatThatIs) {
  const SmearedCard card;
  stub_.configure(smeared(card));
  const auto finished = stub_.calibrate("run");
  ASSERT_EQ(finished.exit_code, 0) << finished.err << finished.out;
  const json answer = finished.json();
  EXPECT_EQ(answer["kind"], "latency");
  const json& energy = answer["energy_pj_per_bit_ns"];
  ASSERT_EQ(energy["status"], "ok") << answer.dump(1);
  const double truth = card.pj_across / (card.far_less_near_ticks / kSmClockHz * 1e9);
  EXPECT_LT(energy["low"].get<double>(), truth) << energy;
  EXPECT_GT(energy["high"].get<double>(), truth) << energy;
  EXPECT_LT(std::abs(energy["value"].get<double>() / truth - 1), 0.15) << energy;
  EXPECT_EQ(energy["unit"], "pJ/bit/ns");
  // The ends are not the corners: they lie half of the way apart.
  EXPECT_LT(answer["latency"]["far_less_near_cycles"].get<double>(), 0.7 * 50);
  EXPECT_NEAR(answer["latency"]["sm_clock_hz"].get<double>() / kSmClockHz, 1, 0.02);
  for (const json& control : answer["controls"]) EXPECT_EQ(control["passed"], true) << control;

  // Nothing crosses, and nothing that needs a crossing gets one.
  EXPECT_EQ(answer["energy_pj_per_bit_crossing"]["status"], "not_identified");
  EXPECT_TRUE(answer["energy_pj_per_bit_crossing"]["value"].is_null());
  EXPECT_TRUE(answer["energy_fj_per_bit_mm"].is_null());
  EXPECT_THAT(answer["meaning"].get<std::string>(), HasSubstr("not the energy of a crossing"));
  const auto shown = run({wirewatt(), "fit", stub_.file("run") + "/campaign.db"});
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("pJ/bit/ns"));
  EXPECT_THAT(shown.out, HasSubstr("It is not per millimetre"));
  const auto projected = run({wirewatt(), "project", "--model", stub_.file("run")});
  EXPECT_EQ(projected.exit_code, 1);
  EXPECT_THAT(projected.err, HasSubstr("no two sides of its L2 apart"));

  const auto reported =
      run({wirewatt(), "report", stub_.file("run"), "-o", stub_.file("report.html")});
  EXPECT_EQ(reported.exit_code, 0) << reported.err;
  std::ifstream page(stub_.file("report.html"));
  std::ostringstream text;
  text << page.rdbuf();
  EXPECT_THAT(text.str(), HasSubstr("pJ per bit and ns"));
  EXPECT_THAT(text.str(), HasSubstr("It is not per millimetre"));
}

TEST_F(NvidiaLatency, IsASumAndAProductInTheTopologyWithAFingerprintOfTheDie) {
  stub_.configure(smeared({}));
  const json first = topology();
  EXPECT_EQ(first["sides"]["found"], false);
  const json& structure = first["structure"];
  ASSERT_EQ(structure["found"], true) << structure["reason"];
  EXPECT_GT(structure["additive_r2"].get<double>(), 0.75);
  EXPECT_LT(structure["additive_r2"].get<double>(), 0.95);
  EXPECT_GT(structure["with_product_r2"].get<double>(), 0.97);
  const std::string fingerprint = structure["fingerprint"];
  EXPECT_EQ(fingerprint.size(), 16u);
  if (structure["fingerprint_stable"] == true) {
    EXPECT_EQ(topology()["structure"]["fingerprint"], fingerprint);
  }
  const auto shown = stub_.wirewatt_on({"topology", "--device", "cuda:0"});
  EXPECT_THAT(shown.out, HasSubstr("structure   SM + line explain R2 0."));
  EXPECT_THAT(shown.out, HasSubstr("die       " + fingerprint));
  EXPECT_THAT(shown.out, HasSubstr("places do not stand apart"));

  stub_.configure(smeared({.sms = 76}));
  EXPECT_NE(topology()["structure"]["fingerprint"], fingerprint);
}

TEST_F(NvidiaLatency, WithoutStructureBeyondNoiseAndSinglePairsIsRefused) {
  stub_.configure(smeared({.far_less_near_ticks = 0}));
  const auto finished = stub_.calibrate("run");
  EXPECT_EQ(finished.exit_code, 1) << finished.out;
  EXPECT_THAT(finished.err, HasSubstr("no two sides of the L2 were found"));
  EXPECT_THAT(finished.err, HasSubstr("latency tells no near from far either"));
}

}  // namespace
}  // namespace ww::e2e
