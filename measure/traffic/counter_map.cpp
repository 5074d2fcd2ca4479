#include "ww/measure/counter_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "counter_map_tables.hpp"
#include "ww/measure/i_counters.hpp"

namespace ww::measure {
namespace {

// A part of requests cannot outnumber all of them, in one pass. Passes are runs of their own, and
// caches do not repeat to the last request.
struct PartOfWhole {
  std::string_view part, whole;
};
constexpr std::array parts = {
    PartOfWhole{"TCC_EA_RDREQ_32B", "TCC_EA_RDREQ"},
    PartOfWhole{"TCC_EA_WRREQ_64B", "TCC_EA_WRREQ"},
    PartOfWhole{"TCC_EA1_RDREQ_32B", "TCC_EA1_RDREQ"},
    PartOfWhole{"TCC_EA1_WRREQ_64B", "TCC_EA1_WRREQ"},
    PartOfWhole{"TCC_EA0_RDREQ_32B", "TCC_EA0_RDREQ"},
    PartOfWhole{"TCC_BUBBLE", "TCC_EA0_RDREQ"},
    PartOfWhole{"TCC_EA0_RDREQ_128B", "TCC_EA0_RDREQ"},
    PartOfWhole{"TCC_EA0_WRREQ_64B", "TCC_EA0_WRREQ"},
    PartOfWhole{"GL2C_EA_WRREQ_64B", "GL2C_MC_WRREQ"},
};
constexpr double pass_tolerance = 0.02;

std::string shown_name(std::string_view counter) {
  return counter.find("__") == std::string_view::npos ? fmt::format("{}_sum", counter)
                                                      : std::string(counter);
}

std::string contradiction(const SegmentRule& rule, const CounterDispatch& dispatch) {
  const auto uses = [&](std::string_view counter) {
    return std::ranges::find(rule.terms, counter, &CounterTerm::counter) != rule.terms.end();
  };
  for (const auto& [part, whole] : parts) {
    if (!uses(part)) continue;
    const auto few = counter_total(dispatch, std::string(part));
    const auto all = counter_total(dispatch, std::string(whole));
    if (few && all && *few > *all * (1 + pass_tolerance)) {
      return fmt::format("{} = {} is a part of {} = {}: these passes contradict each other",
                         shown_name(part), *few, shown_name(whole), *all);
    }
  }
  return {};
}

bool has_counter(const CounterDispatch& dispatch, std::string_view counter) {
  return !counter.empty() && counter_total(dispatch, std::string(counter)).has_value();
}

// The optional counters that the dispatch lacks, also by their stand-ins.
std::string lacking(const SegmentRule& rule, const CounterDispatch& dispatch) {
  std::string names;
  for (const CounterTerm& term : rule.terms) {
    if (!term.optional || has_counter(dispatch, term.counter)) continue;
    if (has_counter(dispatch, term.stands_in_for)) continue;
    const bool left_to_stand_ins =
        std::ranges::find(rule.terms, term.counter, &CounterTerm::stands_in_for) !=
        rule.terms.end();
    if (left_to_stand_ins) continue;
    const std::string name =
        shown_name(term.stands_in_for.empty() ? term.counter : term.stands_in_for);
    if (names.find(name) == std::string::npos) names += (names.empty() ? "" : ", ") + name;
  }
  return names;
}

// What is known of the figure beyond the rule's note, and in which direction it may be wrong.
void add_quality(SegmentBytes& out, const SegmentRule& rule, const CounterDispatch& dispatch,
                 bool atomics) {
  const auto add = [&out](std::string_view more) {
    out.reason += (out.reason.empty() ? "" : "; ") + std::string(more);
  };
  const std::string lacks = lacking(rule, dispatch);
  if (!lacks.empty()) {
    out.quality = MapQuality::lower_bound;
    add("at least so many: reductions and atomics are not counted without " + lacks);
  } else if (atomics) {
    out.quality = MapQuality::upper_bound;
    out.reason = "atomics are counted as whole requests or sectors, which no recording checked";
  }
  if (rule.quality == MapQuality::unchecked && out.quality != rule.quality) add(kUncheckedBytes);
}

SegmentBytes evaluate(const SegmentRule& rule, const CounterDispatch& dispatch) {
  SegmentBytes out;
  out.segment = rule.segment;
  out.quality = rule.quality;
  out.reason = rule.note;
  if (rule.terms.empty()) return out;
  std::string missing;
  double bytes = 0;
  bool atomics = false;
  for (const CounterTerm& term : rule.terms) {
    if (has_counter(dispatch, term.stands_in_for)) continue;
    const auto total = counter_total(dispatch, std::string(term.counter));
    if (total && !(std::isfinite(*total) && *total >= 0)) {
      out.status = RowStatus::rejected;
      out.reason = fmt::format("{} reads {}", shown_name(term.counter), *total);
      return out;
    }
    if (total) {
      bytes += term.bytes_each * *total;
      atomics = atomics || (term.optional && *total > 0);
    } else if (!term.optional) {
      if (!missing.empty()) missing += ", ";
      missing += shown_name(term.counter);
      const auto why = dispatch.missing.find(shown_name(term.counter));
      if (why != dispatch.missing.end()) missing += " (" + why->second + ")";
      const auto words = dispatch.texts.find(shown_name(term.counter));
      if (words != dispatch.texts.end()) missing += " ('" + words->second + "' is not a number)";
    }
  }
  if (!missing.empty()) {
    out.reason = "counters missing: " + missing;
    return out;
  }
  if (auto against = contradiction(rule, dispatch); !against.empty() || bytes < 0) {
    out.status = RowStatus::rejected;
    out.reason = against.empty() ? "the counters add up to less than nothing" : against;
    return out;
  }
  if (rule.segment == Segment::registers_l1 && rule.quality == MapQuality::upper_bound) {
    out.status = RowStatus::not_identified;
    out.upper_bytes = bytes;
    return out;
  }
  out.status = RowStatus::ok;
  out.bytes = bytes;
  add_quality(out, rule, dispatch, atomics);
  return out;
}

// Replaces "unavailable" by a bound, where totals that the dispatch has give one.
void bound(SegmentBytes& out, const BoundRule& rule, const CounterDispatch& dispatch) {
  double bytes = 0;
  std::string from;
  for (const CounterTerm& term : rule.terms) {
    const auto total = counter_total(dispatch, std::string(term.counter));
    if (!total && term.optional) continue;
    if (!total || !(std::isfinite(*total) && *total >= 0)) return;
    bytes += term.bytes_each * *total;
    from += (from.empty() ? "" : " and ") + shown_name(term.counter);
  }
  out.status = RowStatus::not_identified;
  out.quality = MapQuality::upper_bound;
  out.upper_bytes = bytes;
  out.upper_is_of_both = rule.both_ways;
  out.reason = fmt::format("{}; at most so many by {}{}{}", out.reason, from,
                           rule.note.empty() ? "" : ": ", rule.note);
}

}  // namespace

std::string_view to_string(Segment segment) {
  switch (segment) {
    case Segment::registers_l1: return "registers_l1";
    case Segment::l1_l2_read: return "l1_l2_read";
    case Segment::l1_l2_write: return "l1_l2_write";
    case Segment::l1_l2: return "l1_l2";
    case Segment::l2_memory_read: return "l2_memory_read";
    case Segment::l2_memory_write: return "l2_memory_write";
    case Segment::l2_fill: return "l2_fill";
  }
  return "unknown";
}

std::string_view to_string(MapQuality quality) {
  switch (quality) {
    case MapQuality::exact: return "exact";
    case MapQuality::upper_bound: return "upper_bound";
    case MapQuality::lower_bound: return "lower_bound";
    case MapQuality::unchecked: return "unchecked";
  }
  return "unknown";
}

std::span<const ArchitectureMap> counter_maps() {
  return tables::maps;
}

const ArchitectureMap* counter_map(std::string_view architecture) {
  for (const ArchitectureMap& map : tables::maps) {
    for (const std::string_view prefix : map.prefixes) {
      if (!architecture.starts_with(prefix)) continue;
      // "gfx7" is gfx701 and not gfx7: three figures follow "gfx", four from gfx10 on.
      const auto name = architecture.substr(0, architecture.find(':'));
      const std::size_t figures = prefix.starts_with("gfx1") ? 7 : 6;
      if (prefix.starts_with("sm_") || name.size() == figures) return &map;
    }
  }
  return nullptr;
}

std::vector<SegmentBytes> segment_bytes(std::string_view architecture,
                                        const CounterDispatch& dispatch) {
  using enum Segment;
  static constexpr std::array all = {registers_l1,   l1_l2_read,      l1_l2_write, l1_l2,
                                     l2_memory_read, l2_memory_write, l2_fill};
  const ArchitectureMap* map = counter_map(architecture);
  std::vector<SegmentBytes> out;
  for (const Segment segment : all) {
    SegmentBytes bytes;
    bytes.segment = segment;
    if (map == nullptr) {
      bytes.reason = architecture.empty()
                         ? "the file does not name the device's architecture; give it"
                         : fmt::format("no counters are known for {}", architecture);
    } else if (const auto rule = std::ranges::find(map->rules, segment, &SegmentRule::segment);
               rule != map->rules.end()) {
      bytes = evaluate(*rule, dispatch);
      const auto limit = std::ranges::find(map->bounds, segment, &BoundRule::segment);
      if (bytes.status == RowStatus::unavailable && limit != map->bounds.end()) {
        bound(bytes, *limit, dispatch);
      }
    } else {
      bytes.reason = fmt::format("no counter of it is known for {}", architecture);
    }
    out.push_back(std::move(bytes));
  }
  return out;
}

Result<double> l1_l2_bytes(const std::string& gfx_target,
                           const std::map<std::string, double>& counters) {
  if (counter_map(gfx_target) == nullptr) {
    return fail(ErrorCode::unsupported, "no counter of L1-L2 bytes is known for this target",
                gfx_target);
  }
  CounterDispatch dispatch;
  dispatch.counters = counters;
  const auto segments = segment_bytes(gfx_target, dispatch);
  const auto& crossbar = *std::ranges::find(segments, Segment::l1_l2, &SegmentBytes::segment);
  if (!crossbar.bytes) return fail(ErrorCode::bad_data, crossbar.reason, gfx_target);
  return *crossbar.bytes;
}

Result<RequestBytes> l1_l2_requests(const std::map<std::string, double>& counters) {
  const auto bytes_of = [&](const char* counter) -> Result<double> {
    const auto found = counters.find(counter);
    if (found == counters.end()) {
      return fail(ErrorCode::unsupported, fmt::format("the device has no counter {}", counter));
    }
    return tables::tcp_request_bytes * found->second;
  };
  RequestBytes bytes;
  // RDNA counts the requests where they come in, at the L2, with their sizes.
  if (counters.contains("GL2C_READ_128_REQ_sum")) {
    WW_ASSIGN(read, bytes_of("GL2C_READ_128_REQ_sum"));
    WW_ASSIGN(write, bytes_of("GL2C_WRITE_64_REQ_sum"));
    WW_ASSIGN(atomic, bytes_of("GL2C_ATOMIC_sum"));
    bytes.of_a_read = 2 * tables::tcp_request_bytes;
    bytes.read = 2 * read;
    bytes.write = write;
    bytes.atomic = atomic;
    return bytes;
  }
  WW_ASSIGN(read, bytes_of("TCP_TCC_READ_REQ_sum"));
  WW_ASSIGN(write, bytes_of("TCP_TCC_WRITE_REQ_sum"));
  const double lines = counters.contains("TCC_BUBBLE_sum") ? 2 : 1;
  bytes.of_a_read = lines * tables::tcp_request_bytes;
  bytes.read = lines * read;
  bytes.write = write;
  // From gfx9 on, atomics are counted by whether they return a value.
  if (counters.contains("TCP_TCC_ATOMIC_WITH_RET_REQ_sum")) {
    WW_ASSIGN(with, bytes_of("TCP_TCC_ATOMIC_WITH_RET_REQ_sum"));
    WW_ASSIGN(without, bytes_of("TCP_TCC_ATOMIC_WITHOUT_RET_REQ_sum"));
    bytes.atomic = with + without;
  } else {
    WW_ASSIGN(atomics, bytes_of("TCP_TCC_ATOMIC_REQ_sum"));
    bytes.atomic = atomics;
  }
  return bytes;
}

}  // namespace ww::measure
