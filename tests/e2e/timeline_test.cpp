// Timelines as users write them, read back by the schema: joules of the power tracks are those of
// the estimate.
#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "made_campaign.hpp"
#include "process.hpp"
#include "testing/read_trace.hpp"

namespace ww::e2e {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using timeline::testing::ReadTrace;
using timeline::testing::ReadTrack;

class TimelineFile : public OfAMadeCampaign {
 protected:
  [[nodiscard]] std::string file() const { return (folder_.path() / "app.pftrace").string(); }
  // A command of wirewatt with a small program.
  Finished of_program(std::vector<std::string> command, const Environment& more = {}) {
    command.insert(command.begin(), wirewatt());
    command.insert(command.end(), {"--timeline", file(), "--", program()});
    auto finished = run(command, more);
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    return finished;
  }
  static std::string program() { return (build_folder() / "bin/icd_saxpy").string(); }
  static std::size_t begun(const ReadTrace& trace) {
    std::size_t count = 0;
    for (const ReadTrack& track : trace.tracks("kernels")) count += track.packets.size() / 2;
    return count;
  }
  // Returns the energy of a segment's power track, whatever status stands in its name.
  static double joules(const ReadTrace& trace, const std::string& segment,
                       const std::string& ending) {
    return trace.integral(segment + ending) + trace.integral(segment + ", transferred" + ending);
  }
  static void expect_joules(const ReadTrace& trace, const std::string& segment,
                            const json& energy) {
    ASSERT_TRUE(energy.is_object());
    const double value = energy.at("value").get<double>();
    EXPECT_GT(value, 0);
    for (const auto& [ending, key] : {std::pair{" [W]", "value"}, std::pair{", lower [W]", "low"},
                                      std::pair{", upper [W]", "high"}}) {
      // The lower end of a segment may be 0.
      EXPECT_NEAR(joules(trace, segment, ending), energy.at(key).get<double>(), 1e-6 * value)
          << segment << ending;
    }
  }

  // The joules of every segment of an estimate, with their ends.
  static void expect_joules_of(const ReadTrace& trace, const json& estimate) {
    const json& segments = estimate.at("total").at("segments");
    ASSERT_THAT(segments, SizeIs(kSegments.size()));
    for (std::size_t i = 0; i < kSegments.size(); ++i) {
      expect_joules(trace, kSegments.at(i), segments.at(i).at("energy_j"));
    }
  }
  // The estimate of the same program from the counters of `wirewatt run`.
  json estimate_of_counters(const std::string& counters) {
    return run({wirewatt(), "estimate", "--model", model(), "--counters", counters, "--json"})
        .json();
  }

