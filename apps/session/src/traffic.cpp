#include "ww/session/traffic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <system_error>

#include "kernel_sum.hpp"

namespace ww::session {
namespace {

using measure::CounterDispatch;

// A virtual chip's counter file does not name its generation, but from gfx9 on the memory side is
// EA.
std::string generation_of(const CounterDispatch& dispatch) {
  return dispatch.counters.contains("TCC_EA_RDREQ_sum") ? "gfx900" : "gfx701";
}

}  // namespace

Result<CountedTraffic> count_traffic(std::span<const CounterDispatch> dispatches,
                                     const std::string& architecture) {
  CountedTraffic result;
  result.architecture = architecture;
  std::map<std::string, KernelSum> kernels;
  for (const auto& dispatch : dispatches) {
    kernels.try_emplace(dispatch.kernel, architecture).first->second.add(dispatch);
    for (const auto& [counter, value] : dispatch.counters) {
      result.totals[counter] += value;
      result.is_virtual = result.is_virtual || counter.starts_with("WW_");
    }
    ++result.dispatches;
  }
  if (kernels.empty()) return fail(ErrorCode::bad_data, "no dispatch was counted");
  for (const auto& [name, sum] : kernels) {
    result.kernels.push_back(sum.traffic(name));
  }
  return result;
}

namespace {

// Over all links, both ways; nothing on a device without such links.
std::optional<double> xgmi_bytes(const CounterDispatch& dispatch) {
  std::optional<double> sum;
  for (const char* name :
       {"WW_XGMI_LINK0_READ_BYTES", "WW_XGMI_LINK1_READ_BYTES", "WW_XGMI_LINK2_READ_BYTES",
        "WW_XGMI_LINK3_READ_BYTES", "WW_XGMI_LINK0_WRITE_BYTES", "WW_XGMI_LINK1_WRITE_BYTES",
        "WW_XGMI_LINK2_WRITE_BYTES", "WW_XGMI_LINK3_WRITE_BYTES"}) {
    if (const auto bytes = counter(dispatch, name)) sum = sum.value_or(0) + *bytes;
  }
  return sum;
}

}  // namespace

std::map<std::string, calibration::IoDieBytes> count_io_dies(
    std::span<const CounterDispatch> dispatches) {
  std::map<std::string, calibration::IoDieBytes> of_kernel;
  std::set<std::string> uncounted;
  for (const CounterDispatch& dispatch : dispatches) {
    if (const auto crossed = xgmi_bytes(dispatch)) {
      of_kernel[dispatch.kernel].xgmi += *crossed;
      continue;
    }
    const auto own = counter(dispatch, "WW_IO_DIE_OWN_BYTES");
    const auto row = counter(dispatch, "WW_IO_DIE_ROW_BYTES");
    const auto column = counter(dispatch, "WW_IO_DIE_COLUMN_BYTES");
    const auto across = counter(dispatch, "WW_IO_DIE_ACROSS_BYTES");
    const auto memory = counter(dispatch, "WW_MEMORY_STACK_BYTES");
    if (!own || !row || !column || !across || !memory) {
      uncounted.insert(dispatch.kernel);
      continue;
    }
    calibration::IoDieBytes& sum = of_kernel[dispatch.kernel];
    sum.own += *own;
    sum.row += *row;
    sum.column += *column;
    sum.across += *across;
    sum.memory += *memory;
  }
  std::erase_if(of_kernel, [&](const auto& entry) { return uncounted.contains(entry.first); });
  return of_kernel;
}

namespace {

// The dispatches of a file that is given twice would count twice.
Status refuse_twice(const std::vector<std::string>& files) {
  std::set<std::filesystem::path> seen;
  for (const auto& name : files) {
    std::error_code ignored;
    const auto path = std::filesystem::weakly_canonical(name, ignored);
    if (!seen.insert(path.empty() ? std::filesystem::path(name) : path).second) {
      return fail(ErrorCode::invalid_argument, "is given twice; its dispatches would count twice",
                  name);
    }
  }
  return {};
}

// While any launch of a file ran, process by process; nothing where one has no times.
std::optional<double> busy_seconds(std::span<const CounterDispatch> dispatches) {
  using Launch = std::pair<std::int64_t, std::int64_t>;  // start and end [ns]
  std::map<std::string, std::vector<Launch>> processes;
  for (const auto& dispatch : dispatches) {
    if (!dispatch.start_ns || !dispatch.duration_ns) return std::nullopt;
    processes[dispatch.process].emplace_back(
        *dispatch.start_ns, *dispatch.start_ns + std::llround(*dispatch.duration_ns));
  }
  std::int64_t busy_ns = 0;
  for (auto& [process, launches] : processes) {
    std::ranges::sort(launches);
    std::int64_t until_ns = std::numeric_limits<std::int64_t>::min();
    for (const auto& [start_ns, end_ns] : launches) {
      busy_ns += std::max<std::int64_t>(0, end_ns - std::max(start_ns, until_ns));
      until_ns = std::max(until_ns, end_ns);
    }
  }
  return static_cast<double>(busy_ns) * 1e-9;
}

}  // namespace

std::optional<LaunchSpan> launch_span(std::span<const CounterDispatch> dispatches) {
  std::optional<LaunchSpan> span;
  for (const auto& dispatch : dispatches) {
    if (!dispatch.start_ns || !dispatch.duration_ns) continue;
    const std::int64_t start_ns = *dispatch.start_ns;
    const std::int64_t end_ns = start_ns + std::llround(*dispatch.duration_ns);
    if (!span) span = LaunchSpan{start_ns, end_ns};
    span->start_ns = std::min(span->start_ns, start_ns);
    span->end_ns = std::max(span->end_ns, end_ns);
  }
  return span;
}

CountedDispatches counted_dispatches(std::vector<CounterDispatch> dispatches,
                                     const std::string& architecture) {
  const auto busy_s = busy_seconds(dispatches);
  return {std::move(dispatches), architecture, architecture, busy_s};
}

Result<CountedDispatches> read_dispatches(const std::vector<std::string>& files,
                                          const std::string& architecture) {
  WW_TRY(refuse_twice(files));
  std::string named;
  std::string common;
  std::vector<std::vector<CounterDispatch>> sets;
  for (const auto& name : files) {
    WW_ASSIGN(file, measure::read_counter_file(name, architecture));
    std::string here = file.architecture.empty() ? architecture : file.architecture;
    if (named.empty()) named = file.architecture;
    if (file.architecture.empty() && here == "gfx701" && !file.dispatches.empty()) {
      here = generation_of(file.dispatches.front());
    }
    if (!common.empty() && here != common) {
      return fail(ErrorCode::bad_data,
                  fmt::format("is of {}, the files before it of {}", here, common), name);
    }
    common = here;
    if (file.form == measure::CounterForm::rocprof_v3_kernel_trace && files.size() > 1) {
      return fail(ErrorCode::invalid_argument,
                  "is a trace of kernels, without counters: leave it out, counter files have times "
                  "of their own",
                  name);
    }
    sets.push_back(std::move(file.dispatches));
  }
  // Files of one program may be passes: the same launches with other counters.
  measure::join_passes(sets);
  std::optional<double> busy_s = 0;
  std::vector<CounterDispatch> dispatches;
  for (auto& set : sets) {
    const auto busy_of_set = busy_seconds(set);
    busy_s = busy_s && busy_of_set ? std::optional(*busy_s + *busy_of_set) : std::nullopt;
    std::ranges::move(set, std::back_inserter(dispatches));
  }
  return CountedDispatches{std::move(dispatches), std::move(common), std::move(named), busy_s};
}

Result<CountedTraffic> read_traffic(const std::vector<std::string>& files,
                                    const std::string& architecture) {
  WW_ASSIGN(read, read_dispatches(files, architecture));
  auto result = count_traffic(read.dispatches, read.architecture);
  if (!result) result.error().context = files.empty() ? "" : files.front();
  return result;
}

}  // namespace ww::session
