// wirewatt: the one program. Commands live in their own files; this one wires them up.
#include <fmt/format.h>

#include "command.hpp"
#include "ww/core/interrupt.hpp"
#include "ww/core/log.hpp"

int main(int argc, char** argv) {
  CLI::App app{"wirewatt: what a GPU's wires cost, measured."};
  app.name("wirewatt");
  app.set_version_flag("--version", "wirewatt " WW_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Example, no GPU needed:\n"
      "  wirewatt calibrate --device virtual:w9100 --quick --out first-run\n\n"
      "Exit codes: 0 done, 1 the result is bad, 2 usage, 3 environment (driver, permission, "
      "device).");
  bool quiet = false;
  bool verbose = false;
  auto* quiet_flag = app.add_flag("-q,--quiet", quiet, "Errors only");
  app.add_flag("-v,--verbose", verbose, "Say more")->excludes(quiet_flag);
  app.fallthrough();
  app.parse_complete_callback([&] {
    ww::log::set_up(quiet     ? ww::log::Verbosity::quiet
                    : verbose ? ww::log::Verbosity::verbose
                              : ww::log::Verbosity::normal);
  });
  ww::log::set_up(ww::log::Verbosity::normal);
  ww::catch_interrupts();

  ww::cli::Outcome outcome;
  ww::cli::add_devices(app, outcome);
  ww::cli::add_doctor(app, outcome);
  ww::cli::add_calibrate(app, outcome);
  ww::cli::add_fit(app, outcome);
  ww::cli::add_score(app, outcome);
  ww::cli::add_estimate(app, outcome);
  ww::cli::add_project(app, outcome);
  ww::cli::add_report(app, outcome);
  ww::cli::add_reproduce(app, outcome);
  ww::cli::add_patch(app, outcome);
  ww::cli::add_disasm(app, outcome);
  ww::cli::add_simulate(app, outcome);
  ww::cli::add_workloads(app, outcome);
  ww::cli::add_run(app, outcome);
  ww::cli::add_trace(app, outcome);
  ww::cli::add_topology(app, outcome);
  ww::cli::add_exercise(app, outcome);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // CLI11 prints help or the error; anything but help and version is wrong usage.
    return app.exit(error) == 0 ? 0 : 2;
  }
  return outcome.exit_code;
}
