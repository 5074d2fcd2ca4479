#include "ww/microbench/segments.hpp"

#include <gtest/gtest.h>

#include "ww/core/campaign_store.hpp"
#include "ww/core/temporary_folder.hpp"

namespace ww::microbench {
namespace {

TEST(Segments, RefuseRealDevicesByName) {
  SegmentsRequest request;
  request.device.name = "cuda:0";
  request.folder = "/nonexistent";
  const auto status = run_segments(request, {});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::unsupported);
}

TEST(Segments, NameTheFileAndTheKeyOfADamagedPlan) {
  const auto folder = ScratchFolder::create("segments");
  ASSERT_TRUE(folder);
  const auto file = folder->path() / "segments.db";
  auto store = CampaignStore::create(file);
  ASSERT_TRUE(store) << store.error().text();
  const auto put_plan = [&](const char* plan) {
    ASSERT_TRUE(store->put(campaign_keys::plan, plan));
  };
  put_plan(R"({"method": "crossing"})");
  const auto other = fit_segments(*store);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().text(), file.string() + ": not a recording of segments");
  put_plan(R"({"method": "segments", "points": [{"segment": "legs", "engine": "first"}]})");
  const auto damaged = fit_segments(*store);
  ASSERT_FALSE(damaged);
  EXPECT_EQ(damaged.error().code, ErrorCode::parse_error);
  EXPECT_NE(damaged.error().text().find(file.string() + ", plan: 'points[0].engine' must be"),
            std::string::npos)
      << damaged.error().text();
}

}  // namespace
}  // namespace ww::microbench
