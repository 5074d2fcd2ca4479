#include "ww/timeline/timeline.hpp"

#include <gmock/gmock.h>
#include <google/protobuf/io/coded_stream.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "perfetto.hpp"
#include "testing/read_trace.hpp"
#include "ww/core/temporary_folder.hpp"
#include "ww/session/traffic.hpp"

namespace ww::timeline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::ReadTrace;
using testing::ReadTrack;
using ::testing::SizeIs;

measure::CounterDispatch launch(std::uint64_t id, const std::string& kernel, std::int64_t start_ns,
                                std::int64_t end_ns, double lines) {
  measure::CounterDispatch out;
  out.id = id;
  out.kernel = kernel;
  out.process = "77";
  out.start_ns = start_ns;
  out.duration_ns = static_cast<double>(end_ns - start_ns);
  out.counters = {{"TCC_HIT_sum", lines},
                  {"TCC_MISS_sum", lines / 4},
                  {"TCC_MC_RDREQ_sum", lines / 4},
                  {"TCC_MC_WRREQ_sum", 0}};
  return out;
}

// Launches of two kernels; the second and the third run at the same time for a while.
std::vector<measure::CounterDispatch> launches() {
  return {launch(1, "copy", 1'000, 4'000, 1e6), launch(2, "copy", 5'000, 9'000, 3e6),
          launch(3, "scan", 7'000, 12'345, 7e5), launch(4, "scan", 12'345, 12'346, 0),
          launch(5, "copy", 20'000, 21'000, 1e5)};
}

model::WireModel wires() {
  model::WireModel model;
  model.random = {100, 70, 140};
  model.reference_voltage_v = 1;
  model.distance_mm = {std::nullopt, model::Interval{10, 9, 12}, model::Interval{20, 15, 30}};
  return model;
}

class TimelineOf : public ::testing::Test {
 protected:
  // A timeline with the energies of `counted`, and their estimate.
  model::Estimate add(Timeline& timeline, const std::vector<measure::CounterDispatch>& counted) {
    const auto traffic = session::count_traffic(counted, "gfx701");
    EXPECT_TRUE(traffic);
    auto estimate = model::estimate(model_, traffic->kernels, options_);
    EXPECT_TRUE(estimate);
    const auto added = timeline.add_launches(counted, {model_, options_, *estimate, "gfx701"});
    EXPECT_TRUE(added) << added.error().text();
    return *estimate;
  }
  ReadTrace written(const Timeline& timeline) const {
    const auto done = timeline.write(file());
    EXPECT_TRUE(done) << done.error().text();
    return ReadTrace(file());
  }
  [[nodiscard]] std::filesystem::path file() const { return folder_ / "trace"; }

  model::WireModel model_ = wires();
  model::EstimateOptions options_;
  ScratchFolder scratch_ = ScratchFolder::create("timeline").value();
  std::filesystem::path folder_ = scratch_.path();
};

TEST_F(TimelineOf, LaunchesHasTheJoulesOfTheEstimateInItsPowerTracks) {
  Timeline timeline({"virtual:w9100", true, "", "gfx701"});
  const auto estimate = add(timeline, launches());
  const auto trace = written(timeline);
  for (const auto& [segment, name] :
       {std::pair{1U, "L1-L2"}, std::pair{2U, "L2-memory, transferred"}}) {
    const auto& joules = estimate.total.segments[segment].energy_j;
    ASSERT_TRUE(joules);
    const auto near = [](double value) { return ::testing::DoubleNear(value, 1e-6 * value); };
    const std::string row(name);
    EXPECT_THAT(trace.integral(row + " [W]"), near(joules->value)) << row;
    EXPECT_THAT(trace.integral(row + ", lower [W]"), near(joules->low)) << row;
    EXPECT_THAT(trace.integral(row + ", upper [W]"), near(joules->high)) << row;
  }
}

TEST_F(TimelineOf, LaunchesGivesEachOneItsOwnShareOfItsKernel) {
  Timeline timeline({"virtual:w9100", true, "", "gfx701"});
  const auto estimate = add(timeline, launches());
  std::map<std::uint64_t, double> joules;
  for (const ReadTrack& track : written(timeline).tracks("kernels")) {
    for (const auto& packet : track.packets) {
      if (packet.track_event().type() != wire::TrackEvent::TYPE_SLICE_BEGIN) continue;
      const auto& notes = packet.track_event().debug_annotations();
      ASSERT_GE(notes.size(), 2);
      EXPECT_EQ(notes[0].name(), "dispatch");
      EXPECT_EQ(notes[1].name(), "L1-L2 [J]");
      joules[notes[0].uint_value()] = notes[1].double_value();
    }
  }
  ASSERT_THAT(joules, SizeIs(5));
  EXPECT_NEAR(joules[2], 3 * joules[1], 1e-9 * joules[1]);  // three times the lines
  EXPECT_EQ(joules[4], 0);
}

