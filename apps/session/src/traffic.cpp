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

#include "ww/measure/counter_map.hpp"

namespace ww::session {
namespace {

using measure::CounterDispatch;
using measure::SegmentBytes;
using model::KernelTraffic;
using model::SegmentTraffic;
using model::WireActivity;

const SegmentBytes& segment(const std::vector<SegmentBytes>& all, measure::Segment which) {
  return *std::ranges::find(all, which, &SegmentBytes::segment);
}

void note(std::string& text, const std::string& more) {
  if (more.empty() || text.find(more) != std::string::npos) return;
  if (!text.empty()) text += "; ";
  text += more;
}

// A segment without a figure in one dispatch has none for the kernel.
struct Sum {
  double bytes{};
  double upper{};
  bool known{true};
  bool bounded{true};
  bool at_least{};
  std::string reason;

  void add(const SegmentBytes& part) {
    known = known && part.bytes.has_value();
    bounded = bounded && (part.bytes || part.upper_bytes);
    bytes += part.bytes.value_or(0);
    upper += part.bytes.value_or(part.upper_bytes.value_or(0));
    at_least = at_least || part.quality == measure::MapQuality::lower_bound;
    note(reason, part.reason);
    if (part.quality == measure::MapQuality::unchecked && part.bytes) {
      note(reason, std::string(measure::kUncheckedBytes));
    }
  }
  [[nodiscard]] SegmentTraffic traffic() const {
    SegmentTraffic result;
    result.reason = reason;
    if (known) {
      result.bytes = bytes;
      result.at_least = at_least;
    } else if (bounded) {
      result.upper_bytes = upper;
    }
    return result;
  }
};

std::optional<double> counter(const CounterDispatch& dispatch, const char* name) {
  return measure::counter_total(dispatch, name);
}

// What a bundle's wires did; with `times_length` each event times the length of its wires.
void add_wires(std::optional<WireActivity>& sum, const CounterDispatch& dispatch,
               const std::string& bundle, double slots, bool times_length) {
  const auto value = [&](const char* event, const char* events) {
    return counter(dispatch, ("WW_" + bundle + (times_length ? event : events)).c_str());
  };
  const auto toggles = value("_TOGGLE_MM", "_TOGGLES");
  const auto adjacent = value("_ADJACENT_MM", "_ADJACENT");
  const auto opposite = value("_OPPOSITE_MM", "_OPPOSITE");
  if (!toggles || !adjacent || !opposite) return;
  if (!sum) sum.emplace();
  *sum += {slots, *toggles, *adjacent, *opposite};
}

struct KernelSum {
  std::uint64_t dispatches{};
  double time_s{};
  bool timed{true};
  std::string time_reason;
  std::array<Sum, 3> segments;
  std::array<std::optional<WireActivity>, 3> wires;
  std::optional<WireActivity> legs;
  std::optional<WireActivity> trunks_mm;
  std::optional<WireActivity> legs_mm;
  double register_bits{};
  bool register_monitor{true};
  double xbar_bits{};
  double xbar_bit_mm{};

  void add(const CounterDispatch& dispatch, const std::string& architecture) {
    using enum measure::Segment;
    ++dispatches;
    if (dispatch.duration_ns) {
      time_s += *dispatch.duration_ns * 1e-9;
    } else {
      timed = false;
      note(time_reason,
           dispatch.duration_reason.empty() ? "the file has no times" : dispatch.duration_reason);
    }
    const auto bytes = measure::segment_bytes(architecture, dispatch);
    segments[0].add(segment(bytes, registers_l1));
    segments[1].add(segment(bytes, l1_l2));
    const SegmentBytes& read = segment(bytes, l2_memory_read);
    SegmentBytes write = segment(bytes, l2_memory_write);
    // A bound of both ways together must not be added twice.
    if (read.upper_is_of_both && write.upper_is_of_both && !write.bytes) write.upper_bytes = 0;
    segments[2].add(read);
    segments[2].add(write);
    const auto known = [&](const char* name) { return counter(dispatch, name).value_or(0); };
    const double slots = known("WW_XBAR_SLOT_BITS");
    const double bit_mm = known("WW_XBAR_BIT_MM");
    const double leg_bit_mm = known("WW_LEG_BIT_MM");
    add_wires(wires[1], dispatch, "TRUNK", slots, false);
    add_wires(legs, dispatch, "LEG", slots, false);
    add_wires(wires[2], dispatch, "MEMORY", known("WW_MEMORY_SLOT_BITS"), false);
    add_wires(trunks_mm, dispatch, "TRUNK", bit_mm - leg_bit_mm, true);
    add_wires(trunks_mm, dispatch, "CONTROL", 0, true);
    add_wires(legs_mm, dispatch, "LEG", leg_bit_mm, true);
    if (const auto registers = counter(dispatch, "WW_REGISTER_BYTES")) {
      register_bits += 8 * *registers;
    } else {
      register_monitor = false;
    }
    xbar_bits += known("WW_XBAR_BITS");
    xbar_bit_mm += bit_mm;
  }

  [[nodiscard]] KernelTraffic traffic(const std::string& name) const {
    KernelTraffic result;
    result.kernel = name;
    result.dispatches = dispatches;
    if (timed) result.time_s = time_s;
    result.time_reason = time_reason;
    for (std::size_t s = 0; s < segments.size(); ++s) {
      result.segments[s] = segments[s].traffic();
      result.segments[s].wires = wires[s];
    }
    if (wires[1]) {
      result.trunks_mm = trunks_mm;
      result.legs_mm = legs_mm;
      // Partial lines: the monitors count payload, the cache lookups whole lines.
      result.segments[1].bytes = xbar_bits / 8;
      result.segments[1].at_least = false;
      result.segments[1].reason.clear();
      if (wires[1]->slot_bits > 0 && xbar_bit_mm > 0) {
        result.l1_l2_mm = xbar_bit_mm / wires[1]->slot_bits;
      }
    }
    if (register_monitor) {
      result.segments[0].bytes = register_bits / 8;
      result.segments[0].at_least = false;
      result.segments[0].upper_bytes.reset();
      result.segments[0].reason.clear();
      if (legs && xbar_bits > 0) {
        // The values themselves are not seen: a bit toggles as those that came by the crossbar do.
        const double scale = register_bits / xbar_bits;
        result.segments[0].wires = WireActivity{0, legs->toggles * scale, 0, 0};
        result.segments[0].reason = "toggles as on the way to the L1, neighbours unknown";
      }
    }
    return result;
  }
};

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
    kernels[dispatch.kernel].add(dispatch, architecture);
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

std::map<std::string, model::IoDieBytes> count_io_dies(
    std::span<const CounterDispatch> dispatches) {
  std::map<std::string, model::IoDieBytes> of_kernel;
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
    model::IoDieBytes& sum = of_kernel[dispatch.kernel];
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

Result<CountedDispatches> read_dispatches(const std::vector<std::string>& files,
                                          const std::string& architecture) {
  WW_TRY(refuse_twice(files));
  std::string named;
  std::string common;
  std::optional<double> busy_s = 0;
  std::vector<CounterDispatch> dispatches;
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
    const auto busy_of_file = busy_seconds(file.dispatches);
    busy_s = busy_s && busy_of_file ? std::optional(*busy_s + *busy_of_file) : std::nullopt;
    std::ranges::move(file.dispatches, std::back_inserter(dispatches));
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
