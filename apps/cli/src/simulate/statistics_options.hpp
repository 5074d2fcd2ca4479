// `wirewatt simulate` with intervals, at saturation, or estimated instead of simulated.
#pragma once

#include <CLI/CLI.hpp>

#include "ww/sim/net/simulate.hpp"
#include "ww/sim/net/statistics.hpp"

namespace ww::cli {

struct StatisticsOptions {
  bool estimate{};
  int seeds{};                 // 0: one run
  double precision_percent{};  // 0: as many runs as `seeds` says
  int max_seeds{100};
  bool saturation{};
  double tolerance{0.005};
};

// `curve` and what draws one run exclude them.
void add_statistics_options(CLI::App& command, StatisticsOptions& options);

// Whether one of them was asked for; run_statistics() then answers instead of simulate().
[[nodiscard]] bool wants_statistics(const StatisticsOptions& options);
// Prints the answer, and returns the exit code: 1 where the precision was not reached, or the
// network does not keep up.
int run_statistics(const sim::net::Simulation& simulation, const StatisticsOptions& options,
                   bool json);

}  // namespace ww::cli
