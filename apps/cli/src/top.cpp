// wirewatt top: interconnect power by segment while a program runs.
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <future>
#include <limits>
#include <nlohmann/json.hpp>
#include <thread>

#include "child.hpp"
#include "command.hpp"
#include "output.hpp"
#include "top_screen.hpp"
#include "ww/core/interrupt.hpp"
#include "ww/core/log.hpp"
#include "ww/core/subprocess.hpp"
#include "ww/measure/telemetry.hpp"
#include "ww/microbench/virtual_driver.hpp"
#include "ww/session/live.hpp"
#include "ww/session/traffic.hpp"

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
  bool json{};
};

constexpr std::array names = {"registers-L1", "L1-L2", "L2-memory", "together"};
constexpr std::size_t kept = 240;  // refreshes of history

// Rows with their history, and where they go: a screen, or a line of JSON.
class Display {
 public:
  static Result<Display> open(bool as_json) {
    Display display;
    if (!as_json) {
      WW_ASSIGN(screen, TopScreen::open());
      display.screen_ = std::move(screen);
    }
    for (const char* name : names) display.frame.rows.push_back({name, {}, "", {}});
    return display;
  }

  // Puts a refresh's figures into the rows.
  void take(const model::KernelEstimate& total) {
    for (std::size_t s = 0; s < 3; ++s) {
      const auto& segment = total.segments[s];
      set(frame.rows[s], segment.power_w, std::string(to_string(segment.status)));
    }
    set(frame.rows[3], total.power_w, total.left_out.empty() ? "" : "partly");
  }
  void take_nothing() {
    for (TopRow& row : frame.rows) {
      row.power_w.reset();
      row.status = "idle";
      push(row, std::numeric_limits<double>::quiet_NaN());
    }
  }
  void show(json facts) {
    if (screen_) {
      screen_->draw(frame);
      return;
    }
    facts["device"] = frame.title;
    facts["source"] = frame.source;
    facts["segments"] = json::array();
    for (const TopRow& row : frame.rows) {
      json one = {{"segment", row.name}, {"status", row.status}, {"power_w", nullptr}};
      if (row.power_w) {
        one["power_w"] = {
            {"value", row.power_w->value}, {"low", row.power_w->low}, {"high", row.power_w->high}};
      }
      facts["segments"].push_back(std::move(one));
    }
    fmt::print("{}\n", facts.dump(-1, ' ', false, json::error_handler_t::replace));
    std::fflush(stdout);
  }
  // Whether the user asks to end.
  bool wait(milliseconds time) {
    if (screen_) return screen_->key(static_cast<int>(time.count())) == 'q';
    std::this_thread::sleep_for(time);
    return false;
  }
  [[nodiscard]] bool on_screen() const { return screen_ != nullptr; }
  void close() { screen_.reset(); }

  TopFrame frame;

 private:
  static void push(TopRow& row, double value) {
    row.history.push_back(value);
    if (row.history.size() > kept) row.history.pop_front();
  }
  static void set(TopRow& row, const std::optional<model::Interval>& power,
                  const std::string& status) {
    row.power_w = power;
    row.status = status;
    push(row, power ? power->value : std::numeric_limits<double>::quiet_NaN());
  }
  std::unique_ptr<TopScreen> screen_;
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
  for (std::size_t k = 0; k < std::min(most, power.estimate.kernels.size()); ++k) {
    const auto& kernel = power.estimate.kernels[k];
    if (!kernel.power_w) continue;
    lines.push_back(fmt::format("  {:<30} {:>6} launches {:>9.3g} W", kernel.kernel.substr(0, 30),
                                kernel.dispatches, kernel.power_w->value));
  }
}

// A program on the virtual GPU. Its output is kept and printed once the screen is given back.
Result<int> watch_program(const TopArguments& arguments, const model::WireModel& model) {
  WW_TRY(microbench::enter_virtual_device(arguments.device));
  WW_ASSIGN(folder, Parts::create(std::filesystem::temp_directory_path()));
  const auto file = folder.path() / "live";
  ::setenv("WIREWATT_LIVE", file.c_str(), 1);
  WW_ASSIGN(display, Display::open(arguments.json));
  const std::string device =
      arguments.device.name.empty() ? "virtual:w9100" : arguments.device.name;
  display.frame.title = device + " (virtual, not a measurement)";
  display.frame.source =
      "segments from its counters, dispatch by dispatch; watts while kernels run, "
      "by the chip's clock";
  display.frame.state = "running";
  auto program = std::async(std::launch::async, [&] {
    ProcessRequest request;
    request.command = arguments.command;
    request.limit = std::chrono::hours(24 * 365);
    return run_process(request);
  });
  session::LiveFeed feed(file);
  std::uint64_t dispatches = 0;
  bool quit = false;
  bool ended = false;
  Status trouble;
  while (!quit) {
    ended = program.wait_for(milliseconds(0)) == std::future_status::ready;
    const auto news = feed.poll();
    if (!news) {
      trouble = tl::unexpected(news.error());
      break;
    }
    const auto power = session::live_power(*news, model, device);
    if (!power) {
      trouble = tl::unexpected(power.error());
      break;
    }
    json facts = {{"virtual", true}, {"running", !ended}};
    if (*power) {
      dispatches += (*power)->dispatches;
      display.take((*power)->estimate.total);
      tell(display, **power, dispatches);
      if ((*power)->device_w) facts["device_w"] = *(*power)->device_w;
      facts["chip_time_s"] = static_cast<double>((*power)->chip_ns) * 1e-9;
    } else if (!ended) {
      display.take_nothing();
    }
    facts["dispatches"] = dispatches;
    if (ended) display.frame.state = "the program has ended";
    if (*power || !ended || display.on_screen()) display.show(facts);
    if (ended && !display.on_screen()) break;
    quit = display.wait(ended ? milliseconds(200) : interval_of(arguments)) || interrupted();
  }
  // Ends the program where it still runs: the process runner listens to the interrupt.
  if (program.wait_for(milliseconds(0)) != std::future_status::ready) std::raise(SIGTERM);
  const auto result = program.get();
  display.close();
  WW_TRY(trouble);
  if (!result) {
    if (result.error().code == ErrorCode::cancelled) return 0;
    return tl::unexpected(result.error());
  }
  fmt::print(stderr, "{}{}", result->output, result->errors);
  return result->exit_code;
}

