// Reports the power of GPUOPT's lasers and the design space around PS_GPUOPT: energy times delay
// squared against performance.
#include "gpuopt/rows.hpp"
#include "ww/sim/net/factory.hpp"
#include "ww/sim/power/photonic_power.hpp"

namespace ww::study::gpuopt {
namespace {

using nlohmann::json;
using sim::power::BudgetScope;

constexpr BudgetScope kScopes[] = {BudgetScope::worked, BudgetScope::power_path,
                                   BudgetScope::all_rings};

// Returns the link budget of 16 stations on the 600 mm2 die.
Result<sim::power::LinkBudget> budget_of(BudgetScope scope) {
  sim::power::PhotonicStructure structure;
  structure.stations = 16;
  structure.splitters = 16;
  structure.waveguide_wavelengths = 64;
  structure.pass_mm = 91.86;
  structure.pass_bends = 30;
  return sim::power::link_budget({}, sim::power::path_of(structure, scope), 36, {}, 64);
}

// Light of a scope over that of the runs, which count all rings.
double light_of(BudgetScope scope) {
  const auto full = budget_of(BudgetScope::all_rings);
  const auto part = budget_of(scope);
  return full && part ? part->wavelength_uw() / full->wavelength_uw() : 1;
}

double ed2(const GpuoptRun& run, double light = 1) {
  return (run.network_pj - (1 - light) * run.laser_pj) * run.cycles * run.cycles;
}

struct Point {
  std::string name, text;
  double performance, ed2;  // over GPUOPT's
  bool front{};
};

std::vector<Point> points_of(const Rows& rows) {
  std::vector<Point> points;
  for (const GpuoptVariant& variant : gpuopt_variants(false)) {
    const auto* kind = sim::net::find_network(variant.system.network.network);
    if (kind == nullptr || !kind->light || variant.line_bytes != 64 ||
        variant.l1_policy != "coherent") {
      continue;
    }
    // Ablations of what cannot be built, or not sensibly: 63 units pass 63 splitters.
    if (variant.name == "units-63" || variant.name == "free-tokens" ||
        variant.name == "fast-ring") {
      continue;
    }
    const auto faster = rows.speedup(variant.name, "gpuopt");
    const auto energy =
        rows.each(variant.name, "gpuopt",
                  [](const GpuoptRun& x, const GpuoptRun& y) { return ed2(x) / ed2(y); });
    if (const auto p = mean(faster), e = mean(energy); p && e) {
      points.push_back({variant.name, variant.text, *p, *e});
    }
  }
  const auto bound = [](const Point& point) { return point.name.starts_with("perfect"); };
  for (Point& point : points) {
    point.front = !bound(point) && std::none_of(points.begin(), points.end(), [&](const Point& x) {
      return !bound(x) && x.performance >= point.performance && x.ed2 <= point.ed2 &&
             (x.performance > point.performance || x.ed2 < point.ed2);
    });
  }
  return points;
}

}  // namespace

// Adds the light's power for less and less honest counts of splitters and rings.
void add_link_budgets(Rows& rows) {
  for (const BudgetScope scope : kScopes) {
    const auto budget = budget_of(scope);
    if (!budget) continue;
    const double watts = 18 * 128 * budget->wavelength_uw() * 1e-6 / 0.25;
    rows.ours("section 8.3.2",
              fmt::format("lasers of GPUOPT, all 18 units lit, link budget {}",
                          sim::power::to_string(scope)),
              nullptr, watts, "W",
              fmt::format("{:.2f} dB, {:.3g} uW a wavelength at 36 uW a detector, 25% efficient; "
                          "the paper says neither how many splitters nor how many rings",
                          budget->total_db(), budget->wavelength_uw()));
  }
  const auto share = rows.each("ps", "ps", [](const GpuoptRun& run, const GpuoptRun&) {
    return 100 * run.laser_pj / run.network_pj;
  });
  if (!share.empty()) {
    rows.ours("section 8.3.3", "share of the lasers in PS_GPUOPT's network energy", nullptr,
              mean(share), "%", listed(share));
  }
}

void add_design_space(Rows& rows) {
  const auto points = points_of(rows);
  json dots = json::array();
  for (const Point& point : points) {
    dots.push_back(
        {{"name", point.text}, {"x", point.performance}, {"y", point.ed2}, {"front", point.front}});
    rows.ours("design space", fmt::format("network ED2 over GPUOPT's: {}", point.text), nullptr,
              point.ed2, "",
              fmt::format("performance {:.3f}{}", point.performance,
                          point.front ? "; no other point is as good in both" : ""));
  }
  rows.out().charts.push_back({{"title", "Design space: network ED2 against performance"},
                               {"description",
                                "Both over GPUOPT's, means over the applications. The front leaves "
                                "out what could not be built: perfect predictors."},
                               {"x_label", "performance over GPUOPT's"},
                               {"y_label", "network ED2 over GPUOPT's"},
                               {"points", dots}});
  // By the losses that are counted: with little light there is little to save.
  for (const BudgetScope scope : kScopes) {
    const double light = light_of(scope);
    const auto against = [&](const char* variant, const char* base) {
      return percent_over_one(
          mean(rows.each(variant, base, [&](const GpuoptRun& x, const GpuoptRun& y) {
            return ed2(x, light) / ed2(y, light);
          })));
    };
    const auto name = sim::power::to_string(scope);
    const auto saved = against("ps", "gpuopt");
    if (!saved) continue;
    rows.ours("design space",
              fmt::format("network ED2 of PS_GPUOPT against GPUOPT, link budget {}", name), nullptr,
              saved, "%", fmt::format("{:.3g} of the light of all-rings", light));
    rows.ours("design space",
              fmt::format("network ED2 that a perfect predictor would still save, link budget "
                          "{}",
                          name),
              nullptr, against("perfect", "ps"), "%", "against PS_GPUOPT");
  }
}

}  // namespace ww::study::gpuopt
