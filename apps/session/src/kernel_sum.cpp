#include "kernel_sum.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>

namespace ww::session {
namespace {

using measure::CounterDispatch;
using measure::Segment;
using measure::SegmentBytes;
using model::KernelTraffic;
using model::SegmentTraffic;
using model::WireActivity;
using Launches = std::vector<const CounterDispatch*>;

constexpr double kNs = 1e-9;

// Adds the parts of `more` that the text does not have yet: reads and writes share some.
void note(std::string& text, std::string_view more) {
  constexpr std::string_view kBetween = "; ";
  while (!more.empty()) {
    const std::string_view part = more.substr(0, more.find(kBetween));
    more.remove_prefix(std::min(more.size(), part.size() + kBetween.size()));
    if (part.empty() || text.find(part) != std::string::npos) continue;
    if (!text.empty()) text += kBetween;
    text += part;
  }
}

// Bytes of launches on a segment. A segment without a figure in one launch has none for all.
struct Sum {
  double bytes{};
  double upper{};
  bool known{true};
  bool bounded{true};
  bool at_least{};
  bool scaled{};
  std::string reason;

  void add(const SegmentBytes& part, double launches) {
    known = known && part.bytes.has_value();
    bounded = bounded && (part.bytes || part.upper_bytes);
    bytes += launches * part.bytes.value_or(0);
    upper += launches * part.bytes.value_or(part.upper_bytes.value_or(0));
    at_least = at_least || part.quality == measure::MapQuality::lower_bound;
    note(reason, part.reason);
    if (part.quality == measure::MapQuality::unchecked && part.bytes) {
      note(reason, std::string(measure::kUncheckedBytes));
    }
  }
  void add(const Sum& other) {
    known = known && other.known;
    bounded = bounded && other.bounded;
    bytes += other.bytes;
    upper += other.upper;
    at_least = at_least || other.at_least;
    scaled = scaled || other.scaled;
    note(reason, other.reason);
  }
};

// The profilers' segments that make up each of the model's.
constexpr std::array kRegisters = {Segment::registers_l1};
constexpr std::array kL1L2 = {Segment::l1_l2};
constexpr std::array kMemory = {Segment::l2_memory_read, Segment::l2_memory_write};
using Parts = std::span<const Segment>;
constexpr std::array<Parts, 3> kParts = {kRegisters, kL1L2, kMemory};
using Sums = std::array<Sum, 3>;

// Adds the bytes of `times` such launches.
void add_launches(Sums& sums, const std::string& architecture, const CounterDispatch& dispatch,
                  double times) {
  const auto all = measure::segment_bytes(architecture, dispatch);
  for (std::size_t s = 0; s < sums.size(); ++s) {
    bool of_both = false;  // a bound of both ways together must not be added twice
    for (const Segment which : kParts[s]) {
      SegmentBytes part = *std::ranges::find(all, which, &SegmentBytes::segment);
      if (of_both && part.upper_is_of_both && !part.bytes) part.upper_bytes = 0;
      of_both = of_both || part.upper_is_of_both;
      sums[s].add(part, times);
    }
  }
}

// Each counter's mean over the launches that have it.
CounterDispatch mean_launch(const Launches& launches) {
  struct Total {
    double sum{}, count{};
  };
  std::map<std::string, Total> totals;
  CounterDispatch mean;
  for (const CounterDispatch* launch : launches) {
    for (const auto& [name, value] : launch->counters) {
      totals[name].sum += value;
      totals[name].count += 1;
    }
    mean.remarks.insert(launch->remarks.begin(), launch->remarks.end());
    mean.texts.insert(launch->texts.begin(), launch->texts.end());
  }
  for (const auto& [name, total] : totals) mean.counters[name] = total.sum / total.count;
  return mean;
}

// The sum over the launches, if all of them count it. AMD counts flat instructions apart from the
// others.
std::optional<double> memory_instructions(const Launches& launches) {
  double sum = 0;
  for (const CounterDispatch* launch : launches) {
    const auto reads = measure::counter_total(*launch, "SQ_INSTS_VMEM_RD");
    const auto writes = measure::counter_total(*launch, "SQ_INSTS_VMEM_WR");
    if (!reads || !writes) return std::nullopt;
    sum += *reads + *writes + measure::counter_total(*launch, "SQ_INSTS_FLAT").value_or(0);
  }
  return launches.empty() ? std::nullopt : std::optional(sum);
}

// Bytes of one of the profilers' segments over the launches, if all of them count it.
std::optional<double> bytes_of(Segment which, const std::string& architecture,
                               const Launches& launches) {
  double sum = 0;
  for (const CounterDispatch* launch : launches) {
    const auto all = measure::segment_bytes(architecture, *launch);
    const auto found = std::ranges::find(all, which, &SegmentBytes::segment);
    if (found == all.end() || !found->bytes) return std::nullopt;
    sum += *found->bytes;
  }
  return launches.empty() ? std::nullopt : std::optional(sum);
}

// The counters of a segment that some launches have and others lack.
struct Multiplexed {
  std::string names;
  std::size_t counted{};  // launches, of the counter that the fewest have
  double spread{};        // of the largest value over the least, beyond 1

