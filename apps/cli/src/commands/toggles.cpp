// wirewatt toggles: how often a program's data toggle, for a card that has no monitors.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "command.hpp"
#include "device_options.hpp"
#include "estimate/toggles_file.hpp"
#include "option.hpp"
#include "output.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/device_name.hpp"
#include "ww/core/kernel_label.hpp"
#include "ww/runner/counted_run.hpp"

namespace ww::cli {
namespace {

struct TogglesArguments {
  microbench::DeviceRequest device;
  std::string out;
  std::vector<std::string> command;
  bool json{};
};

struct Toggled {
  nlohmann::json file;
  int program_exit_code{};
};

Result<Toggled> count_toggles(const TogglesArguments& arguments) {
  if (!DeviceName(arguments.device.name).is_virtual()) {
    return fail(ErrorCode::unsupported,
                "only virtual devices have toggle monitors; run the program on one, and give "
                "'wirewatt estimate' the file with the card's counters",
                arguments.device.name);
  }
  WW_ASSIGN(ran,
            runner::run_counted(arguments.device, arguments.command, {.quiet = arguments.json}));
  WW_ASSIGN(traffic, read_traffic(ran.counters, ""));
  WW_ASSIGN(file, toggles_json(traffic, arguments.device.name, arguments.command));
  WW_TRY(write_file_atomically(arguments.out, file.dump(1) + "\n"));
  return Toggled{std::move(file), ran.exit_code};
}

int run_toggles(const TogglesArguments& arguments) {
  const auto toggled = count_toggles(arguments);
  if (!toggled) return report_error(toggled.error());
  if (arguments.json) {
    print_json(toggled->file);
  } else {
    std::vector<std::vector<std::string>> rows{{"KERNEL", "BYTES", "TOGGLES/BIT", "COUPLING"}};
    const auto add = [&](const std::string& name, const nlohmann::json& row) {
      rows.push_back({name, fmt::format("{:.6g}", row["bytes"].get<double>()),
                      fmt::format("{:.3f}", row["toggle_rate"].get<double>()),
                      fmt::format("{:+.3f}", row["coupling_per_toggle"].get<double>())});
    };
    const auto& kernels = toggled->file["kernels"];
    const auto labels = kernel_labels(kernels, [](const auto& row) { return row["kernel"]; });
    for (std::size_t k = 0; k < kernels.size(); ++k) add(labels[k], kernels[k]);
    add("all", toggled->file["all"]);
    print_table(rows);
    fmt::print("{} (virtual); written to {}\n", arguments.device.name, arguments.out);
  }
  return toggled->program_exit_code == 0 ? 0 : 1;
}

}  // namespace

void add_toggles(CLI::App& app, Outcome& outcome) {
  auto* command =
      app.add_subcommand("toggles", "Count how often a program's data toggle, on a virtual GPU");
  auto arguments = std::make_shared<TogglesArguments>();
  arguments->device.name = "virtual:w9100";
  as_output_file(
      command->add_option("-o,--out", arguments->out, "File for `wirewatt estimate --toggles`"))
      ->required();
  command->add_option("--device", arguments->device.name, "Virtual device to run the program on")
      ->capture_default_str();
  add_random_chip_options(*command, arguments->device);
  command->add_flag("--json", arguments->json, "Machine-readable output on stdout");
  command->add_option("command", arguments->command, "The program and its arguments, after --")
      ->required();
  command->footer(
      "Examples:\n"
      "  wirewatt toggles -o toggles.json -- ./app args\n"
      "  wirewatt estimate --model model.json --counters card.csv --toggles toggles.json");
  command->callback([arguments, &outcome] { outcome.exit_code = run_toggles(*arguments); });
}

}  // namespace ww::cli
