// Turns counter files into the traffic of kernels, in the form that the model's estimate takes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ww/calibration/traffic.hpp"
#include "ww/core/result.hpp"
#include "ww/measure/counter_file.hpp"
#include "ww/model/estimate.hpp"

namespace ww::session {

struct CountedTraffic {
  std::vector<model::KernelTraffic> kernels;
  std::string architecture;
  std::size_t dispatches{};
  std::map<std::string, double> totals;  // of every counter, over all dispatches
  bool is_virtual{};  // the virtual GPU counted some: it alone has counters WW_...
};

// Adds up the counters of dispatches by kernel. `architecture` says how to read them. A counter
// that some launches of a kernel and grid lack gets the mean of those that have it, and the segment
// is marked as scaled. Launches that the profiler did not count are left out, if others of the
// kernel were counted, and the bytes are a lower bound. Error bad_data: no dispatch.
[[nodiscard]] Result<CountedTraffic> count_traffic(
    std::span<const measure::CounterDispatch> dispatches, const std::string& architecture);

// Bytes behind the L2s by the links that they took, by kernel, of the kernels of which every
// dispatch has the monitors: the virtual GPU alone has them.
[[nodiscard]] std::map<std::string, calibration::IoDieBytes> count_io_dies(
    std::span<const measure::CounterDispatch> dispatches);

struct CountedDispatches {
  std::vector<measure::CounterDispatch> dispatches;
  std::string architecture;
  // The name in the files, or in a sysinfo.csv beside them; empty where none has one.
  std::string named_architecture;
  // While any launch ran: less than the sum of their lengths where they overlap. Launches of one
  // process share a clock. Absent unless all of them have their times.
  std::optional<double> busy_s;
};

// From the first launch's start to the last end. Launches without times are left out; absent where
// no launch has times.
struct LaunchSpan {
  std::int64_t start_ns{}, end_ns{};
};
[[nodiscard]] std::optional<LaunchSpan> launch_span(
    std::span<const measure::CounterDispatch> dispatches);

// Dispatches of one run, as a profiler gave them.
[[nodiscard]] CountedDispatches counted_dispatches(std::vector<measure::CounterDispatch> dispatches,
                                                   const std::string& architecture);

// Reads profilers' counter files. Files that are passes of one program are joined. `architecture`
// is used if the files name none. Errors: those of reading, bad_data (files of different
// architectures), invalid_argument (a file given twice, or one without counters beside others).
[[nodiscard]] Result<CountedDispatches> read_dispatches(const std::vector<std::string>& files,
                                                        const std::string& architecture);

// Reads profilers' counter files and adds the dispatches up by kernel. `architecture` is used if
// the file names none. Errors: those of read_dispatches, bad_data (no dispatch).
[[nodiscard]] Result<CountedTraffic> read_traffic(const std::vector<std::string>& files,
                                                  const std::string& architecture);

}  // namespace ww::session
