// wirewatt sweep --dry-run: what a sweep would take.
#pragma once

#include "ww/sweep/sweep.hpp"

namespace ww::cli {

struct DryRunOptions {
  bool slurm{};
  bool resume{};
  unsigned jobs{};
  bool json{};
};

// Runs a pilot point and prints points, time, disk and, for Slurm, the tasks and what sbatch would
// be given. Leaves nothing. Returns the exit code.
int dry_run(const sweep::Sweep& sweep, const sweep::Program& program, const DryRunOptions& options);

}  // namespace ww::cli
