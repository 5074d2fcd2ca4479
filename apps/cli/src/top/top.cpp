// wirewatt top: interconnect power by segment while a program runs.
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <tuple>

#include "anyway.hpp"
#include "command.hpp"
#include "device_options.hpp"
#include "estimate/calibrated_part.hpp"
#include "kernel_joules.hpp"
#include "option.hpp"
#include "output.hpp"
#include "timeline_option.hpp"
#include "top/top_card.hpp"
#include "top/top_display.hpp"
#include "top/watched_program.hpp"
#include "ww/calibration/same_part.hpp"
#include "ww/core/device_name.hpp"
#include "ww/core/interrupt.hpp"
#include "ww/core/kernel_label.hpp"
#include "ww/core/log.hpp"
#include "ww/core/temporary_folder.hpp"
#include "ww/microbench/virtual_driver.hpp"
#include "ww/runner/chip_architecture.hpp"
#include "ww/session/live.hpp"

namespace ww::cli {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

struct TopArguments {
  microbench::DeviceRequest device;
  std::string model;
  std::vector<std::string> counters;
  std::string architecture;
  double interval_s{0.5};
  std::vector<std::string> command;
  MetricsTargets metrics;
  TimelineFiles timeline;
  ResponseOptions response;
  bool anyway{};
  bool json{};
};

milliseconds interval_of(const TopArguments& arguments) {
  return milliseconds(static_cast<int>(arguments.interval_s * 1e3));
}

void tell(Display& display, const session::LivePower& power, std::uint64_t dispatches) {
  auto& lines = display.frame.lines;
  lines.clear();
  lines.push_back(
      fmt::format("{} dispatches, {} since the last refresh", dispatches, power.dispatches));
  if (power.device_w) {
    lines.push_back(fmt::format("sensor {:.4g} W, {:.3g} C, chip time {:.4g} s", *power.device_w,
                                power.temperature_c.value_or(0),
                                static_cast<double>(power.chip_ns) * 1e-9));
  }
  constexpr std::size_t most = 6;
  const auto labels = kernel_labels(power.estimate.kernels, &model::KernelEstimate::kernel);
  for (std::size_t k = 0; k < std::min(most, power.estimate.kernels.size()); ++k) {
    const auto& kernel = power.estimate.kernels[k];
    if (!kernel.power_w) continue;
    lines.push_back(fmt::format("  {:<40} {:>6} launches {:>9.3g} W", labels[k], kernel.dispatches,
                                kernel.power_w->value));
  }
}

Status add_news(timeline::Timeline& timeline, const session::LiveNews& news,
                const std::optional<session::LivePower>& power, const model::WireModel& model,
                const std::string& architecture) {
  for (const auto& sample : news.samples) {
    timeline.add_reading(sample.process,
                         {sample.time_ns, sample.power_w, sample.temperature_c, sample.clock_mhz});
  }
  if (!power) return {};
  const model::EstimateOptions options{};
  return timeline.add_launches(news.dispatches, {model, options, power->estimate, architecture});
}

// Collects the data behind the joules of kernels. Kernels of several processes share the chip's
// time in no order that the feed shows, and a program that runs for days must not fill the memory.
class KernelRecord {
 public:
  void take(const session::LiveNews& news) {
    for (const auto& sample : news.samples) {
      if (!one_process(sample.process)) return;
      series_.readings.push_back({sample.time_ns, sample.energy_ticks.value_or(energy::kAbsent),
                                  static_cast<std::int64_t>(std::llround(sample.power_w * 1e6))});
    }
    log_launches(log_, news.dispatches);
    full_ = log_.launches().size() > kMaxLaunches;
  }
  [[nodiscard]] session::KernelEnergies energies(const session::KernelSensor& sensor) const {
    return several_ ? session::KernelEnergies() : session::kernel_energies(log_, series_, sensor);
  }
  // Why launches are missing; empty if none are.
  [[nodiscard]] std::string note() const {
    if (several_) return "several processes used the chip, so kernels have no joules of their own";
    if (full_) return fmt::format("joules of kernels cover the first {} launches", kMaxLaunches);
    return {};
  }
  [[nodiscard]] bool wants_more() const { return !several_ && !full_; }

