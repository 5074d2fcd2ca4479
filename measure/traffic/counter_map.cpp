#include "ww/measure/counter_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "counter_map_tables.hpp"
#include "undercounts.hpp"
#include "ww/measure/i_counters.hpp"

namespace ww::measure {
namespace {

// Parts of requests cannot outnumber all of them, in one pass. Passes are runs of their own, and
// caches do not repeat to the last request.
struct Whole {
  std::string_view requests;
  std::array<std::string_view, 4> parts;
  // No request is of another size, so fewer in the parts are fewer counted.
  bool complete{};
  bool both_ways{};  // the parts are of reads and of writes, which have rules of their own
};
constexpr std::array kWholes = {
    Whole{"TCC_EA_RDREQ", {"TCC_EA_RDREQ_32B"}},
    Whole{"TCC_EA_WRREQ", {"TCC_EA_WRREQ_64B"}},
    Whole{"TCC_EA1_RDREQ", {"TCC_EA1_RDREQ_32B"}},
    Whole{"TCC_EA1_WRREQ", {"TCC_EA1_WRREQ_64B"}},
    Whole{"TCC_EA0_RDREQ", {"TCC_EA0_RDREQ_32B", "TCC_BUBBLE"}},
    Whole{"TCC_EA0_RDREQ", {"TCC_EA0_RDREQ_32B", "TCC_EA0_RDREQ_128B"}},
    Whole{"TCC_EA0_WRREQ", {"TCC_EA0_WRREQ_64B"}},
    Whole{"GL2C_MC_WRREQ", {"GL2C_EA_WRREQ_64B"}},
    Whole{"GL2C_EA_WRREQ", {"GL2C_EA_WRREQ_64B"}},
    Whole{"GL2C_EA_RDREQ",
          {"GL2C_EA_RDREQ_32B", "GL2C_EA_RDREQ_64B", "GL2C_EA_RDREQ_96B", "GL2C_EA_RDREQ_128B"},
          true},
    Whole{"GL2C_EA_RDREQ",
          {"GL2C_EA_RDREQ_32B", "GL2C_EA_RDREQ_64B", "GL2C_EA_RDREQ_128B", "GL2C_EA_RDREQ_256B"},
          true},
    Whole{"lts__t_sectors_srcunit_tex.sum",
          {"lts__t_sectors_srcunit_tex_op_read.sum", "lts__t_sectors_srcunit_tex_op_write.sum",
           "lts__t_sectors_srcunit_tex_op_red.sum", "lts__t_sectors_srcunit_tex_op_atom.sum"}},
    Whole{"dram__bytes.sum", {"dram__bytes_read.sum", "dram__bytes_write.sum"}, false, true},
};
constexpr double kPassTolerance = 0.02;

std::string shown_name(std::string_view counter) {
  return counter.find("__") == std::string_view::npos ? fmt::format("{}_sum", counter)
                                                      : std::string(counter);
}

// The parts that a rule uses and the dispatch has, together.
struct PartsTogether {
  double sum{};
  std::string names;
  bool all{true};

