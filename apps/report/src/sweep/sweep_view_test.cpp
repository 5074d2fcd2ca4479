#include "sweep/sweep_view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ww/core/temporary_folder.hpp"
#include "ww/report/report.hpp"
#include "ww/sweep/points.hpp"
#include "ww/sweep/result_files.hpp"
#include "ww/sweep/store.hpp"

namespace ww::report {
namespace {

using sweep::PointStatus;
using testing::ElementsAre;
using testing::HasSubstr;

// A sweep of four points, the last of which no worker has finished: two on one machine, one that
// failed on another.
class SweepFolder : public testing::Test {
 protected:
  SweepFolder() {
    const auto plan = sweep::parse_plan(
        "command = \"simulate\"\n[base]\nnetwork = \"mesh\"\n[axes]\nrate = [0.1, 0.2, 0.3, 0.4]\n",
        folder() / "plan.toml");
    EXPECT_TRUE(plan) << plan.error().text();
    const auto points = sweep::Points::expand(*plan, "program", {});
    EXPECT_TRUE(points) << points.error().text();
    auto writer = sweep::ResultWriter::create(folder() / "results", "w");
    EXPECT_TRUE(writer) << writer.error().text();
    const auto add = [&](std::size_t point, PointStatus status, double wall_s,
                         const std::string& host) {
      sweep::Record record;
      record.hash = points->hash(point);
      record.status = status;
      record.wall_s = wall_s;
      record.host = host;
      if (status == PointStatus::ok) {
        record.result = R"({"avg_packet_latency":2)" + std::to_string(point) + "}";
      } else {
        record.reason = "signal 11";
      }
      EXPECT_TRUE(writer->add(record));
    };
    add(0, PointStatus::ok, 1.5, "near");
    add(1, PointStatus::ok, 0.25, "near");
    add(2, PointStatus::crashed, 4, "far");
    EXPECT_TRUE(writer->finish());
    const auto counts =
        sweep::write_store(folder() / "sweep.db", *plan, *points, "program", folder() / "results");
    EXPECT_TRUE(counts) << counts.error().text();
  }
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_.path(); }

 private:
  ScratchFolder folder_{ScratchFolder::create("sweep-view").value()};
};

TEST_F(SweepFolder, IsReadWithTheTimeAndTheMachinesOfAllPointsThatRan) {
  SweepOptions options;
  options.metrics = {"avg_packet_latency"};
  const auto view = read_sweep(folder(), options);
  ASSERT_TRUE(view) << view.error().text();
  EXPECT_DOUBLE_EQ(view->wall_s, 5.75);
  EXPECT_THAT(view->hosts, ElementsAre("far", "near"));
  EXPECT_THAT(view->configuration, HasSubstr(R"("rate":0.1)"));
  ASSERT_EQ(view->table.rows.size(), 4U);
  EXPECT_EQ(view->table.rows[1].metrics[0], 21);
  EXPECT_FALSE(view->table.rows[2].metrics[0]);
  ASSERT_EQ(view->failures.size(), 2U);
  EXPECT_EQ(view->failures[0].point, 2U);
  EXPECT_EQ(view->failures[0].status, "crashed");
  EXPECT_EQ(view->failures[0].reason, "signal 11");
  EXPECT_EQ(view->failures[0].settings, "rate=0.3");
  EXPECT_EQ(view->failures[1].status, "missing");
}

TEST_F(SweepFolder, RefusesAnAxisAndANumberThatItDoesNotHave) {
  SweepOptions along;
  along.over = "k";
  const auto axis = read_sweep(folder(), along);
  ASSERT_FALSE(axis);
  EXPECT_THAT(axis.error().text(), AllOf(HasSubstr("k"), HasSubstr("its axes are rate")));
  SweepOptions shown;
  shown.metrics = {"no_such_number"};
  const auto number = read_sweep(folder(), shown);
  ASSERT_FALSE(number);
  EXPECT_THAT(number.error().text(), HasSubstr("no_such_number"));
}

}  // namespace
}  // namespace ww::report
