#include "ww/otf2/power_trace.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>

#include "testing/trace_writer.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/temporary_folder.hpp"

namespace ww::otf2 {
namespace {

using ::testing::HasSubstr;
using testing::write_trace;
using testing::WrittenMetric;
using testing::WrittenTrace;

class Trace : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = ScratchFolder::create("otf2");
    ASSERT_TRUE(made) << made.error().text();
    scratch_.emplace(std::move(*made));
  }
  [[nodiscard]] std::filesystem::path folder() const { return scratch_->path() / "trace"; }
  [[nodiscard]] std::string anchor() const { return (folder() / "traces.otf2").string(); }
  void put(const WrittenTrace& trace) { ASSERT_TRUE(write_trace(folder(), trace)); }
  [[nodiscard]] std::string error() const {
    const auto read = read_power_trace(anchor());
    return read ? "read" : read.error().text();
  }

  std::optional<ScratchFolder> scratch_;
};

WrittenTrace two_devices() {
  WrittenTrace trace;
  for (int device = 0; device < 2; ++device) {
    WrittenMetric power{fmt::format("A2rocm_smi:::current_socket_power:device={}", device)};
    WrittenMetric energy{fmt::format("A2rocm_smi:::energy_count:device={}", device)};
    for (std::uint64_t i = 0; i < 400; ++i) {
      const std::uint64_t at = trace.start + i * 4'000'000;
      power.readings.push_back({at, 1e6 * (100.0 + device)});
      energy.readings.push_back({at, static_cast<double>(i) * 4e3 * (100.0 + device)});
    }
    trace.metrics.push_back(power);
    trace.metrics.push_back(energy);
  }
  return trace;
}

