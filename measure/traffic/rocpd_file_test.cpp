#include "ww/core/temporary_folder.hpp"
#include "ww/measure/counter_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "testing/rocpd_database.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/measure/counter_map.hpp"

namespace ww::measure {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using testing::RocpdCounter;
using testing::RocpdDatabase;
using testing::RocpdDispatch;

class Rocpd : public ::testing::Test {
 protected:
  [[nodiscard]] std::string put(const std::vector<std::byte>& bytes) const {
    const auto file = folder_ / "7_results.db";
    std::ofstream(file, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    return file.string();
  }
  Result<CounterFile> read(const RocpdDatabase& database) const {
    return read_counter_file(put(database.bytes()));
  }
  ScratchFolder scratch_ = ScratchFolder::create("rocpd").value();
  const fs::path& folder_ = scratch_.path();
};

TEST_F(Rocpd, AddsTheInstancesOfACounterUpAndNamesTheKernel) {
  RocpdDatabase database;
  database.add_process("_0000ddb5_8903", 4711, "gfx942",
                       {{.id = 2,
                         .kernel = "void copy<double>(double*)",
                         .start_ns = 100,
                         .end_ns = 350,
                         .counters = {{"TCC_HIT", {1, 2, 3, 4}}, {"SQ_WAVES", {16384}}}},
                        {.id = 1, .counters = {{"SQ_WAVES", {64}}}}});
  const auto file = read(database);
  ASSERT_TRUE(file) << file.error().text();
  EXPECT_EQ(file->form, CounterForm::rocpd);
  EXPECT_EQ(file->architecture, "gfx942");
  ASSERT_EQ(file->dispatches.size(), 2u);
  const CounterDispatch& second = file->dispatches[1];
  EXPECT_EQ(second.id, 2u);
  EXPECT_EQ(second.kernel, "void copy<double>(double*)");
  EXPECT_EQ(second.agent, "Agent 4");
  EXPECT_EQ(second.process, "4711");
  EXPECT_EQ(second.duration_ns, 250.0);
  EXPECT_TRUE(second.start_ns);
  EXPECT_EQ(second.grid_size, 1048576.0);
  EXPECT_EQ(counter_total(second, "TCC_HIT"), 10.0);
  EXPECT_EQ(counter_total(second, "SQ_WAVES"), 16384.0);
  EXPECT_FALSE(counter_total(file->dispatches[0], "TCC_HIT"));
}

TEST_F(Rocpd, RefusesTheSumOfRatiosAndValuesThatAreNoCounts) {
  RocpdDatabase database;
  database.add_process("_a", 1, "gfx90a",
                       {{.counters = {{"OccupancyPercent", {40, 50}, true},
                                      {"MeanLatency", {7}, true},
                                      {"SQ_WAVES", {-1}}}}});
  database.execute("INSERT INTO rocpd_info_pmc_a VALUES(9, 'TCC_MISS', '', 0)");
  database.execute("INSERT INTO rocpd_pmc_event_a VALUES(99, 1, 9, NULL)");
  const auto file = read(database);
  ASSERT_TRUE(file) << file.error().text();
  const CounterDispatch& dispatch = file->dispatches.at(0);
  EXPECT_THAT(dispatch.missing.at("OccupancyPercent"), HasSubstr("ratio"));
  EXPECT_EQ(dispatch.counters.at("MeanLatency"), 7.0);
  EXPECT_THAT(dispatch.missing.at("SQ_WAVES"), HasSubstr("-1"));
  EXPECT_THAT(dispatch.missing.at("TCC_MISS"), HasSubstr("no number"));
}

TEST_F(Rocpd, KeepsProcessesApartAndJoinsPasses) {
  RocpdDatabase processes;
  processes.add_process("_a", 10, "gfx942", {{.counters = {{"SQ_WAVES", {1}}}}});
  processes.add_process("_b", 11, "gfx942", {{.counters = {{"SQ_WAVES", {2}}}}});
  const auto apart = read(processes);
  ASSERT_TRUE(apart) << apart.error().text();
  ASSERT_EQ(apart->dispatches.size(), 2u);
  EXPECT_EQ(apart->dispatches[0].process, "10");
  EXPECT_EQ(apart->dispatches[1].process, "11");

  RocpdDatabase passes;
  passes.add_process("_a", 10, "gfx942", {{.end_ns = 6000, .counters = {{"SQ_WAVES", {1}}}}});
  passes.add_process("_b", 11, "gfx942", {{.end_ns = 6400, .counters = {{"TCC_HIT", {2}}}}});
  const auto joined = read(passes);
  ASSERT_TRUE(joined) << joined.error().text();
  ASSERT_EQ(joined->dispatches.size(), 1u);
  EXPECT_EQ(joined->dispatches[0].counters.size(), 2u);
  EXPECT_FALSE(joined->dispatches[0].duration_ns);
  EXPECT_FALSE(joined->dispatches[0].start_ns);
  EXPECT_THAT(joined->dispatches[0].duration_reason, HasSubstr("several runs"));
}

// Kernel replay counts a sum in every pass that it is asked for in, and older writers put all
// passes on one event.
TEST_F(Rocpd, TakesRepeatedRowsOfASumForPasses) {
  RocpdDatabase database;
  database.add_process("_a", 10, "gfx90a",
                       {{.counters = {{"TCP_TCC_READ_REQ_sum", {64, 64, 64}},
                                      {"TCC_EA_RDREQ_sum", {60, 66}},
                                      {"TCC_HIT", {1, 2, 3}},
                                      {"SQ_WAVES", {5}}}}});
  const auto file = read(database);
  ASSERT_TRUE(file) << file.error().text();
  const CounterDispatch& dispatch = file->dispatches.at(0);
  EXPECT_EQ(dispatch.counters.at("TCP_TCC_READ_REQ_sum"), 64.0);
  EXPECT_EQ(dispatch.counters.at("TCC_EA_RDREQ_sum"), 63.0);
  EXPECT_EQ(dispatch.counters.at("TCC_HIT"), 6.0);
  EXPECT_THAT(dispatch.remarks.at("TCC_HIT"), HasSubstr("3 rows of TCC_HIT are added up"));
  EXPECT_FALSE(dispatch.remarks.contains("TCP_TCC_READ_REQ_sum"));
  EXPECT_THAT(dispatch.remarks.at("TCC_EA_RDREQ_sum"),
              HasSubstr("2 passes, which counted 60 to 66"));
  EXPECT_FALSE(dispatch.duration_ns);
}

TEST_F(Rocpd, JoinsRowsOfOneLaunchWhichArePasses) {
  RocpdDatabase database;
  database.add_process(
      "_a", 10, "gfx90a",
      {{.counters = {{"TCP_TCC_READ_REQ_sum", {64}}, {"SQ_WAVES", {2, 2}}}},
       {.start_ns = 9000, .end_ns = 9500, .counters = {{"SQ_WAVES", {2, 2}}}},
       {.start_ns = 9900, .end_ns = 9950, .counters = {{"TCP_TCC_WRITE_REQ_sum", {32}}}}});
  const auto file = read(database);
  ASSERT_TRUE(file) << file.error().text();
  ASSERT_EQ(file->dispatches.size(), 1u);
  EXPECT_EQ(file->dispatches[0].counters,
            (std::map<std::string, double>{
                {"SQ_WAVES", 4}, {"TCP_TCC_READ_REQ_sum", 64}, {"TCP_TCC_WRITE_REQ_sum", 32}}));
  EXPECT_FALSE(file->dispatches[0].duration_ns);
}

TEST_F(Rocpd, RefusesTwoKernelsUnderOneNumber) {
  RocpdDatabase database;
  database.add_process("_a", 10, "gfx90a",
                       {{.kernel = "a", .counters = {{"A_sum", {1}}}},
                        {.kernel = "b", .counters = {{"B_sum", {1}}}}});
  const auto file = read(database);
  ASSERT_FALSE(file);
  EXPECT_THAT(file.error().message, HasSubstr("'a' in one row and 'b' in another"));
}

TEST_F(Rocpd, TellsPassesOfInstancesApartWhereTheWriterNamesThem) {
  RocpdDatabase database;
  database.add_process("_a", 10, "gfx90a", {{.counters = {{"SQ_WAVES", {5, 6, 5, 6}}}}});
  database.execute("ALTER TABLE rocpd_pmc_event_a ADD COLUMN instance INTEGER");
  const auto summed = read(database);
  ASSERT_TRUE(summed) << summed.error().text();
  EXPECT_EQ(summed->dispatches.at(0).counters.at("SQ_WAVES"), 22.0);
  database.execute("UPDATE rocpd_pmc_event_a SET instance=id%2");
  const auto passes = read(database);
  ASSERT_TRUE(passes) << passes.error().text();
  EXPECT_EQ(passes->dispatches.at(0).counters.at("SQ_WAVES"), 11.0);
}

// Each container has a process 1.
TEST_F(Rocpd, KeepsProcessesOfOneNumberApart) {
  RocpdDatabase database;
  database.add_process("_a", 1, "gfx90a", {{.counters = {{"A_sum", {1}}}}});
  database.add_process("_b", 1, "gfx90a", {{.counters = {{"A_sum", {1}}}}});
  const auto file = read(database);
  ASSERT_TRUE(file) << file.error().text();
  EXPECT_EQ(file->dispatches.size(), 2u);
}

TEST_F(Rocpd, JoinsPassesOfSeveralProcessesWhichShareACounter) {
  RocpdDatabase database;
  for (const auto& [suffix, pid, turn] : {std::tuple{"_a", 10, "A_sum"},
                                          {"_b", 11, "A_sum"},
                                          {"_c", 12, "B_sum"},
                                          {"_d", 13, "B_sum"}}) {
    database.add_process(suffix, pid, "gfx90a", {{.counters = {{turn, {7}}, {"SQ_WAVES", {2}}}}});
  }
  const auto file = read(database);
  ASSERT_TRUE(file) << file.error().text();
  ASSERT_EQ(file->dispatches.size(), 2u);
  for (const CounterDispatch& dispatch : file->dispatches) {
    EXPECT_EQ(dispatch.counters,
              (std::map<std::string, double>{{"A_sum", 7}, {"B_sum", 7}, {"SQ_WAVES", 2}}));
  }
}

TEST_F(Rocpd, TakesNoSamplesForTheCountersOfAKernel) {
  RocpdDatabase database;
  database.add_process("_a", 10, "gfx942", {{.counters = {{"SQ_WAVES", {64}}}}});
  database.execute("ALTER TABLE rocpd_pmc_event_a ADD COLUMN sample_id INTEGER");
  database.execute("INSERT INTO rocpd_pmc_event_a VALUES(99, 1, 1, 1000, 5)");
  const auto file = read(database);
  ASSERT_TRUE(file) << file.error().text();
  EXPECT_EQ(file->dispatches.at(0).counters.at("SQ_WAVES"), 64.0);
}

TEST_F(Rocpd, RefusesAnotherSchemaOtherDatabasesAndTwoKindsOfGpu) {
  RocpdDatabase newer;
  newer.add_process("_a", 10, "gfx942", {{}});
  newer.execute("UPDATE rocpd_metadata_a SET value='4.1.0'");
  EXPECT_EQ(read(newer).error().code, ErrorCode::unsupported);
  EXPECT_THAT(read(newer).error().message, HasSubstr("4.1.0"));

  RocpdDatabase other;
  other.execute("CREATE TABLE fact(key TEXT)");
  EXPECT_THAT(read(other).error().message, HasSubstr("not rocprofv3's"));

  RocpdDatabase mixed;
  mixed.add_process("_a", 10, "gfx942", {{}});
  mixed.add_process("_b", 11, "gfx90a", {{}});
  EXPECT_EQ(read(mixed).error().code, ErrorCode::bad_data);
  EXPECT_THAT(read(mixed).error().message, HasSubstr("gfx90a"));

  RocpdDatabase lacking;
  lacking.add_process("_a", 10, "gfx942", {{}});
  lacking.execute("DROP TABLE rocpd_info_pmc_a");
  EXPECT_EQ(read(lacking).error().code, ErrorCode::parse_error);
  EXPECT_THAT(read(lacking).error().message, HasSubstr("rocpd_info_pmc_a"));
}

TEST_F(Rocpd, IsRefusedWhereItIsCutOrDamaged) {
  RocpdDatabase database;
  std::vector<RocpdDispatch> many;
  for (int i = 1; i <= 200; ++i) {
    many.push_back({.id = i, .counters = {{"SQ_WAVES", {1, 2, 3, 4, 5, 6, 7, 8}}}});
  }
  database.add_process("_a", 10, "gfx942", many);
  const auto whole = database.bytes();
  ASSERT_TRUE(read_counter_file(put(whole)));
  for (std::size_t pages = 1; pages * 4096 < whole.size(); ++pages) {
    const auto end = whole.begin() + static_cast<std::ptrdiff_t>(pages * 4096);
    const auto cut = read_counter_file(put({whole.begin(), end}));
    ASSERT_FALSE(cut) << pages;
    EXPECT_EQ(cut.error().code, ErrorCode::parse_error) << cut.error().text();
  }
  auto torn = whole;
  std::fill(torn.begin() + 4096 * 3, torn.begin() + 4096 * 4, std::byte{0xA5});
  EXPECT_FALSE(read_counter_file(put(torn)));
}

TEST_F(Rocpd, MarksKernelsThatTheProfilerDidNotCount) {
  RocpdDatabase database;
  database.add_process("_a", 10, "gfx1100",
                       {{.counters = {{"GL2C_HIT", {0}}, {"GL2C_MISS", {0}}}}});
  const auto file = read(database);
  ASSERT_TRUE(file) << file.error().text();
  EXPECT_TRUE(file->dispatches.at(0).counters.empty());
  EXPECT_THAT(file->dispatches.at(0).missing.at("GL2C_HIT"), HasSubstr("profile_standard"));
  for (const auto& bytes : segment_bytes(file->architecture, file->dispatches[0])) {
    EXPECT_FALSE(bytes.bytes) << to_string(bytes.segment);
  }
}

// A real run of a kernel on MI300X, taken by rocprofv3 through rocpd and written as one long table.
// Put back into a database with the profiler's own statements, it must give the same figures.
TEST_F(Rocpd, GivesTheSameBytesAsTheTableOfTheSameRun) {
  const char* shared = std::getenv("WW_SHARED_DATA");
  const fs::path data = fs::path(shared == nullptr ? "" : shared) / "data";
  if (!fs::exists(data)) GTEST_SKIP() << "no recordings from real GPUs beside the checkout";
  const auto table =
      read_counter_file((data / "rocprofiler_compute_vcopy_rocpd/MI300X_A1/pmc_perf.csv").string());
  ASSERT_TRUE(table) << table.error().text();
  ASSERT_EQ(table->dispatches.size(), 3u);
  EXPECT_EQ(table->architecture, "gfx942");
  // Twelve runs, so twelve times of one dispatch.
  EXPECT_FALSE(table->dispatches[0].duration_ns);
  EXPECT_THAT(table->dispatches[0].duration_reason, HasSubstr("several runs"));

  auto schema = read_file((data / "rocpd_schema_3_0_0/rocpd_tables.sql").string());
  ASSERT_TRUE(schema);
  const std::string suffix = "_0000ddb5_8903_7903";
  for (const auto& [from, to] : {std::pair<std::string, std::string>{"{{uuid}}", suffix},
                                 {"{{guid}}", "0000ddb5-8903-7903"}}) {
    for (auto at = schema->find(from); at != std::string::npos; at = schema->find(from)) {
      schema->replace(at, from.size(), to);
    }
  }
  RocpdDatabase database;
  database.execute(*schema);
  std::ostringstream sql;
  sql << "PRAGMA foreign_keys=OFF; BEGIN;"
      << "INSERT INTO rocpd_info_process" << suffix << "(id,nid,pid) VALUES(1,1,4242);"
      << "INSERT INTO rocpd_info_agent" << suffix
      << "(id,nid,pid,type,absolute_index,name) VALUES(3,1,1,'GPU',2,'gfx942');"
      << "INSERT INTO rocpd_info_kernel_symbol" << suffix
      << "(id,nid,pid,code_object_id,kernel_name,display_name) VALUES(12,1,1,1,'_Z7vecCopy','"
      << table->dispatches[0].kernel << "');";
  std::map<std::string, int> counters;
  int event = 0;
  for (const CounterDispatch& dispatch : table->dispatches) {
    sql << "INSERT INTO rocpd_kernel_dispatch" << suffix
        << "(nid,pid,agent_id,kernel_id,dispatch_id,queue_id,stream_id,start,\"end\","
           "workgroup_size_x,workgroup_size_y,workgroup_size_z,grid_size_x,grid_size_y,"
           "grid_size_z,event_id) VALUES(1,1,3,12,"
        << dispatch.id << ",1,1,1,2,256,1,1," << *dispatch.grid_size << ",1,1," << ++event << ");";
    for (const auto& [name, value] : dispatch.counters) {
      const auto [counter, added] = counters.try_emplace(name, counters.size() + 1);
      if (added) {
        sql << "INSERT INTO rocpd_info_pmc" << suffix << "(id,nid,pid,agent_id,name,symbol) VALUES("
            << counter->second << ",1,1,3,'" << name << "','" << name << "');";
      }
      sql.precision(17);
      sql << "INSERT INTO rocpd_pmc_event" << suffix << "(event_id,pmc_id,value) VALUES(" << event
          << ',' << counter->second << ',' << value << ");";
    }
  }
  sql << "COMMIT;";
  database.execute(sql.str());
  const auto stored = read(database);
  ASSERT_TRUE(stored) << stored.error().text();
  ASSERT_EQ(stored->dispatches.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(stored->dispatches[i].counters, table->dispatches[i].counters);
    const auto from_table = segment_bytes(table->architecture, table->dispatches[i]);
    const auto from_database = segment_bytes(stored->architecture, stored->dispatches[i]);
    for (std::size_t s = 0; s < from_table.size(); ++s) {
      EXPECT_EQ(from_table[s].bytes, from_database[s].bytes) << to_string(from_table[s].segment);
    }
    const auto l1_l2 = std::ranges::find(from_database, Segment::l1_l2, &SegmentBytes::segment);
    EXPECT_EQ(l1_l2->bytes, 2 * 8388608.0);
  }
}

}  // namespace
}  // namespace ww::measure
