#include "ww/session/likwid_group.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

#include "ww/measure/counted/in_process.hpp"
#include "ww/measure/counter_map.hpp"
#include "ww/session/priced_bytes.hpp"

namespace ww::session {
namespace {

using measure::Segment;
using model::WireSegment;

// The rules whose bytes make a segment, the most useful first.
struct SegmentRules {
  WireSegment segment;
  const char* title;
  std::vector<Segment> rules;
};
const std::array<SegmentRules, 3>& segment_rules() {
  static const std::array<SegmentRules, 3> all{{
      {WireSegment::l1_l2, "L1-L2", {Segment::l1_l2}},
      {WireSegment::l2_memory, "L2-memory", {Segment::l2_memory_read, Segment::l2_memory_write}},
      {WireSegment::registers_l1, "registers-L1", {Segment::registers_l1}},
  }};
  return all;
}

// Whether the counters may count more bytes than move.
bool counts_too_many(const measure::ArchitectureMap& map, const SegmentRules& segment) {
  return std::ranges::any_of(map.rules, [&](const measure::SegmentRule& rule) {
    return rule.quality == measure::MapQuality::upper_bound &&
           std::ranges::find(segment.rules, rule.segment) != segment.rules.end();
  });
}

// Bytes of each counter's events in the segment; empty where a rule has no counter. Counters that a
// file may lack (atomics) are left out: one set holds few.
std::map<std::string, double> bytes_of_counters(const measure::ArchitectureMap& map,
                                                const SegmentRules& segment) {
  std::map<std::string, double> bytes;
  for (const Segment wanted : segment.rules) {
    const auto rule = std::ranges::find(map.rules, wanted, &measure::SegmentRule::segment);
    if (rule == map.rules.end() || rule->terms.empty()) return {};
    for (const measure::CounterTerm& term : rule->terms) {
      if (!term.optional) bytes[std::string(term.counter) + "_sum"] += term.bytes_each;
    }
  }
  return bytes;
}

bool fits(const std::set<std::string>& counters) {
  return measure::in_process_runs({counters.begin(), counters.end()}) == 1;
}

// "2.1e-10*ROCM0-1e-10*ROCM1"
std::string formula(const std::map<std::string, double>& bytes, double joules_per_byte,
                    const std::vector<std::string>& registers) {
  std::string text;
  for (const auto& [counter, each] : bytes) {
    const double joules = each * joules_per_byte;
    const auto place = std::ranges::find(registers, counter) - registers.begin();
    text += fmt::format("{}{:.9E}*ROCM{}", joules < 0 ? "-" : (text.empty() ? "" : "+"),
                        std::abs(joules), place);
  }
  return text;
}

}  // namespace

Result<LikwidGroup> likwid_group(const model::WireModel& wires, const std::string& part) {
  const measure::ArchitectureMap* map = measure::counter_map(part);
  if (map == nullptr || !part.starts_with("gfx")) {
    return fail(ErrorCode::unsupported,
                "is no part of AMD whose counters are known, as LIKWID's groups name them: give "
                "--arch",
                part.empty() ? "the calibrated device" : part);
  }
  constexpr double kBytes = 1e9;
  WW_ASSIGN(priced, price_bytes(wires, kBytes));
  struct Chosen {
    const SegmentRules* rules;
    std::map<std::string, double> bytes;
    Interval j_per_byte;
  };
  LikwidGroup group;
  std::vector<Chosen> chosen;
  std::set<std::string> counters;
  for (const SegmentRules& segment : segment_rules()) {
    const auto& estimate = priced.segments[static_cast<std::size_t>(segment.segment)];
    auto bytes = bytes_of_counters(*map, segment);
    auto more = counters;
    for (const auto& [counter, each] : bytes) more.insert(counter);
    const char* why = nullptr;
    if (bytes.empty()) {
      why = "no counter of its bytes is known";
    } else if (!estimate.energy_j) {
      why = estimate.reason.empty() ? "the calibration does not give its energy"
                                    : estimate.reason.c_str();
    } else if (!fits(more)) {
      why = "the hardware cannot count it beside the others";
    }
    if (why != nullptr) {
      group.left_out.push_back(fmt::format("{}: {}", segment.title, why));
      continue;
    }
    counters = std::move(more);
    const Interval& j = *estimate.energy_j;
    chosen.push_back(
        {&segment, std::move(bytes), {j.value / kBytes, j.low / kBytes, j.high / kBytes}});
  }
  if (chosen.empty()) {
    return fail(ErrorCode::unsupported, "no segment has a metric: " + group.left_out.front(), part);
  }
  const std::vector<std::string> registers(counters.begin(), counters.end());
  const auto out = std::back_inserter(group.text);
  fmt::format_to(out, "SHORT Joules and watts of on-chip wires, {}{}\n\nEVENTSET\n", part,
                 wires.is_virtual ? " (virtual, not a measurement)" : "");
  for (std::size_t i = 0; i < registers.size(); ++i) {
    fmt::format_to(out, "ROCM{} ROCP_{}\n", i, registers[i]);
  }
  fmt::format_to(out, "\nMETRICS\n");
  for (const Chosen& one : chosen) {
    const std::string joules = formula(one.bytes, one.j_per_byte.value, registers);
    fmt::format_to(out, "{0} energy{2} [J] {1}\n{0} power{2} [W] ({1})/time\n", one.rules->title,
                   joules, counts_too_many(*map, *one.rules) ? " at most" : "");
  }
  fmt::format_to(out, "\nLONG\n--\nwirewatt: counters times the constants of {}.\n", wires.source);
  for (const Chosen& one : chosen) {
    constexpr double kPico = 1e12;
    const Interval pj = one.j_per_byte.times(kPico);
    group.segments.push_back({std::string(model::to_string(one.rules->segment)), pj});
    fmt::format_to(out, "{}: {} pJ a byte (95%).\n", one.rules->title, interval_text(pj));
  }
  fmt::format_to(
      out,
      "The data are not known: a byte costs what it does in the mean of 36 applications, "
      "and the range has 95% of such applications. Requests of atomics are not "
      "counted.\n");
  for (const std::string& left : group.left_out) fmt::format_to(out, "Left out: {}.\n", left);
  if (!wires.misfit.empty()) fmt::format_to(out, "The calibration is flagged: {}.\n", wires.misfit);
  return group;
}

}  // namespace ww::session
