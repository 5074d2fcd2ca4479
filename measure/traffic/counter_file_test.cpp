#include "ww/measure/counter_file.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "counter_forms.hpp"
#include "ww/measure/counter_map.hpp"

namespace ww::measure {
namespace {

constexpr const char* kV1Head =
    "Index,KernelName,gpu-id,queue-id,queue-index,pid,tid,grd,wgr,lds,scr,arch_vgpr,accum_vgpr,"
    "sgpr,wave_size,sig,obj,";

std::string v1(const std::string& counters, const std::string& values,
               const std::string& times = ",1000,2000,3500,4000") {
  return kV1Head + counters + ",DispatchNs,BeginNs,EndNs,CompleteNs\n" +
         "0,\"k(int, int) [clone .kd]\",2,0,0,9,9,1024,256,0,0,8,8,16,64,0x0,0x7f93," + values +
         times + "\n";
}

const SegmentBytes& of(const std::vector<SegmentBytes>& all, Segment segment) {
  return *std::ranges::find(all, segment, &SegmentBytes::segment);
}

TEST(CounterFile, ReadsRocprofV1WithItsQuotedNamesAndTimes) {
  const auto file = parse_counter_file(v1("TCC_HIT_sum,SQ_WAVES", "131072.0,16"), "a.csv");
  ASSERT_TRUE(file) << file.error().text();
  EXPECT_EQ(file->form, CounterForm::rocprof_v1);
  ASSERT_EQ(file->dispatches.size(), 1u);
  const auto& dispatch = file->dispatches[0];
  EXPECT_EQ(dispatch.kernel, "k(int, int)");
  EXPECT_EQ(dispatch.agent, "2");
  EXPECT_EQ(dispatch.grid_size, 1024.0);
  EXPECT_EQ(dispatch.duration_ns, 1500.0);
  EXPECT_EQ(dispatch.start_ns, 2000);
  EXPECT_EQ(dispatch.counters.size(), 2u);
  EXPECT_EQ(dispatch.counters.at("TCC_HIT_sum"), 131072.0);
}

TEST(CounterFile, TakesRepeatedIdColumnsForWhatTheyAreAndSuffixedCountersForCounters) {
  const auto file = parse_counter_file(
      v1("wave_size_1,obj_1,SQC_DCACHE_REQ_READ_2,XCC_Index_5", "64,0x7f6520174ec0,77,0"), "a");
  ASSERT_TRUE(file) << file.error().text();
  EXPECT_EQ(file->dispatches[0].counters,
            (std::map<std::string, double>{{"SQC_DCACHE_REQ_READ_2", 77.0}}));
}

TEST(CounterFile, RefusesTimesThatASpreadsheetRounded) {
  const auto file = parse_counter_file(v1("SQ_WAVES", "16", ",0,1.62068E+14,1.62068E+14,0"), "a");
  ASSERT_TRUE(file);
  EXPECT_FALSE(file->dispatches[0].duration_ns);
  EXPECT_NE(file->dispatches[0].duration_reason.find("spreadsheet"), std::string::npos);
}

TEST(CounterFile, HasNoDurationWhereTheKernelEndsAsItBegins) {
  const auto file = parse_counter_file(v1("SQ_WAVES", "16", ",0,5,5,0"), "a");
  ASSERT_TRUE(file);
  EXPECT_FALSE(file->dispatches[0].duration_ns);
  EXPECT_FALSE(file->dispatches[0].start_ns);
  EXPECT_FALSE(file->dispatches[0].duration_reason.empty());
}

TEST(CounterFile, NamesTheLineOfAnUnquotedKernelName) {
  const auto file = parse_counter_file(
      "Dispatch_ID,Kernel_Name,GPU_ID,SQ_WAVES\n0,k,2,1\n1,\"k(a, b)\",2,1\n2,k(a, b),2,1\n",
      "x.csv");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, ErrorCode::parse_error);
  EXPECT_EQ(file.error().context, "x.csv:4");
}

TEST(CounterFile, SkipsWhatRocprofPrintsBeforeItsTable) {
  const auto text = "RPL: on '220101' from \"/opt\n" + v1("A", "oops");
  const auto file = parse_counter_file(text, "a.csv");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().context, "a.csv:3");
}

