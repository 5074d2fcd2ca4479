// A campaign on a virtual GPU of RDNA: shader engines against homes of L2 slices, with loads that
// pass by the caches of shader arrays.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "process.hpp"
#include "stub_card.hpp"
#include "ww/core/campaign_store.hpp"
#include "ww/core/process.hpp"

namespace ww::e2e {
namespace {

using nlohmann::json;

// [%] of the energy as sensed: what the campaign's own noise leaves at 95%.
constexpr double kLargestError = 6.0;

json constant(const json& score, const std::string& name) {
  for (const json& row : score.at("constants")) {
    if (row.at("name") == name) return row;
  }
  return {};
}

// Calibrates and scores; leaves `score` empty where that fails.
void check_campaign(const std::string& device, json& score, std::vector<StoredRun>& runs) {
  const TemporaryFolder folder;
  const std::string out = (folder.path() / "run").string();
  const auto done = run(
      {wirewatt(), "-q", "calibrate", "--device", device, "--quick", "--seed", "1", "--out", out});
  ASSERT_EQ(done.exit_code, 0) << done.err;

  runs = CampaignStore::open_read_only(out)->runs().value();
  std::size_t streams = 0;
  for (const StoredRun& one : runs) {
    EXPECT_EQ(one.status, RunStatus::ok) << one.reason;
    if (one.kind != RunKind::stream) continue;
    ++streams;
    // No load was served by the cache of a shader array, and there was one to serve it.
    EXPECT_GT(one.counters.at("GL1C_REQ_sum"), 0);
    EXPECT_EQ(one.counters.at("GL1C_REQ_sum"), one.counters.at("GL1C_REQ_MISS_sum"));
  }
  // Seven blocks of the twelve pairs of an RX 6800, there and back. A register without a lag gives
  // one block more to lock-in; the interval was narrow enough after the eighth, so that no further
  // one was added.
  EXPECT_GE(streams, 7U * 24U);

  const auto scored = run({wirewatt(), "score", out, "--json"});
  ASSERT_EQ(scored.exit_code, 0) << scored.err;
  score = scored.json();
  EXPECT_TRUE(score.at("homes").at("exact").get<bool>()) << score.at("homes").dump();
  EXPECT_FALSE(score.at("misfit_flagged").get<bool>());
  const json energy = constant(score, "energy_fj_per_bit_ns");
  EXPECT_EQ(energy.at("status"), "ok");
  EXPECT_TRUE(energy.at("covered").get<bool>()) << energy.dump();
  EXPECT_LT(std::abs(score.at("error_sensed_percent").get<double>()), kLargestError);
}

TEST(Rdna, ACampaignFindsTheHomesAndCoversTheTruth) {
  json score;
  std::vector<StoredRun> runs;
  check_campaign("virtual:rx6800", score, runs);
  // One die has no link to memory dies.
  EXPECT_TRUE(constant(score, "fanout_link_fj_per_bit").is_null());
  for (const StoredRun& one : runs) EXPECT_NE(one.kind, RunKind::beyond_l2);
}

TEST(Rdna, ACampaignBoundsTheLinkToMemoryDies) {
  if (find_program("clang-19").empty() || find_program("ld.lld-19").empty()) {
    GTEST_SKIP() << "gfx1100 needs clang-19 and lld-19";
  }
  // Four of eight compute units of each engine, and half of the L2: launches take half as long.
  const TemporaryFolder folder;
  json score;
  std::vector<StoredRun> runs;
  check_campaign("virtual:" + write_small_chip(folder.path(), "rx7900", 4, 3 << 20), score, runs);
  const json link = constant(score, "fanout_link_fj_per_bit");
  ASSERT_TRUE(link.is_object());
  EXPECT_EQ(link.at("status"), "not_identified");
  EXPECT_TRUE(link.at("fit").is_null());
  EXPECT_GE(link.at("high").get<double>(), link.at("truth").get<double>());
  EXPECT_TRUE(link.at("covered").get<bool>());
  // All three kinds of run read at about the same rate, by the same instructions.
  std::map<std::string, double> bits_per_ns;
  for (const StoredRun& one : runs) {
    if (one.kind != RunKind::beyond_l2) continue;
    bits_per_ns[one.pattern] = one.payload_bits / static_cast<double>(one.end_ns - one.start_ns);
  }
  EXPECT_EQ(bits_per_ns.size(), 3U);
  EXPECT_EQ(bits_per_ns.at("waits"), 0);
  EXPECT_NEAR(bits_per_ns.at("missed") / bits_per_ns.at("held"), 1, 0.05);
}

}  // namespace
}  // namespace ww::e2e
