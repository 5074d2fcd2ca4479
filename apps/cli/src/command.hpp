// Declares what every command shares. A command registers its options and a callback; the callback
// returns the exit code: 0 done, 1 the result is bad, 2 usage, 3 environment, 130 ended by Ctrl-C.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace ww::cli {

// Set by the callback of the command that ran.
struct Outcome {
  int exit_code{};
  bool has_separator{};  // "--" stood in the command line: what follows it is a program
};

void add_devices(CLI::App& app, Outcome& outcome);
void add_doctor(CLI::App& app, Outcome& outcome);
void add_selftest(CLI::App& app, Outcome& outcome);
void add_calibrate(CLI::App& app, Outcome& outcome);
void add_ladder(CLI::App& app, Outcome& outcome);
void add_fit(CLI::App& app, Outcome& outcome);
void add_score(CLI::App& app, Outcome& outcome);
void add_segments(CLI::App& app, Outcome& outcome);
void add_attribute(CLI::App& app, Outcome& outcome);
void add_launches(CLI::App& app, Outcome& outcome);
void add_estimate(CLI::App& app, Outcome& outcome);
void add_counters(CLI::App& app, Outcome& outcome);
void add_project(CLI::App& app, Outcome& outcome);
void add_report(CLI::App& app, Outcome& outcome);
void add_patch(CLI::App& app, Outcome& outcome);
void add_disasm(CLI::App& app, Outcome& outcome);
void add_simulate(CLI::App& app, Outcome& outcome);
void add_sweep(CLI::App& app, Outcome& outcome);
void add_workloads(CLI::App& app, Outcome& outcome);
void add_reproduce(CLI::App& app, Outcome& outcome);
void add_run(CLI::App& app, Outcome& outcome);
void add_toggles(CLI::App& app, Outcome& outcome);
void add_trace(CLI::App& app, Outcome& outcome);
void add_exercise(CLI::App& app, Outcome& outcome);
void add_export(CLI::App& app, Outcome& outcome);
void add_topology(CLI::App& app, Outcome& outcome);
void add_top(CLI::App& app, Outcome& outcome);
void add_meter(CLI::App& app, Outcome& outcome);
void add_completion(CLI::App& app, Outcome& outcome);
void add_manual(CLI::App& app, Outcome& outcome);

}  // namespace ww::cli