TEST(CounterFile, KeepsEmptyAndNotAvailableCountersApartFromZero) {
  const auto file = parse_counter_file(v1("A,B,C", "0,n/a,"), "a");
  ASSERT_TRUE(file);
  EXPECT_EQ(file->dispatches[0].counters.size(), 1u);
  EXPECT_EQ(file->dispatches[0].missing.size(), 2u);
}

TEST(CounterFile, TakesNegativeEventsForMissing) {
  const auto file = parse_counter_file(v1("A,B", "-5,7"), "a");
  ASSERT_TRUE(file);
  EXPECT_EQ(file->dispatches[0].counters, (std::map<std::string, double>{{"B", 7.0}}));
  EXPECT_NE(file->dispatches[0].missing.at("A").find("'-5'"), std::string::npos);
}

TEST(CounterFile, TakesANegativeNumberWithoutItsSignForMissing) {
  const auto file = parse_counter_file(v1("A,B", "18446744073709551611,7"), "a");
  ASSERT_TRUE(file);
  EXPECT_EQ(file->dispatches[0].counters, (std::map<std::string, double>{{"B", 7.0}}));
  EXPECT_NE(file->dispatches[0].missing.at("A").find("without its sign"), std::string::npos);
}

// A number that the end of the file cuts is still a number, only a wrong one.
TEST(CounterFile, TakesNoValueFromAFieldThatTheEndOfTheFileMayHaveCut) {
  const std::string whole = "Dispatch_ID,Kernel_Name,GPU_ID,A,B\n0,k,2,10,2000\n1,k,2,10,2000\n";
  const auto cut = parse_counter_file(whole.substr(0, whole.size() - 3), "a");
  ASSERT_TRUE(cut) << cut.error().text();
  EXPECT_EQ(cut->dispatches[0].counters.size(), 2u);
  EXPECT_EQ(cut->dispatches[1].counters, (std::map<std::string, double>{{"A", 10.0}}));
  EXPECT_NE(cut->dispatches[1].missing.at("B").find("line end"), std::string::npos);
}

TEST(CounterFile, RefusesACounterThatIsNoNumber) {
  const auto file = parse_counter_file(v1("A", "oops"), "a.csv");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().context, "a.csv:2");
}

TEST(CounterFile, RefusesOneCounterInTwoColumns) {
  EXPECT_FALSE(parse_counter_file(v1("A,A", "1,2"), "a"));
}

constexpr const char* kV3Head =
    "\"Correlation_Id\",\"Dispatch_Id\",\"Agent_Id\",\"Process_Id\",\"Grid_Size\",\"Kernel_Name\","
    "\"Counter_Name\",\"Counter_Value\"\n";

TEST(CounterFile, GathersRocprofV3RowsByAgentAndDispatch) {
  const auto file = parse_counter_file(std::string(kV3Head) +
                                           "2,2,\"Agent 2\",7,64,\"k\",\"SQ_WAVES\",1\n"
                                           "2,2,\"Agent 1\",7,64,\"k\",\"SQ_WAVES\",3\n"
                                           "1,1,\"Agent 1\",7,64,\"j(a, b)\",\"SQ_WAVES\",2\n"
                                           "1,1,\"Agent 1\",7,64,\"j(a, b)\",\"Occ\",4.3e-02\n",
                                       "a");
  ASSERT_TRUE(file) << file.error().text();
  EXPECT_EQ(file->form, CounterForm::rocprof_v3);
  ASSERT_EQ(file->dispatches.size(), 3u);
  EXPECT_EQ(file->dispatches[0].kernel, "j(a, b)");
  EXPECT_DOUBLE_EQ(file->dispatches[0].counters.at("Occ"), 0.043);
  EXPECT_EQ(file->dispatches[1].counters.at("SQ_WAVES"), 3.0);
  EXPECT_EQ(file->dispatches[2].agent, "Agent 2");
}

