// wirewatt top: joules of a device and of its wires, live.
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <tuple>

#include "anyway.hpp"
#include "command.hpp"
#include "device_options.hpp"
#include "estimate/calibrated_part.hpp"
#include "kernel_joules.hpp"
#include "open_page.hpp"
#include "option.hpp"
#include "output.hpp"
#include "timeline_option.hpp"
#include "top/top_card.hpp"
#include "top/top_display.hpp"
#include "top/watched_program.hpp"
#include "ww/calibration/kinds.hpp"
#include "ww/calibration/priced.hpp"
#include "ww/calibration/same_part.hpp"
#include "ww/core/device_name.hpp"
#include "ww/core/interrupt.hpp"
#include "ww/core/kernel_label.hpp"
#include "ww/core/log.hpp"
#include "ww/core/temporary_folder.hpp"
#include "ww/measure/telemetry.hpp"
#include "ww/microbench/virtual_driver.hpp"
#include "ww/runner/chip_architecture.hpp"
#include "ww/session/application.hpp"
#include "ww/session/live.hpp"
#include "ww/session/live_kernels.hpp"
#include "ww/session/live_meter.hpp"
#include "ww/sim/driver_settings.hpp"

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
  bool count{};
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

void show_refresh(Display& display, const session::LiveNews& news, std::uint64_t dispatches) {
  auto& lines = display.frame.lines;
  lines.clear();
  lines.push_back(
      fmt::format("{} dispatches, {} since the last refresh", dispatches, news.dispatches.size()));
  if (!news.samples.empty()) {
    const session::LiveSample& newest = news.samples.back();
    lines.push_back(fmt::format("sensor {:.4g} W, {:.3g} C, chip time {:.4g} s", newest.power_w,
                                newest.temperature_c, static_cast<double>(newest.time_ns) * 1e-9));
  }
}

void show_kernels(Display& display, const session::LivePower& power) {
  auto& lines = display.frame.lines;
  constexpr std::size_t most = 6;
  const auto labels = kernel_labels(power.estimate.kernels, &model::KernelEstimate::kernel);
  for (std::size_t k = 0; k < std::min(most, power.estimate.kernels.size()); ++k) {
    const auto& kernel = power.estimate.kernels[k];
    if (!kernel.power_w) continue;
    lines.push_back(fmt::format("  {:<40} {:>6} launches {:>9.3g} W", labels[k], kernel.dispatches,
                                kernel.power_w->value));
  }
}

void add_readings(timeline::Timeline& timeline, const session::LiveNews& news) {
  for (const auto& sample : news.samples) {
    timeline.add_reading(sample.process,
                         {sample.time_ns, sample.power_w, sample.temperature_c, sample.clock_mhz});
  }
}

// A refresh of a program on the virtual GPU, priced by whatever calibration there is.
class LivePrices {
 public:
  LivePrices(const calibration::Calibration* model, std::string architecture)
      : model_(model), architecture_(std::move(architecture)) {}

  [[nodiscard]] calibration::Priced empty_rows() const {
    constexpr const char* kUnavailable = "unavailable";
    return model_ == nullptr ? calibration::unpriced_segments(kUnavailable, "")
                             : calibration::unpriced(*model_, kUnavailable, "");
  }
  // Shows what was launched since the last refresh, and adds it to the timeline if there is one.
  Status take(const session::LiveNews& news, Display& display, timeline::Timeline* timeline) const {
    if (timeline != nullptr) add_readings(*timeline, news);
    if (news.dispatches.empty()) return {};
    if (model_ == nullptr) {
      display.take_nothing("unavailable");
      return {};
    }
    if (const model::WireModel* wires = model_->wires(); wires != nullptr) {
      WW_ASSIGN(power, session::live_power(news, *wires, architecture_));
      display.take(calibration::priced(power->estimate.total));
      show_kernels(display, *power);
      if (timeline == nullptr) return {};
      const model::EstimateOptions options{};
      return timeline->add_launches(news.dispatches,
                                    {*wires, options, power->estimate, architecture_});
    }
    session::CountedDispatches counted;
    counted.dispatches = news.dispatches;
    counted.architecture = architecture_;
    WW_ASSIGN(traffic, session::application_traffic(counted, "the program"));
    calibration::EstimateRequest request;
    request.part = architecture_;
    WW_ASSIGN(priced, calibration::price(*model_, traffic, request));
    display.take(priced);
    return {};
  }

 private:
  const calibration::Calibration* model_;
  std::string architecture_;
};

