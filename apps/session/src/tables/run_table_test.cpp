#include "ww/session/run_table.hpp"

#include <gmock/gmock.h>

#include "ww/core/atomic_file.hpp"
#include "ww/core/temporary_folder.hpp"

namespace ww::session {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class RunTables : public testing::Test {
 protected:
  Result<RunTable> read(const std::string& text, const RunColumns& columns = {},
                        const std::string& name = "runs.csv") {
    const std::string path = (folder_.path() / name).string();
    EXPECT_TRUE(write_file_atomically(path, text));
    return read_run_table(path, columns);
  }
  ScratchFolder folder_ = ScratchFolder::create("run_table").value();
};

TEST_F(RunTables, CountsBecomeRatesAndLevelsStayAsTheyAre) {
  RunColumns columns;
  columns.power = "power_mw";
  columns.time = "time_us";
  columns.levels = {"active"};
  const auto read = this->read(
      "run,power_mw,time_us,l2,active\na,90000,500,1000,0.5\nb,80000,2000,1000,1\n", columns);
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_THAT(read->table.runs, ElementsAre("a", "b"));
  EXPECT_THAT(read->table.power_w, ElementsAre(90, 80));
  ASSERT_EQ(read->table.terms.size(), 2U);
  EXPECT_NEAR(read->table.terms[0].activity[0], 2e6, 1e-6);
  EXPECT_NEAR(read->table.terms[0].activity[1], 5e5, 1e-6);
  EXPECT_THAT(read->table.terms[1].activity, ElementsAre(0.5, 1));
  ASSERT_TRUE(read->seconds);
  EXPECT_NEAR((*read->seconds)[0], 500e-6, 1e-12);
}

TEST_F(RunTables, ATermAddsItsColumns) {
  RunColumns columns;
  columns.terms = {"caches/l2=l2_read+l2_write"};
  const auto read =
      this->read("power_w,seconds,l2_read,l2_write\n90,2,100,20\n80,4,60,20\n", columns);
  ASSERT_TRUE(read) << read.error().text();
  ASSERT_EQ(read->table.terms.size(), 1U);
  EXPECT_EQ(read->table.terms[0].name, "l2");
  EXPECT_EQ(read->table.terms[0].part, "caches");
  EXPECT_THAT(read->table.terms[0].activity, ElementsAre(60, 20));
}

TEST_F(RunTables, ActivitiesAreReferredToTheHighestVoltage) {
  RunColumns columns;
  columns.voltage = "core_mv";
  const auto read =
      this->read("power_w,seconds,l2,core_mv\n90,1,100,1000\n60,1,100,500\n", columns);
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->reference_v, 1);
  EXPECT_THAT(read->table.terms[0].activity, ElementsAre(100, 25));
}

TEST_F(RunTables, RunsWithoutPowerAreCountedAndLeftOut) {
  const auto read = this->read("power_w,seconds,l2\n90,1,100\n,1,100\n");
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->without_power, 1U);
  EXPECT_EQ(read->table.runs.size(), 1U);
}

TEST_F(RunTables, ATableInCyclesHasNoSeconds) {
  RunColumns columns;
  columns.time = "cycles";
  const auto read = this->read("power_w,cycles,l2\n90,50,100\n", columns);
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_FALSE(read->seconds);
  EXPECT_THAT(read->table.terms[0].activity, ElementsAre(2));
}

TEST_F(RunTables, AnArrayOfObjectsReadsAsTheSameTable) {
  const auto read = this->read(
      R"([{"run": "a", "device": "virtual:w9100", "power_w": 90, "seconds": 2, "l2": 8}])", {},
      "runs.json");
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_THAT(read->table.terms[0].activity, ElementsAre(4));
  EXPECT_EQ(read->device, "virtual:w9100");
  EXPECT_TRUE(read->is_virtual);
}

TEST_F(RunTables, ABadCellIsNamedByItsLine) {
  EXPECT_THAT(this->read("power_w,seconds,l2\n90,1,100\n80,0,100\n").error().text(),
              HasSubstr("runs.csv:3"));
  EXPECT_THAT(this->read("power_w,seconds,l2\n90,1,-4\n").error().text(), HasSubstr("at least 0"));
}

TEST_F(RunTables, AMissingColumnIsNamedBesideThoseThatAreThere) {
  RunColumns columns;
  columns.power = "watts_w";
  EXPECT_THAT(this->read("power_w,seconds,l2\n90,1,4\n", columns).error().text(),
              HasSubstr("no column 'watts_w'; it has power_w, seconds, l2"));
}

}  // namespace
}  // namespace ww::session
