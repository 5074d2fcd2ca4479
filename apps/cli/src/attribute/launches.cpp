// wirewatt launches: joules of each kernel from a log of power and the times of its launches.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "command.hpp"
#include "kernel_joules.hpp"
#include "output.hpp"
#include "ww/core/kernel_label.hpp"
#include "ww/session/launch_tables.hpp"

namespace ww::cli {
namespace {

using nlohmann::json;

struct LaunchesArguments {
  std::string power, launches;
  std::string column{"power_w"};
  ResponseOptions response;
  bool json{};
};

json to_json(const std::string& name, const measure::LaunchEnergy& kernel,
             std::optional<double> naive_j) {
  const auto known = [&](double value) {
    return kernel.status == RowStatus::ok ? json(value) : json();
  };
  return {{"kernel", name},
          {"launches", kernel.launches},
          {"duration_s", kernel.duration_s},
          {"status", to_string(kernel.status)},
          {"reason", kernel.reason},
          {"energy_j", known(kernel.energy_j)},
          {"half_width_j", kernel.half_j},
          {"half_width_parts_j",
           {{"noise", kernel.noise_j},
            {"response", kernel.response_j},
            {"whole_watts", kernel.quantum_j},
            {"gain", kernel.gain_j}}},
          {"total_j", known(kernel.total_j)},
          {"total_half_width_j", kernel.total_half_j},
          {"naive_total_j", naive_j ? json(*naive_j) : json()},
          {"launches_wanted", kernel.launches_wanted ? json(*kernel.launches_wanted) : json()}};
}

int run(const LaunchesArguments& arguments) {
  const auto read =
      session::read_recorded_launches(arguments.launches, arguments.power, arguments.column);
  if (!read) return report_error(read.error());
  const auto found = session::kernel_energies(read->log, read->polls, arguments.response.sensor());
  if (!found.kernels.front().launch) {
    return report_error({ErrorCode::bad_data, found.kernels.front().reason, arguments.power});
  }
  if (arguments.json) {
    json kernels = json::array();
    for (std::size_t k = 0; k < found.kernels.size(); ++k) {
      kernels.push_back(to_json(found.kernels[k].kernel, *found.kernels[k].launch,
                                session::naive_kernel_energy(read->log, read->polls, k)));
    }
    print_json({{"period_s", found.period_s},
                {"rest_w", found.rest_w},
                {"noise_w", found.noise_w},
                {"kernels", kernels},
                {"covariance_j2", found.covariance_of_one_launch()}});
    return 0;
  }
  fmt::print("{} readings every {:.4g} ms; {:.1f} W at rest, noise {:.2g} W\n", found.readings,
             1e3 * found.period_s, found.rest_w, found.noise_w);
  std::vector<std::vector<std::string>> rows{
      {"KERNEL", "LAUNCHES", "MS", "ABOVE REST J", "TOTAL J", "MEAN READING J", "STATUS"}};
  const auto labels = kernel_labels(found.kernels, &session::KernelEnergy::kernel);
  for (std::size_t k = 0; k < found.kernels.size(); ++k) {
    const auto& kernel = *found.kernels[k].launch;
    const bool known = kernel.status == RowStatus::ok;
    const auto text = [&](double value, double half) {
      return known ? fmt::format("{:.4g} +- {:.2g}", value, half) : std::string("-");
    };
    const auto naive = session::naive_kernel_energy(read->log, read->polls, k);
    rows.push_back({labels[k], std::to_string(kernel.launches),
                    fmt::format("{:.4g}", 1e3 * kernel.duration_s),
                    text(kernel.energy_j, kernel.half_j), text(kernel.total_j, kernel.total_half_j),
                    naive ? fmt::format("{:.4g}", *naive) : "-",
                    std::string(to_string(kernel.status)) +
                        (kernel.reason.empty() ? "" : ": " + kernel.reason)});
  }
  print_table(rows);
  return 0;
}

}  // namespace

void add_launches(CLI::App& app, Outcome& outcome) {
  auto arguments = std::make_shared<LaunchesArguments>();
  auto* command =
      app.add_subcommand("launches", "Find the joules of kernels shorter than the sensor's window");
  command
      ->add_option("power", arguments->power,
                   "CSV of polls: time_s (or _ms, _us, _ns) and a column of watts")
      ->required();
  command
      ->add_option(
          "launches", arguments->launches,
          "CSV of launches by the same clock: kernel, start_s and end_s (or _ms, _us, _ns), "
          "or rocprofv3's kernel trace")
      ->required();
  command->add_option("--column", arguments->column, "Column of the watts")->capture_default_str();
  add_response_options(*command, arguments->response);
  command->add_flag("--json", arguments->json, "Machine-readable output on stdout");
  command->footer("Example:\n  wirewatt launches power.csv kernel_trace.csv --window 100");
  command->callback([arguments, &outcome] {
    if (!arguments->response.sensor().response) {
      throw CLI::RequiredError("--window or --lag (wirewatt doctor finds it)");
    }
    outcome.exit_code = run(*arguments);
  });
}

}  // namespace ww::cli