TEST_F(TimelineOf, LaunchesThatOverlapHasNestedSlicesOnEveryTrack) {
  Timeline timeline({"virtual:w9100", true, "", "gfx701"});
  timeline.add_launches(launches());
  const auto tracks = written(timeline).tracks("kernels");
  EXPECT_THAT(tracks, SizeIs(2));
  std::map<std::string, int> begun;
  for (const ReadTrack& track : tracks) {
    int open = 0;
    for (const auto& packet : track.packets) {
      const auto& event = packet.track_event();
      open += event.type() == wire::TrackEvent::TYPE_SLICE_BEGIN ? 1 : -1;
      if (event.type() == wire::TrackEvent::TYPE_SLICE_BEGIN) ++begun[event.name()];
      EXPECT_GE(open, 0);
      EXPECT_LE(open, 1);
    }
    EXPECT_EQ(open, 0);
  }
  EXPECT_EQ(begun["copy"], 3);
  EXPECT_EQ(begun["scan"], 2);
}

TEST_F(TimelineOf, AVirtualDeviceSaysSoInTheNameOfEveryProcess) {
  Timeline timeline({"virtual:w9100", true, "", "gfx701"});
  timeline.add_launches(launches());
  auto of_another_process = launches();
  for (auto& one : of_another_process) one.process = "78";
  timeline.add_launches(of_another_process);
  const auto processes = written(timeline).tracks("virtual:w9100 (virtual, not a measurement)");
  ASSERT_THAT(processes, SizeIs(2));
  for (const ReadTrack& process : processes) EXPECT_THAT(process.process, HasSubstr("virtual"));
}

TEST_F(TimelineOf, AFlaggedModelSaysSo) {
  model_.misfit = "its pairs depart from distance";
  Timeline timeline({"gpu:0", false, model_.misfit, ""});
  add(timeline, launches());
  const auto trace = written(timeline);
  EXPECT_THAT(trace.all().front().process, HasSubstr("MISFIT"));
  EXPECT_THAT(trace.tracks("L1-L2, misfit [W]"), SizeIs(1));
}

TEST_F(TimelineOf, ASegmentWithoutAFigureInOneKernelHasNoTrackAndAReason) {
  auto some = launches();
  for (auto& one : some) {
    if (one.kernel != "scan") continue;
    one.counters.erase("TCC_MC_RDREQ_sum");
    one.counters.erase("TCC_MC_WRREQ_sum");
  }
  Timeline timeline({"gpu:0", false, "", "gfx90a"});
  add(timeline, some);
  const auto trace = written(timeline);
  EXPECT_THAT(trace.tracks("L1-L2 [W]"), SizeIs(1));
  for (const ReadTrack& track : trace.all()) {
    EXPECT_THAT(track.name, ::testing::Not(HasSubstr("L2-memory")));
  }
  const auto gaps = timeline.gaps();
  ASSERT_THAT(gaps, SizeIs(2));  // registers-L1 has no distance
  EXPECT_THAT(gaps[1], HasSubstr("L2-memory"));
}

TEST_F(TimelineOf, ALaunchWithoutAStartIsLeftOutAndNoPowerIsShownThatLacksIt) {
  auto some = launches();
  some[1].start_ns.reset();
  Timeline timeline({"gpu:0", false, "", "gfx90a"});
  add(timeline, some);
  const auto trace = written(timeline);
  EXPECT_THAT(trace.tracks("L1-L2 [W]"), IsEmpty());
  EXPECT_THAT(timeline.gaps().front(), HasSubstr("1 launches are left out"));
  EXPECT_THAT(timeline.gaps().front(), HasSubstr("copy: the file has no start times"));
}