// A program on the virtual GPU. Its output is kept and printed once the screen is given back.
// `model` is null where nothing but the device's joules is wanted.
Result<int> watch_program(const TopArguments& arguments, const calibration::Calibration* model) {
  const std::string device =
      arguments.device.name.empty() ? "virtual:w9100" : arguments.device.name;
  const std::string architecture = runner::chip_generation(arguments.device);
  const auto provenance = model != nullptr ? model->provenance() : calibration::Provenance{};
  if (model != nullptr) {
    WW_TRY(calibration::require_same_part(calibrated_part(provenance.device, provenance.target),
                                          architecture, device, "a bit",
                                          "or run the program on the calibrated one"));
  }
  if (arguments.timeline.wanted() && (model == nullptr || model->wires() == nullptr)) {
    return fail(ErrorCode::invalid_argument,
                "a timeline goes by segment: give --model of a calibration of wires",
                "--timeline, --rocpd");
  }
  WW_TRY(microbench::enter_virtual_device(arguments.device));
  WW_ASSIGN(folder, ScratchFolder::create("top"));
  const auto file = folder.path() / "live";
  WW_ASSIGN(settings, sim::read_driver_settings());
  settings.live = file;
  WW_ASSIGN(passed, sim::ScopedDriverSettings::apply(settings));
  const LivePrices prices(model, architecture);
  WW_ASSIGN(display,
            Display::open({arguments.json, arguments.metrics, device, prices.empty_rows()}));
  display.frame.title = device + " (virtual, not a measurement)";
  display.frame.source =
      model == nullptr
          ? "joules of the chip by its sensor; give --model for those of its wires"
          : "segments from its counters, dispatch by dispatch; watts while kernels run, "
            "by the chip's clock";
  display.mark_misfit(provenance.misfit);
  display.frame.state = "running";
  timeline::Timeline timeline({device, true, provenance.misfit, architecture});
  WatchedProgram program(arguments.command);
  session::LiveFeed feed(file);
  session::LiveMeter meter;
  session::LiveKernels kernels;
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
    kernels.take(*news);
    meter.take(*news);
    json facts = {{"virtual", true}, {"running", !ended}};
    if (ended && energies.kernels.empty()) {
      energies = kernels.energies(arguments.response.sensor());
    }
    put_kernel_joules(facts, energies);
    const bool launched = !news->dispatches.empty();
    if (launched) {
      dispatches += news->dispatches.size();
      show_refresh(display, *news, dispatches);
      if (!news->samples.empty()) {
        facts["device_w"] = news->samples.back().power_w;
        facts["chip_time_s"] = static_cast<double>(news->samples.back().time_ns) * 1e-9;
      }
    } else if (!ended || arguments.json) {
      display.take_nothing("idle");
    }
    trouble = prices.take(*news, display, arguments.timeline.wanted() ? &timeline : nullptr);
    if (!trouble) break;
    if (launched) display.take_device(meter.so_far());
    facts["dispatches"] = dispatches;
    if (ended) display.frame.state = "the program has ended";
    // The last of the JSON lines says that the program has ended, whatever came before.
    if (launched || !ended || display.stays() || arguments.json) display.show(facts);
    if (ended && !display.stays()) break;
    quit = display.wait(ended ? milliseconds(200) : interval_of(arguments)) || interrupted();
  }
  const bool stopped = interrupted();  // by Ctrl-C; the key q only ends the program
  const auto result = program.finish();
  display.close();
  if (arguments.timeline.wanted()) WW_TRY(save_timeline(timeline, arguments.timeline));
  WW_TRY(trouble);
  if (!arguments.json) {
    display.print_joules();
    if (const auto rows = kernel_joules_rows(energies); !rows.empty()) {
      fmt::print("energy of the whole chip above rest, by the times of the launches:\n");
      print_table(rows);
    }
  }
  if (const auto note = kernels.note(); !note.empty()) log::warn(note);
  WW_ASSIGN(code, WatchedProgram::show_result(result));
  return stopped ? exit_code(ErrorCode::cancelled) : code;
}