TEST(CounterFile, RefusesARocprofV3CounterThatAppearsTwiceForADispatch) {
  const auto file = parse_counter_file(std::string(kV3Head) +
                                           "1,1,1,7,64,\"k\",\"Occ\",50\n"
                                           "1,1,1,7,64,\"k\",\"Occ\",50\n",
                                       "a");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().context, "a:3");
}

constexpr const char* kTimedHead =
    "\"Dispatch_Id\",\"Agent_Id\",\"Queue_Id\",\"Process_Id\",\"Grid_Size\",\"Kernel_Name\","
    "\"Counter_Name\",\"Counter_Value\",\"Start_Timestamp\",\"End_Timestamp\"\n";

TEST(CounterFile, TakesEqualRepeatsOfASumForOneMeasurementAndTheMeanOfOthers) {
  const auto file = parse_counter_file(std::string(kTimedHead) +
                                           "1,1,1,7,64,\"k\",\"A_sum\",50,10,20\n"
                                           "1,1,1,7,64,\"k\",\"B_sum\",8,10,20\n"
                                           "1,1,1,7,64,\"k\",\"A_sum\",50,10,20\n"
                                           "1,1,1,7,64,\"k\",\"B_sum\",10,10,20\n"
                                           "1,1,1,7,64,\"k\",\"SQ_WAVES\",1,10,20\n",
                                       "a");
  ASSERT_TRUE(file) << file.error().text();
  ASSERT_EQ(file->dispatches.size(), 1u);
  const auto& dispatch = file->dispatches[0];
  EXPECT_EQ(dispatch.counters.at("A_sum"), 50.0);
  EXPECT_FALSE(dispatch.remarks.contains("A_sum"));
  EXPECT_EQ(dispatch.counters.at("B_sum"), 9.0);
  EXPECT_NE(dispatch.remarks.at("B_sum").find("mean of 2 passes, which counted 8 to 10"),
            std::string::npos);
  EXPECT_FALSE(dispatch.duration_ns);
}

TEST(CounterFile, RefusesALaunchOfWhichEveryRowIsThereTwice) {
  const std::string rows = "1,1,1,7,64,\"k\",\"A_sum\",50,10,20\n";
  const auto file = parse_counter_file(kTimedHead + rows + rows, "a");
  ASSERT_FALSE(file);
  EXPECT_NE(file.error().message.find("twice"), std::string::npos);
}

TEST(CounterFile, JoinsPassesOfALaunchByTheirTimes) {
  const auto file = parse_counter_file(std::string(kTimedHead) +
                                           "1,1,1,7,64,\"k\",\"SQ_WAVES\",4,10,20\n"
                                           "1,1,1,7,64,\"k\",\"A_sum\",50,10,20\n"
                                           "1,1,1,7,64,\"k\",\"SQ_WAVES\",4,30,41\n"
                                           "1,1,1,7,64,\"k\",\"B_sum\",60,30,41\n",
                                       "a");
  ASSERT_TRUE(file) << file.error().text();
  ASSERT_EQ(file->dispatches.size(), 1u);
  EXPECT_EQ(file->dispatches[0].counters,
            (std::map<std::string, double>{{"A_sum", 50}, {"B_sum", 60}, {"SQ_WAVES", 4}}));
  EXPECT_FALSE(file->dispatches[0].duration_ns);
  EXPECT_NE(file->dispatches[0].duration_reason.find("several runs"), std::string::npos);
}

