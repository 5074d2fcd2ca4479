#include "ww/measure/profiler.hpp"
#include "ww/core/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <tuple>

#include "testing/rocpd_database.hpp"
#include "ww/measure/counter_map.hpp"

namespace ww::measure {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Profilers made of shell: they check how they are called, run the program and leave what the real
// ones leave.
class FakeProfiler : public ::testing::Test {
 protected:
  void SetUp() override {
    request_.command = {"sh", "-c", "echo ran >> " + (root_ / "ran").string()};
    request_.limit = std::chrono::seconds(20);
  }

  InstalledProfiler made(Profiler profiler, const std::string& body) {
    const fs::path program = root_ / std::string(to_string(profiler));
    std::ofstream(program) << "#!/bin/sh\n" << body;
    fs::permissions(program, fs::perms::owner_all);
    return {profiler, program};
  }
  std::string program_output() {
    std::ifstream in(root_ / "ran");
    return {std::istreambuf_iterator<char>(in), {}};
  }
  ScratchFolder scratch_ = ScratchFolder::create("profiler").value();
  const fs::path& root_ = scratch_.path();
  ProfileRequest request_;
};

constexpr const char* kRocprofV1 = R"(
[ "$1" = -i ] && [ "$3" = -o ] && [ "$5 $6" = "--timestamp on" ] || exit 9
input=$2; output=$4
head -1 "$input" | grep -q '^pmc: TCC_HIT_sum TCC_MISS_sum$' || exit 8
shift 6
"$@" || exit 7
cat > "$output" <<'END'
Index,KernelName,gpu-id,queue-id,queue-index,pid,tid,grd,wgr,lds,scr,arch_vgpr,accum_vgpr,sgpr,wave_size,sig,obj,TCC_HIT_sum,TCC_MISS_sum,DispatchNs,BeginNs,EndNs,CompleteNs
0,"known_bytes.kd",2,0,0,10,10,65536,256,0,0,8,0,16,64,0x0,0x0,1000.0,24.0,1,2,3,4
END
)";

TEST_F(FakeProfiler, RocprofV1IsCalledAndReadAsItIs) {
  request_.architecture = "gfx803";
  request_.counters = {"TCC_HIT_sum", "TCC_MISS_sum"};
  const auto result = profile(made(Profiler::rocprof_v1, kRocprofV1), request_);
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(program_output(), "ran\n");
  ASSERT_EQ(result->counters.dispatches.size(), 1u);
  EXPECT_EQ(result->counters.dispatches[0].kernel, "known_bytes");
  EXPECT_EQ(result->counters.dispatches[0].counters.at("TCC_HIT_sum"), 1000.0);
  EXPECT_EQ(result->counters.architecture, "gfx803");
  const auto bytes = segment_bytes("gfx803", result->counters.dispatches[0]);
  const auto l1_l2 = std::ranges::find(bytes, Segment::l1_l2, &SegmentBytes::segment);
  EXPECT_EQ(l1_l2->bytes, 1024 * 64.0);
}

// Two passes, each in its folder, as rocprofv3 leaves them.
constexpr const char* kRocprofV3 = R"(
[ "$1" = -i ] && [ "$3 $4" = "--output-format csv" ] && [ "$5" = -d ] && [ "$7" = -o ] || exit 9
[ "$9" = -- ] || exit 8
passes=$(grep -c '^pmc:' "$2"); folder=$6
head='"Correlation_Id","Dispatch_Id","Agent_Id","Queue_Id","Process_Id","Thread_Id","Grid_Size","Kernel_Id","Kernel_Name","Workgroup_Size","LDS_Block_Size","Scratch_Size","VGPR_Count","SGPR_Count","Counter_Name","Counter_Value"'
shift 9
pass=1
while [ $pass -le $passes ]; do
  "$@" || exit 7
  mkdir -p "$folder/pass_$pass"
  { echo "$head"
    echo "1,1,4,1,10,10,65536,1,\"KERNEL\",256,0,0,8,16,\"COUNTER_$pass\",$pass.5"
  } | sed "s/KERNEL/known_bytes${SUFFIX:+$pass}/" > "$folder/pass_$pass/counters_counter_collection.csv"
  pass=$((pass + 1))
done
)";

