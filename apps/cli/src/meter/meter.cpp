// wirewatt meter: the joules of one run of a program.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "anyway.hpp"
#include "command.hpp"
#include "device_options.hpp"
#include "meter/meter_run.hpp"
#include "option.hpp"
#include "output.hpp"
#include "ww/calibration/kinds.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/device_name.hpp"
#include "ww/core/log.hpp"

namespace ww::cli {
namespace {

struct MeterArguments {
  MeterRequest request;
  std::string model;
  std::string out;
  bool anyway{};
  bool json{};
};

Status refuse_unread(const MeterArguments& arguments) {
  const MeterRequest& request = arguments.request;
  if (arguments.model.empty() &&
      (!request.counters.empty() || request.count_first || request.count)) {
    return fail(ErrorCode::invalid_argument, "is for the joules of wires: give --model as well",
                request.count         ? "--count"
                : request.count_first ? "--count-first"
                                      : "--counters");
  }
  if (int{request.count} + int{request.count_first} + int{!request.counters.empty()} > 1) {
    return fail(ErrorCode::invalid_argument,
                "give one of --counters, --count and --count-first: each says what the wires moved",
                request.count ? "--count" : "--counters");
  }
  return {};
}

Result<int> meter(MeterArguments arguments) {
  WW_TRY(refuse_unread(arguments));
  std::unique_ptr<calibration::Calibration> model;
  if (!arguments.model.empty()) {
    WW_ASSIGN(loaded, calibration::load(arguments.model, admission(arguments.anyway)));
    model = std::move(loaded);
  }
  MeterRequest& request = arguments.request;
  if (request.devices.size() == 1 && DeviceName(request.devices.front()).is_virtual()) {
    request.chip.name = request.devices.front();
  }
  WW_ASSIGN(result, run_metered(request, model.get()));
  const auto json = to_json(request, result);
  const auto text = [&json](int indent) {
    return json.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  };
  if (!arguments.out.empty()) WW_TRY(write_file_atomically(arguments.out, text(2)));
  if (arguments.json) {
    // One line, so that it is the last one after whatever the program printed.
    fmt::print("{}", text(-1));
  } else {
    print_metered(result);
  }
  const bool stopped = result.interrupted && result.exit_code == 0;
  constexpr int kEndedByCtrlC = 130;  // as a shell says it
  return stopped ? kEndedByCtrlC : result.exit_code;
}

}  // namespace

void add_meter(CLI::App& app, Outcome& outcome) {
  auto* command = app.add_subcommand("meter", "Joules of a program's run: device, rails and wires");
  auto arguments = std::make_shared<MeterArguments>();
  MeterRequest& request = arguments->request;
  command
      ->add_option("--device", request.devices,
                   "gpu:N, pci:ADDRESS or virtual:NAME; several cards may be named (default: "
                   "the cards that this user may open, else virtual:w9100)")
      ->allow_extra_args(false);
  as_input_file(command->add_option("--model", arguments->model,
                                    "A calibration or its folder, for the joules of wires"));
  add_anyway_option(*command, arguments->anyway);
  as_input_file(command->add_option("--counters", request.counters,
                                    "Cards: counters of a profiled run of this program"));
  command->add_flag("--count", request.count,
                    "Cards of AMD: count what the whole card moves while the program runs (needs "
                    "rocprofiler-sdk); counting may change clocks and power");
  command->add_flag("--count-first", request.count_first,
                    "Cards: let the vendor's profiler count a run of the program before this one");
  command->add_option("--arch", request.architecture,
                      "gfx90a, sm_80, ... where neither the files nor the model say it");
  command
      ->add_option("--interval", request.interval_s,
                   "Time between two looks at what changes slowly [s]; a tenth of it between "
                   "readings of the accumulator")
      ->check(CLI::Range(0.05, 60.0))
      ->capture_default_str();
  add_random_chip_options(*command, request.chip);
  as_output_file(command->add_option("-o,--out", arguments->out, "Write the result (JSON) here"));
  command->add_flag("--json", arguments->json,
                    "The result as the last line of stdout, after the program's own output");
  command->add_option("command", request.command, "The program and its arguments, after --")
      ->required();
  command->footer(
      "Joules of a card need neither a calibration nor root: its driver counts them.\n"
      "The program's output and exit code pass through, and Ctrl-C leaves a whole result.\n"
      "Examples:\n"
      "  wirewatt meter -- ./my_program args\n"
      "  wirewatt meter -o joules.json -- srun ./my_program\n"
      "  wirewatt meter --device gpu:0 --device gpu:1 --json -- ./my_program\n"
      "  wirewatt meter --model first-run --device virtual:w9100 -- wirewatt workloads run dct\n"
      "  wirewatt meter --model mi210 --counters profile.csv -- ./my_program");
  command->callback([arguments, &outcome] {
    const auto code = meter(*arguments);
    outcome.exit_code = code ? *code : report_error(code.error());
  });
}

}  // namespace ww::cli
