#include <nlohmann/json.hpp>

#include "command.hpp"
#include "output.hpp"
#include "ww/microbench/device_request.hpp"

namespace ww::cli {
namespace {

int run(bool json) {
  const auto devices = microbench::list_devices();
  if (!devices) return report_error(devices.error());
  if (json) {
    auto list = nlohmann::json::array();
    for (const auto& device : *devices) {
      list.push_back({{"name", device.name},
                      {"description", device.description},
                      {"virtual", device.is_virtual},
                      {"usable", device.usable},
                      {"reason", device.reason}});
    }
    print_json({{"devices", list}});
    return 0;
  }
  std::vector<std::vector<std::string>> rows{{"DEVICE", "USABLE", "WHAT"}};
  for (const auto& device : *devices) {
    rows.push_back(
        {device.name, device.usable ? "yes" : "no",
         device.usable ? device.description : device.description + " (" + device.reason + ")"});
  }
  print_table(rows);
  return 0;
}

}  // namespace

void add_devices(CLI::App& app, Outcome& outcome) {
  auto* command = app.add_subcommand("devices", "List the devices, and say why one cannot be used");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "Machine-readable output on stdout");
  command->footer("Example:\n  wirewatt devices --json");
  command->callback([json, &outcome] { outcome.exit_code = run(*json); });
}

}  // namespace ww::cli
