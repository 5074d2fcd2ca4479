#include "program/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <system_error>

#include "build_version.hpp"
#include "command.hpp"
#include "help/description.hpp"
#include "help/help.hpp"
#include "option.hpp"
#include "output.hpp"
#include "program/device_names.hpp"
#include "program/output_files.hpp"
#include "program/usage_text.hpp"
#include "ww/core/log.hpp"
#include "ww/core/progress.hpp"
#include "ww/selftest/where_to_report.hpp"

namespace ww::cli {
namespace {

// The library takes arguments from the back.
std::vector<std::string> reversed(std::vector<std::string> arguments) {
  std::reverse(arguments.begin(), arguments.end());
  return arguments;
}

void add_commands(CLI::App& app, Outcome& outcome) {
  app.name("wirewatt");
  app.formatter(std::make_shared<ScreenHelp>());  // commands take it from here
  app.set_help_all_flag("--help-all", "Help with every option");
  app.set_version_flag("--version",
                       fmt::format("wirewatt {}\nFaults, and files of cards, go to {}.",
                                   build_version(), selftest::kWhereToReport));
  app.require_subcommand(1);
  app.footer(
      "Example, no GPU needed:\n"
      "  wirewatt calibrate --device virtual:w9100 --quick --out first-run\n"
      "Exit codes: 0 done, 1 bad result, 2 usage, 3 environment (driver, permission, device), "
      "130 Ctrl-C.");
  app.fallthrough();
  add_devices(app, outcome);
  add_doctor(app, outcome);
  add_selftest(app, outcome);
  add_calibrate(app, outcome);
  add_ladder(app, outcome);
  add_fit(app, outcome);
  add_score(app, outcome);
  add_segments(app, outcome);
  add_estimate(app, outcome);
  add_counters(app, outcome);
  add_attribute(app, outcome);
  add_launches(app, outcome);
  add_project(app, outcome);
  add_report(app, outcome);
  add_reproduce(app, outcome);
  add_patch(app, outcome);
  add_disasm(app, outcome);
  add_simulate(app, outcome);
  add_export(app, outcome);
  add_sweep(app, outcome);
  add_workloads(app, outcome);
  add_run(app, outcome);
  add_toggles(app, outcome);
  add_trace(app, outcome);
  add_topology(app, outcome);
  add_exercise(app, outcome);
  add_top(app, outcome);
  add_meter(app, outcome);
  add_completion(app, outcome);
  add_manual(app, outcome);
  check_numbers(app);
}

// An option's name in 0.2, which still works and is in no help.
struct OldSpelling {
  std::string_view command;  // its first word
  std::string_view old, now;
};
constexpr std::array kOldSpellings{OldSpelling{"attribute", "--power", "--power-column"},
                                   OldSpelling{"attribute", "--time", "--time-column"},
                                   OldSpelling{"attribute", "--voltage", "--voltage-column"},
                                   OldSpelling{"estimate", "--report", "--out"},
                                   OldSpelling{"export", "--output", "--out"},
                                   OldSpelling{"export", "--node-nm", "--node"},
                                   OldSpelling{"export", "--clock-hz", "--clock"},
                                   OldSpelling{"export", "--load", "--link-load"},
                                   OldSpelling{"simulate", "--compare", "--estimators"},
                                   OldSpelling{"simulate", "--node-nm", "--node"},
                                   OldSpelling{"simulate", "--clock-hz", "--clock"},
                                   OldSpelling{"sweep", "--limit", "--top"},
                                   OldSpelling{"trace", "--format", "--to"},
                                   OldSpelling{"trace", "--limit", "--top"},
                                   OldSpelling{"workloads", "--output-dir", "--out"}};

// The words of a command line, up to a program's own, with today's names of options.
std::vector<std::string> in_todays_spelling(std::vector<std::string> words) {
  const auto command =
      std::ranges::find_if(words, [](const std::string& word) { return !word.starts_with('-'); });
  if (command == words.end()) return words;
  const auto end = std::ranges::find(words, "--");
  for (const OldSpelling& spelling : kOldSpellings) {
    if (*command != spelling.command) continue;
    for (auto word = command; word < end; ++word) {
      const std::size_t length = spelling.old.size();
      if (word->starts_with(spelling.old) && (word->size() == length || (*word)[length] == '=')) {
        word->replace(0, length, spelling.now);
      }
    }
  }
  return words;
}

// Thrown out of parsing, before any command runs.
struct Refused {
  Error error;
};

// The command that was given, below others where those are no more than its first words.
const CLI::App* running(const CLI::App& app) {
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  return command;
}

// The command's name with those of the commands above it.
std::string full_name(const CLI::App& command) {
  const CLI::App* above = command.get_parent();
  return above == nullptr ? command.get_name() : full_name(*above) + " " + command.get_name();
}

// CLI11 prints help; errors are printed as other errors are. Anything but help and version is wrong
// usage. An output that must not be replaced is reported first, because mending the rest would not
// mend that.
int not_parsed(const CLI::App& app, const CLI::ParseError& error,
               const std::vector<std::string>& arguments) {
  if (error.get_exit_code() == 0) {
    const auto wrong = unknown_subject(app);
    if (wrong.empty()) return app.exit(error);
    log::error("{}", wrong);
    return 2;
  }
  if (const auto status = check_output_files(app); !status) return report_error(status.error());
  const auto hint =
      misspelling(arguments, describe_program(app), describe_commands(app, Hidden::included));
  if (hint.empty()) {
    log::error("{}; see '{} --help'", usage_text(error), full_name(*running(app)));
  } else {
    log::error("{}", hint);
  }
  return 2;
}

int run_parsed(const std::vector<std::string>& arguments) {
  CLI::App app{"wirewatt: what a GPU's wires cost, measured."};
  struct Forget {
    ~Forget() { name_options_in_errors({}); }
  };
  const Forget app_is_gone;
  Outcome outcome;
  bool quiet = false;
  bool verbose = false;
  auto* quiet_flag = app.add_flag("-q,--quiet", quiet, "Errors only");
  app.add_flag("-v,--verbose", verbose, "Say more")->excludes(quiet_flag);
  app.add_flag_callback("--progress-json", print_progress_as_json,
                        "Progress for programs: JSON lines on stderr");
  app.parse_complete_callback([&] {
    log::set_up(quiet     ? log::Verbosity::quiet
                : verbose ? log::Verbosity::verbose
                          : log::Verbosity::normal);
    name_options_in_errors([command = running(app)](const std::string& name) {
      return command->get_option_no_throw(name) != nullptr;
    });
    for (auto status : {check_output_files(app), check_device_name(*running(app))}) {
      if (!status) throw Refused{std::move(status).error()};
    }
  });
  log::set_up(log::Verbosity::normal);
  outcome.has_separator = std::ranges::find(arguments, "--") != arguments.end();
  add_commands(app, outcome);
  try {
    app.parse(reversed(arguments));
    return outcome.exit_code;
  } catch (const CLI::ParseError& error) {
    return not_parsed(app, error, arguments);
  } catch (const Refused& refused) {
    return report_error(refused.error);
  }
}

}  // namespace

namespace {

// "help" and "version" as other programs have them: "help estimate" is "estimate --help".
std::vector<std::string> with_words_for_flags(std::vector<std::string> arguments) {
  if (arguments == std::vector<std::string>{"version"}) return {"--version"};
  if (!arguments.empty() && arguments.front() == "help") {
    arguments.erase(arguments.begin());
    arguments.emplace_back("--help");
  }
  return arguments;
}

}  // namespace

int run_command_line(const std::vector<std::string>& given) {
  const auto arguments = in_todays_spelling(with_words_for_flags(given));
  int code = 0;
  try {
    code = run_parsed(arguments);
  } catch (const std::system_error& error) {  // of fmt::print
    log::error("standard output: cannot write: {}", error.code().message());
    return exit_code(ErrorCode::io_error);
  } catch (const std::exception& error) {
    log::error("cannot go on: {}", error.what());
    return exit_code(ErrorCode::io_error);
  }
  // Text that is still in memory would be lost in silence.
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  log::error("standard output: cannot write: {}",
             errno != 0 ? std::strerror(errno) : "a part of it is lost");
  return code != 0 ? code : exit_code(ErrorCode::io_error);
}

Status check_command_line(const std::vector<std::string>& given) {
  const auto arguments = in_todays_spelling(given);
  CLI::App app{"wirewatt"};
  Outcome outcome;
  add_commands(app, outcome);
  // After options and requirements, before any command runs; the commands own what options write
  // to.
  app.parse_complete_callback([&app] {
    if (auto status = check_device_name(*running(app)); !status) {
      throw Refused{std::move(status).error()};
    }
    throw CLI::Success();
  });
  try {
    app.parse(reversed(arguments));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return {};
    const auto hint =
        misspelling(arguments, describe_program(app), describe_commands(app, Hidden::included));
    return fail(ErrorCode::invalid_argument, hint.empty() ? usage_text(error) : hint);
  } catch (const Refused& refused) {
    return tl::unexpected(refused.error);
  }
  return {};
}

std::vector<std::string> input_files_of(const std::vector<std::string>& command) {
  CLI::App app{"wirewatt"};
  Outcome outcome;
  add_commands(app, outcome);
  const CLI::App* found = &app;
  for (const std::string& word : command) {
    const auto below =
        found->get_subcommands([&](const CLI::App* one) { return one->get_name() == word; });
    if (below.empty()) return {};
    found = below.front();
  }
  std::vector<std::string> names;
  for (const CLI::Option* option : found->get_options()) {
    if (option->get_type_name() != kInputFile) continue;
    names.insert(names.end(), option->get_lnames().begin(), option->get_lnames().end());
  }
  return names;
}

}  // namespace ww::cli
