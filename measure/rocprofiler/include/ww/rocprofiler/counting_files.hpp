// How a program that is counted from inside and the one that started it exchange facts: variables
// of the environment, a table of rows and a note, one of each for every process.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ww/core/result.hpp"

namespace ww::rocprofiler {

// The folder for the files; without it the tool library does nothing.
inline constexpr const char* kFolderVariable = "WIREWATT_COUNT_FOLDER";
// The counters of this run, with blanks between: "TCC_EA_RDREQ_sum TCP_TCC_READ_REQ_sum".
inline constexpr const char* kCountersVariable = "WIREWATT_COUNT_SET";

// A regular expression of the names of kernels whose launches are counted; without it, all are.
inline constexpr const char* kKernelsVariable = "WIREWATT_COUNT_KERNELS";
// NVIDIA's cards: how a process says that none of its kernels has such a name.
inline constexpr const char* kNoKernelMatches = "no kernel matches";

// NVIDIA's cards: the file of CUPTI that the injected library loads.
inline constexpr const char* kCuptiVariable = "WIREWATT_COUNT_CUPTI";

// Either each launch is counted, or the whole device while the program runs.
inline constexpr const char* kModeVariable = "WIREWATT_COUNT";
inline constexpr const char* kDeviceMode = "device";  // else launches
// Milliseconds between two samples of the device.
inline constexpr const char* kIntervalVariable = "WIREWATT_COUNT_INTERVAL";
// The tool library's only symbol. A program that measures a stretch of itself calls it as well,
// with kSampleRequest where the SDK gives its release: the device is sampled, and what is returned
// is not null once the rows are there.
inline constexpr const char* kToolEntry = "rocprofiler_configure";
inline constexpr const char* kSampleRequest = "wirewatt: sample the device";

// Rows are in the folder as PROCESS.part while the program runs, and as PROCESS.csv once it ended.
inline constexpr const char* kUnfinished = ".part";
inline constexpr const char* kFinished = ".csv";
inline constexpr const char* kNote = ".json";

// rocprofv3's table of counters, and how many instances of a counter each value is the sum of.
inline constexpr const char* kInstancesColumn = "Instances";
inline constexpr const char* kRowHeader =
    "\"Correlation_Id\",\"Dispatch_Id\",\"Agent_Id\",\"Queue_Id\",\"Process_Id\",\"Thread_Id\","
    "\"Grid_Size\",\"Kernel_Id\",\"Kernel_Name\",\"Workgroup_Size\",\"LDS_Block_Size\","
    "\"Scratch_Size\",\"Counter_Name\",\"Counter_Value\",\"Start_Timestamp\",\"End_Timestamp\","
    "\"Instances\"\n";

// The table of a device: what it counted from one sample to the next, a line for each. The names of
// the counters follow, as WIREWATT_COUNT_SET has them; one that is not counted has an empty field.
inline constexpr const char* kDeviceHeader = "Agent_Id,Begin_Ns,End_Ns";

struct CountedAgent {
  std::string id;                              // as in the rows: "Agent 4"
  std::string pci;                             // "0000:03:00.0"
  std::string part;                            // "gfx90a"
  std::string description;                     // "gfx90a, AMD Instinct MI210, PCI 0000:03:00.0"
  std::map<std::string, std::string> missing;  // counter: why it is not counted
  // Counters for which the hardware had no place beside the others.
  std::vector<std::string> crowded_out;
};

// One process's account of itself, written when counting begins and again at the end.
struct CountingNote {
  std::uint32_t version{};   // of the SDK
  std::string rocm_release;  // empty: not known
  std::string library;       // the SDK's file
  std::vector<CountedAgent> agents;
  std::string refusal;       // why nothing is counted; empty: it is
  std::string metrics_path;  // ROCPROFILER_METRICS_PATH, whose definitions then hold
  bool finished{};
  bool slept{};  // the machine did, so that times of day do not fit the sensors' clock
  std::uint64_t dispatches{};         // that were to be counted
  std::uint64_t records{};            // of them that came
  std::vector<std::string> left_out;  // some kernels that were not to be counted
  // Counts of a device that is sampled.
  std::uint64_t samples{};   // that came whole
  std::uint64_t partial{};   // that lacked instances, so that the next one has their counts
  std::uint64_t restarts{};  // counters that fell, so that an interval is lost
  std::string trouble;       // why the last sample failed; empty: it did not
  double cpu_s{};            // of the thread that samples
};
[[nodiscard]] std::string to_text(const CountingNote& note);
// Error parse_error: not a note of this release.
[[nodiscard]] Result<CountingNote> parse_note(const std::string& text, const std::string& source);

}  // namespace ww::rocprofiler
