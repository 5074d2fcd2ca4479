#include "ww/runner/counted_run.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "ww/core/subprocess.hpp"
#include "ww/microbench/virtual_driver.hpp"
#include "ww/sim/driver_settings.hpp"

namespace ww::runner {
namespace {

std::vector<std::string> ending_in(const std::vector<std::filesystem::path>& files,
                                   std::string_view ending) {
  std::vector<std::string> found;
  for (const auto& file : files) {
    if (file.string().ends_with(ending)) found.push_back(file.string());
  }
  return found;
}

}  // namespace

Result<CountedRun> run_counted(const microbench::DeviceRequest& device,
                               const std::vector<std::string>& command,
                               const CountedRunOptions& options) {
  WW_TRY(microbench::enter_virtual_device(device));
  WW_ASSIGN(folder, ScratchFolder::create("run"));
  const auto set = [&](const char* variable, const char* ending, bool wanted) {
    if (wanted) {
      ::setenv(variable, (folder.path() / (std::string("%p") + ending)).c_str(), 1);
    } else {
      ::unsetenv(variable);
    }
  };
  set("WIREWATT_COUNTERS", ".counters.csv", true);
  set("WIREWATT_SAMPLES", ".samples.csv", true);
  set("WIREWATT_TRACE", ".wwt", options.trace);
  WW_ASSIGN(settings, sim::read_driver_settings());
  settings.sealed_energy = options.sealed ? (folder.path() / "%p.sealed.csv").string() : "";
  WW_ASSIGN(passed, sim::ScopedDriverSettings::apply(settings));
  CountedRun run{std::move(folder), 0, {}, {}, {}, {}, false};
  ProcessSetup setup;
  setup.out = options.quiet ? kNullStream : kInheritStream;
  const auto program = run_in_foreground(command, setup);
  for (const char* variable : {"WIREWATT_COUNTERS", "WIREWATT_SAMPLES", "WIREWATT_TRACE"}) {
    ::unsetenv(variable);
  }
  if (!program) return tl::unexpected(program.error());
  run.exit_code = program->end.exit_code;
  run.asked_to_end = program->asked_to_end;
  if (program->asked_to_end && !options.keeps_what_there_is) {
    return fail(ErrorCode::cancelled, "was interrupted", command.front());
  }
  const auto files = run.folder.files();
  run.counters = ending_in(files, ".counters.csv");
  run.samples = ending_in(files, ".samples.csv");
  run.traces = ending_in(files, ".wwt");
  run.sealed = ending_in(files, ".sealed.csv");
  if (run.counters.empty() && !options.keeps_what_there_is) {
    return fail(ErrorCode::bad_data,
                fmt::format("no counters: the program made no use of the device, or did not end by "
                            "itself (exit code {})",
                            run.exit_code),
                command.front());
  }
  return run;
}

}  // namespace ww::runner