TEST_F(FakeProfiler, PassesOfRocprofV3AreJoined) {
  request_.architecture = "gfx90a";
  request_.counters = {"A_sum", "B_sum", "C_sum", "D_sum", "E_sum"};
  const auto result = profile(made(Profiler::rocprof_v3, kRocprofV3), request_);
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(program_output(), "ran\nran\n");
  ASSERT_EQ(result->counters.dispatches.size(), 1u);
  EXPECT_EQ(result->counters.dispatches[0].counters.at("COUNTER_1"), 1.5);
  EXPECT_EQ(result->counters.dispatches[0].counters.at("COUNTER_2"), 2.5);
}

// Releases that make no tables leave a database for each pass.
TEST_F(FakeProfiler, DatabasesOfRocprofV3AreReadWhereThereAreNoTables) {
  for (const auto& [pass, counter, value] :
       {std::tuple{1, "TCC_HIT_sum", 1000.0}, std::tuple{2, "TCC_MISS_sum", 24.0}}) {
    testing::RocpdDatabase database;
    database.add_process("_a", 10 + pass, "gfx942",
                         {{.kernel = "known_bytes", .counters = {{counter, {value}}}}});
    const auto bytes = database.bytes();
    std::ofstream(root_ / ("pass" + std::to_string(pass)), std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }
  const std::string body = R"(
folder=$6; shift 9; "$@" || exit 7
for pass in 1 2; do
  mkdir -p "$folder/pmc_$pass/host" && cp ")" +
                           root_.string() +
                           R"(/pass$pass" "$folder/pmc_$pass/host/1${pass}_results.db" || exit 6
done
)";
  request_.architecture = "gfx942";
  request_.counters = {"TCC_HIT_sum", "TCC_MISS_sum"};
  const auto result = profile(made(Profiler::rocprof_v3, body), request_);
  ASSERT_TRUE(result) << result.error().text();
  ASSERT_EQ(result->counters.dispatches.size(), 1u);
  EXPECT_EQ(result->counters.dispatches[0].counters.at("TCC_HIT_sum"), 1000.0);
  EXPECT_EQ(result->counters.dispatches[0].counters.at("TCC_MISS_sum"), 24.0);
}

TEST_F(FakeProfiler, PassesWithOtherKernelsAreRefused) {
  request_.architecture = "gfx90a";
  request_.counters = {"A_sum", "B_sum", "C_sum", "D_sum", "E_sum"};
  const auto result =
      profile(made(Profiler::rocprof_v3, std::string("SUFFIX=1\n") + kRocprofV3), request_);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::bad_data);
  EXPECT_THAT(result.error().message, HasSubstr("passes do not match"));
}

// The program's output comes between the lines of the tool, and only the tool's log is a table.
constexpr const char* kNcu = R"sh(
[ "$1 $2 $3 $4 $5 $6" = "--csv --page details --print-units base --target-processes" ] || exit 9
[ "$8 $9" = "--cache-control none" ] || exit 6
shift 9
[ "$1 $2 $3" = "--clock-control none --log-file" ] || exit 5
log=$4
[ "$5" = --metrics ] || exit 8
[ "$6" = gpu__time_duration.sum,dram__bytes_read.sum,dram__bytes_write.sum ] || exit 4
shift 6
echo "==PROF== Connected to process 10" > "$log"
echo '"ID" of the program'
"$@" || exit 7
cat >> "$log" <<'END'
==PROF== Disconnected from process 10
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value"
"0","10","app","host","known_bytes","1","7","(256, 1, 1)","(64, 1, 1)","0","9.0","Command line profiler metrics","gpu__time_duration.sum","nsecond","2,000"
"0","10","app","host","known_bytes","1","7","(256, 1, 1)","(64, 1, 1)","0","9.0","Command line profiler metrics","dram__bytes_read.sum","byte","1,048,576"
"0","10","app","host","known_bytes","1","7","(256, 1, 1)","(64, 1, 1)","0","9.0","Command line profiler metrics","dram__bytes_write.sum","byte","524,288"
END
)sh";

