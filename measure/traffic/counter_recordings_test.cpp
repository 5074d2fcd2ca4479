// Counters that real cards gave for kernels that move a known number of bytes. The recordings lie
// beside the checkout; their README says what is known of each.
#include <gtest/gtest.h>

#include <algorithm>

#include <cstdlib>
#include <filesystem>
#include <map>

#include "ww/core/atomic_file.hpp"
#include "ww/measure/counter_file.hpp"
#include "ww/measure/counter_map.hpp"
#include "ww/measure/csv.hpp"

namespace ww::measure {
namespace {

std::string data(const std::string& path) {
  const char* shared = std::getenv("WW_SHARED_DATA");
  return std::string(shared == nullptr ? "" : shared) + "/data/" + path;
}

// Skips only without any recordings: one that is missing among others is a failure.
#define SKIP_WITHOUT_RECORDINGS()                                       \
  if (!std::filesystem::exists(data(""))) {                             \
    GTEST_SKIP() << "no recordings from real GPUs beside the checkout"; \
  }

std::map<Segment, SegmentBytes> bytes_of(const CounterFile& file, const CounterDispatch& dispatch) {
  std::map<Segment, SegmentBytes> out;
  for (auto& bytes : segment_bytes(file.architecture, dispatch)) out[bytes.segment] = bytes;
  return out;
}

void expect_bytes(const SegmentBytes& found, double known) {
  ASSERT_TRUE(found.bytes) << to_string(found.segment) << ": " << found.reason;
  EXPECT_NEAR(*found.bytes / known, 1.0, 0.005) << to_string(found.segment);
}

class Vcopy : public testing::TestWithParam<std::string> {};

TEST_P(Vcopy, MovesTheKnownBytesOnEverySegment) {
  const auto path = "rocprofiler_compute_vcopy/" + GetParam() + "/pmc_perf.csv";
  SKIP_WITHOUT_RECORDINGS();
  const auto file = read_counter_file(data(path));
  ASSERT_TRUE(file) << file.error().text();
  ASSERT_EQ(file->dispatches.size(), 3u);
  const bool mi300 = GetParam().starts_with("MI300");
  EXPECT_EQ(file->form, mi300 ? CounterForm::rocprof_v2 : CounterForm::rocprof_v1);
  constexpr double mib8 = 8388608;
  for (const CounterDispatch& dispatch : file->dispatches) {
    EXPECT_EQ(dispatch.kernel, "vecCopy(double*, double*, double*, int, int)");
    EXPECT_EQ(dispatch.grid_size, 1048576.0);
    EXPECT_EQ(counter_total(dispatch, "SQ_WAVES"), 16384.0);
    EXPECT_EQ(counter_total(dispatch, "SQ_INSTS_VMEM_RD"), 16384.0);
    EXPECT_EQ(counter_total(dispatch, "SQ_INSTS_VMEM_WR"), 16384.0);
    for (const auto& [name, value] : dispatch.counters) {
      EXPECT_FALSE(name.starts_with("wave") || name.starts_with("Wave") || name.starts_with("obj"));
    }
    auto bytes = bytes_of(*file, dispatch);
    expect_bytes(bytes[Segment::l1_l2_read], mib8);
    expect_bytes(bytes[Segment::l1_l2_write], mib8);
    expect_bytes(bytes[Segment::l1_l2], 2 * mib8);
    expect_bytes(bytes[Segment::l2_fill], 2 * mib8);
    expect_bytes(bytes[Segment::l2_memory_read], mib8);
    if (mi300 || dispatch.id == 0) {
      expect_bytes(bytes[Segment::l2_memory_write], mib8);
    } else {  // lines stay dirty in the L2
      EXPECT_EQ(bytes[Segment::l2_memory_write].quality, MapQuality::lower_bound);
      EXPECT_LT(*bytes[Segment::l2_memory_write].bytes, 0.75 * mib8);
    }
    EXPECT_EQ(bytes[Segment::registers_l1].status, RowStatus::not_identified);
    EXPECT_GE(*bytes[Segment::registers_l1].upper_bytes, 2 * mib8);
  }
}
INSTANTIATE_TEST_SUITE_P(Recordings, Vcopy,
                         testing::Values("MI100", "MI200", "MI300A_A1", "MI300X_A1"));

TEST(CounterRecordings, TellArchitectureAndL2OfTheSystem) {
  SKIP_WITHOUT_RECORDINGS();
  const std::map<std::string, std::pair<std::string, double>> known = {
      {"MI100", {"gfx908", 8192}},
      {"MI200", {"gfx90a", 8192}},
      {"MI300A_A1", {"gfx942", 24576}},
      {"MI300X_A1", {"gfx942", 32768}}};
  for (const auto& [folder, expected] : known) {
    const auto path = data("rocprofiler_compute_vcopy/" + folder + "/sysinfo.csv");
    const auto text = read_file(path);
    ASSERT_TRUE(text);
    const auto info = parse_system_info(*text, path);
    ASSERT_TRUE(info) << info.error().text();
    EXPECT_EQ(info->architecture, expected.first);
    EXPECT_EQ(info->l2_kib, expected.second) << folder;
  }
}

TEST(CounterRecordings, GiveDurationsOnlyWhereNoSpreadsheetRoundedTheTimes) {
  SKIP_WITHOUT_RECORDINGS();
  const std::map<std::string, std::vector<double>> known = {{"MI100", {24800, 18880, 18880}},
                                                            {"MI200", {20480, 16320, 15520}}};
  for (const auto& [folder, durations] : known) {
    for (const std::string name : {"pmc_perf", "timestamps"}) {
      const auto file =
          read_counter_file(data("rocprofiler_compute_vcopy/" + folder + "/" + name + ".csv"));
      ASSERT_TRUE(file) << file.error().text();
      for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(file->dispatches[i].duration_ns, durations[i]) << folder << " " << name;
      }
    }
  }
  for (const std::string folder : {"MI300A_A1", "MI300X_A1"}) {
    for (const std::string name : {"pmc_perf", "timestamps", "SQ_LEVEL_WAVES"}) {
      const auto file =
          read_counter_file(data("rocprofiler_compute_vcopy/" + folder + "/" + name + ".csv"));
      ASSERT_TRUE(file) << file.error().text();
      for (const auto& dispatch : file->dispatches) {
        EXPECT_FALSE(dispatch.duration_ns);
        EXPECT_NE(dispatch.duration_reason.find("spreadsheet"), std::string::npos);
      }
    }
  }
}

TEST(CounterRecordings, CountCyclesOfOneDieNotOfAll) {
  SKIP_WITHOUT_RECORDINGS();
  const auto a = read_counter_file(data("rocprofiler_compute_vcopy/MI300A_A1/pmc_perf.csv"));
  const auto x = read_counter_file(data("rocprofiler_compute_vcopy/MI300X_A1/pmc_perf.csv"));
  ASSERT_TRUE(a && x);
  const std::vector<std::pair<const CounterFile*, double>> dies = {{&*a, 6.0}, {&*x, 8.0}};
  for (const auto& [file, xcds] : dies) {
    for (const auto& dispatch : file->dispatches) {
      const auto cycles = elapsed_cycles(dispatch);
      ASSERT_TRUE(cycles);
      EXPECT_NEAR(*cycles, dispatch.counters.at("GRBM_GUI_ACTIVE") / xcds, 1.0);
    }
  }
}

TEST(CounterRecordings, ShowWhichPassesDisagree) {
  SKIP_WITHOUT_RECORDINGS();
  const auto file = read_counter_file(data("rocprofiler_compute_vcopy/MI200/pmc_perf.csv"));
  ASSERT_TRUE(file);
  const auto all = pass_disagreements(file->dispatches[1]);
  const auto read = std::ranges::find(all, "TCC_READ", &PassDisagreement::counter);
  ASSERT_NE(read, all.end());
  EXPECT_EQ(read->sum, 70312.0);
  EXPECT_EQ(read->instances, 69414.0);
}

TEST(CounterRecordings, ReadEveryFileOfTheProfilersOrRefuseItByName) {
  SKIP_WITHOUT_RECORDINGS();
  const std::vector<std::string> refused = {"sysinfo.csv", "roofline.csv",
                                            "sdk_docs_memory_copy_trace.csv"};
  int read = 0;
  for (const std::string folder :
       {"rocprofiler_compute_vcopy", "rocprof_v1_mixbench_mi200", "rocprofv3", "ncu"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(data(folder))) {
      if (!entry.is_regular_file()) continue;
      const auto name = entry.path().filename().string();
      const auto file = read_counter_file(entry.path().string());
      const bool expected =
          std::ranges::find(refused, name) == refused.end() && name != "pmc_dispatch_info.csv";
      if (name == "pmc_dispatch_info.csv") continue;  // lists kernels; either answer is right
      EXPECT_EQ(file.has_value(), expected) << entry.path();
      if (!file) {
        EXPECT_EQ(file.error().code, ErrorCode::unsupported) << file.error().text();
        EXPECT_FALSE(file.error().message.empty());
      }
      read += file.has_value() ? 1 : 0;
    }
  }
  EXPECT_GT(read, 25);
}

// benchmark_func<T, 256, 8u, n> reads 8 values of T a work-item once, and writes nothing.
TEST(CounterRecordings, AgreeWithTheBytesOf166MixbenchKernels) {
  SKIP_WITHOUT_RECORDINGS();
  const auto file = read_counter_file(data("rocprof_v1_mixbench_mi200/pmc_perf.csv"));
  ASSERT_TRUE(file) << file.error().text();
  EXPECT_EQ(file->architecture, "gfx90a");
  ASSERT_EQ(file->dispatches.size(), 167u);
  const std::map<std::string, double> sizes = {{"short", 2},  {"float", 4},
                                               {"int", 4},    {"__half2", 4},
                                               {"double", 8}, {"HIP_vector_type<float, 2u>", 8}};
  int checked = 0;
  for (const CounterDispatch& dispatch : file->dispatches) {
    auto bytes = bytes_of(*file, dispatch);
    const auto open = dispatch.kernel.find("benchmark_func<");
    if (open == std::string::npos) {
      EXPECT_EQ(dispatch.kernel, "__amd_rocclr_fillBufferAligned");
      expect_bytes(bytes[Segment::l1_l2_write], 268435456.0);
      EXPECT_NEAR(*bytes[Segment::l2_memory_write].bytes / 268435456.0, 1.0, 0.02);
      continue;
    }
    const auto from = open + 15;
    const auto type = dispatch.kernel.substr(from, dispatch.kernel.find(", 256", from) - from);
    ASSERT_TRUE(sizes.contains(type)) << type;
    const double known = *dispatch.grid_size * 8 * sizes.at(type);
    expect_bytes(bytes[Segment::l1_l2_read], known);
    EXPECT_EQ(*bytes[Segment::l1_l2_read].bytes, known);
    const bool warm_up = type == "short";
    if (!warm_up) {
      expect_bytes(bytes[Segment::l2_memory_read], known);
      expect_bytes(bytes[Segment::l2_fill], known);
    }
    ++checked;
  }
  EXPECT_EQ(checked, 166);
}

TEST(CounterRecordings, HaveOneWaveFor64WorkItemsInRocprofV3) {
  SKIP_WITHOUT_RECORDINGS();
  const auto file = read_counter_file(data("rocprofv3/sdk_docs_counter_collection.csv"));
  ASSERT_TRUE(file) << file.error().text();
  EXPECT_EQ(file->form, CounterForm::rocprof_v3);
  std::uint64_t last = 0;
  for (const auto& dispatch : file->dispatches) {
    EXPECT_GT(dispatch.id, last) << "not in order";
    last = dispatch.id;
    EXPECT_EQ(dispatch.counters.at("SQ_WAVES"), *dispatch.grid_size / 64);
    EXPECT_FALSE(dispatch.duration_ns);
  }
  const auto trace = read_counter_file(data("rocprofv3/sdk_docs_kernel_trace.csv"));
  ASSERT_TRUE(trace) << trace.error().text();
  EXPECT_EQ(trace->dispatches.at(0).duration_ns, 8819330200116308.0 - 8819330200067564.0);
  EXPECT_EQ(trace->dispatches.at(0).grid_size, 1048576.0);
  const auto shallow = read_counter_file(
      data("rocprofv3/hpctraining_mi300a_shallow_0_baseline_counter_collection.csv"));
  ASSERT_TRUE(shallow) << shallow.error().text();
  EXPECT_EQ(shallow->dispatches.at(0).agent, "Agent 1");
  EXPECT_DOUBLE_EQ(shallow->dispatches.at(1).counters.at("OccupancyPercent"), 4.34259040e-02);
  EXPECT_EQ(shallow->dispatches.at(0).duration_ns, 6450.0);
}

TEST(CounterRecordings, HaveNoTrafficInAnNcuFileWithoutByteCounters) {
  SKIP_WITHOUT_RECORDINGS();
  const auto file = read_counter_file(data("ncu/superbench_cublaslt_ncu.log"));
  ASSERT_TRUE(file) << file.error().text();
  EXPECT_EQ(file->form, CounterForm::ncu_details);
  EXPECT_EQ(file->architecture, "sm_100");
  ASSERT_EQ(file->dispatches.size(), 1u);
  const auto& dispatch = file->dispatches[0];
  EXPECT_EQ(dispatch.duration_ns, 406240.0);
  const double cycles = *dispatch.duration_ns * 1e-9 * dispatch.counters.at("SM Frequency");
  EXPECT_NEAR(cycles / dispatch.counters.at("Elapsed Cycles"), 1.0, 0.011);
  EXPECT_EQ(dispatch.counters.size() + dispatch.texts.size() + dispatch.missing.size(), 50u);
  for (const auto& [segment, bytes] : bytes_of(*file, dispatch)) {
    EXPECT_EQ(bytes.status, RowStatus::unavailable);
    EXPECT_FALSE(bytes.bytes);
  }
}

// Samples of ROCm 7's documentation: 19 columns, agents as words, traces that are not in time
// order.
TEST(CounterRecordings, ReadTheFormsOfRocm7) {
  SKIP_WITHOUT_RECORDINGS();
  const auto counters =
      read_counter_file(data("rocprofv3_rocm7/rocm7_docs_counter_collection.csv"));
  ASSERT_TRUE(counters) << counters.error().text();
  ASSERT_EQ(counters->dispatches.size(), 4u);
  for (const CounterDispatch& dispatch : counters->dispatches) {
    EXPECT_EQ(dispatch.agent, "Agent 1");
    EXPECT_EQ(dispatch.process, "15606");
    EXPECT_EQ(counter_total(dispatch, "SQ_WAVES"), 16384.0);
  }
  EXPECT_EQ(counters->dispatches[0].duration_ns, 52'151.0);
  const auto trace = read_counter_file(data("rocprofv3_rocm7/rocm7_docs_kernel_trace.csv"));
  ASSERT_TRUE(trace) << trace.error().text();
  EXPECT_EQ(trace->form, CounterForm::rocprof_v3_kernel_trace);
  EXPECT_EQ(trace->dispatches[0].grid_size, 1048576.0);
  EXPECT_EQ(trace->dispatches[1].kernel,
            "subtract_kernel(float*, float const*, float const*, int, int)");
  for (const char* none : {"rocm7_docs_memory_copy_trace.csv", "rocm7_docs_rocpd_to_csv.csv"}) {
    const auto other = read_counter_file(data(std::string("rocprofv3_rocm7/") + none));
    ASSERT_FALSE(other) << none;
    EXPECT_EQ(other.error().code, ErrorCode::unsupported) << other.error().text();
  }
}

}  // namespace
}  // namespace ww::measure
