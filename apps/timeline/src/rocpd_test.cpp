// The database as its readers see it: this project's own, and SQL by ROCm's schema.
#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "ww/core/atomic_file.hpp"
#include "ww/core/temporary_folder.hpp"
#include "ww/session/traffic.hpp"
#include "ww/timeline/timeline.hpp"

namespace ww::timeline {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::SizeIs;

std::vector<measure::CounterDispatch> launches() {
  std::vector<measure::CounterDispatch> found;
  std::uint64_t id = 0;
  for (const char* process : {"77", "78"}) {
    for (const char* kernel : {"copy", "scan", "it's"}) {
      measure::CounterDispatch one;
      one.id = ++id;
      one.kernel = kernel;
      one.process = process;
      one.agent = "Agent 4";
      one.grid_size = 4096;
      one.start_ns = static_cast<std::int64_t>(1000 * id);
      one.duration_ns = 500;
      const double lines = 1e6 * static_cast<double>(id) + 1.0 / 3;
      one.counters = {{"TCC_HIT_sum", lines},
                      {"TCC_MISS_sum", lines / 4},
                      {"TCC_MC_RDREQ_sum", lines / 4},
                      {"TCC_MC_WRREQ_sum", 0}};
      found.push_back(one);
    }
  }
  return found;
}

class RocpdOf : public ::testing::Test {
 protected:
  RocpdOf() {
    model_.random = {100, 70, 140};
    model_.reference_voltage_v = 1;
    model_.distance_mm = {std::nullopt, model::Interval{10, 9, 12}, model::Interval{20, 15, 30}};
  }
  // Writes the database of `counted` and gives their estimate.
  model::Estimate write(const std::vector<measure::CounterDispatch>& counted) {
    Timeline timeline({"virtual:w9100", true, "", "gfx701"});
    const auto traffic = session::count_traffic(counted, "gfx701");
    EXPECT_TRUE(traffic);
    auto estimate = model::estimate(model_, traffic->kernels, options_);
    EXPECT_TRUE(estimate);
    EXPECT_TRUE(timeline.add_launches(counted, {model_, options_, *estimate, "gfx701"}));
    timeline.add_reading("77", {1200, 85.5, 41, std::nullopt});
    const auto done = timeline.write_rocpd(file());
    EXPECT_TRUE(done) << done.error().text();
    return *estimate;
  }
  [[nodiscard]] fs::path file() const { return folder_.path() / "app.db"; }
  [[nodiscard]] SQLite::Database open() const { return {file().string(), SQLite::OPEN_READWRITE}; }
  static double number(SQLite::Database& database, const std::string& sql) {
    return database.execAndGet(sql).getDouble();
  }

  model::WireModel model_;
  model::EstimateOptions options_;
  ScratchFolder folder_ = ScratchFolder::create("rocpd").value();
};

TEST_F(RocpdOf, LaunchesIsReadBackWithEveryCounterAndTime) {
  write(launches());
  const auto read = measure::read_counter_file(file().string());
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->form, measure::CounterForm::rocpd);
  EXPECT_EQ(read->architecture, "gfx701");
  const auto written = launches();
  ASSERT_THAT(read->dispatches, SizeIs(written.size()));
  for (std::size_t i = 0; i < written.size(); ++i) {
    const auto& one = read->dispatches[i];
    EXPECT_EQ(one.id, written[i].id);
    EXPECT_EQ(one.kernel, written[i].kernel);
    EXPECT_EQ(one.process, written[i].process);
    EXPECT_EQ(one.agent, written[i].agent);
    EXPECT_EQ(one.grid_size, written[i].grid_size);
    EXPECT_EQ(one.start_ns, written[i].start_ns);
    EXPECT_EQ(one.duration_ns, written[i].duration_ns);
    for (const auto& [name, value] : written[i].counters) EXPECT_EQ(one.counters.at(name), value);
  }
}

TEST_F(RocpdOf, LaunchesHasTheJoulesOfTheEstimateInItsRows) {
  const auto estimate = write(launches());
  auto database = open();
  for (const auto& [segment, name] :
       {std::pair{1U, "WIREWATT_L1_L2_ENERGY"}, std::pair{2U, "WIREWATT_L2_MEMORY_ENERGY"}}) {
    const auto& joules = estimate.total.segments[segment].energy_j;
    ASSERT_TRUE(joules);
    for (const auto& [ending, expected] :
         {std::pair{"", joules->value}, std::pair{"_LOWER", joules->low},
          std::pair{"_UPPER", joules->high}}) {
      EXPECT_NEAR(number(database, std::string("SELECT sum(e.value) FROM rocpd_pmc_event e JOIN "
                                               "rocpd_info_pmc c ON c.id=e.pmc_id AND "
                                               "c.guid=e.guid WHERE c.units='J' AND c.name='") +
                                       name + ending + "'"),
                  expected, 1e-6 * expected)
          << name << ending;
    }
  }
  EXPECT_EQ(
      number(database, "SELECT count(*) FROM rocpd_info_pmc WHERE name LIKE 'WIREWATT_REGISTERS%'"),
      0);  // the model has no such distance
  EXPECT_EQ(number(database,
                   "SELECT count(*) FROM rocpd_info_pmc WHERE component='wirewatt' AND "
                   "description NOT LIKE '%virtual, not a measurement%'"),
            0);
}