 private:
  static constexpr std::size_t kMaxLaunches = 1'000'000;

  bool one_process(const std::string& process) {
    if (process_.empty()) process_ = process;
    several_ = process != process_;
    return !several_;
  }

  session::LaunchLog log_;
  energy::EnergySeries series_{{}, true};
  std::string process_;
  bool several_{}, full_{};
};

// A program on the virtual GPU. Its output is kept and printed once the screen is given back.
Result<int> watch_program(const TopArguments& arguments, const model::WireModel& model) {
  const std::string device =
      arguments.device.name.empty() ? "virtual:w9100" : arguments.device.name;
  const std::string architecture = runner::chip_generation(arguments.device);
  WW_TRY(calibration::require_same_part(calibrated_part(model.device, model.target), architecture,
                                        device, "a bit",
                                        "or run the program on the calibrated one"));
  WW_TRY(microbench::enter_virtual_device(arguments.device));
  WW_ASSIGN(folder, ScratchFolder::create("top"));
  const auto file = folder.path() / "live";
  ::setenv("WIREWATT_LIVE", file.c_str(), 1);
  WW_ASSIGN(display, Display::open({arguments.json, arguments.metrics, device}));
  display.frame.title = device + " (virtual, not a measurement)";
  display.frame.source =
      "segments from its counters, dispatch by dispatch; watts while kernels run, "
      "by the chip's clock";
  display.mark_misfit(model.misfit);
  display.frame.state = "running";
  timeline::Timeline timeline({device, true, model.misfit, architecture});
  WatchedProgram program(arguments.command);
  session::LiveFeed feed(file);
  KernelRecord kernels;
  std::uint64_t dispatches = 0;
  bool quit = false;
  bool ended = false;
  session::KernelEnergies energies;  // once the program has ended
  Status trouble;
  while (!quit) {
    ended = program.ended();
    const auto news = feed.poll();
    if (!news) {
      trouble = tl::unexpected(news.error());
      break;
    }
    const auto power = session::live_power(*news, model, architecture);
    if (!power) {
      trouble = tl::unexpected(power.error());
      break;
    }
    if (arguments.timeline.wanted()) {
      trouble = add_news(timeline, *news, *power, model, architecture);
      if (!trouble) break;
    }
    if (kernels.wants_more()) kernels.take(*news);
    json facts = {{"virtual", true}, {"running", !ended}};
    if (ended && energies.kernels.empty()) {
      energies = kernels.energies(arguments.response.sensor());
    }
    put_kernel_joules(facts, energies);
    if (*power) {
      dispatches += (*power)->dispatches;
      display.take((*power)->estimate.total);
      tell(display, **power, dispatches);
      if ((*power)->device_w) facts["device_w"] = *(*power)->device_w;
      facts["chip_time_s"] = static_cast<double>((*power)->chip_ns) * 1e-9;
    } else if (!ended || arguments.json) {
      display.take_nothing("idle");
    }
    facts["dispatches"] = dispatches;
    if (ended) display.frame.state = "the program has ended";
    // The last of the JSON lines says that the program has ended, whatever came before.
    if (*power || !ended || display.on_screen() || arguments.json) display.show(facts);
    if (ended && !display.on_screen()) break;
    quit = display.wait(ended ? milliseconds(200) : interval_of(arguments)) || interrupted();
  }
  const bool stopped = interrupted();  // by Ctrl-C; the key q only ends the program
  const auto result = program.finish();
  display.close();
  if (arguments.timeline.wanted()) WW_TRY(save_timeline(timeline, arguments.timeline));
  WW_TRY(trouble);
  if (!arguments.json) {
    if (const auto rows = kernel_joules_rows(energies); !rows.empty()) {
      fmt::print("energy of the whole chip above rest, by the times of the launches:\n");
      print_table(rows);
    }
  }
  if (const auto note = kernels.note(); !note.empty()) spdlog::warn(note);
  WW_ASSIGN(code, WatchedProgram::told(result));
  return stopped ? exit_code(ErrorCode::cancelled) : code;
}

// Options of cards alone, and of the virtual GPU alone.
Status refuse_unread(const TopArguments& arguments, bool on_virtual) {
  const std::tuple<bool, const char*, const char*> unread[] = {
      {on_virtual && !arguments.counters.empty(), "--counters",
       "is for real GPUs (--device gpu:N): the virtual GPU counts while its program runs"},
      {on_virtual && !arguments.architecture.empty(), "--arch",
       "is for real GPUs (--device gpu:N): the virtual GPU has its own"},
      {!on_virtual && arguments.response.given(), "--window, --lag",
       "are for the virtual GPU: a card's launches have no known times here"}};
  for (const auto& [given, option, why] : unread) {
    if (given) return fail(ErrorCode::invalid_argument, why, option);
  }
  return {};
}

int run(TopArguments arguments) {
  const bool on_virtual = arguments.device.name.empty()
                              ? !arguments.command.empty()
                              : DeviceName(arguments.device.name).is_virtual();
  if (const auto read = refuse_unread(arguments, on_virtual); !read) {
    return report_error(read.error());
  }
  const auto can_write = check_timeline_files(arguments.timeline);
  if (!can_write) return report_error(can_write.error());
  const auto model = calibration::load_wires(arguments.model, admission(arguments.anyway));
  if (!model) return report_error(model.error());
  if (on_virtual) arguments.device = device_beside_model(arguments.device, model->device);
  if (on_virtual && arguments.command.empty()) {
    return report_error({ErrorCode::invalid_argument,
                         "the virtual GPU runs inside a program: give one after --",
                         "wirewatt top"});
  }
  const CardRequest card{arguments.device.name, arguments.counters,     arguments.architecture,
                         arguments.command,     interval_of(arguments), arguments.json,
                         arguments.metrics,     arguments.timeline};
  const auto result = on_virtual ? watch_program(arguments, *model) : watch_card(card, *model);
  return result ? *result : report_error(result.error());
}

}  // namespace

