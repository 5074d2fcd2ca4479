// Counter files of the vendors' profilers: rocprof v1 (also as rocprofiler-compute joins its
// passes), the wide form of rocprofv2, rocprofv3's long form, its kernel trace and its database
// (rocpd), and Nsight Compute's --csv (details and --page raw).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ww/core/result.hpp"

namespace ww::measure {

enum class CounterForm {
  rocprof_v1,
  rocprof_v2,
  rocprof_v3,
  rocprof_v3_kernel_trace,  // times only
  rocpd,
  ncu_details,
  ncu_raw,
};
[[nodiscard]] std::string_view to_string(CounterForm form);

struct CounterDispatch {
  std::uint64_t id{};
  std::string kernel;                 // without the profiler's "[clone .kd]", "(.kd)" or ".kd"
  std::string agent;                  // as the file names it: "2", "Agent 1"; "0" is ncu's device
  std::string process;                // its number, where the file gives it
  std::string queue;                  // its number, where the file gives it
  std::optional<double> grid_size;    // work-items
  std::optional<double> duration_ns;  // absent where the file's times cannot be used
  // When it began, in the file's clock. Absent where the duration is, and in ncu's files.
  std::optional<std::int64_t> start_ns;
  std::string duration_reason;  // why it is absent
  double cut_ns{};              // the file's end lay so much later: see cut_late_ends()
  // Counters by the profiler's names: sums ("TCC_HIT_sum") and instances ("TCC_HIT[3]") as they
  // stand; ncu's in base units (byte, ns, hz).
  std::map<std::string, double> counters;
  std::map<std::string, std::string> missing;  // counter that the file leaves empty: why
  std::map<std::string, std::string> remarks;  // counter: what to know about its value
  std::map<std::string, std::string> texts;    // ncu: values that are words
  // Why the profiler seems not to have counted this launch; its counters are then in `missing`.
  std::string uncounted;
};

struct CounterFile {
  CounterForm form{};
  std::string source;
  std::string architecture;                 // "gfx90a", "sm_80"; empty where the file does not say
  std::vector<CounterDispatch> dispatches;  // by process, agent and id
};

// Errors: parse_error with source and line (not a table, fields missing, no number where one
// belongs), bad_data (two decimal marks in one file, one dispatch or counter twice),
// unsupported (a file of another kind, by name), permission_denied (ncu was refused the counters).
[[nodiscard]] Result<CounterFile> parse_counter_file(std::string_view text,
                                                     const std::string& source);

// Reads and parses a counter file: a table, or rocprofv3's database. The architecture may also come
// from a sysinfo.csv in the same folder, which rocprofiler-compute leaves there; `architecture` is
// that of files that name none. Errors: those of parse_counter_file, io_error.
[[nodiscard]] Result<CounterFile> read_counter_file(const std::string& path,
                                                    std::string_view architecture = {});

// Joins sets of launches (of a process, or of a file) that are passes of one another: the same
// launches in the same order, of which each set has counters that the other lacks. A counter that
// several passes have gets their mean, with a remark where they differ. Joined launches have no
// times, because each pass has its own.
void join_passes(std::vector<std::vector<CounterDispatch>>& sets);

// Cuts launches that end after the next one of their queue begins. A profiler that counts launches
// one by one lets no two of a queue overlap, but some ends are late, by nanoseconds or by seconds.
// Launches without counters or without a queue, and the virtual GPU's, stay as they are.
void cut_late_ends(std::vector<CounterDispatch>& dispatches);

// The device as rocprofiler-compute's sysinfo.csv describes it.
struct SystemInfo {
  std::string architecture;    // gpu_arch, in old files gpu_soc
  std::optional<double> xcds;  // dies; old files have none
  std::optional<double> l2_channels;
  std::optional<double> l2_kib;  // of all dies: gfx942 files give it per die or in all
};
[[nodiscard]] Result<SystemInfo> parse_system_info(std::string_view text,
                                                   const std::string& source);

// A counter's total in a dispatch: NAME_sum, else the sum of NAME[0], NAME[1]... without a gap,
// else NAME. Absent if the file has none of them.
[[nodiscard]] std::optional<double> counter_total(const CounterDispatch& dispatch,
                                                  const std::string& name);

// A counter whose sum differs from that of its instances, because they come from different passes
// of the profiler, that is, from different runs of the kernel.
struct PassDisagreement {
  std::string counter;  // "TCC_READ"
  double sum{};
  double instances{};  // their sum
  [[nodiscard]] double relative() const { return sum == 0 ? 0 : (instances - sum) / sum; }
};
[[nodiscard]] std::vector<PassDisagreement> pass_disagreements(const CounterDispatch& dispatch);

// Core cycles that a dispatch took, for files without usable times: TCC_CYCLE per L2 channel
// (GRBM_GUI_ACTIVE is summed over dies). Absent if the counters are.
[[nodiscard]] std::optional<double> elapsed_cycles(const CounterDispatch& dispatch);

}  // namespace ww::measure
