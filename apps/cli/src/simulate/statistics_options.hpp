// `wirewatt simulate` with intervals, at saturation, or estimated instead of simulated.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>

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
  double skip_beyond{};  // of the rate at which a channel is full; 0: whatever the rate is
};

// `curve` and what draws one run exclude them.
void add_statistics_options(CLI::App& command, StatisticsOptions& options);

// Returns the exit code 1 with --skip-beyond and a rate that is beyond, and prints why there is
// nothing to simulate. Nothing where the point must be simulated, as every point whose network or
// traffic has no estimate.
[[nodiscard]] std::optional<int> skipped(const sim::net::Simulation& simulation,
                                         const StatisticsOptions& options, bool json);

// Whether one of them was asked for; run_statistics() then answers instead of simulate().
[[nodiscard]] bool wants_statistics(const StatisticsOptions& options);
// Prints the answer, and returns the exit code: 1 where the precision was not reached, or the
// network does not keep up.
int run_statistics(const sim::net::Simulation& simulation, const StatisticsOptions& options,
                   bool json);

}  // namespace ww::cli
