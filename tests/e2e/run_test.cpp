// wirewatt run and trace with a plain OpenCL program that knows nothing of wirewatt.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>

#include "mounted.hpp"
#include "process.hpp"

namespace ww::e2e {
namespace {

using nlohmann::json;

// sim/driver/test/icd_saxpy.c: y = a x + y over 10000 floats, twice.
constexpr int kElements = 10'000;
std::string saxpy() {
  return (build_folder() / "bin" / "icd_saxpy").string();
}
std::string driver() {
  return (build_folder() / "lib" / "libwirewatt_vgpu.so").string();
}

std::string content(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// counter_values[dispatch][name] of a file, whose header is checked to the letter.
std::map<int, std::map<std::string, double>> counters(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  EXPECT_EQ(line,
            "\"Correlation_Id\",\"Dispatch_Id\",\"Agent_Id\",\"Queue_Id\",\"Process_Id\","
            "\"Thread_Id\",\"Grid_Size\",\"Kernel_Id\",\"Kernel_Name\",\"Workgroup_Size\","
            "\"LDS_Block_Size\",\"Scratch_Size\",\"VGPR_Count\",\"Accum_VGPR_Count\","
            "\"SGPR_Count\",\"Counter_Name\",\"Counter_Value\",\"Start_Timestamp\","
            "\"End_Timestamp\"");
  std::map<int, std::map<std::string, double>> values;
  while (std::getline(stream, line)) {
    std::vector<std::string> fields;
    std::istringstream row(line);
    for (std::string field; std::getline(row, field, ',');) fields.push_back(field);
    EXPECT_EQ(fields.size(), 19U) << line;
    if (fields.size() != 19) continue;
    EXPECT_EQ(fields[8], "\"saxpy\"");
    EXPECT_EQ(fields[6], "10048");
    EXPECT_EQ(fields[9], "64");
    EXPECT_LT(std::stoll(fields[17]), std::stoll(fields[18]));
    values[std::stoi(fields[1])][fields[15].substr(1, fields[15].size() - 2)] =
        std::stod(fields[16]);
  }
  return values;
}

void expect_saxpys_arithmetic(const std::map<int, std::map<std::string, double>>& values) {
  ASSERT_EQ(values.size(), 2U);
  for (const auto& [dispatch, value] : values) {
    EXPECT_EQ(value.at("SQ_WAVES"), (kElements + 63) / 64) << dispatch;
    EXPECT_EQ(value.at("TCP_TCC_READ_REQ_sum") * 64, 2 * kElements * 4) << dispatch;
    EXPECT_EQ(value.at("TCP_TCC_WRITE_REQ_sum") * 64, kElements * 4) << dispatch;
    EXPECT_EQ((value.at("TCC_HIT_sum") + value.at("TCC_MISS_sum")) * 64, 3 * kElements * 4)
        << dispatch;
  }
}

std::size_t entries(const std::filesystem::path& folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

TEST(Run, GivesCountersTraceAndTheProgramsOwnOutput) {
  TemporaryFolder folder;
  const auto csv = folder.path() / "out.csv";
  const auto wwt = folder.path() / "out.wwt";
  const auto alone = run({saxpy()}, {{"OCL_ICD_VENDORS", driver()}});
  ASSERT_EQ(alone.exit_code, 0) << alone.err;
  const auto finished = run({wirewatt(), "run", "--device", "virtual:w9100", "--counters",
                             csv.string(), "--trace", wwt.string(), "--", saxpy()});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(finished.out, alone.out);
  EXPECT_NE(finished.err.find("virtual, not a measurement"), std::string::npos);
  EXPECT_NE(finished.err.find("TCP_TCC_READ_REQ_sum"), std::string::npos);
  expect_saxpys_arithmetic(counters(csv));
  EXPECT_EQ(entries(folder.path()), 2U);

  const auto told = run({wirewatt(), "trace", "info", wwt.string(), "--json"});
  ASSERT_EQ(told.exit_code, 0) << told.err;
  const auto info = told.json();
  EXPECT_EQ(info["launches"], 2);
  EXPECT_EQ(info["accesses"], 2 * 3 * kElements);
  EXPECT_EQ(info["accesses_with_values"], 2 * 3 * kElements);
  EXPECT_EQ(info["loaded_bytes"], 2 * 2 * kElements * 4);
  EXPECT_EQ(info["stored_bytes"], 2 * kElements * 4);
  EXPECT_LT(info["bytes_per_access"], 1.0);
  EXPECT_EQ(info["virtual"], true);
  EXPECT_EQ(info["kernels"][0]["name"], "saxpy");
}

TEST(Run, ThreadsChangeNeitherTraceNorCounters) {
  TemporaryFolder folder;
  std::map<std::string, std::string> traces;
  std::map<std::string, std::map<int, std::map<std::string, double>>> values;
  for (const std::string threads : {"1", "2"}) {
    const auto csv = folder.path() / (threads + ".csv");
    const auto wwt = folder.path() / (threads + ".wwt");
    const auto finished =
        run({wirewatt(), "run", "--counters", csv.string(), "--trace", wwt.string(), "--", saxpy()},
            {{"WIREWATT_THREADS", threads}});
    ASSERT_EQ(finished.exit_code, 0) << finished.err;
    traces[threads] = content(wwt);
    values[threads] = counters(csv);
  }
  EXPECT_EQ(traces["1"], traces["2"]);
  EXPECT_FALSE(traces["1"].empty());
  EXPECT_EQ(values["1"], values["2"]);
}

TEST(Run, JsonIsTheLastLineAfterTheProgramsOutput) {
  const auto finished = run({wirewatt(), "run", "--json", "--", saxpy()});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const auto at = finished.out.rfind('\n', finished.out.size() - 2);
  const auto told = parse_json(finished.out.substr(at + 1));
  EXPECT_EQ(told["totals"]["l1_l2_bytes"], 2 * 3 * kElements * 4);
  EXPECT_EQ(told["kernels"][0]["dispatches"], 2);
  EXPECT_EQ(told["virtual"], true);
  const auto& fidelity = told["fidelity"];
  EXPECT_GT(fidelity["instructions"], 0);
  EXPECT_EQ(fidelity["approximated"], 0);
  EXPECT_EQ(fidelity["stopped_launches"], 0);
  EXPECT_EQ(fidelity["memory_mistakes"], 0);
  EXPECT_EQ(fidelity["checked"], "bounds");
}

TEST(Run, PassesExitCodesAndSignalsOn) {
  EXPECT_EQ(run({wirewatt(), "run", "--", "sh", "-c", "exit 7"}).exit_code, 7);
  EXPECT_EQ(run({wirewatt(), "run", "--", "sh", "-c", "kill -TERM $$"}).exit_code, 128 + SIGTERM);
  const auto missing = run({wirewatt(), "run", "--", "/nowhere/app"});
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_NE(missing.err.find("/nowhere/app"), std::string::npos);
  EXPECT_EQ(run({wirewatt(), "run", "--device", "quantum", "--", "true"}).exit_code, 2);
  EXPECT_EQ(run({wirewatt(), "run"}).exit_code, 2);
  // Arguments that look like ours are the program's.
  EXPECT_EQ(run({wirewatt(), "run", "--", "echo", "--json", "devices"}).out, "--json devices\n");
}

// sim/driver/test/icd_exit.c: three launches, after which no handler of the driver runs.
TEST(Run, CountsTheLaunchesOfAProgramThatWasKilledOrLeft) {
  const auto program = (build_folder() / "bin" / "icd_exit").string();
  for (const auto& [way, code] : {std::pair{"kill", 128 + SIGKILL}, std::pair{"leave", 0}}) {
    TemporaryFolder folder;
    const auto csv = folder.path() / "out.csv";
    const auto finished =
        run({wirewatt(), "run", "--counters", csv.string(), "--json", "--", program, way});
    EXPECT_EQ(finished.exit_code, code) << finished.err;
    EXPECT_EQ(finished.err.find("had ended by then") != std::string::npos, code != 0);
    const auto totals = json::parse(finished.out)["totals"];
    EXPECT_EQ(totals["dispatches"], 3) << way;
    EXPECT_EQ(totals["counters"]["SQ_WAVES"], 3 * (1 << 14) / 64) << way;
    const std::string rows = content(csv);
    EXPECT_EQ(std::ranges::count(rows, '\n') - 1, 3 * totals["counters"].size()) << way;
    EXPECT_EQ(entries(folder.path()), 1U) << way;
  }
}

TEST(Run, KeepsTheTraceOfAProgramThatWasKilled) {
  TemporaryFolder folder;
  const auto wwt = (folder.path() / "out.wwt").string();
  const auto program = (build_folder() / "bin" / "icd_exit").string();
  const auto finished = run({wirewatt(), "run", "--trace", wwt, "--json", "--", program, "kill"});
  EXPECT_EQ(finished.exit_code, 128 + SIGKILL) << finished.err;
  EXPECT_EQ(json::parse(finished.out)["traces"], json::array({wwt}));
  const auto info = run({wirewatt(), "trace", "info", wwt, "--json"});
  ASSERT_EQ(info.exit_code, 0) << info.err;
  EXPECT_GE(json::parse(info.out)["launches"],
            1);  // of three; the last may have been too short ago
  EXPECT_EQ(entries(folder.path()), 1U);
}

TEST(Run, AKilledProgramLeavesNoPartsOfFiles) {
  TemporaryFolder folder;
  const auto csv = (folder.path() / "out.csv").string();
  const auto wwt = (folder.path() / "out.wwt").string();
  // The shell becomes the OpenCL program, which is killed as soon as it has a device.
  const auto finished =
      run({wirewatt(), "run", "--counters", csv, "--trace", wwt, "--", "sh", "-c",
           saxpy() + " > /dev/null & child=$!; sleep 0.05; kill -9 $child; wait $child; exit 3"});
  EXPECT_EQ(finished.exit_code, 3) << finished.err;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    // The trace is whole, or there is none. The counters are those of whole launches.
    EXPECT_TRUE(entry.path() == csv || entry.path() == wwt) << entry.path();
  }
  if (std::filesystem::exists(wwt)) {
    EXPECT_EQ(run({wirewatt(), "trace", "info", wwt}).exit_code, 0);
  }
}

TEST(Run, SeveralProcessesShareOneCountersFile) {
  TemporaryFolder folder;
  const auto csv = folder.path() / "out.csv";
  const auto wwt = folder.path() / "out.wwt";
  const auto finished = run({wirewatt(), "run", "--counters", csv.string(), "--trace", wwt.string(),
                             "--json", "--", "sh", "-c", saxpy() + " && " + saxpy()});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const auto told =
      parse_json(finished.out.substr(finished.out.rfind('\n', finished.out.size() - 2) + 1));
  EXPECT_EQ(told["totals"]["dispatches"], 4);
  EXPECT_EQ(told["traces"].size(), 2U);
  EXPECT_EQ(entries(folder.path()), 3U);
}

// The files contain the launches up to the interrupt. `timeout` signals both programs, as Ctrl-C
// does.
TEST(Run, AnInterruptedWorkloadEndsBetweenItsLaunches) {
  TemporaryFolder folder;
  const auto wwt = (folder.path() / "out.wwt").string();
  const auto csv = (folder.path() / "out.csv").string();
  const auto finished =
      run({"timeout", "--preserve-status", "-s", "INT", "2", wirewatt(), "run", "--trace", wwt,
           "--counters", csv, "--", wirewatt(), "workloads", "run", "lulesh", "--size", "suite"});
  EXPECT_EQ(finished.exit_code, 130) << finished.err;
  EXPECT_NE(finished.err.find("interrupted"), std::string::npos) << finished.err;
  EXPECT_EQ(run({wirewatt(), "trace", "info", wwt}).exit_code, 0);
  EXPECT_TRUE(std::filesystem::exists(csv));
}

// The trace goes to a pipe: as root, renaming it to a device would replace that.
TEST(Run, WritesItsTraceToAPipe) {
  TemporaryFolder folder;
  const auto pipe = (folder.path() / "pipe").string();
  const auto copy = (folder.path() / "copy.wwt").string();
  const auto finished =
      run({"sh", "-c",
           "mkfifo " + pipe + " && cat " + pipe + " > " + copy + " & sleep 0.2; " + wirewatt() +
               " run --trace " + pipe + " -- " + saxpy() + " && wait"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
  EXPECT_EQ(run({wirewatt(), "trace", "info", copy}).exit_code, 0);
}

TEST(Trace, SaysWhenStandardOutputIsFull) {
  TemporaryFolder folder;
  const auto wwt = (folder.path() / "out.wwt").string();
  ASSERT_EQ(run({wirewatt(), "run", "--trace", wwt, "--", saxpy()}).exit_code, 0);
  for (const auto* const what : {"dump", "info"}) {
    const auto command = fmt::format("{} trace {} {} > /dev/full", wirewatt(), what, wwt);
    const auto finished = run({"sh", "-c", command});
    EXPECT_EQ(finished.exit_code, 3) << command;
    EXPECT_NE(finished.err.find("standard output: cannot write"), std::string::npos)
        << finished.err;
  }
}

// --- HIP ---

// sim/driver/test/hip_programs.hip, by clang-19 where it is installed.
std::string hip_programs() {
  const auto program = build_folder() / "bin" / "hip_programs";
  return std::filesystem::exists(program) ? program.string() : "";
}
constexpr const char* kNoHipCompiler =
    "Debian's packages clang-19 and lld-19 are not installed, or this build has sanitizers";

json last_line(const std::string& text) {
  return json::parse(text.substr(text.rfind('\n', text.size() - 2) + 1));
}

// Finds a kernel, whose name may be mangled: the entry whose name contains the word.
json kernel_of(const json& told, const std::string& word) {
  for (const auto& kernel : told["kernels"]) {
    if (kernel["name"].get<std::string>().find(word) != std::string::npos) return kernel;
  }
  ADD_FAILURE() << "no kernel " << word;
  return {};
}

TEST(Run, CountsTheBytesOfAHipProgramsStreams) {
  if (hip_programs().empty()) GTEST_SKIP() << kNoHipCompiler;
  const auto finished = run(
      {wirewatt(), "run", "--device", "virtual:mi210", "--json", "--", hip_programs(), "streams"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_NE(finished.out.find("streams    ok"), std::string::npos);
  const json told = last_line(finished.out);
  constexpr int kArrayBytes = 4 << 18;
  const std::map<std::string, int> arrays{{"stream_copy", 2},
                                          {"stream_scale", 2},
                                          {"stream_add", 3},
                                          {"stream_triad", 3},
                                          {"stream_read", 1}};
  for (const auto& [name, count] : arrays) {
    EXPECT_EQ(kernel_of(told, name)["l1_l2_bytes"], count * kArrayBytes) << name;
  }
  EXPECT_EQ(told["totals"]["dispatches"], 5);
}

// A vector addition, a reduction and a transposition in both languages, their buffers at the same
// addresses and equal indices: OpenCL's get_global_id() adds an offset that HIP lacks, and a few
// more instructions change the order of accesses, which the wires see. Arguments are the front
// end's own: a kernel's lie at another address, and each scalar cache reads the lines of them that
// the compiler's code asks for. So the same machine code costs nearly the same joules.
TEST(Run, GivesAHipProgramTheBytesAndJoulesOfItsOpenClTwin) {
  if (hip_programs().empty()) GTEST_SKIP() << kNoHipCompiler;
  TemporaryFolder folder;
  const auto code = (folder.path() / "twin.co").string();
  const std::string twin = (build_folder() / "bin" / "icd_twin").string();
  const auto saved = run({twin, code}, {{"OCL_ICD_VENDORS", driver()}, {"WIREWATT_CHIP", "mi210"}});
  ASSERT_EQ(saved.exit_code, 0) << saved.err;
  // HIP's code object is the larger one: both leave a gap before the first buffer.
  constexpr unsigned long long kGapBytes = 8 << 20;
  constexpr unsigned long long kPageBytes = 4096;  // behind each buffer
  const auto address =
      std::to_string(std::stoull(saved.out.substr(saved.out.rfind(' ') + 1)) + kGapBytes);
  const std::vector<std::string> opencl{twin, code, std::to_string(kGapBytes - kPageBytes)};
  const std::vector<std::string> hip{hip_programs(), "twin", address};
  std::vector<std::string> hip_same_code = hip;
  hip_same_code.push_back(code);
  const auto estimated = [](const std::vector<std::string>& program) {
    std::vector<std::string> command{wirewatt(), "estimate",      "--constant", "literature",
                                     "--device", "virtual:mi210", "--json",     "--"};
    command.insert(command.end(), program.begin(), program.end());
    const auto finished = run(command);
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    return json::parse(finished.out);
  };
  const auto joules = [](const json& told, const std::string& name) {
    for (const auto& kernel : told["kernels"]) {
      if (kernel["kernel"].get<std::string>().find(name) != std::string::npos) {
        return kernel["energy_j"]["value"].get<double>();
      }
    }
    ADD_FAILURE() << "no kernel " << name;
    return 0.0;
  };
  const auto counted = [](const std::vector<std::string>& program) {
    std::vector<std::string> command{wirewatt(),      "run",    "--device",
                                     "virtual:mi210", "--json", "--"};
    command.insert(command.end(), program.begin(), program.end());
    return last_line(run(command).out);
  };
  const json of_opencl = estimated(opencl);
  const json of_hip = estimated(hip);
  const json of_same_code = estimated(hip_same_code);
  const json bytes_of_opencl = counted(opencl);
  const json bytes_of_hip = counted(hip);
  for (const std::string name : {"stream_add", "reduce", "transpose"}) {
    const double reference = joules(of_opencl, name);
    EXPECT_GT(reference, 1e-7) << name;
    EXPECT_NEAR(joules(of_same_code, name) / reference, 1, 1e-4) << name;
    EXPECT_NEAR(joules(of_hip, name) / reference, 1, 0.01) << name;
    const json hip_bytes = kernel_of(bytes_of_hip, name);
    const json opencl_bytes = kernel_of(bytes_of_opencl, name);
    for (const std::string bytes : {"l1_l2_bytes", "l2_memory_write_bytes"}) {
      EXPECT_EQ(hip_bytes[bytes], opencl_bytes[bytes]) << name << " " << bytes;
    }
    constexpr double kArgumentsBytes = 2 * 64;  // at most: OpenCL's arguments and dispatch packet
    EXPECT_NEAR(hip_bytes["l2_memory_read_bytes"].get<double>(),
                opencl_bytes["l2_memory_read_bytes"].get<double>(), kArgumentsBytes)
        << name;
  }
}

TEST(Driver, WritesCountersByItsEnvironmentAlone) {
  TemporaryFolder folder;
  const auto csv = folder.path() / "out.csv";
  const auto finished =
      run({saxpy()}, {{"OCL_ICD_VENDORS", driver()}, {"WIREWATT_COUNTERS", csv.string()}});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  expect_saxpys_arithmetic(counters(csv));
  const auto refused =
      run({saxpy()}, {{"OCL_ICD_VENDORS", driver()}, {"WIREWATT_TRACE", "/nowhere/out.wwt"}});
  EXPECT_NE(refused.exit_code, 0);
  EXPECT_NE(refused.err.find("/nowhere"), std::string::npos) << refused.err;
}

TEST(Trace, DumpsExportsAndImports) {
  TemporaryFolder folder;
  const auto path = [&](const char* name) { return (folder.path() / name).string(); };
  ASSERT_EQ(run({wirewatt(), "run", "--trace", path("a.wwt"), "--", saxpy()}).exit_code, 0);
  const auto dumped = run({wirewatt(), "trace", "dump", path("a.wwt"), "--top", "2"});
  EXPECT_EQ(dumped.exit_code, 0) << dumped.err;
  EXPECT_NE(dumped.out.find("launch 0 (dispatch 0): saxpy, 157x1x1 groups of 64x1x1"),
            std::string::npos)
      << dumped.out;
  ASSERT_EQ(run({wirewatt(), "trace", "export", path("a.wwt"), "-o", path("a.csv")}).exit_code, 0);
  const auto csv = content(path("a.csv"));
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 6 * kElements);
  ASSERT_EQ(run({wirewatt(), "trace", "export", path("a.wwt"), "--to", "accelsim", "-o",
                 path("accelsim")})
                .exit_code,
            0);
  // Without -o the file or folder has the input's name, in the folder where the user is.
  const auto here = folder.path() / "here";
  std::filesystem::create_directory(here);
  const auto exported_here = [&](const std::string& more) {
    return run({"sh", "-c",
                "cd '" + here.string() + "' && exec " + wirewatt() + " trace export ../a.wwt" +
                    more})
        .exit_code;
  };
  ASSERT_EQ(exported_here(""), 0);
  EXPECT_EQ(content(here / "a.csv"), csv);
  ASSERT_EQ(exported_here(" --to accelsim"), 0);
  EXPECT_TRUE(std::filesystem::exists(here / "a.traces/kernelslist.g"));

  const auto back = run({wirewatt(), "trace", "import", path("accelsim/kernelslist.g"), "-o",
                         path("b.wwt"), "--json"});
  ASSERT_EQ(back.exit_code, 0) << back.err;
  EXPECT_EQ(back.json()["accesses"], 6 * kElements);
  EXPECT_EQ(back.json()["stored_bytes"], 2 * kElements * 4);

  const auto truncated = path("c.wwt");
  const auto bytes = content(path("a.wwt"));
  std::ofstream(truncated, std::ios::binary) << bytes.substr(0, bytes.size() / 2);
  const auto refused = run({wirewatt(), "trace", "info", truncated});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_NE(refused.err.find("truncated"), std::string::npos) << refused.err;
}

// The program may well end well: its driver alone could not write.
TEST(Run, CountersThatAFullDiskTookAreAnError) {
  TemporaryFolder folder;
  const Mounted small(folder.path() / "small");
  if (!small.there()) {
    GTEST_SKIP() << "no file system can be mounted here: " << std::strerror(small.error());
  }
  const auto counters_file = (folder.path() / "small" / "out.csv").string();
  const std::vector<std::string> command{wirewatt(),    "run", "--counters",
                                         counters_file, "--",  saxpy()};
  EXPECT_EQ(run(command).exit_code, 0);
  std::filesystem::remove(counters_file);
  std::ofstream(folder.path() / "small" / "other") << std::string(std::size_t{1} << 20, 'x');
  const auto full = run(command);
  EXPECT_EQ(full.exit_code, 3) << full.err;
  EXPECT_NE(full.err.find("no counters: the disk is full"), std::string::npos) << full.err;
  EXPECT_FALSE(std::filesystem::exists(counters_file));
}

}  // namespace
}  // namespace ww::e2e