// Options of cards alone, and of the virtual GPU alone.
Status refuse_unread(const TopArguments& arguments, bool on_virtual) {
  const std::tuple<bool, const char*, const char*> unread[] = {
      {arguments.model.empty() && !arguments.counters.empty(), "--counters",
       "is what a calibration prices: give --model as well"},
      {!arguments.command.empty() && !arguments.counters.empty() && !on_virtual, "wirewatt top",
       "give counter files (--counters) or a program after --, not both"},
      {on_virtual && !arguments.counters.empty(), "--counters",
       "is for real GPUs (--device gpu:N): the virtual GPU counts while its program runs"},
      {arguments.model.empty() && arguments.count, "--count",
       "is what a calibration prices: give --model as well"},
      {arguments.count && !arguments.counters.empty(), "--count",
       "give counter files or --count, not both"},
      {on_virtual && arguments.count, "--count",
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

// A program runs on the virtual GPU where that is named, where the calibration is of one, or where
// there is no card.
class Place {
 public:
  explicit Place(const TopArguments& arguments) {
    const std::string& device = arguments.device.name;
    const bool program_alone = device.empty() && !arguments.command.empty();
    if (program_alone && measure::find_telemetry().gpus.empty()) {
      const auto none = has_no_card();
      no_card_ = none.value_or(false);
      if (!none) unreadable_ = none.error();
    }
    is_virtual_ = program_alone ? no_card_ : DeviceName(device).is_virtual();
    model_decides_ = program_alone && !arguments.model.empty();
  }
  // Why the power of the only card cannot be read; absent where it can, or where there is none.
  [[nodiscard]] const std::optional<Error>& unreadable() const { return unreadable_; }
  // Whether the command line alone makes the device virtual: without a card, options of cards
  // cannot be meant. Absent where the calibration decides.
  [[nodiscard]] std::optional<bool> by_words() const {
    return model_decides_ && !no_card_ ? std::nullopt : std::optional(is_virtual_);
  }
  [[nodiscard]] bool is_virtual(const calibration::Calibration* model) const {
    return model_decides_ ? DeviceName(model->provenance().device).is_virtual() : is_virtual_;
  }

 private:
  bool no_card_{}, is_virtual_{}, model_decides_{};
  std::optional<Error> unreadable_;
};

int run(TopArguments arguments) {
  const Place place(arguments);
  if (place.unreadable()) return report_error(*place.unreadable());
  if (const auto by_words = place.by_words()) {
    const auto read = refuse_unread(arguments, *by_words);
    if (!read) return report_error(read.error());
  }
  const auto can_write = check_timeline_files(arguments.timeline);
  if (!can_write) return report_error(can_write.error());
  std::unique_ptr<calibration::Calibration> model;
  if (!arguments.model.empty()) {
    auto loaded = calibration::load(arguments.model, admission(arguments.anyway));
    if (!loaded) return report_error(loaded.error());
    model = std::move(*loaded);
  }
  const bool on_virtual = place.is_virtual(model.get());
  if (const auto read = refuse_unread(arguments, on_virtual); !read) {
    return report_error(read.error());
  }
  if (on_virtual && model != nullptr) {
    arguments.device = device_beside_model(arguments.device, model->provenance().device);
  }
  if (on_virtual && arguments.command.empty()) {
    return report_error({ErrorCode::invalid_argument,
                         "the virtual GPU runs inside a program: give one after --",
                         "wirewatt top"});
  }
  const CardRequest card{arguments.device.name, arguments.counters, arguments.architecture,
                         arguments.count,       arguments.command,  interval_of(arguments),
                         arguments.json,        arguments.metrics,  arguments.timeline};
  const auto result =
      on_virtual ? watch_program(arguments, model.get()) : watch_card(card, model.get());
  return result ? *result : report_error(result.error());
}

}  // namespace

void add_top(CLI::App& app, Outcome& outcome) {
  auto* command = app.add_subcommand("top", "Show a device's joules, and those of its wires, live");
  auto arguments = std::make_shared<TopArguments>();
  as_input_file(command->add_option("--model", arguments->model,
                                    "A calibration (model.json, crossing.json) or its folder, for "
                                    "the watts of wires (default: the device's joules alone)"));
  add_anyway_option(*command, arguments->anyway);
  command->add_option(
      "--device", arguments->device.name,
      "virtual:NAME (default with a program: the model's), gpu:N from 0, AMD's first, or "
      "pci:ADDRESS (default: one that this user may open)");
  as_input_file(
      command->add_option("--counters", arguments->counters,
                          "Real GPUs: counters of a profiled run, for the watts of wires"));
  command->add_flag("--count", arguments->count,
                    "Cards of AMD: count the card for programs that run already");
  command->add_option("--arch", arguments->architecture, "gfx90a, sm_80, ... where FILE says none");
  command->add_option("--interval", arguments->interval_s, "Time between refreshes [s]")
      ->check(CLI::Range(0.05, 60.0))
      ->capture_default_str();
  command->add_option("--openmetrics", arguments->metrics.address,
                      "Serve the figures over HTTP at PORT or HOST:PORT (host: loopback)");
  command->add_flag("--web", arguments->metrics.web,
                    "Serve the figures and their history as a page, on loopback");
  add_open_flag(*command, arguments->metrics.open);
  as_any_output(command->add_option(
      "--otlp", arguments->metrics.otlp,
      "Send the figures to OpenTelemetry: append a line of JSON to a file, or send a request "
      "to a collector at http://HOST:PORT"));
  add_timeline_options(*command, arguments->timeline);
  add_response_options(*command, arguments->response);
  command->add_flag("--json", arguments->json, "One JSON object a line for each refresh");
  command->add_option("command", arguments->command,
                      "A program to run and its arguments, after --");
  command->footer(
      "Joules of a card need neither a calibration nor root: its driver counts them.\n"
      "Examples:\n"
      "  wirewatt top\n"
      "  wirewatt top --web --open\n"
      "  wirewatt top --model first-run/model.json -- wirewatt workloads run dct\n"
      "  wirewatt top --model h100/crossing.json --device gpu:0 --counters profile.csv");
  command->callback([arguments, &outcome] { outcome.exit_code = run(*arguments); });
}

}  // namespace ww::cli