  static constexpr std::array<const char*, 3> kSegments{"registers-L1", "L1-L2", "L2-memory"};
  TemporaryFolder folder_;
};

TEST_F(TimelineFile, OfAnEstimateHasItsJoulesBySegment) {
  const auto result =
      of_program({"estimate", "--model", model(), "--json", "--device", "virtual:w9100"}).json();
  const ReadTrace trace(file());
  expect_joules_of(trace, result);
  EXPECT_EQ(begun(trace), result.at("dispatches").get<std::size_t>());
  EXPECT_THAT(trace.tracks("virtual:w9100 (virtual, not a measurement)"), SizeIs(1));
  for (const char* quantity :
       {"device power, by its sensor [W]", "temperature [C]", "core clock [MHz]"}) {
    ASSERT_THAT(trace.tracks(quantity), SizeIs(1)) << quantity;
    EXPECT_GT(trace.tracks(quantity)[0].packets.size(), 30U) << quantity;
  }
}

TEST_F(TimelineFile, OfARunHasPowerIfThereIsAModelAndKernelsAnyway) {
  of_program({"run"});
  const ReadTrace plain(file());
  EXPECT_EQ(begun(plain), 2U);
  EXPECT_TRUE(plain.tracks("L1-L2 [W]").empty());
  const auto counters = (folder_.path() / "counters.csv").string();
  of_program({"run", "--model", model(), "--counters", counters});
  expect_joules_of(ReadTrace(file()), estimate_of_counters(counters));
}

TEST_F(TimelineFile, OfTheLiveViewHasTheSameJoules) {
  // The driver waits for the sensor if its samples go to a file, so that there are readings.
  of_program({"top", "--model", model(), "--json", "--interval", "0.1"},
             {{"WIREWATT_SAMPLES", (folder_.path() / "samples.csv").string()}});
  const ReadTrace live(file());
  EXPECT_EQ(begun(live), 2U);
  const auto counters = (folder_.path() / "counters.csv").string();
  ASSERT_EQ(run({wirewatt(), "run", "--counters", counters, "--", program()}).exit_code, 0);
  const json estimate = estimate_of_counters(counters);
  // Ends of intervals add from refresh to refresh, so that the values alone must agree.
  for (std::size_t i = 0; i < kSegments.size(); ++i) {
    const double expected = estimate.at("total").at("segments").at(i).at("energy_j").at("value");
    EXPECT_GT(expected, 0);
    EXPECT_NEAR(joules(live, kSegments.at(i), " [W]"), expected, 1e-6 * expected)
        << kSegments.at(i);
  }
  EXPECT_FALSE(live.tracks("temperature [C]").empty());
  EXPECT_FALSE(live.tracks("core clock [MHz]").empty());
}

// Each of the three files has all launches that ended before a program was killed, and each count.
TEST_F(TimelineFile, HasEachRowOfAProgramThatWasKilled) {
  const auto counters = (folder_.path() / "killed.csv").string();
  const auto database_file = (folder_.path() / "killed.db").string();
  const auto killed = (build_folder() / "bin/icd_exit").string();
  const auto finished = run({wirewatt(), "run", "--counters", counters, "--rocpd", database_file,
                             "--timeline", file(), "--", killed, "kill"});
  EXPECT_EQ(finished.exit_code, 128 + SIGKILL) << finished.err;
  std::ifstream rows(counters);
  std::string line;
  std::getline(rows, line);
  std::int64_t counts = 0;
  while (std::getline(rows, line)) ++counts;
  const SQLite::Database database(database_file, SQLite::OPEN_READONLY);
  const auto count = [&](const std::string& sql) {
    SQLite::Statement query(database, "SELECT count(*) FROM " + sql);
    query.executeStep();
    return query.getColumn(0).getInt64();
  };
  const std::int64_t launches = count("rocpd_kernel_dispatch");
  EXPECT_GE(launches, 1);
  EXPECT_GT(counts, launches);
  EXPECT_EQ(count("rocpd_pmc_event e JOIN rocpd_info_pmc c ON c.id=e.pmc_id WHERE c.units=''"),
            counts);
  EXPECT_EQ(begun(ReadTrace(file())), static_cast<std::size_t>(launches));
}

// A database for ROCm's tools, by SQL as its readers ask: joules by segment are the estimate's.
TEST_F(TimelineFile, AsRocpdHasTheJoulesOfTheEstimateByQuery) {
  const auto database_file = (folder_.path() / "app.db").string();
  const auto result = of_program({"estimate", "--model", model(), "--json", "--device",
                                  "virtual:w9100", "--rocpd", database_file})
                          .json();
  const SQLite::Database database(database_file, SQLite::OPEN_READONLY);
  const auto joules = [&](const std::string& counter) {
    SQLite::Statement sum(database,
                          "SELECT sum(e.value) FROM rocpd_pmc_event e JOIN rocpd_info_pmc c ON "
                          "c.id=e.pmc_id AND c.guid=e.guid WHERE c.units='J' AND c.name=?");
    sum.bind(1, counter);
    sum.executeStep();
    return sum.getColumn(0).getDouble();
  };
  const json& segments = result.at("total").at("segments");
  for (const auto& [segment, counter] :
       {std::pair{0U, "WIREWATT_REGISTERS_L1_ENERGY"}, std::pair{1U, "WIREWATT_L1_L2_ENERGY"},
        std::pair{2U, "WIREWATT_L2_MEMORY_ENERGY"}}) {
    const json& energy = segments.at(segment).at("energy_j");
    const double value = energy.at("value").get<double>();
    EXPECT_GT(value, 0) << counter;
    for (const auto& [ending, key] :
         {std::pair{"", "value"}, std::pair{"_LOWER", "low"}, std::pair{"_UPPER", "high"}}) {
      EXPECT_NEAR(joules(std::string(counter) + ending), energy.at(key).get<double>(), 1e-6 * value)
          << counter << ending;
    }
  }
}

TEST_F(TimelineFile, ThatCannotBeWrittenIsSaidBeforeTheProgramRuns) {
  const auto mark = folder_.path() / "ran";
  for (const char* command : {"estimate", "run", "top"}) {
    std::vector<std::string> words{wirewatt(),   command, "--timeline", file() + "/below/x",
                                   "--model",    model(), "--",         "touch",
                                   mark.string()};
    const auto refused = run(words);
    EXPECT_NE(refused.exit_code, 0) << command;
    EXPECT_THAT(refused.err, HasSubstr("below")) << command;
    EXPECT_FALSE(std::filesystem::exists(mark)) << command;
  }
}

// Perfetto's own reader, where it is installed: the same joules by a query.
TEST_F(TimelineFile, IsReadByPerfettosTraceProcessor) {
  if (run({"sh", "-c", "command -v trace_processor_shell"}).exit_code != 0) {
    GTEST_SKIP() << "trace_processor_shell is not installed";
  }
  const auto result = of_program({"estimate", "--model", model(), "--json"}).json();
  const auto query = folder_.path() / "query.sql";
  std::ofstream(query) << "select sum(c.value * (c.after - c.ts)) / 1e9 from (select ts, value, "
                          "lead(ts) over (partition by track_id order by ts) as after from counter "
                          "join counter_track t on t.id = track_id where t.name = 'L1-L2 [W]') c;";
  const auto answer = run({"trace_processor_shell", "-q", query.string(), file()});
  ASSERT_EQ(answer.exit_code, 0) << answer.err;
  std::istringstream lines(answer.out);
  double joules = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.find_first_of("0123456789") == 0) joules = std::stod(line);
  }
  const double expected =
      result.at("total").at("segments").at(1).at("energy_j").at("value").get<double>();
  EXPECT_NEAR(joules, expected, 1e-6 * expected) << answer.out;
}

}  // namespace
}  // namespace ww::e2e
