// The Dapper paper by its other readings: replies of one datum, traffic that does not wait, bypass
// routers at the power that the text states.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "dapper/compare.hpp"
#include "ww/sim/power/router_energy.hpp"

namespace ww::study::dapper {
namespace {

using nlohmann::json;

struct Reading {
  const char* name;  // of its variants: name-baseline, name-dapper, ...
  const char* text;
};
constexpr Reading kReadings[] = {{"first", "a reply is one datum of 64 bits"},
                                 {"each", "a reply for each datum of 64 bits of a line"}};

// In a period K of 1,000 cycles each of four windows loses 4 to set-up and the last flit.
constexpr double kUsableShare = 1 - 4 * 4 / 1000.0;

// Percent by which traffic that does not wait for replies would outlast the baseline at least, if
// the circuits carry one flit in a usable cycle and the baseline's links were never idle longer.
double open_loop_percent(const DapperRuns& runs) {
  return 100 * std::max(0.0, needed_flits(runs) / kUsableShare - 1);
}

void add_datum(Reproduction& out, const DapperStudy& study, const Reading& reading) {
  const std::string base = std::string(reading.name) + "-baseline";
  const std::string dapper = std::string(reading.name) + "-dapper";
  const auto longer = percent_more(study, base, dapper, &DapperRun::cycles);
  if (longer.empty()) return;
  const auto coalesced =
      each(study, {dapper}, [](const auto& runs) { return 100 * runs[0]->coalesced_share; });
  out.add({"Fig. 8a", fmt::format("execution time, Dapper over baseline, mean: {}", reading.text),
           "about 1", mean(longer), "%", kOurs,
           fmt::format("ours: {}. Replies coalesced, %: {}. 64-bit reply flits a cycle of the "
                       "baseline: {}",
                       list(longer), list(coalesced),
                       list(each(study, {base, dapper}, needed_flits)))});
  const auto approx =
      percent_more(study, base, std::string(reading.name) + "-approx-noc", &DapperRun::cycles);
  if (!approx.empty()) {
    out.add({"Fig. 8a",
             fmt::format("execution time, Approx-NoC over baseline, mean: {}", reading.text),
             "5 to 10", mean(approx), "%", kOurs, list(approx)});
  }
  for (const auto& [suffix, percent, paper] :
       {std::tuple{"-dapper", 10, "below 1"}, std::tuple{"-dapper-15", 15, "about 2"},
        std::tuple{"-dapper-20", 20, "about 3"}}) {
    const auto errors = each(study, {reading.name + std::string(suffix)},
                             [](const auto& runs) { return 100 * runs[0]->error.mean; });
    if (errors.empty()) continue;
    out.add({"Fig. 9", fmt::format("output error, Dapper at {}%, mean: {}", percent, reading.text),
             paper, mean(errors), "%", kOurs,
             "equation (3) is relative, so outputs near 0 lead the mean. Ours: " + list(errors)});
    const auto normalised = each(study, {reading.name + std::string(suffix)},
                                 [](const auto& runs) { return 100 * runs[0]->error.normalised; });
    out.add({"Fig. 9",
             fmt::format("output error over the mean output, Dapper at {}%, mean: {}", percent,
                         reading.text),
             paper, mean(normalised), "%", kOurs,
             "mean |V - V'| over mean |V|, which outputs near 0 do not lead. Ours: " +
                 list(normalised)});
  }
}

// The two applications whose trends with the check depth the paper states.
void add_depths(Reproduction& out, const DapperStudy& study, const Reading& reading) {
  const std::string dapper = std::string(reading.name) + "-dapper";
  const auto errors = each(study, {dapper + "-cd3", dapper, dapper + "-cd9"}, [](const auto& runs) {
    return 100 * (runs[2]->error.mean - runs[0]->error.mean);
  });
  for (const auto& [name, trend] : {std::pair{"dxtc", "falls"}, std::pair{"fwt", "rises"}}) {
    if (!errors.contains(name)) continue;
    // Clang 14 captures no name of a structured binding by reference.
    const auto percent = [&study, application = name](const std::string& variant) {
      return 100 * study.find(application, variant)->error.mean;
    };
    out.add({"Fig. 7a", fmt::format("{}: output error with check depth: {}", name, reading.text),
             trend,
             fmt::format("{:.3g}, {:.3g}, {:.3g}", percent(dapper + "-cd3"), percent(dapper),
                         percent(dapper + "-cd9")),
             "%", kOurs, "at 3, 6 and 9"});
  }
}

void add_open_loop(Reproduction& out, const DapperStudy& study) {
  for (const auto& [base, dapper, text] :
       {std::tuple{"baseline", "dapper", "replies of a line"},
        std::tuple{"first-baseline", "first-dapper", "replies of one datum"}}) {
    const auto least = each(study, {base, dapper}, open_loop_percent);
    if (least.empty()) continue;
    out.add({"Fig. 8a",
             fmt::format("execution time, Dapper over baseline, mean, if no core waited: {}", text),
             "about 1", mean(least), "%", kOurs,
             fmt::format("derived: max(0, L / {:.3f} - 1), where L is the baseline's 64-bit reply "
                         "flits a cycle. The paper replays traces, whose packets do not wait for "
                         "replies (section V.A). Ours: {}",
                         kUsableShare, list(least))});
  }
}

void add_bypass(Reproduction& out, const DapperStudy& study) {
  const auto half = each(study, {"baseline", "dapper-bypass-half"}, [](const auto& runs) {
    return -above(runs[0]->energy_pj / runs[0]->cycles, runs[1]->energy_pj / runs[1]->cycles);
  });
  if (!half.empty()) {
    out.add({"Fig. 8b",
             "network power that Dapper saves, most, with bypass routers at half a router's power",
             "up to 50", most(half).second, "%", kOurs,
             "DSENT's bypass routers save more than the paper states. Ours: " + list(half)});
  }
}

}  // namespace

void add_dapper_bypass_router(Reproduction& out) {
  constexpr double kNode = 22;
  sim::power::RouterSize size;
  size.flit_bits = 64;
  sim::power::RouterSize small = size;
  small.vcs = small.vc_buffer = 1;
  const auto router = router_energy(sim::power::Estimator::dsent, kNode, size);
  const auto bypass = router_energy(sim::power::Estimator::dsent, kNode, small);
  if (!router || !bypass) return;
  const double less = 100 * (1 - bypass->leakage_mw / router->leakage_mw);
  out.add({"section IV", "power of a bypass router below a router's", "up to 50", less, "%",
           matches_when(less <= 50),
           "leakage by DSENT of a router of one VC and one flit against one as wide with 5 VCs of "
           "4; leakage is most of the power. [energy] bypass_power = 0.5 has the paper's figure"});
}

void add_dapper_readings(Reproduction& out, const DapperStudy& study) {
  for (const Reading& reading : kReadings) {
    add_datum(out, study, reading);
    add_depths(out, study, reading);
  }
  add_open_loop(out, study);
  add_bypass(out, study);
  add_dapper_bypass_router(out);
}

}  // namespace ww::study::dapper