TEST(CounterFile, RefusesRowsOfALaunchWithTheSameCounters) {
  const auto twice = parse_counter_file(std::string(kTimedHead) +
                                            "1,1,1,7,64,\"k\",\"A_sum\",50,10,20\n"
                                            "1,1,1,7,64,\"k\",\"A_sum\",50,30,41\n",
                                        "a");
  ASSERT_FALSE(twice);
  EXPECT_NE(twice.error().message.find("same counters"), std::string::npos);
  const std::string head = "Dispatch_ID,Kernel_Name,GPU_ID,XCC_Index,A_sum,B_sum\n";
  EXPECT_FALSE(parse_counter_file(head + "0,k,2,0,1,2\n0,k,2,1,1,2\n", "dies"));
}

TEST(CounterFile, JoinsRowsOfAWideTableThatFillEachOthersGaps) {
  const auto file = parse_counter_file(
      "Dispatch_ID,Kernel_Name,GPU_ID,A_sum,B_sum\n0,k,2,10,\n0,k,2,,30\n1,k,2,10,30\n", "a");
  ASSERT_TRUE(file) << file.error().text();
  ASSERT_EQ(file->dispatches.size(), 2u);
  EXPECT_EQ(file->dispatches[0].counters,
            (std::map<std::string, double>{{"A_sum", 10}, {"B_sum", 30}}));
  EXPECT_TRUE(file->dispatches[0].missing.empty());
}

TEST(CounterFile, KeepsLaunchesOfTwoNcuProcessesApart) {
  const auto file = parse_counter_file(
      "\"ID\",\"Process ID\",\"Kernel Name\",\"Device\",\"CC\",\"dram__bytes_read.sum\"\n"
      "\"\",\"\",\"\",\"\",\"\",\"byte\"\n\"0\",\"1\",\"k\",\"0\",\"9.0\",\"64\"\n"
      "\"0\",\"2\",\"k\",\"0\",\"9.0\",\"32\"\n",
      "a");
  ASSERT_TRUE(file) << file.error().text();
  EXPECT_EQ(file->dispatches.size(), 2u);
}

CounterFile of_launch(std::map<std::string, double> counters) {
  CounterFile file;
  file.dispatches.emplace_back().counters = std::move(counters);
  return file;
}

std::string uncounted(std::map<std::string, double> counters, const char* architecture) {
  CounterFile file = of_launch(std::move(counters));
  refuse_uncounted(file, architecture);
  const auto& dispatch = file.dispatches[0];
  EXPECT_EQ(dispatch.uncounted.empty(), dispatch.missing.empty());
  EXPECT_NE(dispatch.counters.empty(), dispatch.uncounted.empty());
  return dispatch.uncounted;
}

TEST(UncountedLaunch, IsOneWithoutAnyEvent) {
  for (const char* architecture : {"gfx701", "gfx900", "gfx90a", "gfx942"}) {
    EXPECT_NE(uncounted({{"TCP_TCC_READ_REQ_sum", 0}, {"TCC_EA_RDREQ_sum", 0}}, architecture), "");
    // Clocks run while nothing else is counted.
    EXPECT_NE(uncounted({{"SQ_WAVES", 0}, {"GRBM_COUNT", 9}, {"SQ_BUSY_CYCLES", 7}}, architecture),
              "");
  }
  EXPECT_NE(uncounted({{"lts__t_sectors_srcunit_tex_op_read.sum", 0},
                       {"dram__bytes_read.sum", 0},
                       {"gpu__time_duration.sum", 1216},
                       {"sm__cycles_elapsed.max", 900},
                       {"SM Frequency", 1e9}},
                      "sm_90"),
            "");
}