// A real GPU: its sensor now, and segments as a profiled run had them.
Result<int> watch_gpu(const TopArguments& arguments, const model::WireModel& model) {
  const auto telemetry = measure::find_telemetry();
  std::size_t index = 0;
  if (arguments.device.name.starts_with("gpu:")) {
    index = static_cast<std::size_t>(std::atoi(arguments.device.name.c_str() + 4));
  }
  if (index >= telemetry.gpus.size()) {
    return fail(
        ErrorCode::not_found,
        fmt::format("{} GPUs with a power sensor here; 'wirewatt doctor' says why. Without a "
                    "GPU: wirewatt top --model model.json -- PROGRAM",
                    telemetry.gpus.size()),
        arguments.device.name);
  }
  measure::TelemetryOptions options;
  options.clock_control = false;
  WW_ASSIGN(sensor, measure::open_sensor(telemetry.gpus[index], options));
  std::optional<model::KernelEstimate> total;
  if (!arguments.counters.empty()) {
    WW_ASSIGN(traffic, session::read_traffic(arguments.counters, arguments.architecture));
    WW_ASSIGN(estimate, model::estimate(model, traffic.kernels, {}));
    total = std::move(estimate.total);
  }
  WW_ASSIGN(display, Display::open(arguments.json));
  display.frame.title = telemetry.gpus[index].name;
  display.frame.source =
      total
          ? "device power sampled; segments estimated from " + arguments.counters.front() +
                ", as of a kernel that runs all the time"
          : "device power sampled; no counters are read beside a program: give --counters FILE of "
            "a profiled run to estimate the segments";
  display.frame.state = "sampling";
  bool quit = false;
  while (!quit) {
    WW_ASSIGN(readings, sensor->new_readings());
    json facts = {{"virtual", false}};
    display.frame.lines.clear();
    for (auto reading = readings.rbegin(); reading != readings.rend(); ++reading) {
      if (!reading->power_uw) continue;
      facts["device_w"] = static_cast<double>(*reading->power_uw) * 1e-6;
      display.frame.lines.push_back(
          fmt::format("sensor {:.4g} W", facts["device_w"].get<double>()));
      break;
    }
    if (total) {
      display.take(*total);
      for (TopRow& row : display.frame.rows) {
        if (row.power_w) row.status = "estimated";
      }
    } else {
      display.take_nothing();
      for (TopRow& row : display.frame.rows) row.status = "unavailable";
    }
    display.show(facts);
    quit = display.wait(interval_of(arguments)) || interrupted();
  }
  return 0;
}

int run(const TopArguments& arguments) {
  const auto model = model::load_wire_model(arguments.model);
  if (!model) return report_error(model.error());
  const bool on_virtual = arguments.device.name.empty()
                              ? !arguments.command.empty()
                              : arguments.device.name.starts_with("virtual");
  if (on_virtual == arguments.command.empty()) {
    return report_error(
        {ErrorCode::invalid_argument,
         on_virtual ? "the virtual GPU runs inside a program: give one after --"
                    : "a program after -- runs on the virtual GPU; on a real one start it yourself",
         "wirewatt top"});
  }
  const auto result = on_virtual ? watch_program(arguments, *model) : watch_gpu(arguments, *model);
  return result ? *result : report_error(result.error());
}

}  // namespace

void add_top(CLI::App& app, Outcome& outcome) {
  auto* command = app.add_subcommand("top", "Live interconnect power by segment, with its history");
  auto arguments = std::make_shared<TopArguments>();
  command->add_option("--model", arguments->model, "model.json of a calibration")->required();
  command->add_option("--device", arguments->device.name,
                      "virtual:NAME for a program after --, else gpu:N as doctor lists them");
  command->add_option("--counters", arguments->counters,
                      "Real GPUs: profiled run to estimate the segments from");
  command->add_option("--arch", arguments->architecture, "gfx90a, sm_80, ... where FILE says none");
  command->add_option("--interval", arguments->interval_s, "Time between refreshes [s]")
      ->check(CLI::Range(0.05, 60.0))
      ->capture_default_str();
  command->add_flag("--json", arguments->json, "One JSON object a line for each refresh");
  command->add_option("command", arguments->command,
                      "A program to run and its arguments, after --");
  command->footer(
      "Examples:\n"
      "  wirewatt top --model first-run/model.json -- ./any_opencl_program\n"
      "  wirewatt top --model a100/model.json --device gpu:0 --counters profile.csv");
  command->callback([arguments, &outcome] { outcome.exit_code = run(*arguments); });
}

}  // namespace ww::cli
