#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "command.hpp"
#include "device_options.hpp"
#include "help/description.hpp"
#include "output.hpp"
#include "ww/core/log.hpp"
#include "ww/microbench/device_request.hpp"

namespace ww::cli {
namespace {

using microbench::DeviceListing;

void print_devices(const std::vector<DeviceListing>& devices) {
  std::vector<std::vector<std::string>> rows{{"DEVICE", "USABLE", "WHAT"}};
  for (const DeviceListing& device : devices) {
    rows.push_back(
        {device.name, device.usable ? "yes" : "no",
         device.usable ? device.description : device.description + " (" + device.reason + ")"});
  }
  print_table(rows);
}

nlohmann::json to_json(const std::vector<DeviceListing>& devices) {
  auto list = nlohmann::json::array();
  for (const DeviceListing& device : devices) {
    list.push_back({{"name", device.name},
                    {"description", device.description},
                    {"virtual", device.is_virtual},
                    {"usable", device.usable},
                    {"reason", device.reason}});
  }
  return list;
}

// Which device each command of the program uses where none is named.
int show_choices(const CLI::App& program, bool json) {
  using microbench::DeviceNeed;
  std::vector<std::pair<std::string, DeviceNeed>> commands;
  std::vector<DeviceNeed> needs;
  for (const CommandText& command : describe_commands(program, Hidden::included)) {
    const CommandNeed* row = find_command_need(command.name);
    if (row == nullptr) {
      log::error("the command '{}' has no row among the needs of device_options.cpp", command.name);
      return 1;
    }
    if (!row->need || !command.below.empty()) continue;
    commands.emplace_back(command.name, *row->need);
    needs.push_back(*row->need);
  }
  const auto choices = microbench::choose_devices(needs);
  auto list = nlohmann::json::array();
  std::vector<std::vector<std::string>> rows{{"COMMAND", "NEEDS", "DEVICE", "WHY"}};
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const auto& [command, need] = commands[i];
    const auto& choice = choices[i];
    const std::string device = choice ? choice->name : "";
    const std::string reason = choice ? choice->reason : choice.error().text();
    list.push_back({{"command", command},
                    {"needs", to_string(need)},
                    {"device", device},
                    {"reason", reason},
                    {"exit_code", choice ? 0 : exit_code(choice.error().code)}});
    rows.push_back({command, std::string(to_string(need)), choice ? device : "none", reason});
  }
  if (json) {
    print_json({{"choices", list}});
  } else {
    print_table(rows);
  }
  return 0;
}

}  // namespace

void add_devices(CLI::App& app, Outcome& outcome) {
  auto* command = app.add_subcommand("devices", "List the devices, and say why one cannot be used");
  auto json = std::make_shared<bool>(false);
  auto choices = std::make_shared<bool>(false);
  command->add_flag("--choices", *choices,
                    "Say instead which device each command uses where none is named, and why");
  command->add_flag("--json", *json, "Machine-readable output on stdout");
  command->footer("Examples:\n  wirewatt devices --json\n  wirewatt devices --choices");
  command->callback([json, choices, &app, &outcome] {
    if (*choices) {
      outcome.exit_code = show_choices(app, *json);
      return;
    }
    const auto devices = microbench::list_devices();
    if (*json) {
      print_json({{"devices", to_json(devices)}});
    } else {
      print_devices(devices);
    }
  });
}

}  // namespace ww::cli
