// IISWC'16, sections VII and VIII: the paper's applications on the virtual W9100.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "iiswc16/application.hpp"
#include "iiswc16/iiswc16.hpp"
#include "ww/core/log.hpp"
#include "ww/model/layout.hpp"
#include "ww/model/technology.hpp"

namespace ww::study::iiswc16 {
namespace {

using nlohmann::json;

constexpr double kPeakL1L2 = 16 * 64 * 930e6;  // bytes a second, as the paper computes it

// Explains a share by the counters.
std::string explanation(const Application& app) {
  return fmt::format(
      "{:.3g} W of dynamic power; L1 lines {:.3g} GB/s, L1-L2 {:.3g} GB/s ({:.2g}% of peak), "
      "L2-memory {:.3g} GB/s; L1 hits {:.0f}%, {:.3g} vector instructions for each line; {}with "
      "its "
      "own toggles ({:.2f}) {:.3g}%",
      app.dynamic_w, app.bytes[0] / app.seconds * 1e-9, app.bytes[1] / app.seconds * 1e-9,
      100 * app.bytes[1] / app.seconds / kPeakL1L2, app.bytes[2] / app.seconds * 1e-9,
      app.l1_hit_percent, app.vector_per_line,
      app.vector_per_line > 8 ? "arithmetic outweighs movement; " : "", app.toggle_rate,
      app.share_measured.value_or(0));
}

struct Stated {
  double at_least{}, at_most{100};
  const char* text{};
  std::optional<double> value;
};

std::optional<Stated> stated(const std::string& name) {
  if (name == "color") return Stated{0, 100, "14.3", 14.3};
  for (const char* high : {"comd-lj", "kmeans", "lulesh", "scan"}) {
    if (name == high) return Stated{10, 100, "over 10", std::nullopt};
  }
  for (const char* low : {"mandelbulb", "montecarlo", "nbody"}) {
    if (name == low) return Stated{0, 1, "near 0", std::nullopt};
  }
  return std::nullopt;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

// A stated figure and ours: within a fifth is a match.
ReproductionRow compare(const char* figure, std::string quantity, double paper, double ours,
                        const char* unit, std::string note) {
  const bool near = std::abs(ours - paper) <= 0.2 * std::abs(paper);
  return {figure, std::move(quantity), paper, ours, unit, matches_when(near), std::move(note)};
}

// How far the shares are known, if the rest of the chip may take anything that public sources
// allow, and which of their ranges matters most.
void add_bounds(Reproduction& out, const std::vector<Application>& apps) {
  model::Bounds mean_share;
  std::map<std::string, double> narrower;  // of each range, summed over the applications
  double count = 0, outside = 0;
  for (const auto& app : apps) {
    if (!app.good() || !app.bounds) continue;
    const model::ShareBounds& bounds = *app.bounds;
    ++count;
    mean_share.low += bounds.share_percent.low;
    mean_share.high += bounds.share_percent.high;
    for (const auto& known : bounds.known) narrower[std::string(known.name)] += known.narrower;
    if (app.dynamic_w > model::chip_power("gfx701")->limit_w) ++outside;
    out.add({"Fig. 10", app.name + ": share within the public ranges of the chip's power", nullptr,
             fmt::format("{:.3g} to {:.3g}", bounds.share_percent.low, bounds.share_percent.high),
             "%", kOurs,
             fmt::format(
                 "{:.3g} to {:.3g} W beside the wires, {:.3g} W in all on the virtual chip; "
                 "to know {} alone would narrow it most, by {:.0f}%, to {:.3g} to {:.3g}%",
                 bounds.rest_w.low, bounds.rest_w.high, app.dynamic_w, bounds.known.front().name,
                 100 * bounds.known.front().narrower, bounds.known.front().share_percent.low,
                 bounds.known.front().share_percent.high)});
  }
  if (count == 0) return;
  out.add({"Fig. 10", "mean share within the public ranges of the chip's power", 5.6,
           fmt::format("{:.3g} to {:.3g}", mean_share.low / count, mean_share.high / count), "%",
           kOurs, "means of the ends, which no single chip need reach"});
  const auto most =
      std::ranges::max_element(narrower, {}, &std::map<std::string, double>::value_type::second);
  std::string others;
  for (const auto& [name, sum] : narrower) {
    others += fmt::format("{}{} {:.0f}%", others.empty() ? "" : ", ", name, 100 * sum / count);
  }
  out.add({"Fig. 10", "range that matters most to the shares", nullptr, most->first, "", kOurs,
           "by how much each, known alone, would narrow a share on average: " + others});
  out.add({"Fig. 10", "applications beyond what the card can draw", nullptr, outside, "", kOurs,
           fmt::format("dynamic power above {:.0f} W on the virtual chip: {}",
                       model::chip_power("gfx701")->limit_w,
                       model::chip_power("gfx701")->limit_source)});
}

// A share that the paper's text states for both nodes of Fig. 10 [%].
struct StatedShares {
  double at_28nm{}, at_7nm{};
};
constexpr StatedShares kMeanShare{5.6, 8.9};
constexpr double kColorAt7nm = 21.9;

// Fig. 10 has two bars for each application: at 28 nm, and projected to 7 nm.
void add_share_bars(json& bars, const std::string& name, const std::array<double, 3>& percent,
                    double at_7nm, const std::optional<StatedShares>& stated) {
  const double share = percent[0] + percent[1] + percent[2];
  const double grows = share > 0 ? at_7nm / share : 1;
  json now{{"name", name}, {"parts", percent}};
  json then{{"name", name + ", 7 nm"},
            {"parts", {grows * percent[0], grows * percent[1], grows * percent[2]}}};
  if (stated) {
    now["mark"] = stated->at_28nm;
    then["mark"] = stated->at_7nm;
  }
  bars.push_back(std::move(now));
  bars.push_back(std::move(then));
}

json chart_of_shares(json bars) {
  return {{"title", "Fig. 10: interconnect share of dynamic power, by application"},
          {"description",
           "Toggle rate 0.34 and the paper's counters and widths, at 28 nm and projected to 7 nm; "
           "a mark is the paper's figure where its text states one."},
          {"unit", "%"},
          {"legend", {"registers–L1", "L1–L2", "L2–memory"}},
          {"mark", "paper"},
          {"bars", std::move(bars)}};
}

void add_shares(Reproduction& out, const std::vector<Application>& apps) {
  json bars = json::array();
  std::vector<double> shares;
  std::vector<double> projected;
  std::array<double, 3> parts{};
  const Application* most = nullptr;
  for (const auto& app : apps) {
    const auto known = stated(app.name);
    const auto quantity = app.name + ": interconnect share of dynamic power";
    if (!app.good()) {
      out.add({"Fig. 10", quantity, known ? json(known->text) : json(nullptr), nullptr, "%",
               kUnavailable, app.failure});
      continue;
    }
    shares.push_back(app.share);
    projected.push_back(100 * model::projected_share(app.share / 100, model::kPaperWireToLogic));
    for (std::size_t s = 0; s < parts.size(); ++s) parts[s] += app.share_percent[s];
    if (most == nullptr || app.share > most->share) most = &app;
    add_share_bars(bars, app.name, app.share_percent, projected.back(),
                   known && known->value ? std::optional(StatedShares{*known->value, kColorAt7nm})
                                         : std::nullopt);
    std::string status = kPicture;
    if (known) {
      const bool inside = known->value
                              ? std::abs(app.share - *known->value) <= 0.2 * *known->value
                              : app.share >= known->at_least && app.share <= known->at_most;
      status = matches_when(inside);
    }
    out.add({"Fig. 10", quantity,
             known && known->value ? json(*known->value)
             : known               ? json(known->text)
                                   : json(nullptr),
             app.share, "%", status, explanation(app)});
  }
  if (!shares.empty()) {
    std::array<double, 3> means = parts;
    for (double& part : means) part /= static_cast<double>(shares.size());
    add_share_bars(bars, "mean", means, mean(projected), kMeanShare);
  }
  out.charts.push_back(chart_of_shares(std::move(bars)));
  if (shares.empty()) return;
  add_bounds(out, apps);
  const char* inputs =
      "other inputs than the paper's, on the virtual chip; the rows on public ranges say how far "
      "the chip's power beside its wires, which is in every denominator, is known";
  out.add(compare("Fig. 10", "mean share over the applications, 28 nm", kMeanShare.at_28nm,
                  mean(shares), "%", inputs));
  out.add({"Fig. 10", "application with the highest share", "color", most->name, "",
           matches_when(most->name == "color"), explanation(*most)});
  out.add(compare("Fig. 10", "highest share, 28 nm", 14.3, most->share, "%",
                  most->name + ": " + explanation(*most)));
  const double sum = parts[0] + parts[1] + parts[2];
  if (sum > 0) {
    out.add({"Fig. 10", "registers-L1 of the interconnect", "over 45", 100 * parts[0] / sum, "%",
             matches_when(parts[0] / sum > 0.45), inputs});
    out.add(compare("Fig. 10", "L1-L2 of the interconnect", 30, 100 * parts[1] / sum, "%", inputs));
  }
  out.add(compare("Fig. 10", "mean share, 7 nm, r = 1.68", kMeanShare.at_7nm, mean(projected), "%",
                  "our shares at 28 nm, projected"));
  out.add({"Fig. 10", "14.3% at 28 nm become at 7 nm, r = 1.68", kColorAt7nm,
           100 * model::projected_share(0.143, model::kPaperWireToLogic), "%", kByConstruction,
           "r was set so that the paper's 14.3% become 21.9%"});
  for (const auto& scaling : model::node_scalings()) {
    if (scaling.logic == 1.0) continue;
    out.add({"Fig. 10", fmt::format("14.3% at 28 nm become at 7 nm: {}", scaling.name), kColorAt7nm,
             100 * model::projected_share(0.143, scaling.wire_to_logic()), "%", kOurs,
             fmt::format("the paper's 14.3% with a published scaling: r = {:.3g}; {}",
                         scaling.wire_to_logic(), scaling.source)});
  }
}

struct Reduction {
  std::string name;
  double percent{};
};

// The reductions that the paper's text states for one of its figures.
struct StatedReductions {
  double mean{}, most{};  // [%]
  const char* app{};      // that has the largest
};

// A bar of an application's power over that of its baseline, in parts, with the paper's where its
// text states it.
json normalised_bar(const std::string& name, std::vector<double> parts,
                    const StatedReductions& stated) {
  json bar{{"name", name}, {"parts", std::move(parts)}};
  if (name == stated.app) bar["mark"] = 1 - stated.most / 100;
  if (name == "mean") bar["mark"] = 1 - stated.mean / 100;
  return bar;
}

double mean_percent(const std::vector<Reduction>& reductions) {
  std::vector<double> values;
  values.reserve(reductions.size());
  for (const auto& one : reductions) values.push_back(one.percent);
  return mean(values);
}

// Rows of the mean and largest reduction over applications, and which has the largest; and the
// figure as the paper draws it: power over that of the baseline.
void add_reductions(Reproduction& out, const char* figure, const std::string& what,
                    const std::vector<Reduction>& reductions, const StatedReductions& stated,
                    const char* note, json chart) {
  if (reductions.empty()) {
    out.add({figure, what, stated.mean, nullptr, "%", kUnavailable, "no application ran"});
    return;
  }
  const auto most = std::ranges::max_element(reductions, {}, &Reduction::percent);
  out.add(compare(figure, what + ", mean", stated.mean, mean_percent(reductions), "%", note));
  out.add(compare(figure, what + ", largest", stated.most, most->percent, "%",
                  most->name + "; " + note));
  out.add({figure, what + ": application with the largest", stated.app, most->name, "",
           matches_when(most->name == stated.app), note});
  chart["description"] =
      fmt::format("{}. Marks are the paper's, where its text states a value.", note);
  chart["unit"] = "of the baseline";
  chart["mark"] = "paper";
  out.charts.push_back(std::move(chart));
}

void add_layouts(Reproduction& out, const std::vector<Application>& apps) {
  const auto layouts = model::paper_layouts();
  const StatedReductions stated{48, 79, "eigen"};
  std::vector<Reduction> reductions;
  json bars = json::array();
  for (const auto& app : apps) {
    if (!app.good()) continue;
    const model::LayoutTraffic bits{8 * app.bytes[1], 8 * app.bytes[2]};
    const double base = model::layout_cost(layouts[0], bits);
    if (!(base > 0)) continue;
    reductions.push_back({app.name, 100 * (1 - model::layout_cost(layouts[1], bits) / base)});
    const auto parts = [&](const model::Layout& layout) {
      return std::vector<double>{model::layout_cost(layout, {bits.l1_l2_bits, 0}) / base,
                                 model::layout_cost(layout, {0, bits.l2_memory_bits}) / base};
    };
    bars.push_back({{"name", app.name + ", L2-MC optimised"}, {"parts", parts(layouts[0])}});
    bars.push_back(normalised_bar(app.name, parts(layouts[1]), stated));
  }
  bars.push_back(normalised_bar("mean", {1 - mean_percent(reductions) / 100}, stated));
  const auto row = [&](const char* quantity, double value) {
    out.add({"Fig. 11", quantity, value, value, "units", kByConstruction,
             "the paper's distances, taken over"});
  };
  row("L2-MC optimised layout, L1 to L2", layouts[0].l1_l2);
  row("L2-MC optimised layout, L2 to MC", layouts[0].l2_memory);
  row("L1-L2 optimised layout, L1 to L2", layouts[1].l1_l2);
  row("L1-L2 optimised layout, L2 to MC", layouts[1].l2_memory);
  add_reductions(out, "Fig. 12", "interconnect power saved by the L1-L2 optimised layout",
                 reductions, stated,
                 "the distances are the paper's: 79% is the most that they allow, where nothing "
                 "goes to memory",
                 {{"title",
                   "Fig. 12: interconnect power between L1 and MC, L2-MC optimised layout (1) and "
                   "L1-L2 optimised layout"},
                  {"legend", {"L1–L2", "L2–MC"}},
                  {"bars", std::move(bars)}});
  for (auto& reported : out.rows) {
    // The largest share follows from the paper's distances.
    if (reported.figure == "Fig. 12" && reported.quantity.ends_with(", largest")) {
      reported.status = kByConstruction;
    }
  }
}

// One figure of cache sizes: bytes with the small cache and with the large one, by application.
void add_cache(Reproduction& out, const char* figure, const std::string& what, const char* title,
               const StatedReductions& stated, const std::vector<Application>& apps,
               std::array<double, 2> Application::*bytes) {
  std::vector<Reduction> reductions;
  json bars = json::array();
  for (const auto& app : apps) {
    const auto& [small, large] = app.*bytes;
    if (!app.good() || !(small > 0)) continue;
    reductions.push_back({app.name, 100 * (1 - large / small)});
    bars.push_back(normalised_bar(app.name, {large / small}, stated));
  }
  bars.push_back(normalised_bar("mean", {1 - mean_percent(reductions) / 100}, stated));
  add_reductions(out, figure, what, reductions, stated,
                 "the run's trace through a cache model; smaller inputs than the paper's",
                 {{"title", title}, {"legend", {"virtual W9100"}}, {"bars", std::move(bars)}});
}

void add_caches(Reproduction& out, const std::vector<Application>& apps) {
  add_cache(out, "Fig. 13", "L1-L2 power saved by an L1 of 16 instead of 4 KiB",
            "Fig. 13: L1-L2 interconnect power with an L1 of 16 KiB, over that with 4 KiB",
            {9, 37, "swat"}, apps, &Application::l1_l2);
  add_cache(out, "Fig. 14", "L2-memory power saved by an L2 of 1024 instead of 256 KiB",
            "Fig. 14: L2-MC interconnect power with an L2 of 1024 KiB, over that with 256 KiB",
            {9, 25, "comd"}, apps, &Application::l2_memory);
}

// The paper's counters and widths beside the bytes that moved.
void add_counted_bytes(Reproduction& out, const std::vector<Application>& apps) {
  static constexpr std::array kSegments{"registers-L1", "L1-L2", "L2-memory"};
  std::array<double, 3> papers{}, moved{};
  double share = 0, count = 0;
  for (const auto& app : apps) {
    if (!app.good()) continue;
    ++count;
    share += app.share_moved;
    for (std::size_t s = 0; s < kSegments.size(); ++s) {
      papers[s] += app.bytes[s] / app.seconds;
      moved[s] += app.moved[s] / app.seconds;
    }
    const auto over = [&](std::size_t s) {
      return app.moved[s] > 0 ? fmt::format("{:.3g}", app.bytes[s] / app.moved[s])
                              : std::string("-");
    };
    out.add(
        {"section VI", app.name + ": share with the bytes that moved", nullptr, app.share_moved,
         "%", kOurs,
         fmt::format("{:.3g}% by the paper's counters and widths, whose bytes are {}, {} and {} "
                     "times those that moved (registers-L1, L1-L2, L2-memory)",
                     app.share, over(0), over(1), over(2))});
  }
  if (count == 0) return;
  out.add({"section VI", "mean share with the bytes that moved", 5.6, share / count, "%", kOurs,
           "toggle rate 0.34, as in Fig. 10"});
  const std::array<const char*, 3> why{
      "an access of the L1 is a line of 64 B, of which a lane of a strided or gathered load takes "
      "4 B; bytes between registers and local memory are in ours and in no counter of the paper's",
      "hits and misses count whole lines; a store of fewer bytes moves those alone",
      "a miss brings 64 B, two requests of 32 B, lines are written back without a miss, and a "
      "store "
      "may miss and bring nothing; CodeXL's FetchSize and WriteSize count the requests"};
  for (std::size_t s = 0; s < kSegments.size(); ++s) {
    if (!(moved[s] > 0)) continue;
    out.add({"section VI",
             fmt::format("bytes by the paper's counters over those that moved, {}", kSegments[s]),
             nullptr, papers[s] / moved[s], "", kOurs, why[s]});
  }
}

}  // namespace

Status add_applications(Reproduction& out, const std::string& model_file,
                        const ApplicationsRequest& request,
                        const std::function<void(const std::string&, double, double)>& done) {
  WW_ASSIGN(model, model::load_wire_model(model_file));
  WW_ASSIGN(runs, run_applications(request, model, done));
  if (runs.builds.size() > 1) {
    log::warn(
        "{}: its runs are of several builds of this program ({}); remove the folder 'applications' "
        "there to run all of them again",
        request.out, fmt::join(runs.builds, ", "));
  }
  add_application_rows(out, runs);
  return {};
}

void add_application_rows(Reproduction& out, const ApplicationRuns& runs) {
  out.add({"Table III", "applications", 23, runs.programs.size(), "", kByConstruction,
           fmt::format("programs of our own after the named ones, with generated inputs (the text "
                       "says 22, the table lists 23): {}",
                       fmt::join(runs.programs, ", "))});
  add_counted_bytes(out, runs.applications);
  add_shares(out, runs.applications);
  add_layouts(out, runs.applications);
  add_caches(out, runs.applications);
}

void add_iiswc16_summary(Reproduction& out) {
  out.headline("The interconnect's share of dynamic power, mean", "Fig. 10",
               "mean share over the applications, 28 nm");
  out.headline("The same with the highest share", "Fig. 10", "highest share, 28 nm");
  out.headline("The mean share at 7 nm", "Fig. 10", "mean share, 7 nm");
  out.headline("Registers to L1 make most of it", "Fig. 10", "registers-L1 of the interconnect");
  out.headline("L1 to L2 make a third of it", "Fig. 10", "L1-L2 of the interconnect");
  out.headline("The long path takes more power", "Fig. 5a", "long over short path");
  out.headline("Energy grows linearly with distance", "Fig. 5b", "R2");
  out.headline("Energy grows linearly with toggles", "Fig. 7b", "");
  out.headline("Payloads without toggles have an order", "Fig. 7a", "order of payloads");
  out.headline("Energy per bit and mm as at 32 nm", "section V.A", "DARPA");
  out.headline("A layout with L1 near L2 saves, mean", "Fig. 12", ", mean");
  out.headline("An L1 of 16 instead of 4 KiB saves, mean", "Fig. 13", ", mean");
  out.headline("An L2 of 1024 instead of 256 KiB saves, mean", "Fig. 14", ", mean");
}

}  // namespace ww::study::iiswc16