TEST_F(RocpdOf, ALaunchWithoutAPlaceInTimeLeavesNoJoules) {
  auto some = launches();
  some[1].start_ns.reset();
  write(some);
  auto database = open();
  EXPECT_EQ(number(database, "SELECT count(*) FROM rocpd_kernel_dispatch"), 5);
  EXPECT_EQ(number(database, "SELECT count(*) FROM rocpd_info_pmc WHERE units='J'"), 0);
}

TEST_F(RocpdOf, ACardHasASampleBetweenRefreshes) {
  model::KernelEstimate power;
  power.segments[1].status = RowStatus::ok;
  power.segments[1].power_w = model::Interval{2, 1, 4};
  power.segments[1].energy_j = model::Interval{1, 1, 1};
  Timeline timeline({"gpu:0", false, "", "gfx90a"});
  timeline.add_stretch(5'000'000'000, 5'500'000'000, power);
  ASSERT_TRUE(timeline.write_rocpd(file()));
  auto database = open();
  const std::string joined =
      " FROM rocpd_sample s JOIN rocpd_pmc_event e ON e.event_id=s.event_id JOIN rocpd_info_pmc c "
      "ON c.id=e.pmc_id WHERE c.name='WIREWATT_L1_L2_ENERGY'";
  EXPECT_EQ(number(database, "SELECT sum(e.value)" + joined), 1);
  EXPECT_EQ(number(database, "SELECT max(s.timestamp)" + joined), 5.5e9);
}

TEST_F(RocpdOf, AFolderThatIsNotThereIsAnError) {
  const auto done = Timeline({"gpu:0", false, "", ""}).write_rocpd(folder_.path() / "no" / "x.db");
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::not_found) << done.error().text();
}

// ROCm's own statements, for schema 3.0.0.
class RocmsSchema : public RocpdOf {
 protected:
  void SetUp() override {
    const char* shared = std::getenv("WW_SHARED_DATA");
    schema_ = fs::path(shared == nullptr ? "" : shared) / "data/rocpd_schema_3_0_0";
    if (!fs::exists(schema_)) GTEST_SKIP() << "ROCm's SQL is not beside the checkout";
  }
  [[nodiscard]] std::string sql(const std::string& name) const {
    auto text = read_file(schema_ / name);
    EXPECT_TRUE(text);
    return text.value_or("");
  }
  fs::path schema_;
};

TEST_F(RocmsSchema, HasTheSameTablesAndColumns) {
  write(launches());
  auto ours = open();
  SQLite::Database theirs(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  auto tables = sql("rocpd_tables.sql");
  for (auto at = tables.find("{{uuid}}"); at != std::string::npos; at = tables.find("{{uuid}}")) {
    tables.erase(at, 8);
  }
  theirs.exec(tables);
  const auto columns = [](SQLite::Database& database, const std::string& table) {
    std::vector<std::string> found;
    SQLite::Statement rows(database, "SELECT name, type FROM pragma_table_info(?)");
    rows.bind(1, table);
    while (rows.executeStep()) {
      found.push_back(rows.getColumn(0).getString() + " " + rows.getColumn(1).getString());
    }
    return found;
  };
  const std::string suffix =
      ours.execAndGet("SELECT value FROM rocpd_metadata WHERE tag='uuid'").getString();
  SQLite::Statement names(theirs, "SELECT name FROM sqlite_master WHERE name LIKE 'rocpd_%'");
  int compared = 0;
  while (names.executeStep()) {
    const auto name = names.getColumn(0).getString();
    EXPECT_EQ(columns(ours, name + suffix), columns(theirs, name)) << name;
    ++compared;
  }
  EXPECT_EQ(compared, 20);
}

TEST_F(RocmsSchema, ViewsShowEveryKernelAndItsCounters) {
  const auto estimate = write(launches());
  auto database = open();
  for (const char* views : {"data_views.sql", "summary_views.sql"}) database.exec(sql(views));
  EXPECT_EQ(number(database, "SELECT count(*) FROM kernels"), 6);
  EXPECT_EQ(number(database, "SELECT sum(duration) FROM kernels"), 3000);
  EXPECT_EQ(number(database, "SELECT count(*) FROM samples"), 2);
  const double joules = estimate.total.segments[1].energy_j->value;
  EXPECT_NEAR(number(database,
                     "SELECT sum(value) FROM counters_collection WHERE "
                     "counter_name='WIREWATT_L1_L2_ENERGY'"),
              joules, 1e-6 * joules);
  EXPECT_NEAR(number(database,
                     "SELECT sum(counter_value) FROM pmc_events WHERE "
                     "counter_name='WIREWATT_L1_L2_ENERGY'"),
              joules, 1e-6 * joules);
}

}  // namespace
}  // namespace ww::timeline
