// One cause at a time: what the large differences from the paper come from.
#include <array>

#include "gpuopt/rows.hpp"

namespace ww::study::gpuopt {
namespace {

using nlohmann::json;

double wait_of(const GpuoptRun& run, const GpuoptRun&) {
  return run.wait_cycles;
}

// The width of Prior_Opt's links, which the paper does not give.
void add_prior_widths(Rows& rows) {
  struct Width {
    const char* variant;
    const char* text;
  };
  for (const Width& one :
       {Width{"prior-opt", "links of 128 wavelengths, both edges: as wide as GPUOPT's MWSR links"},
        Width{"prior-64", "links of 64 wavelengths, both edges: as wide as GPUOPT's SWMR links"},
        Width{"prior-64-sdr", "links of 64 wavelengths, one edge"}}) {
    const auto faster = rows.speedup("gpuopt", one.variant);
    rows.ours("Fig. 14", fmt::format("GPUOPT over Prior_Opt with {}", one.text), 17,
              percent_over_one(mean(faster)), "%",
              fmt::format("{}; the paper gives no width for Prior_Opt", listed(faster)));
  }
}

// What GPUOPT loses to its tokens, one cause after the other.
void add_tokens(Rows& rows) {
  json bars = json::array();
  for (const GpuoptVariant& variant : gpuopt_variants(true)) {
    if (variant.system.network.network != "gpuopt" || variant.name == "gpuopt" ||
        variant.line_bytes != 64) {
      continue;
    }
    const auto faster = rows.speedup(variant.name, "gpuopt");
    const auto prior = rows.speedup(variant.name, "prior-opt");
    const auto waits = rows.each(variant.name, variant.name, wait_of);
    if (!mean(faster)) continue;
    rows.ours("Fig. 14", fmt::format("{}: performance against GPUOPT", variant.text), nullptr,
              percent_over_one(mean(faster)), "%",
              fmt::format("{}; {:+.1f}% against Prior_Opt, a wait of {:.1f} cycles", listed(faster),
                          percent_over_one(mean(prior)).value_or(0), mean(waits).value_or(0)));
    bars.push_back({{"name", variant.text}, {"parts", {*mean(faster)}}});
  }
  if (const auto prior = mean(rows.speedup("prior-opt", "gpuopt"))) {
    bars.push_back({{"name", "Prior_Opt, 128 wavelengths"}, {"parts", {*prior}}});
  }
  for (const auto& [variant, text] : {std::pair{"prior-64", "Prior_Opt, 64 wavelengths"},
                                      std::pair{"prior-64-sdr", "Prior_Opt, 64, one edge"}}) {
    if (const auto prior = mean(rows.speedup(variant, "gpuopt"))) {
      bars.push_back({{"name", text}, {"parts", {*prior}}});
    }
  }
  rows.out().charts.push_back(
      {{"title", "What GPUOPT loses to its tokens, and Prior_Opt gains by its width"},
       {"description", "Performance over GPUOPT, means over the applications."},
       {"unit", "x"},
       {"legend", {"virtual"}},
       {"bars", bars}});
}

// Units of power by who needs them: a bound on what any control can save.
void add_needs(Rows& rows) {
  const auto lit = [](const GpuoptRun& run, const GpuoptRun&) { return run.lit_units; };
  for (const auto& [variant, order] :
       {std::pair{"perfect", "power before the link's token"},
        std::pair{"perfect-data-first", "the link's token before power"}}) {
    const auto held = rows.each(variant, variant, lit);
    rows.ours("Table 4",
              fmt::format("units that stations hold where light is never short, {}: mean", order),
              5.2, mean(held), "units",
              fmt::format("{}; the paper's controller lit 5.20", listed(held)));
    rows.ours("Fig. 15",
              fmt::format("laser power with a perfect predictor, {}, against GPUOPT", order), -59,
              mean(rows.each(variant, "gpuopt",
                             [](const GpuoptRun& x, const GpuoptRun& y) {
                               return 100 * (laser_power(x) / laser_power(y) - 1);
                             })),
              "%", "what is held is lit, and the overhead always");
  }
  const sim::net::PhotonicConfig keys;
  const auto sending = rows.each("gpuopt", "gpuopt", [&](const GpuoptRun& run, const GpuoptRun&) {
    // A flit is as wide as a link in an optical cycle.
    return run.flits * keys.core_mhz / (run.cycles * keys.optical_mhz);
  });
  rows.ours("Table 4", "units that send, GPUOPT, mean", nullptr, mean(sending), "units",
            listed(sending));
}

// What the paper leaves open about the control of the lasers, and what no control can save.
void add_readings(Rows& rows) {
  for (const GpuoptVariant& variant : gpuopt_variants(true)) {
    if (!variant.name.starts_with("ps-")) continue;
    const auto power =
        rows.each(variant.name, "gpuopt", [](const GpuoptRun& x, const GpuoptRun& y) {
          return 100 * (laser_power(x) / laser_power(y) - 1);
        });
    const auto lit = rows.each(variant.name, variant.name,
                               [](const GpuoptRun& x, const GpuoptRun&) { return x.lit_units; });
    rows.ours(
        "Fig. 15", fmt::format("{}: laser power against GPUOPT", variant.text), -59, mean(power),
        "%",
        fmt::format("{}; {:.2f} units lit (table 4: 5.20)", listed(power), mean(lit).value_or(0)));
    const auto slower = rows.speedup("gpuopt", variant.name);
    rows.ours("Fig. 14", fmt::format("GPUOPT over {}", variant.text), 11,
              percent_over_one(mean(slower)), "%", listed(slower));
  }
  add_needs(rows);
}

// Epochs of all applications by what was lit and what was held.
void add_epochs(Rows& rows) {
  std::array<double, 17> lit{};
  std::array<double, 17> held{};
  double epochs = 0;
  double few = 0;
  for (const std::string& application : gpuopt_applications()) {
    const GpuoptRun* run = rows.find(application, "ps");
    if (run == nullptr || run->epochs_by_lit.size() != lit.size() ||
        run->epochs_by_held.size() != held.size()) {
      continue;
    }
    // Each application counts alike, however long it runs.
    double all = 0;
    for (const double count : run->epochs_by_lit) all += count;
    if (all == 0) continue;
    epochs += 1;
    for (std::size_t units = 0; units < lit.size(); ++units) {
      lit[units] += run->epochs_by_lit[units] / all;
      held[units] += run->epochs_by_held[units] / all;
      if (units <= 5) few += run->epochs_by_held[units] / all;
    }
  }
  if (epochs == 0) return;
  rows.ours("Table 4", "epochs in which stations hold at most 5 units", nullptr, 100 * few / epochs,
            "%", "PS_GPUOPT, mean over the applications");
  json bars = json::array();
  for (std::size_t units = 0; units < lit.size(); ++units) {
    bars.push_back({{"name", fmt::format("{}", units)},
                    {"parts", {100 * held[units] / epochs}},
                    {"mark", 100 * lit[units] / epochs}});
  }
  rows.out().charts.push_back(
      {{"title", "Epochs of PS_GPUOPT by units of power"},
       {"description",
        "Share of epochs in which stations held so many units (over the epoch, rounded up), mean "
        "over the applications; the mark is the share in which so many were lit."},
       {"unit", "%"},
       {"legend", {"held"}},
       {"mark", "lit"},
       {"bars", bars}});
}

// Lines of the paper's size.
void add_lines(Rows& rows) {
  const auto mesh = rows.speedup("gpuopt-lines-128", "emesh-lines-128");
  rows.ours("Fig. 12", "GPUOPT over EMESH, lines of 128 bytes", 1.8, mean(mesh), "x", listed(mesh));
  const auto prior = rows.speedup("gpuopt-lines-128", "prior-opt-lines-128");
  rows.ours("Fig. 14", "GPUOPT over Prior_Opt, lines of 128 bytes", 17,
            percent_over_one(mean(prior)), "%", listed(prior));
}

}  // namespace

void add_ablations(Rows& rows) {
  add_prior_widths(rows);
  add_tokens(rows);
  add_readings(rows);
  add_epochs(rows);
  add_lines(rows);
}

}  // namespace ww::study::gpuopt