TEST(UncountedLaunch, IsNotOneOfWhichAnyOtherCounterMoved) {
  EXPECT_EQ(uncounted({{"SQ_WAVES", 0}, {"GRBM_COUNT", 0}, {"TCC_HIT_sum", 5}}, "gfx90a"), "");
  EXPECT_EQ(uncounted({{"SQ_WAVES", 0}, {"GL2C_HIT_sum", 5}, {"GL2C_MISS_sum", 0}}, "gfx1151"), "");
  // A kernel without memory accesses.
  EXPECT_EQ(uncounted({{"SQ_WAVES", 64}, {"TCP_TCC_READ_REQ_sum", 0}}, "gfx90a"), "");
  EXPECT_EQ(uncounted({{"smsp__inst_executed.sum", 64}, {"dram__bytes_read.sum", 0}}, "sm_80"), "");
  // The virtual GPU counts whatever happens.
  EXPECT_EQ(uncounted({{"WW_XBAR_BITS", 0}, {"SQ_WAVES", 0}}, "gfx701"), "");
}

// Radeon cards count waves, but nothing in the caches, unless their clocks are fixed.
TEST(UncountedLaunch, IsOneWithoutALookupInTheL2OfARadeon) {
  const auto why =
      uncounted({{"SQ_WAVES", 64}, {"GL2C_HIT_sum", 0}, {"GL2C_MISS_sum", 0}}, "gfx1201");
  EXPECT_NE(why.find("profile_standard"), std::string::npos);
  // Whatever a kernel reads may lie in the L2 already.
  EXPECT_EQ(uncounted({{"SQ_WAVES", 64}, {"GL2C_EA_RDREQ_128B_sum", 0}}, "gfx1201"), "");
}

CounterDispatch queued(std::int64_t start, double duration, const char* queue = "1") {
  CounterDispatch dispatch;
  dispatch.queue = queue;
  dispatch.start_ns = start;
  dispatch.duration_ns = duration;
  dispatch.counters["A_sum"] = 1;
  return dispatch;
}

TEST(LateEnds, AreCutAtTheNextBeginOfTheirQueue) {
  std::vector<CounterDispatch> launches = {queued(1000, 200), queued(0, 5000), queued(2000, 300)};
  cut_late_ends(launches);
  EXPECT_EQ(launches[1].duration_ns, 1000.0);
  EXPECT_EQ(launches[1].cut_ns, 4000.0);
  EXPECT_EQ(launches[0].duration_ns, 200.0);
  EXPECT_EQ(launches[2].duration_ns, 300.0);
}

TEST(LateEnds, OfOtherQueuesAndOfLaunchesThatNobodyCountedMayOverlap) {
  std::vector<CounterDispatch> queues = {queued(0, 5000, "1"), queued(1000, 200, "2")};
  cut_late_ends(queues);
  EXPECT_EQ(queues[0].duration_ns, 5000.0);
  std::vector<CounterDispatch> traced = {queued(0, 5000), queued(1000, 200)};
  for (auto& launch : traced) launch.counters.clear();
  cut_late_ends(traced);
  EXPECT_EQ(traced[0].duration_ns, 5000.0);
  std::vector<CounterDispatch> simulated = {queued(0, 5000), queued(1000, 200)};
  for (auto& launch : simulated) launch.counters["WW_XBAR_BITS"] = 1;
  cut_late_ends(simulated);
  EXPECT_EQ(simulated[0].duration_ns, 5000.0);
}

TEST(LateEnds, LeaveNoLengthToALaunchThatBeginsWithTheNext) {
  std::vector<CounterDispatch> launches = {queued(10, 5000), queued(10, 200)};
  cut_late_ends(launches);
  EXPECT_FALSE(launches[0].duration_ns);
  EXPECT_FALSE(launches[0].duration_reason.empty());
}

TEST(CounterFile, RefusesOtherTablesByName) {
  EXPECT_EQ(parse_counter_file("", "a").error().code, ErrorCode::parse_error);
  EXPECT_EQ(parse_counter_file("a,b\n1,2\n", "a").error().code, ErrorCode::unsupported);
  const auto copies = parse_counter_file("\"Kind\",\"Direction\",\"Start_Timestamp\"\n", "a");
  EXPECT_NE(copies.error().message.find("memory copy"), std::string::npos);
  EXPECT_EQ(parse_counter_file("==ERROR== ERR_NVGPUCTRPERM\n", "a").error().code,
            ErrorCode::permission_denied);
  EXPECT_FALSE(parse_counter_file("\xFF\xFEI\0D\0", "a"));
}

