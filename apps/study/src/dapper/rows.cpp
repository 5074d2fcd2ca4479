// The Dapper paper's figures beside ours. The paper's bars are in pictures alone; what its text
// says of them is what can be compared.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "dapper/compare.hpp"

namespace ww::study::dapper {
namespace {

using nlohmann::json;

// Bars of the applications for several variants, beside one another as rows.
void chart(Reproduction& out, const DapperStudy& study, const std::string& title,
           const std::string& description, const std::string& unit,
           const std::vector<std::string>& variants,
           const std::function<double(const DapperRun&, const DapperRun&)>& value) {
  auto bars = json::array();
  for (const char* application : kDapperApplications) {
    const DapperRun* base = study.find(application, variants.front());
    for (const auto& variant : variants) {
      const DapperRun* run = study.find(application, variant);
      if (base == nullptr || run == nullptr) continue;
      bars.push_back(
          {{"name", fmt::format("{} {}", application, variant)}, {"parts", {value(*base, *run)}}});
    }
  }
  out.charts.push_back({{"title", title},
                        {"description", description},
                        {"unit", unit},
                        {"legend", {"virtual"}},
                        {"bars", bars}});
}

// Network's share of the power that the sensor sees while kernels run [%].
double network_share(const DapperRuns& runs) {
  const double seconds = runs[0]->cycles / kDapperCoreHz;
  const double gpu_w = runs[0]->gpu_dynamic_j / seconds + runs[0]->gpu_idle_w;
  return 100 * runs[0]->energy_pj * 1e-12 / seconds / gpu_w;
}

void add_power_shares(Reproduction& out, const DapperStudy& study) {
  for (const auto& [variant, figure, note] :
       {std::tuple{
            "baseline", "network's share of the GPU's power, highest",
            "power as the virtual sensor sees it while kernels run: routers and links by DSENT "
            "at 22 nm, cores and caches by the truth of a 28 nm chip"},
        std::tuple{"baseline-mcpat",
                   "the same with routers priced as McPAT's network code does, highest",
                   "GPUWattch, which the paper names, is built on McPAT, whose network code counts "
                   "virtual channels twice: 130 pJ a flit and router instead of DSENT's 3.2"}}) {
    if (each(study, {variant}, network_share).empty()) continue;
    const auto shares = each(study, {variant}, network_share);
    const auto [name, highest] = most(shares);
    out.add({"Fig. 1", figure, "up to 20", highest, "%",
             matches_when(highest >= 10 && highest <= 25),
             fmt::format("{}; ours: {}", note, list(shares))});
  }
}

void add_shares(Reproduction& out, const DapperStudy& study) {
  add_power_shares(out, study);
  const auto watts = each(study, {"baseline"}, [](const auto& runs) {
    return runs[0]->energy_pj * 1e-9 / std::max(runs[0]->cycles / kDapperCoreHz, 1e-12);
  });
  for (const auto& [name, value] : watts) {
    out.add({"Fig. 1", name + ": power of the baseline network", nullptr, value, "mW", kOurs,
             "at 700 MHz; the paper gives no watts"});
  }
  const auto shares =
      each(study, {"baseline"}, [](const auto& runs) { return 100 * runs[0]->approximable_share; });
  double image = 0;
  for (const auto& [name, value] : shares) {
    if (name == "dct" || name == "hist" || name == "convtex") image = std::max(image, value);
    out.add({"Fig. 3a", name + ": approximable share of read replies", nullptr, value, "%",
             kPicture, ""});
  }
  if (!shares.empty()) {
    out.add({"Fig. 3a", "approximable share, highest of DCT, Hist, ConvTex", "up to 80", image, "%",
             matches_when(image >= 70 && image <= 90),
             "lines of buffers that our programs declare approximable (inputs, not tables or "
             "outputs); the paper does not list its annotated variables"});
  }
}

// Why a run takes the time that it takes, from runs that change one thing.
std::string why_time(const DapperStudy& study, const std::string& application) {
  const DapperRun* base = study.find(application, "baseline");
  const DapperRun* dapper = study.find(application, "dapper");
  if (base == nullptr || dapper == nullptr) return "";
  std::string text = fmt::format(
      "replies take {:.0f} cycles from output buffer to core, the baseline's {:.0f}; {:.2f} flits "
      "a node and cycle arrive in the baseline; {:.0f}% of replies coalesced",
      dapper->reply_latency, base->reply_latency, base->load, 100 * dapper->coalesced_share);
  const auto add = [&](const char* variant, const char* what) {
    if (const DapperRun* run = study.find(application, variant)) {
      text += fmt::format("; {} {:+.1f}%", what, above(base->cycles, run->cycles));
    }
  };
  add("mesh-64", "a mesh of two 64-bit planes");
  add("dapper-exact", "Dapper at threshold 0");
  add("dapper-128", "Dapper with 128-bit planes");
  add("dapper-256", "Dapper with 256-bit planes");
  add("dapper-equal", "Dapper with equal windows of 25 cycles");
  add("dapper-k100", "Dapper with K = 100");
  return text;
}

// Explains how Approx-NoC's delays, its approximation and the load affect its time.
std::string why_approx_noc(const DapperStudy& study) {
  std::string text;
  for (const auto& [base, variant, what] :
       {std::tuple{"baseline", "approx-noc-instant", "without its delays"},
        std::tuple{"baseline", "approx-noc-exact", "without approximation"},
        std::tuple{
            "clock-x8-baseline", "clock-x8-approx-noc",
            "with the network at 8 times the cores' clock, over a baseline with the same"}}) {
    const auto longer = percent_more(study, base, variant, &DapperRun::cycles);
    if (!longer.empty()) text += fmt::format(". {}: {}", what, list(longer));
  }
  return text;
}

void add_time(Reproduction& out, const DapperStudy& study) {
  const auto needed = each(study, {"baseline", "dapper-exact"}, needed_flits);
  for (const auto& [name, flits] : needed) {
    out.add({"Sec. IV", name + ": 64-bit reply flits a cycle of the baseline", nullptr, flits, "",
             kOurs,
             flits > 1 ? fmt::format("Dapper's circuits carry one a cycle at most, all controllers "
                                     "together: without coalescing its run cannot be shorter than "
                                     "{:.2f} times the baseline's",
                                     flits)
                       : "Dapper's circuits carry one a cycle at most: enough"});
  }
  const auto dapper = percent_more(study, "baseline", "dapper", &DapperRun::cycles);
  const auto approx = percent_more(study, "baseline", "approx-noc", &DapperRun::cycles);
  for (const auto& [name, value] : dapper) {
    out.add({"Fig. 8a", name + ": execution time, Dapper over baseline", nullptr, value, "%",
             kPicture, why_time(study, name)});
  }
  for (const auto& [name, value] : approx) {
    out.add({"Fig. 8a", name + ": execution time, Approx-NoC over baseline", nullptr, value, "%",
             kPicture, ""});
  }
  if (!dapper.empty()) {
    const double ours = mean(dapper);
    out.add({"Fig. 8a", "execution time, Dapper over baseline, mean", "about 1", ours, "%",
             matches_when(std::abs(ours) <= 2),
             "one controller at a time sends 8 bytes a cycle, where the baseline's four send 16 "
             "each; the applications' notes say what changes when the width, the windows or the "
             "coalescing change. Ours: " +
                 list(dapper)});
  }
  if (!approx.empty()) {
    const double ours = mean(approx);
    out.add({"Fig. 8a", "execution time, Approx-NoC over baseline, mean", "5 to 10", ours, "%",
             matches_when(ours >= 5 && ours <= 10),
             "3 cycles to compress and 2 to decompress, against shorter packets: where replies "
             "fill the controllers' links, fewer flits win. Ours: " +
                 list(approx) + why_approx_noc(study)});
  }
  chart(out, study, "Fig. 8a: execution time", "Core cycles over the baseline's.", "x",
        {"baseline", "approx-noc", "dapper"},
        [](const DapperRun& base, const DapperRun& run) { return run.cycles / base.cycles; });
}

std::string parts_of(const DapperRun& run) {
  std::vector<std::pair<double, std::string>> parts;
  for (const auto& [name, pj] : run.components_pj) parts.emplace_back(pj, name);
  std::ranges::sort(parts, std::greater<>());
  std::vector<std::string> text;
  for (std::size_t i = 0; i < std::min<std::size_t>(5, parts.size()); ++i) {
    text.push_back(
        fmt::format("{} {:.0f}%", parts[i].second, 100 * parts[i].first / run.energy_pj));
  }
  return fmt::format("{}", fmt::join(text, ", "));
}

void add_energy(Reproduction& out, const DapperStudy& study) {
  const auto dapper = percent_more(study, "baseline", "dapper", &DapperRun::energy_pj);
  const auto approx = percent_more(study, "baseline", "approx-noc", &DapperRun::energy_pj);
  PerApplication saved;
  for (const auto& [name, value] : dapper) {
    saved[name] = -value;
    const DapperRun& run = *study.find(name, "dapper");
    if (name == "dct") {
      out.add({"Fig. 8b", "dct: network energy that Dapper saves", "almost 40", -value, "%",
               matches_when(-value >= 33 && -value <= 42), parts_of(run)});
    } else {
      out.add({"Fig. 8b", name + ": network energy that Dapper saves", nullptr, -value, "%",
               kPicture, "Dapper's largest parts: " + parts_of(run)});
    }
  }
  for (const auto& [name, value] : approx) {
    out.add({"Fig. 8b", name + ": network energy, Approx-NoC over baseline", nullptr, value, "%",
             kPicture, "largest parts: " + parts_of(*study.find(name, "approx-noc"))});
  }
  if (!saved.empty()) {
    const auto [name, best] = most(saved);
    out.add({"Fig. 8b", "network energy that Dapper saves, most", "up to 50", best, "%",
             matches_when(best >= 40 && best <= 60),
             fmt::format("{}; mean {:.3g}%; Dapper's 64-bit routers and bypass routers leak less "
                         "than the baseline's 128-bit routers",
                         name, mean(saved))});
  }
  const auto power = each(study, {"baseline", "dapper"}, [](const auto& runs) {
    return -above(runs[0]->energy_pj / runs[0]->cycles, runs[1]->energy_pj / runs[1]->cycles);
  });
  if (!power.empty()) {
    out.add({"Fig. 8b", "network power (energy a cycle) that Dapper saves, most", "up to 50",
             most(power).second, "%",
             matches_when(most(power).second >= 40 && most(power).second <= 60),
             "what the energy saved would be if the run took as long as the baseline's, as the "
             "paper's do. Ours: " +
                 list(power)});
  }
  if (!approx.empty()) {
    out.add({"Fig. 8b", "Approx-NoC's network energy, over baseline, mean", "higher", mean(approx),
             "%", matches_when(mean(approx) > 0), "the dictionaries' storage leaks all the time"});
  }
  chart(out, study, "Fig. 8b: network energy", "Over the baseline's.", "x",
        {"baseline", "approx-noc", "dapper"},
        [](const DapperRun& base, const DapperRun& run) { return run.energy_pj / base.energy_pj; });
}

void add_latency(Reproduction& out, const DapperStudy& study) {
  const auto latency = [](const DapperRun& run) {
    return (run.request_latency + run.reply_latency) / 2;
  };
  for (const auto& [variant, what] :
       {std::pair{"dapper", "Dapper"}, std::pair{"approx-noc", "Approx-NoC"}}) {
    const auto ratios = each(study, {"baseline", variant}, [&](const auto& runs) {
      return above(latency(*runs[0]), latency(*runs[1]));
    });
    if (ratios.empty()) continue;
    if (std::string(variant) == "dapper") {
      out.add({"Fig. 8c", "network latency, Dapper over baseline, mean", "similar", mean(ratios),
               "%", matches_when(std::abs(mean(ratios)) <= 15),
               "mean of requests and replies, from creation to arrival: a reply waits for its "
               "controller's window, half a period and more when windows are equal. Ours: " +
                   list(ratios)});
    } else {
      double high = 0;
      int count = 0;
      for (const auto& [name, value] : ratios) {
        if (name == "dct" || name == "fwt" || name == "dxtc") high += value, ++count;
      }
      out.add({"Fig. 8c", "network latency, Approx-NoC over baseline, DCT, FWT and DXTC", "high",
               count > 0 ? high / count : 0, "%", matches_when(count > 0 && high / count > 10),
               "Ours: " + list(ratios)});
    }
  }
  const auto transit = each(study, {"baseline", "dapper"}, [](const auto& runs) {
    return above(runs[0]->request_transit + runs[0]->reply_transit,
                 runs[1]->request_transit + runs[1]->reply_transit);
  });
  if (!transit.empty()) {
    out.add({"Fig. 8c",
             "the same without the wait in the output buffer, Dapper over baseline, mean",
             "similar", mean(transit), "%", matches_when(std::abs(mean(transit)) <= 15),
             "the paper does not say whether its latency begins at the controller's output buffer "
             "or behind it. Ours: " +
                 list(transit)});
  }
  chart(out, study, "Fig. 8c: network latency",
        "Mean of requests and replies, from creation to arrival.", "cycles",
        {"baseline", "approx-noc", "dapper"},
        [&](const DapperRun&, const DapperRun& run) { return latency(run); });
}

// A row about what coalescing does to outputs shows nothing where hardly anything is coalesced:
// under 1% of the replies in half of the applications or more. It then is vacuous if it holds.
const char* where_coalesced(const DapperStudy& study, const std::string& variant, bool holds) {
  constexpr double kHardlyAny = 0.01;
  const auto shares =
      each(study, {variant}, [](const auto& runs) { return runs[0]->coalesced_share; });
  const auto few = std::ranges::count_if(
      shares, [](const auto& application) { return application.second < kHardlyAny; });
  const bool hardly = 2 * static_cast<std::size_t>(few) >= shares.size();
  return holds && hardly ? kVacuous : matches_when(holds);
}

double error_percent(const DapperRun& run) {
  return 100 * run.error.mean;
}

// Reports the result of equation (4) on the arrays behind an output.
std::string on_arrays(const DapperRun& run) {
  std::string text;
  for (const auto& [name, error] : run.outputs) {
    text += fmt::format(
        "; on its {} {:.3g}%, where values near 0 weigh most: mean |V - V'| is "
        "{:.3g}% of mean |V|",
        name, 100 * error.mean, 100 * error.normalised);
  }
  return text;
}

void add_errors(Reproduction& out, const DapperStudy& study) {
  struct Stated {
    const char* variant;
    const char* paper;
    double low, high;
  };
  for (const Stated& stated :
       {Stated{"dapper", "below 1", 0, 1}, Stated{"dapper-15", "about 2", 1.5, 2.5},
        Stated{"dapper-20", "about 3", 2.5, 3.5}}) {
    const auto errors =
        each(study, {stated.variant}, [](const auto& runs) { return error_percent(*runs[0]); });
    if (errors.empty()) continue;
    const int percent = std::string(stated.variant) == "dapper"      ? 10
                        : std::string(stated.variant) == "dapper-15" ? 15
                                                                     : 20;
    for (const auto& [name, value] : errors) {
      const DapperRun& run = *study.find(name, stated.variant);
      out.add({"Fig. 9", fmt::format("{}: output error, Dapper at {}%", name, percent), nullptr,
               value, "%", kPicture,
               fmt::format("{:.1f}% of replies arrive "
                           "changed; {} of {} points differ; {} points that are 0 in the exact run "
                           "and no longer are left out; mean |V - V'| is {:.3g}% of mean |V|",
                           100 * run.changed_share, run.error.changed, run.error.points,
                           run.error.zeros_changed, 100 * run.error.normalised) +
                   on_arrays(run)});
    }
    out.add(
        {"Fig. 9", fmt::format("output error, Dapper at {}%, mean", percent), stated.paper,
         mean(errors), "%",
         where_coalesced(study, stated.variant,
                         mean(errors) >= stated.low && mean(errors) <= stated.high),
         "by equations (3) and (4) on the programs' outputs against the exact run; it depends on "
         "how much of the data is alike: on the inputs. Ours: " +
             list(errors)});
  }
  const auto approx =
      each(study, {"approx-noc"}, [](const auto& runs) { return error_percent(*runs[0]); });
  const auto dapper =
      each(study, {"dapper"}, [](const auto& runs) { return error_percent(*runs[0]); });
  if (!approx.empty()) {
    out.add({"Fig. 9", "output error, Approx-NoC, mean", "high", mean(approx), "%",
             where_coalesced(study, "dapper", mean(approx) > mean(dapper)),
             "the paper states no number; ours is high when above Dapper's at 10%. Ours: " +
                 list(approx)});
  }
  chart(out, study, "Fig. 9: output error", "Equations (3) and (4) on program output.", "%",
        {"approx-noc", "dapper", "dapper-15", "dapper-20"},
        [](const DapperRun&, const DapperRun& run) { return error_percent(run); });
}

void add_check_depth(Reproduction& out, const DapperStudy& study) {
  const std::vector<std::string> variants{"dapper-cd3", "dapper", "dapper-cd9"};
  const auto spread = each(study, variants, [](const auto& runs) {
    const auto [low, high] =
        std::ranges::minmax(std::array{runs[0]->energy_pj, runs[1]->energy_pj, runs[2]->energy_pj});
    return above(low, high);
  });
  if (spread.empty()) return;
  out.add({"Fig. 7a", "network energy across check depths 3, 6, 9: largest difference", "1 to 2",
           most(spread).second, "%",
           where_coalesced(study, "dapper-cd9", most(spread).second <= 2.5), list(spread)});
  const auto lower = each(study, variants, [](const auto& runs) {
    const double others = (error_percent(*runs[0]) + error_percent(*runs[2])) / 2;
    return others > 0 ? 100 * (1 - error_percent(*runs[1]) / others) : 0.0;
  });
  out.add(
      {"Fig. 7a", "output error at depth 6 below that at 3 and 9, mean", "up to 10", mean(lower),
       "%", matches_when(mean(lower) > 0 && mean(lower) <= 15),
       "a deeper check can only coalesce more; what is coalesced depends on what waits. Ours: " +
           list(lower)});
  for (const auto& [name, falls] : {std::pair{"dxtc", true}, std::pair{"fwt", false}}) {
    const auto errors = each(study, variants, [](const auto& runs) {
      return error_percent(*runs[2]) - error_percent(*runs[0]);
    });
    const auto found = errors.find(name);
    if (found == errors.end()) continue;
    const double a = error_percent(*study.find(name, "dapper-cd3"));
    const double b = error_percent(*study.find(name, "dapper"));
    const double c = error_percent(*study.find(name, "dapper-cd9"));
    out.add({"Fig. 7a", std::string(name) + ": output error with check depth",
             falls ? "falls" : "rises", fmt::format("{:.3g}, {:.3g}, {:.3g}", a, b, c), "%",
             matches_when(falls ? a > b && b > c : a < b && b < c), "at 3, 6 and 9"});
  }
  chart(out, study, "Fig. 7a: check depth, energy", "Network energy over that at depth 3.", "x",
        variants,
        [](const DapperRun& base, const DapperRun& run) { return run.energy_pj / base.energy_pj; });
  chart(out, study, "Fig. 7a: check depth, error", "Output error.", "%", variants,
        [](const DapperRun&, const DapperRun& run) { return error_percent(run); });
}

void add_threshold(Reproduction& out, const DapperStudy& study) {
  const std::vector<std::string> variants{"dapper", "dapper-15", "dapper-20"};
  std::set<std::string> falling;
  std::set<std::string> without_error;
  for (const char* name : kDapperApplications) {
    const DapperRun* runs[] = {study.find(name, variants[0]), study.find(name, variants[1]),
                               study.find(name, variants[2])};
    if (std::ranges::any_of(runs, [](const auto* run) { return run == nullptr; })) return;
    const double at[] = {error_percent(*runs[0]), error_percent(*runs[1]), error_percent(*runs[2])};
    if (at[0] > at[1] || at[1] > at[2]) falling.insert(name);
    if (at[2] == 0) without_error.insert(name);
  }
  out.add({"Fig. 7b", "output error rises with the threshold", "for all applications",
           falling.empty() ? "for all applications"
                           : fmt::format("not for {}", fmt::join(falling, ", ")),
           "", falling.empty() && !without_error.empty() ? kVacuous : matches_when(falling.empty()),
           without_error.empty() ? "10, 15 and 20%"
                                 : fmt::format("10, 15 and 20%; no error at any threshold: {}",
                                               fmt::join(without_error, ", "))});
  const auto spread = each(study, variants, [](const auto& runs) {
    const auto [low, high] =
        std::ranges::minmax(std::array{runs[0]->energy_pj, runs[1]->energy_pj, runs[2]->energy_pj});
    return above(low, high);
  });
  out.add({"Fig. 7b", "network energy across thresholds: largest difference", "similar",
           most(spread).second, "%", where_coalesced(study, "dapper-20", most(spread).second <= 5),
           list(spread)});
  chart(out, study, "Fig. 7b: threshold, energy", "Network energy over that at 10%.", "x", variants,
        [](const DapperRun& base, const DapperRun& run) { return run.energy_pj / base.energy_pj; });
}

void add_pictures(Reproduction& out, const DapperStudy& study) {
  for (const json& picture : study.pictures) {
    if (picture.value("variant", "") == "baseline") continue;
    out.add({"Fig. 10", fmt::format("DCT output picture, {}", picture.value("variant", "")),
             picture.value("variant", "") == "dapper" ? json("virtually indistinguishable")
                                                      : json(nullptr),
             fmt::format("PSNR {:.1f} dB, SSIM {:.4f}", picture.value("psnr_db", 999.0),
                         picture.value("ssim", 0.0)),
             "",
             picture.value("variant", "") == "dapper"
                 ? matches_when(picture.value("psnr_db", 999.0) >= 40)
                 : kPicture,
             (picture.contains("error") ? fmt::format("equation (4) on the pixels: {:.3g}%; ",
                                                      100 * picture.value("error", 0.0))
                                        : std::string()) +
                 "inverse transform of the program's coefficients, beside the exact run's; "
                 "indistinguishable: 40 dB or more. The paper gives pictures alone"});
  }
}

}  // namespace

const DapperRun* DapperStudy::find(const std::string& application,
                                   const std::string& variant) const {
  const auto runs_of = runs.find(application);
  if (runs_of == runs.end()) return nullptr;
  const auto run = runs_of->second.find(variant);
  return run == runs_of->second.end() ? nullptr : &run->second;
}

void add_dapper_rows(Reproduction& out, const DapperStudy& study) {
  add_shares(out, study);
  add_check_depth(out, study);
  add_threshold(out, study);
  add_time(out, study);
  add_energy(out, study);
  add_latency(out, study);
  add_errors(out, study);
  add_pictures(out, study);
  add_dapper_readings(out, study);
  add_dapper_sensitivity(out, study);
}

nlohmann::json dapper_inconsistencies() {
  return {
      "Section III.B says that up to 80% of the data of DCT, Hist and ConvTex are approximable; "
      "section V.C counts Hist and ConvTex among those with few, and DCT, Blackscholes and DXTC "
      "among those with many",
      "the abstract's 50% are against an approximate network, section V's against the baseline",
      "Approx-NoC is reference [18] in section II and [16] in section V",
      "section V.A calls the 128-bit channel twice the size of the L1 cache line",
      "algorithm 1 takes no absolute value, divides by zero, skips the entry behind an erased one "
      "and sends a packet that is not approximable twice (simulate --literal-approximator)",
      "algorithm 3 never resets its counter: with equal windows no controller can send after the "
      "first window of an epoch (simulate --literal-selection)",
      "equation (3) is not defined where the exact output is 0"};
}

}  // namespace ww::study::dapper