TEST_F(Trace, OfThePackagedWriterIsReadBack) {
  put(two_devices());
  for (const std::string& path : {anchor(), folder().string()}) {
    EXPECT_TRUE(is_trace(path));
    const auto read = read_power_trace(path);
    ASSERT_TRUE(read) << read.error().text();
    EXPECT_EQ(read->start_ns, 5'000'000'000);
    ASSERT_EQ(read->recording.columns.size(), 2u);
    ASSERT_EQ(read->recording.counters.size(), 2u);
    EXPECT_EQ(read->recording.columns[1].name, "A2rocm_smi:::current_socket_power:device=1");
    const auto& polls = read->recording.columns[1].polls;
    ASSERT_EQ(polls.size(), 400u);
    EXPECT_DOUBLE_EQ(polls[3].time_s, 0.012);
    EXPECT_DOUBLE_EQ(polls[3].power_w, 101.0);
    // Each device's power has the counter of that device beside it.
    for (const auto& column : read->recording.columns) {
      const auto* counter = measure::counter_beside(read->recording, column.name);
      ASSERT_NE(counter, nullptr);
      EXPECT_EQ(counter->name.back(), column.name.back());
      EXPECT_NEAR(counter->polls.back().energy_j,
                  column.polls[0].power_w * column.polls.back().time_s, 1e-9);
    }
  }
}

TEST_F(Trace, HasUnitsExponentsAndTypesOfItsOwn) {
  WrittenTrace trace;
  trace.ticks_per_s = 3'699'958'577;  // of a time-stamp counter
  trace.start = 6'127'384'835'033'798;
  const auto at = [&trace](double seconds) {
    return trace.start +
           static_cast<std::uint64_t>(seconds * static_cast<double>(trace.ticks_per_s));
  };
  trace.metrics = {{"x86_energy/PACKAGE0/P", "W", {{at(0), 1.5}, {at(1), 2.5}}, OTF2_TYPE_DOUBLE},
                   {"board",
                    "W",
                    {{at(0), 7}, {at(1), 9}},
                    OTF2_TYPE_UINT64,
                    OTF2_METRIC_ABSOLUTE_POINT,
                    OTF2_BASE_BINARY,
                    -2},
                   {"steps",
                    "mJ",
                    {{at(0), 0}, {at(1), 250}, {at(2), 750}},
                    OTF2_TYPE_INT64,
                    OTF2_METRIC_RELATIVE_LAST},
                   {"PAPI_TOT_CYC", "#", {{at(0), 1}}},
                   {"mystery_power", "#", {{at(0), 1}}}};
  put(trace);
  const auto read = read_power_trace(anchor());
  ASSERT_TRUE(read) << read.error().text();
  ASSERT_EQ(read->recording.columns.size(), 2u);
  EXPECT_DOUBLE_EQ(read->recording.columns[0].polls[1].power_w, 2.5);
  EXPECT_NEAR(read->recording.columns[0].polls[1].time_s, 1.0, 1e-9);
  EXPECT_DOUBLE_EQ(read->recording.columns[1].polls[1].power_w, 9.0 / 4);
  ASSERT_EQ(read->recording.counters.size(), 1u);
  EXPECT_DOUBLE_EQ(read->recording.counters[0].polls[2].energy_j, 1.0);
  ASSERT_EQ(read->gaps.size(), 1u);
  EXPECT_THAT(read->gaps[0], HasSubstr("mystery_power"));
}

TEST_F(Trace, MayHoldMetricsOfThreadsAndTheSameOneInTwoProcesses) {
  WrittenTrace trace = two_devices();
  trace.as_instances = false;
  for (auto& metric : trace.metrics) {
    metric.process = metric.name.back() == '1' ? 1 : 0;
    metric.name.back() = '0';
  }
  put(trace);
  const auto read = read_power_trace(anchor());
  ASSERT_TRUE(read) << read.error().text();
  ASSERT_EQ(read->recording.columns.size(), 2u);
  EXPECT_EQ(read->recording.columns[1].name,
            "A2rocm_smi:::current_socket_power:device=0 (MPI Rank 1)");
  const auto* counter = measure::counter_beside(read->recording, read->recording.columns[1].name);
  ASSERT_NE(counter, nullptr);
  EXPECT_THAT(counter->name, HasSubstr("(MPI Rank 1)"));
}

TEST_F(Trace, WithoutAClockIsRefused) {
  WrittenTrace trace = two_devices();
  trace.has_clock = false;
  put(trace);
  EXPECT_THAT(error(), HasSubstr("no clock properties"));
}

TEST_F(Trace, WithoutPowerSaysHowToRecordIt) {
  WrittenTrace trace;
  trace.metrics = {{"PAPI_TOT_CYC", "#", {{trace.start, 1}}}};
  put(trace);
  EXPECT_THAT(error(), HasSubstr("no readings of power or energy among its 1 metrics"));
}

// Every part of the trace, cut at many lengths: an error that names the trace, and no crash.
TEST_F(Trace, CutShortIsRefused) {
  put(two_devices());
  std::size_t refused = 0;
  for (const char* part : {"traces.otf2", "traces.def", "traces/0.evt", "traces/3.evt"}) {
    const auto file = folder() / part;
    const auto whole = read_file(file);
    ASSERT_TRUE(whole) << part;
    const std::size_t step = std::max<std::size_t>(1, whole->size() / 40);
    for (std::size_t size = 0; size < whole->size(); size += step) {
      std::ofstream(file, std::ios::binary) << whole->substr(0, size);
      const auto read = read_power_trace(anchor());
      if (read) {  // the end of the anchor file says nothing
        EXPECT_EQ(std::string(part), "traces.otf2") << size << " bytes";
        EXPECT_EQ(read->recording.columns.at(1).polls.size(), 400u);
        continue;
      }
      EXPECT_THAT(read.error().context, HasSubstr("traces.otf2"));
      EXPECT_FALSE(read.error().message.empty());
      ++refused;
    }
    std::ofstream(file, std::ios::binary) << *whole;
  }
  EXPECT_GT(refused, 100u);
  EXPECT_TRUE(read_power_trace(anchor()));
}

TEST_F(Trace, OfAnotherKindIsRefused) {
  std::filesystem::create_directories(folder());
  for (const char* text : {"", "time_s,power_w\n0,1\n",
                           "\x7f"
                           "ELF\x02\x01\x01"}) {
    std::ofstream(anchor()) << text;
    EXPECT_THAT(error(), HasSubstr("not the anchor file of a trace")) << text;
  }
  std::filesystem::remove(anchor());
  EXPECT_THAT(error(), HasSubstr("traces.otf2"));
}

// A recording of a real card that was decoded from a trace, written as a trace again.
TEST_F(Trace, OfARealCardHasTheReadingsOfItsTable) {
  const char* data = std::getenv("WW_SHARED_DATA");
  const auto file = std::filesystem::path(data == nullptr ? "" : data) /
                    "data/amd_sensor_mi300a/mi300a_device0_energy.csv";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "no recordings beside the checkout";
  const auto text = read_file(file);
  ASSERT_TRUE(text);
  const auto table = measure::parse_power_table(*text, file.string());
  ASSERT_TRUE(table) << table.error().text();
  WrittenTrace trace;
  trace.metrics = {{"A2rocm_smi:::current_socket_power:device=0"},
                   {"A2rocm_smi:::energy_count:device=0"}};
  const auto ticks = [&trace](double s) {
    return trace.start + static_cast<std::uint64_t>(std::llround(s * 1e9));
  };
  for (const auto& poll : table->columns.at(0).polls) {
    trace.metrics[0].readings.push_back({ticks(poll.time_s), std::round(poll.power_w * 1e6)});
  }
  for (const auto& poll : table->counters.at(0).polls) {
    trace.metrics[1].readings.push_back({ticks(poll.time_s), std::round(poll.energy_j * 1e6)});
  }
  put(trace);
  const auto read = read_power_trace(anchor());
  ASSERT_TRUE(read) << read.error().text();
  const auto& polls = read->recording.columns.at(0).polls;
  ASSERT_EQ(polls.size(), table->columns[0].polls.size());
  for (std::size_t i = 0; i < polls.size(); ++i) {
    EXPECT_NEAR(polls[i].time_s, table->columns[0].polls[i].time_s, 2e-9);
    EXPECT_NEAR(polls[i].power_w, table->columns[0].polls[i].power_w, 1e-9);
  }
  EXPECT_NEAR(read->recording.counters.at(0).polls.back().energy_j,
              table->counters[0].polls.back().energy_j, 1e-3);
}

}  // namespace
}  // namespace ww::otf2