std::string ncu(const std::string& rows) {
  return "==PROF== Connected to process 1\nmy \"program\" prints\n\xEF\xBB\xBF"
         "\"ID\",\"Process ID\",\"Kernel Name\",\"Device\",\"CC\",\"Section Name\",\"Metric "
         "Name\",\"Metric Unit\",\"Metric Value\",\"Rule Name\"\n" +
         rows + "==PROF== Disconnected from process 1\n";
}

TEST(CounterFile, ReadsNcuBetweenOtherOutputAndScalesItsUnits) {
  const auto file = parse_counter_file(
      ncu("\"0\",\"1\",\"k<1, 2>\",\"0\",\"8.0\",\"S\",\"Duration\",\"usecond\",\"4.25\",\n"
          "\"0\",\"1\",\"k<1, 2>\",\"0\",\"8.0\",\"S\",\"dram__bytes_read.sum\",\"Mbyte\","
          "\"1,048,576.5\",\n"
          "\"0\",\"1\",\"k<1, 2>\",\"0\",\"8.0\",\"S\",\"Policy\",\"\",\"PolicySpread\",\n"
          "\"0\",\"1\",\"k<1, 2>\",\"0\",\"8.0\",\"S\",\"\",\"\",\"\",\"a rule\"\n"),
      "a");
  ASSERT_TRUE(file) << file.error().text();
  EXPECT_EQ(file->architecture, "sm_80");
  const auto& dispatch = file->dispatches.at(0);
  EXPECT_DOUBLE_EQ(*dispatch.duration_ns, 4250.0);
  EXPECT_DOUBLE_EQ(dispatch.counters.at("dram__bytes_read.sum"), 1048576.5e6);
  EXPECT_EQ(dispatch.texts.at("Policy"), "PolicySpread");
}

TEST(CounterFile, ReadsTheDigitsOfEuropeanLocales) {
  const auto file = parse_counter_file(
      ncu("0,1,k,0,8.0,S,lts__t_sectors_srcunit_tex_op_read.sum,sector,27.595.520,\n"
          "0,1,k,0,8.0,S,Hit Rate,%,\"65,77\",\n0,1,k,0,8.0,S,Waves,,1.234,\n"),
      "a");
  ASSERT_TRUE(file) << file.error().text();
  const auto& counters = file->dispatches.at(0).counters;
  EXPECT_EQ(counters.at("lts__t_sectors_srcunit_tex_op_read.sum"), 27595520.0);
  EXPECT_DOUBLE_EQ(counters.at("Hit Rate"), 65.77);
  EXPECT_EQ(counters.at("Waves"), 1234.0);
}

TEST(CounterFile, RefusesDigitsThatCannotBeTold) {
  EXPECT_EQ(parse_counter_file(ncu("0,1,k,0,8.0,S,A,,\"1,234\",\n"), "a").error().code,
            ErrorCode::bad_data);
  EXPECT_EQ(parse_counter_file(ncu("0,1,k,0,8.0,S,A,,\"1,5\",\n0,1,k,0,8.0,S,B,,1.5,\n"), "a")
                .error()
                .code,
            ErrorCode::bad_data);
}

