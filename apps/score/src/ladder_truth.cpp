#include "ladder_truth.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "sealed_tables.hpp"
#include "ww/calibration/ladder_fit.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/json_reader.hpp"
#include "ww/core/mean.hpp"
#include "ww/core/process.hpp"
#include "ww/core/temporary_folder.hpp"
#include "ww/measure/counter_file.hpp"
#include "ww/microbench/ladder.hpp"
#include "ww/runner/counted_run.hpp"
#include "ww/sim/gpu/reveal.hpp"

namespace ww::score {
namespace {

using calibration::ExactLaunch;

struct Exercised {
  ExactLaunch launch;  // without its power
  double core_w{}, others_w{};
};

// The last launch of each.
Result<std::vector<Exercised>> exercise(const std::filesystem::path& recording,
                                        const microbench::DeviceRequest& device) {
  WW_ASSIGN(program, own_program());
  WW_ASSIGN(folder, ScratchFolder::create("ladder"));
  const auto moved = folder.path() / "moved.json";
  const std::vector<std::string> command{
      program.string(),   "exercise",        "--device",
      device.name,        "--chip-seed",     std::to_string(device.chip_seed),
      "--chip-class",     device.chip_class, "--ladder",
      recording.string(), "--out",           moved.string()};
  WW_ASSIGN(ran, runner::run_counted(device, command, {.sealed = true, .quiet = true}));
  if (ran.exit_code != 0 || ran.sealed.size() != 1 || ran.counters.size() != 1) {
    return fail(
        ErrorCode::bad_data,
        fmt::format("its launches could not be performed again (exit code {})", ran.exit_code),
        recording.string());
  }
  WW_ASSIGN(sealed, read_file(ran.sealed.front()));
  WW_ASSIGN(joules, sealed_joules(sealed, ran.sealed.front()));
  WW_ASSIGN(counters, measure::read_counter_file(ran.counters.front()));
  WW_ASSIGN(text, read_file(moved));
  WW_ASSIGN(json, parse_json(text, moved.string()));
  const JsonReader reader(json, "launches of the ladder");
  std::vector<Exercised> done;
  std::size_t last = 0;
  for (const JsonReader& one : reader.objects("launches")) {
    std::string stream;
    double bits = 0;
    one.read("stream", stream);
    one.read("bits", bits);
    last += microbench::kLadderExerciseLaunches;
    if (last > joules.size() || last > counters.dispatches.size()) {
      return fail(ErrorCode::bad_data, "fewer launches than were asked for", recording.string());
    }
    const double seconds = 1e-9 * counters.dispatches[last - 1].duration_ns.value_or(0);
    const auto parsed = calibration::LadderStream::parse(stream);
    if (!parsed || !(seconds > 0)) {
      return fail(ErrorCode::bad_data, "a launch without a stream or a time", stream);
    }
    const SealedJoules& sealed = joules[last - 1];
    done.push_back({{*parsed, bits / seconds, 0}, sealed.core / seconds, sealed.others / seconds});
  }
  WW_TRY(reader.status());
  return done;
}

}  // namespace

Result<LadderTruth> ladder_truth(const std::filesystem::path& recording,
                                 const nlohmann::json& ladder,
                                 const microbench::DeviceRequest& device,
                                 const sim::gpu::Chip& chip) {
  WW_ASSIGN(exercised, exercise(recording, device));
  const double idle_w = ladder.value("idle_w", 0.0);
  const auto toggle_rates = ladder.value("toggle_rates", std::map<std::string, double>{});
  const double wave_size = ladder.value("wave_size", 64.0);
  const double chip_idle_w = sim::gpu::power_behind_sensor_w(chip, idle_w);
  Mean core_w;
  for (const Exercised& one : exercised) core_w.add(one.core_w);
  LadderTruth truth;
  truth.voltage_v = sim::gpu::loaded_voltage_v(chip, chip_idle_w, core_w.value());
  const double droop = truth.voltage_v / sim::gpu::loaded_voltage_v(chip, 0, 0);
  std::vector<ExactLaunch> points;
  for (Exercised& one : exercised) {
    one.launch.power_w = one.core_w * droop * droop + one.others_w;
    points.push_back(one.launch);
  }
  const auto true_figures = calibration::fit_exact_launches(points, toggle_rates, wave_size);
  for (ExactLaunch& point : points) {
    point.power_w = sim::gpu::sensed_power_w(chip, chip_idle_w + point.power_w) - idle_w;
  }
  const auto sensed = calibration::fit_exact_launches(points, toggle_rates, wave_size);
  truth.revealed.chip_class = sim::gpu::to_string(chip.request().chip_class);
  for (const auto& [name, value] : true_figures) {
    truth.revealed.figures.push_back({name, value, sensed.at(name), "pJ"});
  }
  return truth;
}

}  // namespace ww::score