TEST_F(TimelineOf, ACardHasPowerBetweenRefreshes) {
  model::KernelEstimate power;
  power.segments[1].status = RowStatus::ok;
  power.segments[1].power_w = model::Interval{2, 1, 4};
  power.segments[1].energy_j = model::Interval{1, 1, 1};
  Timeline timeline({"gpu:0", false, "", "gfx90a"});
  timeline.add_stretch(5'000'000'000, 5'500'000'000, power);
  timeline.add_stretch(5'500'000'000, 5'500'000'000, power);
  timeline.add_stretch(5'500'000'000, 6'000'000'000, power);
  timeline.add_reading("", {5'100'000'000, 90.0, std::nullopt, 1000.0});
  const auto trace = written(timeline);
  EXPECT_DOUBLE_EQ(trace.integral("L1-L2 [W]"), 2);
  EXPECT_DOUBLE_EQ(trace.integral("L1-L2, upper [W]"), 4);
  EXPECT_THAT(trace.tracks("kernels"), IsEmpty());
  EXPECT_THAT(trace.tracks("temperature [C]"), IsEmpty());
  ASSERT_THAT(trace.tracks("core clock [MHz]"), SizeIs(1));
  EXPECT_EQ(trace.tracks("core clock [MHz]")[0].packets[0].track_event().double_counter_value(),
            1000);
}

TEST_F(TimelineOf, TheSensorsFileLeavesOutWhatCameAfterTheProgram) {
  const auto samples = folder_ / "77.samples.csv";
  const auto write = [&samples](int launched) {
    std::ofstream(samples)
        << "time_ns,power_uw,energy_ticks,temperature_mc,voltage_uv,clock_khz,valid,launched\n"
        << "2000,85000000,5,41000,900000,930000,1," << launched << "\n"
        << "3000,1,6,1,1,1,0," << launched << "\n"
        << "30000,95000000,7,42000,900000,930000,1," << launched << "\n";
  };
  const auto temperatures = [&] {
    Timeline timeline({"virtual:w9100", true, "", "gfx701"});
    timeline.add_launches(launches());
    EXPECT_TRUE(timeline.add_sensor_file(samples));
    std::vector<double> found;
    for (const ReadTrack& track : written(timeline).tracks("temperature [C]")) {
      EXPECT_THAT(track.process, HasSubstr("virtual"));
      for (const auto& packet : track.packets) {
        found.push_back(packet.track_event().double_counter_value());
      }
    }
    return found;
  };
  write(1);
  EXPECT_THAT(temperatures(), ElementsAre(41, 42));
  write(40);  // launched again, so that the sensor sees it
  EXPECT_THAT(temperatures(), ElementsAre(41));
}

// The numbers of the fields as Perfetto's schema has them, found in the bytes without the schema of
// the writer: a wrong number in proto/ could not be seen in what is read by the same file.
void collect(google::protobuf::io::CodedInputStream& bytes, const std::string& path,
             std::set<std::string>& found) {
  static const std::set<std::string> messages{"1", "1.11", "1.60", "1.60.3", "1.60.8", "1.11.4"};
  while (const std::uint32_t tag = bytes.ReadTag()) {
    const std::string here = path + (path.empty() ? "" : ".") + std::to_string(tag >> 3U);
    found.insert(here);
    std::uint64_t number = 0;
    std::uint32_t length = 0;
    switch (tag & 7U) {
      case 0: ASSERT_TRUE(bytes.ReadVarint64(&number)); break;
      case 1: ASSERT_TRUE(bytes.ReadLittleEndian64(&number)); break;
      case 2: {
        ASSERT_TRUE(bytes.ReadVarint32(&length));
        if (!messages.contains(here)) {
          ASSERT_TRUE(bytes.Skip(static_cast<int>(length)));
          break;
        }
        const auto limit = bytes.PushLimit(static_cast<int>(length));
        collect(bytes, here, found);
        bytes.PopLimit(limit);
        break;
      }
      default: FAIL() << "wire type " << (tag & 7U);
    }
  }
}

TEST_F(TimelineOf, LaunchesHasTheFieldNumbersOfThePublicSchema) {
  Timeline timeline({"virtual:w9100", true, "", "gfx701"});
  add(timeline, launches());
  ASSERT_TRUE(timeline.write(file()));
  std::ifstream stream(file(), std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(stream), {});
  google::protobuf::io::CodedInputStream bytes(reinterpret_cast<const std::uint8_t*>(text.data()),
                                               static_cast<int>(text.size()));
  std::set<std::string> found;
  collect(bytes, "", found);
  const std::set<std::string> schema{
      "1",          // Trace.packet
      "1.8",        // TracePacket.timestamp
      "1.10",       // trusted_packet_sequence_id
      "1.11",       // track_event
      "1.11.4",     // TrackEvent.debug_annotations
      "1.11.4.3",   // DebugAnnotation.uint_value
      "1.11.4.5",   // double_value
      "1.11.4.10",  // name
      "1.11.9",     // TrackEvent.type
      "1.11.11",    // track_uuid
      "1.11.23",    // name
      "1.11.44",    // double_counter_value
      "1.13",       // sequence_flags
      "1.60",       // track_descriptor
      "1.60.1",     // TrackDescriptor.uuid
      "1.60.2",     // name
      "1.60.3",     // process
      "1.60.3.1",   // ProcessDescriptor.pid
      "1.60.3.6",   // process_name
      "1.60.5",     // TrackDescriptor.parent_uuid
      "1.60.8",     // counter
  };
  EXPECT_EQ(found, schema);
}

TEST(PowerSteps, OfStretchesThatOverlapAddAndEndAtExactlyZero) {
  const auto joules = [](double value) {
    return SegmentJoules{std::nullopt, model::Interval{value, value / 2, value * 2}, std::nullopt};
  };
  const std::vector<Stretch> stretches{{0, 1, 0, 1'000'000'000, joules(0.3)},
                                       {0, 2, 500'000'000, 1'500'000'000, joules(0.1)}};
  const auto steps = power_steps(stretches, 1);
  ASSERT_THAT(steps, SizeIs(4));
  EXPECT_DOUBLE_EQ(steps[0].power_w.value, 0.3);
  EXPECT_DOUBLE_EQ(steps[1].power_w.value, 0.4);
  EXPECT_DOUBLE_EQ(steps[2].power_w.value, 0.1);
  EXPECT_EQ(steps[3].power_w.value, 0);
  EXPECT_EQ(steps[3].time_ns, 1'500'000'000);
  EXPECT_THAT(power_steps(stretches, 0), IsEmpty());
}

}  // namespace
}  // namespace ww::timeline