  PartsTogether(const Whole& whole, const SegmentRule& rule, const CounterDispatch& dispatch) {
    const auto uses = [&rule](std::string_view part) {
      return std::ranges::find(rule.terms, part, &CounterTerm::counter) != rule.terms.end();
    };
    const bool any = whole.both_ways && std::ranges::any_of(whole.parts, uses);
    for (const std::string_view part : whole.parts) {
      if (part.empty()) continue;
      const bool used = any || uses(part);
      const auto requests = used ? counter_total(dispatch, std::string(part)) : std::nullopt;
      all = all && requests;
      if (!requests) continue;
      sum += *requests;
      names += fmt::format("{}{} = {}", names.empty() ? "" : " and ", shown_name(part), *requests);
    }
  }
};

std::string contradiction(const SegmentRule& rule, const CounterDispatch& dispatch) {
  for (const Whole& whole : kWholes) {
    const PartsTogether parts(whole, rule, dispatch);
    if (parts.names.empty()) continue;
    const auto all = counter_total(dispatch, std::string(whole.requests));
    if (all && parts.sum > *all * (1 + kPassTolerance)) {
      return fmt::format("{} cannot be parts of {} = {}: these passes contradict each other",
                         parts.names, shown_name(whole.requests), *all);
    }
  }
  return {};
}

// Requests of which no counter gives the size, though all sizes were counted.
std::string sizeless(const SegmentRule& rule, const CounterDispatch& dispatch) {
  for (const Whole& whole : kWholes) {
    if (!whole.complete) continue;
    const PartsTogether parts(whole, rule, dispatch);
    if (!parts.all) continue;
    const auto all = counter_total(dispatch, std::string(whole.requests));
    if (all && parts.sum < *all * (1 - kPassTolerance)) {
      return fmt::format(
          "at least so many: of {} = {} requests, {:.0f} have no counter of their "
          "size",
          shown_name(whole.requests), *all, *all - parts.sum);
    }
  }
  return {};
}

// The L2 looks up whatever leaves it.
std::string without_lookups(const SegmentRule& rule, const CounterDispatch& dispatch) {
  const bool by_lookups = std::ranges::any_of(
      rule.terms, [](const CounterTerm& term) { return term.counter.ends_with("_HIT"); });
  if (!by_lookups) return {};
  for (const char* beyond : {"TCC_MC_RDREQ", "TCC_MC_WRREQ", "GL2C_EA_RDREQ_128B",
                             "GL2C_EA_RDREQ_64B", "GL2C_EA_RDREQ", "GL2C_MC_WRREQ"}) {
    const auto requests = counter_total(dispatch, beyond);
    if (!requests || *requests == 0) continue;
    return fmt::format("the L2 counted no lookup, hit or miss, beside {} = {} that left it",
                       shown_name(beyond), *requests);
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

void add_reason(SegmentBytes& out, std::string_view more) {
  out.reason += (out.reason.empty() ? "" : "; ") + std::string(more);
}

void add_remark(SegmentBytes& out, const CounterTerm& term, const CounterDispatch& dispatch) {
  for (const std::string& name : {shown_name(term.counter), std::string(term.counter)}) {
    const auto remark = dispatch.remarks.find(name);
    if (remark != dispatch.remarks.end()) return add_reason(out, remark->second);
  }
}

// Adds what is known beyond the rule's note, and in which direction the figure may be wrong.
void add_quality(SegmentBytes& out, std::string_view architecture, const SegmentRule& rule,
                 const CounterDispatch& dispatch, bool atomics) {
  const auto add = [&out](std::string_view more) { add_reason(out, more); };
  if (const std::string lost = sizeless(rule, dispatch); !lost.empty()) {
    out.quality = MapQuality::lower_bound;
    add(lost);
  }
  if (const std::string few = undercount(architecture, rule, dispatch); !few.empty()) {
    out.quality = MapQuality::lower_bound;
    add(few);
  }
  const std::string lacks = lacking(rule, dispatch);
  if (!lacks.empty()) {
    out.quality = MapQuality::lower_bound;
    add("at least so many: reductions and atomics are not counted without " + lacks);
  } else if (atomics && out.quality != MapQuality::lower_bound) {
    out.quality = MapQuality::upper_bound;
    out.reason = "atomics are counted as whole requests or sectors, which no recording checked";
  }
  if (rule.quality == MapQuality::unchecked && out.quality != rule.quality) add(kUncheckedBytes);
}

SegmentBytes evaluate(std::string_view architecture, const SegmentRule& rule,
                      const CounterDispatch& dispatch) {
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
  std::string against = contradiction(rule, dispatch);
  if (against.empty() && bytes == 0) against = without_lookups(rule, dispatch);
  if (!against.empty() || bytes < 0) {
    out.status = RowStatus::rejected;
    out.reason = against.empty() ? "the counters add up to less than nothing" : against;
    return out;
  }
  for (const CounterTerm& term : rule.terms) add_remark(out, term, dispatch);
  if (rule.segment == Segment::registers_l1 && rule.quality == MapQuality::upper_bound) {
    out.status = RowStatus::not_identified;
    out.upper_bytes = bytes;
    return out;
  }
  out.status = RowStatus::ok;
  out.bytes = bytes;
  add_quality(out, architecture, rule, dispatch, atomics);
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
      bytes = evaluate(architecture, *rule, dispatch);
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
    return tables::kTcpRequestBytes * found->second;
  };
  RequestBytes bytes;
  // RDNA counts the requests where they come in, at the L2, with their sizes.
  if (counters.contains("GL2C_READ_128_REQ_sum")) {
    WW_ASSIGN(read, bytes_of("GL2C_READ_128_REQ_sum"));
    WW_ASSIGN(write, bytes_of("GL2C_WRITE_64_REQ_sum"));
    WW_ASSIGN(atomic, bytes_of("GL2C_ATOMIC_sum"));
    bytes.of_a_read = 2 * tables::kTcpRequestBytes;
    bytes.read = 2 * read;
    bytes.write = write;
    bytes.atomic = atomic;
    return bytes;
  }
  WW_ASSIGN(read, bytes_of("TCP_TCC_READ_REQ_sum"));
  WW_ASSIGN(write, bytes_of("TCP_TCC_WRITE_REQ_sum"));
  const double lines = counters.contains("TCC_BUBBLE_sum") ? 2 : 1;
  bytes.of_a_read = lines * tables::kTcpRequestBytes;
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
