// wirewatt run: an unmodified OpenCL or HIP program on a virtual GPU, with its counters and its
// trace.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <future>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "anyway.hpp"
#include "command.hpp"
#include "device_options.hpp"
#include "estimate/calibrated_part.hpp"
#include "option.hpp"
#include "output.hpp"
#include "simulate/timing_options.hpp"
#include "timeline_option.hpp"
#include "ww/calibration/same_part.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/file_system.hpp"
#include "ww/core/kernel_label.hpp"
#include "ww/core/log.hpp"
#include "ww/core/progress.hpp"
#include "ww/core/streamed_file.hpp"
#include "ww/core/subprocess.hpp"
#include "ww/core/temporary_folder.hpp"
#include "ww/measure/counted/killed_rows.hpp"
#include "ww/microbench/virtual_driver.hpp"
#include "ww/runner/chip_architecture.hpp"
#include "ww/session/program_totals.hpp"
#include "ww/session/traffic.hpp"
#include "ww/sim/driver_settings.hpp"
#include "ww/sim/trace/writer.hpp"
#include "ww/timeline/timeline.hpp"

namespace ww::cli {
namespace {

namespace fs = std::filesystem;
using session::Fidelity;
using session::KernelTotals;
using session::ProgramTotals;

struct RunArguments {
  microbench::DeviceRequest device;
  TimingArguments timing;
  std::string counters;
  std::string trace;
  TimelineFiles timeline;
  std::string model;  // of a calibration: power by segment in the timeline
  bool anyway{};
  std::string check;     // memory, races: what to look for beside bounds
  std::string on_fault;  // stop, tolerate, report
  std::vector<std::string> command;
  bool json{};
};

// --- counters ---

// Puts the rows of all processes under the name asked for. Returns the files to read them from.
Result<std::vector<fs::path>> keep_counters(const ScratchFolder& folder,
                                            const std::string& target) {
  auto files = folder.files();
  if (target.empty() || files.empty()) return files;
  if (files.size() == 1 && !is_device_or_pipe(target)) {
    WW_TRY(place_file(files.front(), target));
    files.front() = target;
    return files;
  }
  WW_ASSIGN(merged, StreamedFile::create(target));
  for (const auto& file : files) {
    WW_ASSIGN(text, read_file(file));
    const auto header_end = std::min(text.find('\n'), text.size() - 1) + 1;
    WW_TRY(merged.write(std::string_view(text).substr(file == files.front() ? 0 : header_end)));
  }
  WW_TRY(merged.keep());
  return files;
}

nlohmann::json to_json(const ProgramTotals& totals, const KernelTotals& kernel) {
  const session::CacheTraffic moved = totals.traffic(kernel);
  return {{"dispatches", kernel.dispatches},
          {"chip_time_ns", kernel.chip_time_ns},
          {"l1_l2_bytes", moved.l1_l2},
          {"l2_memory_read_bytes", moved.memory_read},
          {"l2_memory_write_bytes", moved.memory_write},
          {"counters", kernel.counters}};
}

std::string bytes_text(double bytes) {
  static constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  while (bytes >= 1000 && unit < 4) {
    bytes /= 1000;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.2f} {}", bytes, kUnits[unit]);
}

void print_totals(const ProgramTotals& totals, const std::string& device) {
  const auto sum = totals.sum();
  fmt::print(stderr,
             "\nwirewatt: {} (virtual, not a measurement): {} dispatches, {:.3f} ms of chip time\n",
             device, sum.dispatches, static_cast<double>(sum.chip_time_ns) * 1e-6);
  if (sum.dispatches == 0) return;
  const auto labels =
      kernel_labels(totals.kernels, [](const auto& kernel) { return kernel.first; });
  std::size_t width = 6;
  for (const auto& label : labels) width = std::max(width, label.size());
  fmt::print(stderr, "  {:<{}} {:>10} {:>12} {:>12} {:>12} {:>12}\n", "KERNEL", width, "DISPATCHES",
             "CHIP MS", "L1-L2", "MEM READ", "MEM WRITE");
  const auto row = [&](const std::string& label, const KernelTotals& kernel) {
    const session::CacheTraffic moved = totals.traffic(kernel);
    fmt::print(stderr, "  {:<{}} {:>10} {:>12.3f} {:>12} {:>12} {:>12}\n", label, width,
               kernel.dispatches, static_cast<double>(kernel.chip_time_ns) * 1e-6,
               bytes_text(moved.l1_l2), bytes_text(moved.memory_read),
               bytes_text(moved.memory_write));
  };
  auto label = labels.begin();
  for (const auto& [name, kernel] : totals.kernels) row(*label++, kernel);
  if (totals.kernels.size() > 1) row("all", sum);
  for (const auto& name : totals.names) {
    fmt::print(stderr, "  {:<30} {:>20.0f}\n", name, sum.counters.at(name));
  }
}

// --- what was not exact ---

nlohmann::json to_json(const Fidelity& fidelity, const std::string& check) {
  return {{"instructions", fidelity.instructions},
          {"approximated", fidelity.approximated},
          {"stopped_launches", fidelity.stopped_launches},
          {"unknown_instructions", fidelity.unknown_instructions},
          {"memory_mistakes", fidelity.memory_mistakes},
          {"checked", check.empty() ? "bounds" : "bounds," + check}};
}

void print_fidelity(const Fidelity& fidelity, const std::string& check) {
  fmt::print(stderr,
             "  fidelity: {} wave instructions, {} of them exact, {} whose last bits a card may "
             "round otherwise\n",
             fidelity.instructions, fidelity.exact(), fidelity.approximated);
  fmt::print(stderr,
             "            {} launches stopped, {} of them by an instruction that cannot be "
             "executed\n",
             fidelity.stopped_launches, fidelity.unknown_instructions);
  fmt::print(stderr, "            {} mistakes with memory; looked for: bounds{}{}\n",
             fidelity.memory_mistakes, check.empty() ? "" : ",",
             check.empty() ? " alone (--check memory,races finds more)" : check);
}

// --- the command ---

struct Finished {
  ProcessEnd end;
  ProgramTotals totals;
  Fidelity fidelity;
  std::vector<std::string> traces;
  std::vector<nlohmann::json> timing;  // a report for each process
};

// Moves files into place: the first under the name asked for, those of further processes with the
// process id before the ending. A device or a pipe gets them one after the other.
Result<std::vector<std::string>> place(const ScratchFolder& folder, const std::string& target) {
  std::vector<std::string> placed;
  for (const auto& file : folder.files()) {
    fs::path name = target;
    if (!placed.empty() && !is_device_or_pipe(target)) {
      name.replace_extension(file.stem().string() + name.extension().string());
    }
    WW_TRY(place_file(file, name));
    placed.push_back(name.string());
  }
  return placed;
}

std::vector<std::string> paths_as_text(const std::vector<fs::path>& files) {
  std::vector<std::string> names;
  names.reserve(files.size());
  for (const auto& file : files) names.push_back(file.string());
  return names;
}

// Kernels and the sensor's readings, and with a model the power of each segment.
Status write_run_timeline(const RunArguments& arguments,
                          const std::optional<model::WireModel>& model,
                          const std::vector<fs::path>& counters,
                          const std::vector<fs::path>& samples) {
  const auto architecture = runner::chip_generation(arguments.device);
  timeline::Timeline timeline(
      {arguments.device.name, true, model ? model->misfit : std::string(), architecture});
  if (!counters.empty()) {
    WW_ASSIGN(counted, session::read_dispatches(paths_as_text(counters), architecture));
    if (model && !counted.dispatches.empty()) {
      WW_ASSIGN(traffic, session::count_traffic(counted.dispatches, counted.architecture));
      const model::EstimateOptions options{};
      WW_ASSIGN(estimate, model::estimate(*model, traffic.kernels, options));
      WW_TRY(timeline.add_launches(counted.dispatches,
                                   {*model, options, estimate, counted.architecture}));
    } else {
      timeline.add_launches(counted.dispatches);
    }
    WW_TRY(add_sensor_files(timeline, paths_as_text(samples)));
  }
  return save_timeline(timeline, arguments.timeline);
}

// Reports that a requested file is absent. That is no fault if the program did not use the device.
Status missing(const char* what, const fs::path& folder) {
  constexpr std::uintmax_t kNextToNothing = std::uintmax_t{1} << 20;  // bytes
  std::error_code unknown;
  const auto space = fs::space(folder, unknown);
  if (!unknown && space.available < kNextToNothing) {
    return fail(ErrorCode::io_error,
                fmt::format("no {}: the disk is full, {} bytes are left", what, space.available),
                folder.parent_path().string());
  }
  log::warn(
      "no {}: the program made no use of the device, did not end by itself, or could not write "
      "(it said so above)",
      what);
  return {};
}

// Gives the counters of processes that were killed, or left without a word to their driver, the
// name that others have: all launches that ended.
Status rescue_counters(const ScratchFolder& folder) {
  for (const auto& file : folder.files()) {
    if (file.extension() != ".part") continue;
    WW_ASSIGN(text, read_file(file));
    fs::path whole = file;
    std::error_code failed;
    fs::resize_file(file, measure::whole_launches(text).size(), failed);
    if (!failed) fs::rename(file, whole.replace_extension(".csv"), failed);
    if (failed) return fail(ErrorCode::io_error, failed.message(), file.string());
  }
  return {};
}

// Completes the traces of processes that were killed.
Status rescue_traces(const ScratchFolder& folder) {
  for (const auto& file : folder.files()) {
    if (file.extension() != ".part") continue;
    fs::path whole = file;
    WW_TRY(sim::trace::rescue(file, whole.replace_extension(".wwt")));
  }
  return {};
}

Result<Finished> execute(const RunArguments& arguments) {
  if (!arguments.model.empty() && !arguments.timeline.wanted()) {
    return fail(ErrorCode::invalid_argument,
                "the model is for a timeline: give --timeline FILE or --rocpd FILE as well",
                "--model");
  }
  WW_TRY(check_timeline_files(arguments.timeline));
  std::optional<model::WireModel> model;
  if (!arguments.model.empty()) {
    WW_ASSIGN(loaded, calibration::load_wires(arguments.model, admission(arguments.anyway)));
    model = std::move(loaded);
    WW_TRY(calibration::require_same_part(
        calibrated_part(model->device, model->target), runner::chip_generation(arguments.device),
        arguments.device.name, "a bit", "or run the program on the calibrated one"));
  }
  WW_TRY(microbench::enter_virtual_device(arguments.device));
  WW_ASSIGN(settings, sim::read_driver_settings());
  settings.progress = log::is_shown(log::Level::info);
  // Counters are always kept: the totals come from them. Each process writes a file of its own.
  const auto beside = [](const std::string& file) {
    return file.empty() ? ScratchFolder::create("run") : folder_for(file);
  };
  WW_ASSIGN(counter_folder, beside(arguments.counters));
  ::setenv("WIREWATT_COUNTERS", (counter_folder.path() / "%p.csv").c_str(), 1);
  settings.counters_aside = counter_folder.path() / "%p.part";
  WW_ASSIGN(mistakes_folder, ScratchFolder::create("mistakes"));
  settings.mistakes = mistakes_folder.path() / "%p.json";
  std::optional<ScratchFolder> trace_folder;
  if (arguments.trace.empty()) {
    ::unsetenv("WIREWATT_TRACE");
  } else {
    WW_ASSIGN(folder, beside(arguments.trace));
    trace_folder.emplace(std::move(folder));
    ::setenv("WIREWATT_TRACE", (trace_folder->path() / "%p.wwt").c_str(), 1);
    settings.trace_aside = trace_folder->path() / "%p.part";
  }
  WW_TRY(enter_mode(arguments.timing, arguments.device, settings));
  const std::string& samples = arguments.timing.power_samples;
  std::optional<ScratchFolder> sample_folder;
  if (arguments.timeline.wanted() || !samples.empty()) {
    WW_ASSIGN(folder, beside(samples));
    sample_folder.emplace(std::move(folder));
    ::setenv("WIREWATT_SAMPLES", (sample_folder->path() / "%p.samples.csv").c_str(), 1);
  }
  std::optional<ScratchFolder> timing_folder;
  if (arguments.timing.timing()) {
    WW_ASSIGN(folder, beside(arguments.timing.report));
    timing_folder.emplace(std::move(folder));
    settings.timing_report = timing_folder->path() / "%p.json";
  }
  if (!arguments.check.empty()) ::setenv("WIREWATT_CHECK", arguments.check.c_str(), 1);
  if (!arguments.on_fault.empty()) ::setenv("WIREWATT_ON_FAULT", arguments.on_fault.c_str(), 1);
  WW_ASSIGN(passed, sim::ScopedDriverSettings::apply(settings));
  Finished finished;
  WW_ASSIGN(program, run_in_foreground(arguments.command));
  finished.end = program.end;
  if (program.end.signal != 0) erase_progress();

  // Rows and accesses are safe before anything else is done: whoever ended the program may lose
  // patience.
  WW_TRY(rescue_counters(counter_folder));
  WW_ASSIGN(files, keep_counters(counter_folder, arguments.counters));
  if (trace_folder) {
    WW_TRY(rescue_traces(*trace_folder));
    WW_ASSIGN(placed, place(*trace_folder, arguments.trace));
    finished.traces = std::move(placed);
    if (finished.traces.empty()) WW_TRY(missing("trace", trace_folder->path()));
  }
  // The rows of many launches take seconds: they are summed up while they are drawn.
  std::future<Status> drawn;
  if (arguments.timeline.wanted()) {
    drawn = std::async(std::launch::async, [&] {
      return write_run_timeline(arguments, model, files, sample_folder->files());
    });
  }
  for (const auto& file : files) {
    WW_ASSIGN(text, read_file(file));
    WW_TRY(finished.totals.add(text, file.string()));
  }
  finished.fidelity.count_instructions(finished.totals.sum());
  for (const auto& file : mistakes_folder.files()) {
    WW_ASSIGN(text, read_file(file));
    WW_TRY(finished.fidelity.add_mistakes(text, file.string()));
  }
  finished.totals.architecture = runner::chip_generation(arguments.device);
  if (!arguments.counters.empty() && files.empty()) {
    WW_TRY(missing("counters", counter_folder.path()));
  }
  if (drawn.valid()) WW_TRY(drawn.get());
  if (!samples.empty()) {
    WW_ASSIGN(placed, place(*sample_folder, samples));
    if (placed.empty()) WW_TRY(missing("power samples", sample_folder->path()));
  }
  if (timing_folder) {
    for (const auto& file : timing_folder->files()) {
      WW_ASSIGN(text, read_file(file));
      auto report = nlohmann::json::parse(text, nullptr, false);
      if (!report.is_discarded()) finished.timing.push_back(std::move(report));
    }
    if (!arguments.timing.report.empty()) {
      WW_TRY(place(*timing_folder, arguments.timing.report));
      if (finished.timing.empty()) WW_TRY(missing("timing report", timing_folder->path()));
    }
  }
  return finished;
}

void print_timing(const nlohmann::json& report) {
  const auto& total = report["total"];
  const auto value = [](const nlohmann::json& json) { return json.get<double>(); };
  fmt::print(stderr,
             "wirewatt: in the time of {}: {:.0f} cycles, {:.3f} wave instructions a cycle, "
             "round trip {:.1f} cycles, {:.3f} flits a node and cycle, {:.4g} pJ in the network\n",
             report["network"].get<std::string>(), value(total["cycles"]), value(total["ipc"]),
             value(total["avg_round_trip_core_cycles"]),
             value(total["accepted_flits_per_node_cycle"]),
             value(total["network_energy_pj"]["total"]));
}

int run(const RunArguments& arguments) {
  const auto finished = execute(arguments);
  if (!finished) return report_error(finished.error());
  const auto [signal, code] = finished->end;
  const std::string& device = arguments.device.name;
  if (signal != 0) {
    log::error("{}: ended by signal {} ({}); counted are the launches that had ended by then",
               arguments.command.front(), signal, ::strsignal(signal));
  }
  const ProgramTotals& totals = finished->totals;
  if (!arguments.json) {
    print_totals(totals, device);
    print_fidelity(finished->fidelity, arguments.check);
    for (const auto& report : finished->timing) print_timing(report);
    for (const auto& trace : finished->traces) fmt::print(stderr, "  trace: {}\n", trace);
    return code;
  }
  auto kernels = nlohmann::json::array();
  for (const auto& [name, kernel] : totals.kernels) {
    auto entry = to_json(totals, kernel);
    entry["name"] = name;
    kernels.push_back(std::move(entry));
  }
  // One line, so that it is the last one after whatever the program printed.
  nlohmann::json json{{"device", device},   {"virtual", true},
                      {"exit_code", code},  {"totals", to_json(totals, totals.sum())},
                      {"kernels", kernels}, {"traces", finished->traces}};
  json["fidelity"] = to_json(finished->fidelity, arguments.check);
  if (arguments.timing.timing()) json["timing"] = finished->timing;
  fmt::print("{}\n", json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  return code;
}

}  // namespace

void add_run(CLI::App& app, Outcome& outcome) {
  auto* command =
      app.add_subcommand("run", "Run an OpenCL or HIP program on a virtual GPU, with counters");
  auto arguments = std::make_shared<RunArguments>();
  command->add_option(
      "--device", arguments->device.name,
      "virtual:NAME, virtual:random or virtual:FILE.toml (default: the model's, else "
      "virtual:w9100; in timing mode virtual:dapper)");
  as_output_file(command->add_option("--counters", arguments->counters,
                                     "CSV of every dispatch's counters, as rocprofv3 writes it"));
  as_output_file(
      command->add_option("--trace", arguments->trace, "Memory trace (.wwt) of every dispatch"));
  add_timeline_options(*command, arguments->timeline);
  as_input_file(command->add_option(
      "--model", arguments->model,
      "model.json of a calibration, or its folder: power by segment in the timeline"));
  add_anyway_option(*command, arguments->anyway);
  add_random_chip_options(*command, arguments->device);
  command
      ->add_option(
          "--check", arguments->check,
          "Look for more mistakes with memory, told on stderr: memory (misaligned, local "
          "out of range, released buffers), races (on local memory), or both (default: neither)")
      ->option_text("TEXT:{memory,races}")
      ->check([](const std::string& text) {
        static const std::set<std::string> known{"memory", "races", "memory,races", "races,memory"};
        return known.contains(text) ? std::string()
                                    : fmt::format(
                                          "there is no '{}'; there are memory, races and "
                                          "both as memory,races",
                                          text);
      });
  command
      ->add_option("--on-fault", arguments->on_fault,
                   "At an access outside every buffer: stop the kernel, tolerate it where a card "
                   "would (default), or report only")
      ->check(CLI::IsMember({"stop", "tolerate", "report"}));
  add_timing_options(*command, arguments->timing);
  command->add_flag("--json", arguments->json,
                    "Totals as the last line of stdout, after the program's own output");
  command->add_option("command", arguments->command, "The program and its arguments, after --")
      ->required();
  command->footer(
      "The program's output and exit code pass through (128 + n when signal n ended it).\n"
      "Example:\n"
      "  wirewatt run --device virtual:w9100 --counters out.csv --trace out.wwt -- ./app args\n"
      "  wirewatt run --device virtual:mi210 -- ./hip_program args\n"
      "  wirewatt run --timeline app.pftrace --model first-run -- ./app args\n"
      "  wirewatt run --rocpd app.db --model first-run -- ./app args\n"
      "  wirewatt run --device virtual:dapper --mode timing --network mesh -- ./app args");
  command->callback([arguments, &outcome] {
    if (!arguments->model.empty() && !arguments->timing.timing()) {
      // A model that cannot be read is an error of the run.
      if (const auto model = model::load_wire_model(arguments->model, model::FlaggedModel::mark)) {
        arguments->device = device_beside_model(arguments->device, model->device);
      }
    }
    if (arguments->device.name.empty()) {
      arguments->device.name = arguments->timing.timing() ? "virtual:dapper" : "virtual:w9100";
    }
    outcome.exit_code = run(*arguments);
  });
}

}  // namespace ww::cli