void add_top(CLI::App& app, Outcome& outcome) {
  auto* command = app.add_subcommand("top", "Show interconnect power by segment, live");
  auto arguments = std::make_shared<TopArguments>();
  as_input_file(command->add_option("--model", arguments->model,
                                    "model.json of a calibration, or its folder"))
      ->required();
  add_anyway_option(*command, arguments->anyway);
  command->add_option(
      "--device", arguments->device.name,
      "virtual:NAME (default with a program: the model's), gpu:N from 0, AMD's first, or "
      "pci:ADDRESS (default: one that this user may open)");
  as_input_file(command->add_option(
      "--counters", arguments->counters,
      "Real GPUs: counters of a profiled run, from which the segments are estimated"));
  command->add_option("--arch", arguments->architecture, "gfx90a, sm_80, ... where FILE says none");
  command->add_option("--interval", arguments->interval_s, "Time between refreshes [s]")
      ->check(CLI::Range(0.05, 60.0))
      ->capture_default_str();
  command->add_option("--openmetrics", arguments->metrics.address,
                      "Serve the figures over HTTP at PORT or HOST:PORT (default host: loopback)");
  as_output_file(command->add_option(
      "--otlp", arguments->metrics.otlp,
      "Send the figures to OpenTelemetry at each refresh: append a line of JSON to a file, or "
      "send a request to a collector at http://HOST:PORT"));
  add_timeline_options(*command, arguments->timeline);
  add_response_options(*command, arguments->response);
  command->add_flag("--json", arguments->json, "One JSON object a line for each refresh");
  command->add_option(
      "command", arguments->command,
      "A program to run and its arguments, after --; on a real GPU it is run twice: counted by "
      "the vendor's profiler, then watched");
  command->footer(
      "Examples:\n"
      "  wirewatt top --model first-run/model.json -- ./any_opencl_program\n"
      "  wirewatt top --model first-run/model.json --timeline app.pftrace -- ./any_opencl_program\n"
      "  wirewatt top --model a100/model.json --device gpu:0 --counters profile.csv\n"
      "  wirewatt top --model a100/model.json --device gpu:0 --counters profile.csv --openmetrics "
      "9477\n"
      "  wirewatt top --model mi210/model.json --device gpu:0 --arch gfx90a -- ./my_program");
  command->callback([arguments, &outcome] { outcome.exit_code = run(*arguments); });
}

}  // namespace ww::cli
