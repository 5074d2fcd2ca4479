#include "ww/sweep/analysis.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "distributions.hpp"
#include "testing.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/sweep/choices.hpp"
#include "ww/sweep/result_files.hpp"

namespace ww::sweep {
namespace {

using testing::ElementsAre;

Table table_of(const std::vector<std::vector<double>>& metrics) {
  Table table{{"axis"}, {"a", "b"}, {}};
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    Row row{i, {std::to_string(i % 2)}, {}};
    for (const double value : metrics[i]) {
      row.metrics.push_back(std::isnan(value) ? std::nullopt : std::optional(value));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

TEST(ParetoFront, HoldsWhatNothingBeats) {
  const auto table = table_of({{1, 9}, {2, 5}, {3, 6}, {4, 1}, {4, 2}, {0, NAN}, {2, 5}});
  const std::vector<Goal> goals{{"a", false}, {"b", false}};
  EXPECT_THAT(pareto_front(table, goals, {0, 1}), ElementsAre(0, 1, 6, 3));
  EXPECT_THAT(pareto_front(table, {{"a", true}, {"b", false}}, {0, 1}), ElementsAre(3));
}

TEST(ParetoFront, AgreesWithItsDefinitionOnRandomPoints) {
  std::mt19937 random(5);
  std::uniform_int_distribution<int> coordinate(0, 9);
  constexpr std::size_t kPoints = 200;
  std::vector<std::vector<double>> points;
  points.reserve(kPoints);
  for (std::size_t i = 0; i < kPoints; ++i) {
    points.push_back({double(coordinate(random)), double(coordinate(random))});
  }
  const auto table = table_of(points);
  const auto front = pareto_front(table, {{"a", false}, {"b", true}}, {0, 1});
  for (std::size_t i = 0; i < points.size(); ++i) {
    bool beaten = false;
    for (const auto& other : points) {
      beaten =
          beaten || (other[0] <= points[i][0] && other[1] >= points[i][1] && other != points[i]);
    }
    EXPECT_EQ(std::count(front.begin(), front.end(), i) == 1, !beaten) << i;
  }
}

TEST(Goals, AreReadAndRefused) {
  const auto goals = parse_goals("min:a.b,max:c");
  ASSERT_TRUE(goals);
  EXPECT_EQ(goals->at(0).metric, "a.b");
  EXPECT_TRUE(goals->at(1).largest);
  EXPECT_FALSE(parse_goals("a"));
  EXPECT_FALSE(parse_goals("min:a,"));
  EXPECT_FALSE(parse_goals("min:"));
}

TEST(Sensitivity, SharesOfAnAdditiveGridAddUpToOne) {
  Table table{{"x", "y", "z"}, {"m"}, {}};
  for (int x = 0; x < 3; ++x) {
    for (int y = 0; y < 2; ++y) {
      for (int z = 0; z < 2; ++z) {
        table.rows.push_back(
            {0, {std::to_string(x), std::to_string(y), std::to_string(z)}, {3.0 * x + 2.0 * y}});
      }
    }
  }
  const auto effects = sensitivity(table, 0);
  ASSERT_EQ(effects.size(), 3U);
  EXPECT_EQ(effects[0].axis, "x");
  EXPECT_DOUBLE_EQ(effects[0].range, 6);
  EXPECT_EQ(effects[0].levels.size(), 3U);
  // Var of 3x over {0,1,2} is 6, of 2y over {0,1} is 1.
  EXPECT_NEAR(*effects[0].share, 6.0 / 7, 1e-12);
  EXPECT_NEAR(*effects[1].share, 1.0 / 7, 1e-12);
  EXPECT_NEAR(*effects[2].share, 0, 1e-12);
}

TEST(Distributions, AgreeWithTheirTable) {
  // Abramowitz and Stegun, table 26.8.
  EXPECT_NEAR(chi_squared_quantile(0.975, 1), 5.02389, 1e-5);
  EXPECT_NEAR(chi_squared_quantile(0.025, 10), 3.24697, 1e-5);
  EXPECT_NEAR(chi_squared_quantile(0.975, 30), 46.9792, 1e-4);
}

// Parts scattered by `deviation` and measured with an error of 1.
std::vector<PartValue> drawn_parts(int count, double deviation, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<PartValue> parts;
  for (int i = 0; i < count; ++i) {
    const double value = 100 + deviation * normal(random) + normal(random);
    parts.push_back({std::to_string(i), value, value - 1.96, value + 1.96});
  }
  return parts;
}

TEST(PartVariation, CoversTheTruthAsOftenAsItSays) {
  int deviation_covered = 0;
  int mean_covered = 0;
  constexpr int trials = 400;
  for (unsigned seed = 0; seed < trials; ++seed) {
    const auto variation = part_variation(drawn_parts(12, 2, seed));
    ASSERT_TRUE(variation);
    deviation_covered += variation->deviation_low <= 2 && 2 <= variation->deviation_high ? 1 : 0;
    mean_covered += variation->mean_low <= 100 && 100 <= variation->mean_high ? 1 : 0;
  }
  // 95% of 400 is 380 with a standard deviation of 4.4.
  EXPECT_NEAR(deviation_covered, 380, 14);
  EXPECT_NEAR(mean_covered, 380, 14);
}

TEST(PartVariation, OfEqualPartsReachesZero) {
  int zero = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    const auto variation = part_variation(drawn_parts(8, 0, seed));
    zero += variation->deviation_low == 0 ? 1 : 0;
  }
  EXPECT_GE(zero, 93);
}

TEST(PartVariation, NeedsTwoPartsWithIntervals) {
  EXPECT_FALSE(part_variation({{"a", 1, 0, 2}}));
  EXPECT_FALSE(part_variation({{"a", 1, 0, 2}, {"b", 1, 1, 1}}));
}

constexpr const char* plan_text =
    "command = \"simulate\"\n[axes]\nrate = [0.1, 0.2, 0.3]\nseed = [1, 1]\n";

TEST(Store, HoldsEveryPointOnceAndSaysWhatIsMissing) {
  const TestFolder folder;
  const auto plan = parse_plan(plan_text, folder.path() / "p.toml");
  const auto points = Points::expand(*plan, "program", {});
  ASSERT_TRUE(points);
  EXPECT_EQ(points->size(), 6U);
  auto writer = ResultWriter::create(folder.path() / "results", "t");
  const auto add = [&](std::size_t point, PointStatus status, const char* result, int started) {
    Record record;
    record.hash = points->hash(point);
    record.status = status;
    record.result = result;
    record.reason = status == PointStatus::ok ? "" : "broke";
    record.timings = "{}";
    record.started_ms = started;
    ASSERT_TRUE(writer->add(record));
  };
  add(0, PointStatus::ok, R"({"a":{"b":1.5}})", 1);
  add(0, PointStatus::crashed, "", 2);  // a copy that came later and failed
  add(2, PointStatus::timeout, "", 1);
  ASSERT_TRUE(writer->finish());
  const auto file = folder.path() / "sweep.db";
  const auto counts = write_store(file, *plan, *points, "program", folder.path() / "results");
  ASSERT_TRUE(counts) << counts.error().text();
  EXPECT_EQ(counts->at(PointStatus::ok), 2U);
  EXPECT_EQ(counts->at(PointStatus::timeout), 2U);
  EXPECT_EQ(counts->at(PointStatus::missing), 2U);

  const auto store = Store::open(file);
  ASSERT_TRUE(store);
  const auto table = load_table(*store, {"rate"}, {"a.b"});
  ASSERT_TRUE(table);
  ASSERT_EQ(table->rows.size(), 6U);
  EXPECT_EQ(table->rows[1].metrics[0], 1.5);
  EXPECT_EQ(table->rows[2].metrics[0], std::nullopt);
  EXPECT_EQ(table->rows[2].settings[0], "0.2");
  ASSERT_TRUE(write_csv(*store, folder.path() / "out.csv"));
  const auto csv = read_file(folder.path() / "out.csv");
  EXPECT_THAT(*csv, testing::HasSubstr("0," + points->hash(0).text() + ",0.1,1,ok,,1.5\n"));
  EXPECT_THAT(*csv, testing::HasSubstr(",0.2,1,timeout,broke,\n"));
}

// A store of one point a result.
Result<Store> store_of(const TestFolder& folder, const std::string& plan_text,
                       const std::vector<std::string>& results) {
  WW_ASSIGN(plan, parse_plan(plan_text, folder.path() / "p.toml"));
  WW_ASSIGN(points, Points::expand(plan, "program", {}));
  WW_ASSIGN(writer, ResultWriter::create(folder.path() / "results", "t"));
  for (std::size_t i = 0; i < results.size(); ++i) {
    Record record;
    record.hash = points.hash(i);
    record.status = PointStatus::ok;
    record.result = results[i];
    record.timings = "{}";
    WW_TRY(writer.add(record));
  }
  WW_TRY(writer.finish());
  const auto file = folder.path() / "sweep.db";
  WW_TRY(write_store(file, plan, points, "program", folder.path() / "results"));
  return Store::open(file);
}

TEST(Csv, NamesNoTwoColumnsAlike) {
  const TestFolder folder;
  const auto store = store_of(folder, "command = \"estimate\"\n[axes]\nrate = [1]\n",
                              {R"({"rate":2,"reason":"too warm","status":"misfit","x":3})"});
  ASSERT_TRUE(store) << store.error().text();
  ASSERT_TRUE(write_csv(*store, folder.path() / "out.csv"));
  const auto csv = read_file(folder.path() / "out.csv");
  EXPECT_THAT(*csv, testing::StartsWith("index,hash,rate,status,reason,result.rate,result.reason,"
                                        "result.status,x\n"));
  EXPECT_THAT(*csv, testing::EndsWith(",1,ok,,2,too warm,misfit,3\n"));
}

TEST(Settings, ReadAlikeInTablesAndInCsv) {
  const TestFolder folder;
  const auto store = store_of(folder,
                              "command = \"simulate\"\n[axes]\nspeculative = [true, false]\n"
                              "core-nodes = [[0, 1]]\nnetwork = [\"mesh\"]\n",
                              {R"({"a":1})", R"({"a":2})"});
  ASSERT_TRUE(store) << store.error().text();
  const auto table = load_table(*store, {"speculative", "core-nodes", "network", "none"}, {"a"});
  ASSERT_TRUE(table) << table.error().text();
  EXPECT_THAT(table->rows[0].settings, testing::ElementsAre("true", "[0,1]", "mesh", ""));
  EXPECT_THAT(table->rows[1].settings, testing::ElementsAre("false", "[0,1]", "mesh", ""));
  EXPECT_EQ(table->rows[1].metrics[0], 2);
  ASSERT_TRUE(write_csv(*store, folder.path() / "out.csv"));
  EXPECT_THAT(*read_file(folder.path() / "out.csv"),
              testing::HasSubstr(",true,\"[0,1]\",mesh,ok,,1\n"));
}

TEST(Marks, AreTakenFromTheResultsAndLeaveTheTable) {
  const TestFolder folder;
  const auto store = store_of(
      folder, "command = \"simulate\"\n[axes]\nrate = [1, 2, 3]\n",
      {R"({"a":5})", R"({"a":1,"stable":false})", R"({"a":4,"stable":true,"virtual":true})"});
  ASSERT_TRUE(store) << store.error().text();
  const auto marked = load_marked_table(*store, {"rate"}, {"a"});
  ASSERT_TRUE(marked) << marked.error().text();
  EXPECT_THAT(marked->table.metrics, testing::ElementsAre("a"));
  for (const auto& row : marked->table.rows) EXPECT_EQ(row.metrics.size(), 1U);
  EXPECT_THAT(marked->marks.settled, testing::ElementsAre(true, false, true));
  EXPECT_TRUE(marked->marks.is_virtual);
  EXPECT_FALSE(load_marked_table(*store, {"rate"}, {"a"}, 2)->marks.is_virtual);
  // The unstable point would be the best.
  EXPECT_THAT(settled_front(marked->table, marked->marks.settled, {{"a", false}}, {0}),
              testing::ElementsAre(2));
  EXPECT_EQ(settled_rows(marked->table, marked->marks.settled).rows.size(), 2U);
}

TEST(Store, RefusesAFileThatIsNoSweep) {
  const TestFolder folder;
  ASSERT_TRUE(write_file_atomically(folder.path() / "x.db", "not a database, but long enough"));
  const auto store = Store::open(folder.path() / "x.db");
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, ErrorCode::parse_error);
  EXPECT_EQ(Store::open(folder.path() / "none.db").error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace ww::sweep
