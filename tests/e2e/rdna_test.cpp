// A campaign on a virtual GPU of RDNA: shader engines against homes of L2 slices, with loads that
// pass by the caches of shader arrays.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "process.hpp"
#include "ww/core/campaign_store.hpp"

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

TEST(Rdna, ACampaignFindsTheHomesAndCoversTheTruth) {
  const TemporaryFolder folder;
  const std::string out = (folder.path() / "run").string();
  const auto done = run({wirewatt(), "-q", "calibrate", "--device", "virtual:rx6800", "--quick",
                         "--seed", "1", "--out", out});
  ASSERT_EQ(done.exit_code, 0) << done.err;

  const auto runs = CampaignStore::open_read_only(out)->runs().value();
  std::size_t streams = 0;
  for (const StoredRun& one : runs) {
    EXPECT_EQ(one.status, RunStatus::ok) << one.reason;
    if (one.kind != RunKind::stream) continue;
    ++streams;
    // No load was served by the cache of a shader array, and there was one to serve it.
    EXPECT_GT(one.counters.at("GL1C_REQ_sum"), 0);
    EXPECT_EQ(one.counters.at("GL1C_REQ_sum"), one.counters.at("GL1C_REQ_MISS_sum"));
  }
  EXPECT_GT(streams, 200U);

  const auto scored = run({wirewatt(), "score", out, "--json"});
  ASSERT_EQ(scored.exit_code, 0) << scored.err;
  const json score = scored.json();
  EXPECT_TRUE(score.at("homes").at("exact").get<bool>()) << score.at("homes").dump();
  EXPECT_FALSE(score.at("misfit_flagged").get<bool>());
  const json energy = constant(score, "energy_fj_per_bit_ns");
  EXPECT_EQ(energy.at("status"), "ok");
  EXPECT_TRUE(energy.at("covered").get<bool>()) << energy.dump();
  EXPECT_LT(std::abs(score.at("error_sensed_percent").get<double>()), kLargestError);
}

}  // namespace
}  // namespace ww::e2e