TEST_F(FakeProfiler, NcusTableIsReadFromItsLogWithTimesAndCachesAndClocksAsTheyAre) {
  request_.architecture = "sm_90";
  request_.counters = {"dram__bytes_read.sum", "dram__bytes_write.sum"};
  request_.folder = root_ / "kept";
  const auto result = profile(made(Profiler::ncu, kNcu), request_);
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->counters.dispatches[0].counters.at("dram__bytes_read.sum"), 1048576.0);
  EXPECT_EQ(result->counters.dispatches[0].duration_ns, 2000.0);
  EXPECT_TRUE(fs::exists(root_ / "kept" / "counters.csv"));
  // A second run into the same folder would mix the two.
  EXPECT_EQ(profile(made(Profiler::ncu, kNcu), request_).error().code, ErrorCode::invalid_argument);
}

// Refuses the roll-up of atomics, as some parts may, and counts its two parts.
constexpr const char* kNcuWithoutARollUp = R"sh(
while [ "$1" != --log-file ]; do shift; done
log=$2; metrics=,$4,; shift 4
case "$metrics" in *,lts__t_sectors_srcunit_tex_op_atom.sum,*)
  echo '==ERROR== Failed to find metric lts__t_sectors_srcunit_tex_op_atom.sum' > "$log"; exit 1;;
esac
"$@" || exit 7
head='"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value"'
exec > "$log"
echo "$head"
for name in read write red atom_dot_alu atom_dot_cas; do
  case "$metrics" in *,lts__t_sectors_srcunit_tex_op_$name.sum,*)
    echo "\"0\",\"10\",\"app\",\"host\",\"histogram\",\"1\",\"7\",\"(256, 1, 1)\",\"(64, 1, 1)\",\"0\",\"9.0\",\"Command line profiler metrics\",\"lts__t_sectors_srcunit_tex_op_$name.sum\",\"sector\",\"100\"";;
  esac
done
)sh";

TEST_F(FakeProfiler, IsRunAgainWithoutACounterThatTheMappingCanDoWithout) {
  request_.architecture = "sm_90";
  const auto result = profile(made(Profiler::ncu, kNcuWithoutARollUp), request_);
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(program_output(), "ran\n");
  const auto bytes = segment_bytes("sm_90", result->counters.dispatches.at(0));
  const auto l1_l2 = std::ranges::find(bytes, Segment::l1_l2, &SegmentBytes::segment);
  // Reads, writes and reductions move one way, atomics of two kinds both ways.
  EXPECT_EQ(l1_l2->bytes, 32.0 * (100 + 100 + 100 + 2 * 200));
}

TEST(MappedCounters, WithoutACounterThatWasRefused) {
  const auto all = mapped_counters("sm_80");
  EXPECT_EQ(std::ranges::find(all, "lts__t_sectors_srcunit_tex_op_atom_dot_alu.sum"), all.end());
  const auto fewer = without_counter("sm_80", all, "lts__t_sectors_srcunit_tex_op_atom.sum");
  ASSERT_TRUE(fewer);
  EXPECT_EQ(fewer->size(), all.size() + 1);
  EXPECT_FALSE(without_counter("sm_80", all, "lts__t_sectors_srcunit_tex_op_read.sum"));
  EXPECT_FALSE(without_counter("sm_80", all, "of these"));
}

struct Failure {
  Profiler profiler;
  const char* body;
  ErrorCode code;
  const char* words;
};
class ProfilerFailure : public FakeProfiler, public ::testing::WithParamInterface<Failure> {};

TEST_P(ProfilerFailure, IsNamedWithItsRemedy) {
  request_.architecture = GetParam().profiler == Profiler::ncu ? "sm_90" : "gfx90a";
  request_.limit = std::chrono::milliseconds(100);
  const auto result = profile(made(GetParam().profiler, GetParam().body), request_);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, GetParam().code) << result.error().text();
  EXPECT_THAT(result.error().message, HasSubstr(GetParam().words));
}

