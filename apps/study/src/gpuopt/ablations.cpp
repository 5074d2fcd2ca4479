// One cause at a time: what the large differences from the paper come from.
#include <algorithm>
#include <array>

#include "gpuopt/rows.hpp"

namespace ww::study::gpuopt {
namespace {

using nlohmann::json;

double wait_of(const GpuoptRun& run, const GpuoptRun&) {
  return run.wait_cycles;
}

// No width of Prior_Opt's links, which the paper does not give, fits both of its figures.
void add_prior_widths(Rows& rows) {
  for (const auto& [variant, text] :
       {std::pair{"prior-128", "128 wavelengths a link, as GPUOPT's MWSR links"},
        std::pair{"prior-sdr", "64 wavelengths, one edge of the clock"}}) {
    const auto faster = rows.speedup("gpuopt", variant);
    rows.ours("Fig. 14", fmt::format("GPUOPT over Prior_Opt, {}", text), 17,
              percent_over_one(mean(faster)), "%", listed(faster));
    const auto power = rows.each("gpuopt", variant, [](const GpuoptRun& x, const GpuoptRun& y) {
      return 100 * (laser_power(x) / laser_power(y) - 1);
    });
    rows.ours("Fig. 15", fmt::format("laser power of GPUOPT against Prior_Opt, {}", text), -19.5,
              mean(power), "%", listed(power));
  }
  std::vector<std::string> said;
  bool one_fits = false;
  for (const auto& [variant, text] :
       {std::pair{"prior-opt", "64"}, std::pair{"prior-128", "128"}}) {
    const auto faster = percent_over_one(mean(rows.speedup("gpuopt", variant)));
    const auto power =
        mean(rows.each("gpuopt", variant, [](const GpuoptRun& x, const GpuoptRun& y) {
          return 100 * (laser_power(x) / laser_power(y) - 1);
        }));
    if (!faster || !power) return;
    one_fits = one_fits || (*faster > 0 && *power < 0);
    said.push_back(
        fmt::format("with {} wavelengths GPUOPT is {:+.1f}% as fast as Prior_Opt and "
                    "its lasers take {:+.1f}%",
                    text, *faster, *power));
  }
  rows.out().add(
      {"Fig. 14", "a width of Prior_Opt for which GPUOPT is faster and needs less light", "assumed",
       one_fits ? "there is one" : "none of 64 and 128", "", matches_when(one_fits),
       fmt::format("Fig. 14 needs the first, Fig. 15 the second: {}", fmt::join(said, "; "))});
}

// The networks beside which each reading of GPUOPT's tokens is put.
constexpr std::array kComparedWith{std::pair{"emesh", "EMESH"},
                                   std::pair{"emesh-10g", "EMESH at 10 Gb/s a wire"},
                                   std::pair{"prior-opt", "Prior_Opt, 64 wavelengths"},
                                   std::pair{"prior-128", "Prior_Opt, 128 wavelengths"}};

// Adds what GPUOPT loses to its tokens, one cause after the other.
void add_tokens(Rows& rows) {
  json bars = json::array();
  const auto variants = gpuopt_variants(false);
  const auto paper = std::ranges::find(variants, "gpuopt", &GpuoptVariant::name);
  for (const GpuoptVariant& variant : variants) {
    if (variant.system.network.network != paper->system.network.network ||
        variant.name == paper->name || variant.line_bytes != 64 ||
        variant.l1_policy != "coherent") {
      continue;
    }
    const auto faster = rows.speedup(variant.name, "gpuopt");
    if (!mean(faster)) continue;
    std::string note = listed(faster);
    for (const auto& [network, text] : kComparedWith) {
      if (const auto times = mean(rows.speedup(variant.name, network))) {
        note += fmt::format("; {:.3f} x {}", *times, text);
      }
    }
    if (const auto wait = mean(rows.each(variant.name, variant.name, wait_of))) {
      note += fmt::format("; a message waits {:.1f} cycles", *wait);
    }
    rows.ours("Fig. 14", fmt::format("{}: performance against GPUOPT", variant.text), nullptr,
              percent_over_one(mean(faster)), "%", std::move(note));
    bars.push_back({{"name", variant.text}, {"parts", {*mean(faster)}}});
  }
  for (const auto& [variant, text] : {std::pair{"prior-128", "Prior_Opt, 128 wavelengths"},
                                      std::pair{"prior-opt", "Prior_Opt, 64 wavelengths"},
                                      std::pair{"prior-sdr", "Prior_Opt, 64, one edge"}}) {
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

// Adds what the paper leaves open about the control of the lasers, and what no control can save.
void add_readings(Rows& rows) {
  for (const GpuoptVariant& variant : gpuopt_variants(false)) {
    if (!variant.name.starts_with("ps-")) continue;
    const auto power = rows.judged(
        rows.each(variant.name, variant.against, [](const GpuoptRun& x, const GpuoptRun& y) {
          return 100 * (laser_power(x) / laser_power(y) - 1);
        }));
    const auto lit =
        rows.judged(rows.each(variant.name, variant.name,
                              [](const GpuoptRun& x, const GpuoptRun&) { return x.lit_units; }));
    rows.ours(
        "Fig. 15", fmt::format("{}: laser power against GPUOPT", variant.text), -59, mean(power),
        "%",
        fmt::format("{}; {:.2f} units lit (table 4: 5.20)", listed(power), mean(lit).value_or(0)));
    const auto slower = rows.judged(rows.speedup(variant.against, variant.name));
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
    // Each application counts equally, however long it runs.
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

// L1s that are emptied at each launch.
void add_launch_l1s(Rows& rows) {
  const auto scaling = rows.speedup("sms-32-l1-launch", "sms-8-l1-launch");
  rows.ours("Fig. 2", "performance of 32 SMs over 8, mean, L1s emptied at each launch", 2.6,
            mean(scaling), "x", listed(scaling));
  const auto mesh = rows.speedup("gpuopt-l1-launch", "emesh-l1-launch");
  rows.ours("Fig. 12", "GPUOPT over EMESH, L1s emptied at each launch", 1.8, mean(mesh), "x",
            listed(mesh));
  const auto prior = rows.speedup("gpuopt-l1-launch", "prior-opt-l1-launch");
  rows.ours("Fig. 14", "GPUOPT over Prior_Opt, L1s emptied at each launch", 17,
            percent_over_one(mean(prior)), "%", listed(prior));
  const auto ideal = rows.each(
      "prior-opt-l1-launch", "prior-opt-l1-launch",
      [](const GpuoptRun& run, const GpuoptRun&) { return run.lit_units / run.busy_stations; });
  rows.ours("Fig. 6", "laser power of Prior_Opt over ideal, L1s emptied at each launch", 8.8,
            mean(ideal), "x", listed(ideal));
  const auto lit =
      rows.judged(rows.each("ps-l1-launch", "ps-l1-launch",
                            [](const GpuoptRun& run, const GpuoptRun&) { return run.lit_units; }));
  rows.ours("Table 4", "tokens an epoch, PS_GPUOPT, L1s emptied at each launch: mean", 5.2,
            mean(lit), "tokens", listed(lit));
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
  add_launch_l1s(rows);
  add_lines(rows);
}

}  // namespace ww::study::gpuopt