  Multiplexed(const std::string& architecture, Parts parts, const Launches& launches) {
    const auto* map = measure::counter_map(architecture);
    if (map == nullptr) return;
    for (const auto& rule : map->rules) {
      if (std::ranges::find(parts, rule.segment) == parts.end()) continue;
      for (const auto& term : rule.terms) look_at(std::string(term.counter), launches);
    }
  }
  void look_at(const std::string& name, const Launches& launches) {
    std::vector<double> values;
    for (const CounterDispatch* launch : launches) {
      if (const auto total = measure::counter_total(*launch, name)) values.push_back(*total);
    }
    if (values.empty() || values.size() == launches.size()) return;
    if (names.find(name) != std::string::npos) return;
    counted = names.empty() ? values.size() : std::min(counted, values.size());
    names += (names.empty() ? "" : ", ") + name;
    const auto [low, high] = std::ranges::minmax(values);
    if (high > 0) spread = std::max(spread, low > 0 ? high / low - 1 : 1.0);
  }
};

// Sums launches of one kernel and grid. Where a profiler counted in turns, the mean stands for
// those that lack a counter.
Sums grid_sums(const std::string& architecture, const Launches& launches) {
  Sums sums;
  for (const CounterDispatch* launch : launches) add_launches(sums, architecture, *launch, 1);
  std::optional<Sums> scaled;
  for (std::size_t s = 0; s < sums.size(); ++s) {
    if (sums[s].known) continue;
    const Multiplexed turns(architecture, kParts[s], launches);
    if (turns.names.empty()) continue;
    if (!scaled) {
      add_launches(scaled.emplace(), architecture, mean_launch(launches),
                   static_cast<double>(launches.size()));
    }
    Sum& mean = (*scaled)[s];
    if (!mean.known && (sums[s].bounded || !mean.bounded)) {
      note(sums[s].reason, mean.reason);
      continue;
    }
    constexpr double kAlike = 0.05;
    sums[s] = std::move(mean);
    sums[s].scaled = true;
    note(sums[s].reason,
         fmt::format("{} of {} launches alike lack {}, as where a profiler counts in turns: the "
                     "mean of the others stands for them{}",
                     launches.size() - turns.counted, launches.size(), turns.names,
                     turns.spread > kAlike
                         ? fmt::format(", though they differ by up to {:.0f}%", 100 * turns.spread)
                         : ""));
  }
  return sums;
}

std::map<double, Launches> by_grid(const Launches& launches) {
  std::map<double, Launches> grids;
  for (const CounterDispatch* launch : launches) {
    grids[launch->grid_size.value_or(0)].push_back(launch);
  }
  return grids;
}

std::string shown_time(double ns) {
  return ns < 1e6   ? fmt::format("{:.3g} us", ns * 1e-3)
         : ns < 1e9 ? fmt::format("{:.3g} ms", ns * 1e-6)
                    : fmt::format("{:.3g} s", ns * kNs);
}

// Ends beyond the next begin that are no noise of the clock's.
std::string late_ends(const Launches& launches) {
  constexpr double kNoise_ns = 100;
  constexpr double kNoise = 0.01;
  std::size_t late = 0;
  double latest_ns = 0;
  for (const CounterDispatch* launch : launches) {
    if (launch->cut_ns <= std::max(kNoise_ns, kNoise * launch->duration_ns.value_or(0))) continue;
    ++late;
    latest_ns = std::max(latest_ns, launch->cut_ns);
  }
  if (late == 0) return {};
  return fmt::format(
      "{} of {} launches end after the next one of their queue begins, by up to {}, which a "
      "profiler that counts them one by one cannot have seen: they are cut there",
      late, launches.size(), shown_time(latest_ns));
}

// A launch that lasts so much longer than those like it that its end may be wrong.
std::string stray_length(const Launches& launches) {
  constexpr double kStray = 100;  // times the median
  constexpr std::size_t kFewest = 3;
  for (const auto& [grid, alike] : by_grid(launches)) {
    std::vector<double> lengths;
    for (const CounterDispatch* launch : alike) {
      if (launch->duration_ns) lengths.push_back(*launch->duration_ns);
    }
    if (lengths.size() < kFewest) continue;
    const auto middle = lengths.begin() + std::ssize(lengths) / 2;
    std::ranges::nth_element(lengths, middle);
    const double median = *middle;
    const double longest = std::ranges::max(lengths);
    if (longest <= kStray * median) continue;
    return fmt::format(
        "one of {} launches alike lasts {}, {:.0f} times their median: is its end "
        "right?",
        lengths.size(), shown_time(longest), longest / median);
  }
  return {};
}

// Adds a bundle's wire events; with `times_length` each event times the length of its wires.
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

}  // namespace

std::optional<double> counter(const CounterDispatch& dispatch, const char* name) {
  return measure::counter_total(dispatch, name);
}

void KernelSum::add(const CounterDispatch& dispatch) {
  launches_.push_back(&dispatch);
  monitors_.add(dispatch);
}

Launches KernelSum::counted_launches() const {
  Launches counted;
  std::ranges::copy_if(launches_, std::back_inserter(counted),
                       [](const CounterDispatch* launch) { return launch->uncounted.empty(); });
  return counted;
}

void KernelSum::put_bytes(KernelTraffic& result) const {
  const Launches counted = counted_launches();
  // Nothing but uncounted launches: their reason becomes the segments'.
  const Launches& launches = counted.empty() ? launches_ : counted;
  Sums sums;
  for (const auto& [grid, alike] : by_grid(launches)) {
    const Sums more = grid_sums(architecture_, alike);
    for (std::size_t s = 0; s < sums.size(); ++s) sums[s].add(more[s]);
  }
  std::string left_out;
  if (launches.size() < launches_.size()) {
    const auto blind =
        std::ranges::find_if(launches_, [](const auto* one) { return !one->uncounted.empty(); });
    left_out = fmt::format("{} of {} launches are left out: {}", launches_.size() - launches.size(),
                           launches_.size(), (*blind)->uncounted);
  }
  for (std::size_t s = 0; s < sums.size(); ++s) {
    Sum& sum = sums[s];
    SegmentTraffic& segment = result.segments[s];
    if (sum.known) {
      segment.bytes = sum.bytes;
      segment.at_least = sum.at_least || !left_out.empty();
      segment.scaled = sum.scaled;
    } else if (sum.bounded && left_out.empty()) {
      segment.upper_bytes = sum.upper;
    } else if (const Multiplexed turns(architecture_, kParts[s], launches); !turns.names.empty()) {
      note(sum.reason, fmt::format("{} of {} launches of this kernel have {}: where a profiler "
                                   "counts in turns, every grid size needs each of its turns",
                                   turns.counted, launches.size(), turns.names));
    }
    if (!monitors_.any && (segment.bytes == 0.0 || segment.upper_bytes == 0.0)) {
      note(sum.reason, "its counters are all 0: nothing moved here, or they were not on");
    }
    note(sum.reason, left_out);
    segment.reason = std::move(sum.reason);
  }
  if (!left_out.empty()) return;
  result.memory_instructions = memory_instructions(launches);
  result.memory_written_bytes = bytes_of(Segment::l2_memory_write, architecture_, launches);
  result.l2_filled_bytes = bytes_of(Segment::l2_fill, architecture_, launches);
}

void KernelSum::put_times(KernelTraffic& result) const {
  double time_s = 0;
  for (const CounterDispatch* launch : launches_) {
    if (launch->duration_ns) {
      time_s += *launch->duration_ns * kNs;
    } else {
      note(result.time_reason,
           launch->duration_reason.empty() ? "the file has no times" : launch->duration_reason);
    }
  }
  if (!result.time_reason.empty()) return;
  result.time_s = time_s;
  note(result.time_reason, late_ends(launches_));
  note(result.time_reason, stray_length(launches_));
}

KernelTraffic KernelSum::traffic(const std::string& name) const {
  KernelTraffic result;
  result.kernel = name;
  result.dispatches = launches_.size();
  put_times(result);
  put_bytes(result);
  monitors_.put(result);
  return result;
}

void KernelSum::Monitors::add(const CounterDispatch& dispatch) {
  const auto first = dispatch.counters.lower_bound("WW_");
  any = any || (first != dispatch.counters.end() && first->first.starts_with("WW_"));
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
  if (const auto bytes = counter(dispatch, "WW_REGISTER_BYTES")) {
    register_bits += 8 * *bytes;
  } else {
    registers = false;
  }
  xbar_bits += known("WW_XBAR_BITS");
  xbar_bit_mm += bit_mm;
}

void KernelSum::Monitors::put(KernelTraffic& result) const {
  for (std::size_t s = 0; s < wires.size(); ++s) result.segments[s].wires = wires[s];
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
  if (!registers) return;
  result.segments[0].bytes = register_bits / 8;
  result.segments[0].at_least = false;
  result.segments[0].reason.clear();
  if (legs && xbar_bits > 0) {
    // The values themselves are not seen: a bit toggles as those that came by the crossbar do.
    const double scale = register_bits / xbar_bits;
    result.segments[0].wires = WireActivity{0, legs->toggles * scale, 0, 0};
    result.segments[0].reason = "toggles as on the way to the L1, neighbours unknown";
  }
}

}  // namespace ww::session