TEST(CounterFile, ReadsTheRawPageOfNcuUnderItsUnits) {
  const std::string head =
      "\"ID\",\"Process ID\",\"Kernel Name\",\"Device\",\"CC\",\"gpu__time_duration.sum\","
      "\"lts__t_sectors_srcunit_tex_op_read.sum\",\"dram__bytes_read.sum\",\"device__name\"\n";
  const std::string units = "\"\",\"\",\"\",\"\",\"\",\"ns\",\"sector\",\"Kbyte\",\"\"\n";
  const std::string row =
      "\"0\",\"9\",\"k\",\"0\",\"9.0\",\"1,216\",\"262,144.0\",\"n/a\",\"H100\"\n";
  const auto file = parse_counter_file(head + units + row, "a");
  ASSERT_TRUE(file) << file.error().text();
  EXPECT_EQ(file->form, CounterForm::ncu_raw);
  EXPECT_EQ(file->dispatches.at(0).duration_ns, 1216.0);
  const auto bytes = segment_bytes(file->architecture, file->dispatches[0]);
  EXPECT_EQ(of(bytes, Segment::l1_l2_read).bytes, 262144.0 * 32);
  EXPECT_EQ(of(bytes, Segment::l2_memory_read).status, RowStatus::unavailable);
  EXPECT_NE(of(bytes, Segment::l2_memory_read).reason.find("dram__bytes_read.sum"),
            std::string::npos);
  EXPECT_FALSE(parse_counter_file(head + row, "a")) << "units missing";
}

TEST(CounterMap, NamesTheCountersThatAreMissingAndIsNeverZero) {
  const CounterDispatch none;
  for (const std::string arch :
       {"gfx701", "gfx908", "gfx90a:sramecc+", "gfx942", "gfx1100", "sm_90", "gfx1200", ""}) {
    for (const SegmentBytes& bytes : segment_bytes(arch, none)) {
      EXPECT_EQ(bytes.status, RowStatus::unavailable) << arch;
      EXPECT_FALSE(bytes.bytes) << arch;
      EXPECT_FALSE(bytes.reason.empty()) << arch;
    }
  }
  const auto bytes = segment_bytes("gfx942", none);
  EXPECT_NE(of(bytes, Segment::l2_memory_read).reason.find("TCC_BUBBLE_sum"), std::string::npos);
}

TEST(CounterMap, AddsInstancesOnlyWhereNoneIsMissing) {
  CounterDispatch dispatch;
  dispatch.counters = {
      {"TCC_HIT[0]", 3}, {"TCC_HIT[1]", 4}, {"TCC_MISS[0]", 1}, {"TCC_MISS[2]", 1}};
  EXPECT_EQ(counter_total(dispatch, "TCC_HIT"), 7.0);
  EXPECT_FALSE(counter_total(dispatch, "TCC_MISS"));
  dispatch.counters["TCC_HIT_sum"] = 8;
  EXPECT_EQ(counter_total(dispatch, "TCC_HIT"), 8.0);
  ASSERT_EQ(pass_disagreements(dispatch).size(), 1u);
  EXPECT_DOUBLE_EQ(pass_disagreements(dispatch)[0].relative(), -0.125);
}

TEST(CounterMap, RejectsPassesThatContradictEachOther) {
  CounterDispatch dispatch;
  dispatch.counters = {
      {"TCC_EA0_RDREQ_sum", 100}, {"TCC_EA0_RDREQ_32B_sum", 0}, {"TCC_BUBBLE_sum", 130}};
  const auto bytes = segment_bytes("gfx942", dispatch);
  EXPECT_EQ(of(bytes, Segment::l2_memory_read).status, RowStatus::rejected);
  EXPECT_FALSE(of(bytes, Segment::l2_memory_read).bytes);
}

TEST(SystemInfo, ReadsQuotedCommasAndTheL2OfAllDies) {
  const auto info = parse_system_info(
      "sbios,cpu_memory,gpu_arch,gpu_l2,total_l2_chan,num_xcd\n\"A, LLC.\",,gfx942,4096,128,8\n",
      "a");
  ASSERT_TRUE(info) << info.error().text();
  EXPECT_EQ(info->architecture, "gfx942");
  EXPECT_EQ(info->l2_kib, 32768.0);
  EXPECT_EQ(info->l2_channels, 128.0);
}

}  // namespace
}  // namespace ww::measure