INSTANTIATE_TEST_SUITE_P(
    All, ProfilerFailure,
    ::testing::Values(
        Failure{Profiler::ncu,
                "echo '==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access "
                "NVIDIA GPU Performance Counters on the target device 0.'; exit 1",
                ErrorCode::permission_denied, "NVreg_RestrictProfilingToAdminUsers=0"},
        Failure{Profiler::ncu, "echo '==WARNING== No kernels were profiled.'", ErrorCode::bad_data,
                "launched no kernel"},
        Failure{Profiler::ncu,
                "echo '==ERROR== Failed to find metric lts__t_sectors_wrong.sum' >&2; exit 1",
                ErrorCode::unsupported, "lts__t_sectors_wrong.sum"},
        Failure{Profiler::rocprof_v3,
                "echo 'Unable to open /dev/kfd read-write: Permission denied' >&2; exit 1",
                ErrorCode::permission_denied, "/dev/kfd may not be opened"},
        Failure{Profiler::rocprof_v1,
                "echo 'libhsa-amd-aqlprofile64.so.1: cannot open shared object file' >&2; exit 127",
                ErrorCode::missing_dependency, "hsa-amd-aqlprofile"},
        Failure{Profiler::rocprof_v3,
                "echo 'Request exceeds the capabilities of the hardware to collect' >&2; exit 1",
                ErrorCode::unsupported, "cannot count these together"},
        Failure{Profiler::rocprof_v3, "exit 0", ErrorCode::bad_data, "no table of counters"},
        Failure{Profiler::rocprof_v1, "kill -SEGV $$", ErrorCode::device_error, "signal 11"},
        Failure{Profiler::rocprof_v1, "echo went wrong >&2; exit 5", ErrorCode::device_error,
                "went wrong"},
        Failure{Profiler::rocprof_v1, "sleep 60", ErrorCode::device_error, "stopped after"}));

TEST_F(FakeProfiler, MayPutThingsRightWhereItsTimeIsUp) {
  request_.architecture = "sm_90";
  request_.limit = std::chrono::milliseconds(100);
  const std::string right = (root_ / "right").string();
  const auto result = profile(made(Profiler::ncu, "trap 'echo clocks unlocked > " + right +
                                                      "; exit 1' TERM\nsleep 60 & wait"),
                              request_);
  EXPECT_EQ(result.error().code, ErrorCode::device_error);
  EXPECT_TRUE(fs::exists(right));
}

TEST_F(FakeProfiler, TheProgramMustBeThere) {
  request_.architecture = "gfx90a";
  request_.command = {"no-such-program-anywhere"};
  const auto result = profile(made(Profiler::rocprof_v1, "exit 0"), request_);
  EXPECT_EQ(result.error().code, ErrorCode::not_found);
}

TEST(ProfilerCommand, AsksForTheCountersOfTheMapping) {
  const auto counters = mapped_counters("gfx90a");
  for (const char* name : {"TCP_TCC_READ_REQ_sum", "TCP_TCC_WRITE_REQ_sum", "TCC_EA_RDREQ_sum"}) {
    EXPECT_NE(std::ranges::find(counters, name), counters.end()) << name;
  }
  const auto nvidia = mapped_counters("sm_90");
  EXPECT_NE(std::ranges::find(nvidia, "lts__t_sectors_srcunit_tex_op_read.sum"), nvidia.end());
  EXPECT_TRUE(mapped_counters("gfx1").empty());
}

TEST(ProfilerCommand, PassesHoldFourCounters) {
  const std::vector<std::string> counters{"A", "B", "C", "D", "E"};
  EXPECT_EQ(rocprof_input(counters), "pmc: A B C D\npmc: E\n");
}

TEST(ProfilerCommand, EndsWithTheProgram) {
  ProfileRequest request;
  request.counters = {"X", "Y"};
  request.command = {"app", "--csv"};
  EXPECT_THAT(profiler_command({Profiler::ncu, "/bin/ncu"}, request, "/tmp"),
              ElementsAre("/bin/ncu", "--csv", "--page", "details", "--print-units", "base",
                          "--target-processes", "all", "--cache-control", "none", "--clock-control",
                          "none", "--log-file", "/tmp/counters.csv", "--metrics",
                          "gpu__time_duration.sum,X,Y", "app", "--csv"));
}

TEST(InstalledProfilers, WithoutOneThePackageIsNamed) {
  ProfileRequest request;
  request.architecture = "sm_90";
  request.command = {"true"};
  if (!installed_profilers("sm_90").empty()) GTEST_SKIP() << "Nsight Compute is installed here";
  const auto result = profile(request);
  EXPECT_EQ(result.error().code, ErrorCode::missing_dependency);
  EXPECT_THAT(result.error().message, HasSubstr("nsight-compute"));
}

}  // namespace
}  // namespace ww::measure
