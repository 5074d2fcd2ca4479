// Prints the profiler's line that counts what an estimate needs, for users who count a program on
// another machine.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "command.hpp"
#include "output.hpp"
#include "ww/measure/counter_map.hpp"
#include "ww/measure/profiler.hpp"
#include "ww/model/technology.hpp"

namespace ww::cli {
namespace {

struct CountersArguments {
  std::string architecture;
  std::vector<std::string> command;
  bool json{};
};

// The architectures whose counters a profiler can be asked for, as users name them.
std::vector<std::string_view> known_architectures() {
  std::vector<std::string_view> known;
  for (const measure::ArchitectureMap& map : measure::counter_maps()) {
    known.insert(known.end(), map.prefixes.begin(), map.prefixes.end());
  }
  return known;
}

// One line for each table. "gfx94" stands for all parts whose names begin so.
int list_architectures(bool json) {
  auto list = nlohmann::json::array();
  std::vector<std::vector<std::string>> rows{{"ARCHITECTURES", "COUNTERS"}};
  for (const measure::ArchitectureMap& map : measure::counter_maps()) {
    const auto counters = measure::mapped_counters(map);
    const std::vector<std::string> names(map.prefixes.begin(), map.prefixes.end());
    list.push_back({{"architectures", names}, {"counters", counters}});
    rows.push_back(
        {fmt::format("{}", fmt::join(names, " ")), fmt::format("{}", fmt::join(counters, " "))});
  }
  if (json) {
    print_json({{"tables", list}});
  } else {
    print_table(rows);
  }
  return 0;
}

int run(const CountersArguments& arguments) {
  if (arguments.architecture.empty()) return list_architectures(arguments.json);
  const auto counters = measure::mapped_counters(arguments.architecture);
  if (counters.empty()) {
    const auto known = known_architectures();
    return report_error({ErrorCode::invalid_argument,
                         fmt::format("no counters are known that say which bytes move on '{}'; "
                                     "they are known for {}{}",
                                     arguments.architecture, fmt::join(known, ", "),
                                     model::architecture_hint(arguments.architecture)),
                         "--arch"});
  }
  const auto command =
      arguments.command.empty() ? std::vector<std::string>{"./app"} : arguments.command;
  const std::string line = measure::profiler_line(arguments.architecture, command);
  if (arguments.json) {
    print_json({{"architecture", arguments.architecture}, {"counters", counters}, {"line", line}});
  } else {
    fmt::print("{}\n", line);
  }
  return 0;
}

}  // namespace

void add_counters(CLI::App& app, Outcome& outcome) {
  auto* command = app.add_subcommand(
      "counters", "Print the profiler's line that counts a program for an estimate");
  auto arguments = std::make_shared<CountersArguments>();
  command->add_option("--arch", arguments->architecture,
                      "The device's architecture, as gfx90a or sm_90; without it the architectures "
                      "are listed with their counters");
  command->add_option("command", arguments->command,
                      "The program and its arguments, after -- (default: ./app)");
  command->add_flag("--json", arguments->json, "Machine-readable output on stdout");
  command->footer(
      "Examples:\n"
      "  wirewatt counters\n"
      "  wirewatt counters --arch gfx90a -- ./my_program args > count.sh\n"
      "  sh count.sh && wirewatt estimate counters --arch gfx90a");
  command->callback([arguments, &outcome] { outcome.exit_code = run(*arguments); });
}

}  // namespace ww::cli
