#include "ww/measure/sensor_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <utility>

#include "ww/core/interrupt.hpp"
#include "ww/energy/energy.hpp"
#include "ww/measure/polled_sensor.hpp"
#include "ww/measure/update_period.hpp"

namespace ww::measure {
namespace {

// Differences of the energy counter over shorter times would be mostly its noise.
constexpr double kMinEnergyStepS = 0.020;
constexpr double slow_s = 1.0;  // a sensor that settles later wants long plateaus

struct Stage {
  double shortest_s{}, longest_s{};  // half cycles
  int cycles{};
};
// Many switches at first: a sensor that sees 25 ms of each 100 ms catches one in four.
constexpr std::array<Stage, 3> stages{{{0.25, 0.45, 28}, {2.5, 3.5, 6}, {11.0, 13.0, 3}}};

double seconds(std::int64_t ns) {
  return static_cast<double>(ns) * 1e-9;
}

std::vector<PowerPoint> points(std::span<const SensorReading> readings, std::int64_t zero_ns) {
  std::vector<PowerPoint> out;
  for (const SensorReading& reading : readings) {
    if (!reading.power_uw) continue;
    out.push_back(
        {seconds(reading.time_ns - zero_ns), static_cast<double>(*reading.power_uw) * 1e-6});
  }
  return out;
}

// The smallest step between readings that differ, as a sensor's quantum shows itself.
double resolution(std::span<const PowerPoint> polls) {
  double least = 0;
  for (std::size_t i = 1; i < polls.size(); ++i) {
    const double step = std::abs(polls[i].power_w - polls[i - 1].power_w);
    if (step > 1e-9 && (least == 0 || step < least)) least = step;
  }
  return least;
}

// The period where the value's changes show one; else that of the polls, as a bound.
void find_period(SensorCheck& check, const UpdatePeriod& found, const StepResponse* response) {
  check.period_resolved = found.resolved;
  check.period_s = found.resolved ? found.period_s : response == nullptr ? 0.0 : response->period_s;
  if (found.held_s > 0) {
    check.period_s = found.held_s;
    return;
  }
  // Every poll shows a new value: it refreshes as often as it is polled, or more often.
  if (!found.resolved && check.period_s > 1.5 * found.poll_s) check.period_resolved = true;
}

std::string kind_text(const SensorCheck& check) {
  const auto period = check.period_resolved
                          ? fmt::format("refreshed every {:.2f} ms", check.period_s * 1e3)
                      : check.period_s > 0
                          ? fmt::format("refreshed every {:.2g} ms or faster", check.period_s * 1e3)
                          : std::string("refresh unknown");
  if (check.kind == ResponseKind::not_resolved) {
    return fmt::format("{}, window not resolved: {}", period, check.reason);
  }
  return fmt::format(
      "{}, {} of {:.3g} ms{}{}", period, check.kind == ResponseKind::lag ? "lag" : "window",
      check.time_s * 1e3,
      check.delay_s > 0.002 ? fmt::format(", {:.0f} ms late", check.delay_s * 1e3) : "",
      check.seen < 0.95 ? fmt::format(", {:.0f}% of the time unseen", 100 * (1 - check.seen)) : "");
}

void judge(SensorCheck& check) {
  if (check.status.status != ReadingStatus::healthy) {
    check.verdict = check.status.status == ReadingStatus::missing ||
                            check.status.status == ReadingStatus::denied
                        ? Verdict::unavailable
                        : Verdict::bad;
    check.detail = fmt::format("{}: {}", to_string(check.status.status), check.status.reason);
    return;
  }
  check.detail = kind_text(check);
  if (check.kind == ResponseKind::not_resolved) {
    check.verdict = Verdict::limited;
    return;
  }
  if (check.seen < 0.95) {
    check.verdict = Verdict::limited;
    check.detail += "; steady plateaus only, with switches at random phase";
  } else if (check.settle_s > slow_s) {
    check.verdict = Verdict::limited;
    check.detail +=
        fmt::format("; averaged: cut the first {:.1f} s of plateaus of {:.0f} s or more",
                    check.settle_s, std::max(8.0, std::ceil(2 * check.settle_s)));
  } else {
    check.verdict = Verdict::good;
  }
}

double mean_distance_s(std::span<const SensorReading> readings) {
  const auto count = static_cast<double>(std::max<std::size_t>(readings.size(), 2) - 1);
  return seconds(readings.back().time_ns - readings.front().time_ns) / count;
}

// The check with its response known, and how long to cut after a switch: a lag has shown 99% after
// five of its times.
SensorCheck resolved(SensorCheck check, ResponseKind kind, double time_s, double delay_s) {
  constexpr double settled_lags = 5;
  check.kind = kind;
  check.time_s = time_s;
  check.delay_s = delay_s;
  check.settle_s =
      delay_s + check.period_s + (kind == ResponseKind::lag ? settled_lags : 1.0) * time_s;
  check.reason.clear();
  judge(check);
  return check;
}

// Power by the energy counter, each stamped with the end of its step. Empty without a counter that
// can be used.
std::vector<SensorReading> counted_power(const energy::EnergySeries& series) {
  const auto steps = energy::energy_steps(series, kMinEnergyStepS);
  std::vector<SensorReading> out;
  for (std::size_t i = 1; i < steps.moves.size(); ++i) {
    SensorReading power;
    power.time_ns = power.poll_ns = series.readings[steps.moves[i]].time_ns;
    power.power_uw = std::llround(static_cast<double>(steps.power_w[steps.moves[i]]) * 1e6);
    power.changed = true;
    out.push_back(power);
  }
  return out;
}

// A fit compares every reading with every window: these readings show as much as all.
std::vector<PowerPoint> thinned(std::vector<PowerPoint> readings,
                                std::span<const double> switches) {
  constexpr std::size_t enough = 1500;
  constexpr double near_s = 0.4;
  if (readings.size() <= enough) return readings;
  std::vector<PowerPoint> kept;
  for (const PowerPoint& reading : readings) {
    const auto next = std::ranges::upper_bound(switches, reading.time_s + 0.05);
    if (next != switches.begin() && reading.time_s < *std::prev(next) + near_s) {
      kept.push_back(reading);
    }
  }
  const std::size_t stride = (kept.size() + enough - 1) / enough;
  for (std::size_t i = 0; stride > 1 && i * stride < kept.size(); ++i) kept[i] = kept[i * stride];
  if (stride > 1) kept.resize((kept.size() + stride - 1) / stride);
  return kept;
}

// The period of a driver that stamps each refresh, as several readings from one poll show. Polls of
// such a driver find every refresh, so that the values' changes show no period.
std::optional<double> stamped_period_s(std::span<const SensorReading> readings) {
  std::vector<double> steps;
  bool stamped = false;
  for (std::size_t i = 1; i < readings.size(); ++i) {
    const SensorReading& now = readings[i];
    const SensorReading& before = readings[i - 1];
    if (now.time_ns == before.time_ns) return {};
    stamped = stamped || now.poll_ns == before.poll_ns;
    steps.push_back(seconds(now.time_ns - before.time_ns));
  }
  if (!stamped) return {};
  std::ranges::nth_element(steps, steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2));
  return steps[steps.size() / 2];
}

// Everything read during one stage.
struct Series {
  std::vector<SensorReading> readings;
  std::vector<SensorReading> second;
  std::vector<LoadStep> steps;
};

Status take(Sensor& sensor, Series& series) {
  if (auto* polled = dynamic_cast<PolledSensor*>(&sensor); polled != nullptr) {
    for (const Sample& sample : polled->new_samples()) {
      series.readings.push_back(stored(sample));
      if (!sample.reading.second_power_uw) continue;
      SensorReading second = series.readings.back();
      second.power_uw = sample.reading.second_power_uw;
      series.second.push_back(second);
    }
    return {};
  }
  WW_ASSIGN(readings, sensor.new_readings());
  series.readings.insert(series.readings.end(), readings.begin(), readings.end());
  return {};
}

class Check {
 public:
  Check(Sensor& sensor, Load& load, const std::function<void(const CheckProgress&)>& progress)
      : sensor_(sensor), load_(load), progress_(progress) {}

  Result<SensorReport> run() {
    const std::int64_t began = sensor_.now_ns();
    SensorReport report;
    report.load = load_.name();
    for (std::size_t i = 0; i < stages.size(); ++i) {
      WW_ASSIGN(series, switched(i));
      judge_columns(report, series);
      if (all_resolved(report) || !moves(report)) break;
    }
    report.seconds = seconds(sensor_.now_ns() - began);
    return report;
  }

 private:
  void rest(double duration) {
    sensor_.sleep_until(sensor_.now_ns() + std::llround(duration * 1e9));
  }

  Result<Series> switched(std::size_t number) {
    const Stage& stage = stages[number];
    std::uniform_real_distribution<double> half_cycle(stage.shortest_s, stage.longest_s);
    Series series;
    rest(0.01);
    Series before;
    WW_TRY(take(sensor_, before));  // what was read until now belongs to no step
    for (int i = 0; i < stage.cycles; ++i) {
      if (interrupted()) return fail(ErrorCode::cancelled, "interrupted");
      if (progress_) {
        progress_({static_cast<double>(i), static_cast<double>(stage.cycles),
                   fmt::format("load steps, stage {}", number + 1)});
      }
      rest(half_cycle(random_));
      WW_ASSIGN(step, load_.run_for(half_cycle(random_)));
      series.steps.push_back(step);
      WW_TRY(take(sensor_, series));
    }
    rest(stage.longest_s);
    WW_TRY(take(sensor_, series));
    for (auto* readings : {&series.readings, &series.second}) {
      for (std::size_t i = 0; i < readings->size(); ++i) {
        auto& now = (*readings)[i];
        now.changed = i == 0 || now.power_uw != (*readings)[i - 1].power_uw;
      }
    }
    return series;
  }

  void judge_columns(SensorReport& report, const Series& series) {
    report.statuses = reading_statuses(series.readings, true);
    explain_missing(report.statuses, sensor_.fields());
    const auto* polled = dynamic_cast<const PolledSensor*>(&sensor_);
    const auto status = [&](const char* field) {
      return *std::ranges::find(report.statuses, field, &StatusRow::field);
    };
    const auto earlier = std::exchange(report.columns, {});
    const auto name = polled == nullptr ? sensor_.facts().name : polled->source().power_name();
    SensorCheck power =
        check_column({name.empty() ? "power" : name, series.readings}, series.steps);
    power.status = status("power");
    judge(power);
    report.columns.push_back(std::move(power));
    if (!series.second.empty()) {
      report.columns.push_back(
          check_column({polled->source().second_power_name(), series.second}, series.steps));
    }
    keep_resolved(report, earlier);
    add_energy(report, series, status("energy"));
  }

  // A later stage has slower switches, and fewer: it is for the columns that the faster ones did
  // not resolve, and shows less of a short window.
  static void keep_resolved(SensorReport& report, std::span<const SensorCheck> earlier) {
    for (const SensorCheck& before : earlier) {
      const auto now = std::ranges::find(report.columns, before.name, &SensorCheck::name);
      if (now == report.columns.end() || now->status.status != ReadingStatus::healthy) continue;
      if (before.kind != ResponseKind::not_resolved) *now = before;
    }
  }

  void add_energy(SensorReport& report, const Series& series, const StatusRow& status) {
    SensorCheck energy;
    energy.name = "energy counter";
    energy.status = status;
    if (status.status == ReadingStatus::healthy) {
      const auto counted = energy::energy_series(series.readings);
      const auto power = counted_power(counted);
      if (const auto response = analyse_steps(power, series.steps)) {
        energy.step_w = response->step_w;
        energy.noise_w = response->noise_w;
      }
      const auto own = find_update_period(counter_points(series));
      energy.period_resolved = own.resolved;
      if (own.resolved) energy.period_s = own.period_s;
      if (!own.resolved && own.poll_s > 0) energy.period_s = own.poll_s;
      // A difference of two counts covers all of the time between them, by construction.
      energy.kind = ResponseKind::window;
      energy.time_s = power.empty() ? energy.period_s : mean_distance_s(power);
      energy.settle_s = energy.time_s + energy.period_s;
      judge(energy);
      const auto ratio = energy::counter_over_register(counted, counted.readings.front().time_ns,
                                                       counted.readings.back().time_ns);
      if (ratio && std::abs(*ratio - 1) > 0.10) {
        energy.verdict = Verdict::limited;
        energy.detail += fmt::format(
            "; it counts {:.2f} times the energy of the power reading: one of them does not "
            "measure "
            "all of the device, or it does not count in {}",
            *ratio, sensor_.facts().counter_unit);
      } else if (ratio) {
        energy.detail += fmt::format("; {:+.1f}% from the power reading", 100 * (*ratio - 1));
      }
    } else {
      judge(energy);
    }
    report.columns.push_back(std::move(energy));
  }

  // Returns the changes of the counter as a series that find_update_period takes.
  static std::vector<PowerPoint> counter_points(const Series& series) {
    std::vector<PowerPoint> out;
    for (const SensorReading& reading : series.readings) {
      if (!reading.energy_ticks) continue;
      out.push_back({seconds(reading.time_ns - series.readings.front().time_ns),
                     static_cast<double>(*reading.energy_ticks)});
    }
    return out;
  }

  static bool all_resolved(const SensorReport& report) {
    return std::ranges::all_of(report.columns, [](const SensorCheck& check) {
      return check.status.status != ReadingStatus::healthy ||
             check.kind != ResponseKind::not_resolved;
    });
  }
  // A reading that does not move in one stage will not in a slower one.
  static bool moves(const SensorReport& report) {
    return report.columns.front().status.status == ReadingStatus::healthy ||
           (report.columns.size() > 2 && report.columns[1].status.status == ReadingStatus::healthy);
  }

  Sensor& sensor_;
  Load& load_;
  const std::function<void(const CheckProgress&)>& progress_;
  std::mt19937_64 random_{20};
};

}  // namespace

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::good: return "good";
    case Verdict::limited: return "limited";
    case Verdict::bad: return "bad";
    case Verdict::unavailable: return "unavailable";
  }
  return "unknown";
}

SensorCheck check_column(const SensorColumn& column, std::span<const LoadStep> steps) {
  SensorCheck check;
  check.name = column.name;
  check.status = reading_statuses(column.readings, true).front();
  const auto response = analyse_steps(column.readings, steps);
  if (!response) {
    check.reason = response.error().message;
    judge(check);
    return check;
  }
  check.step_w = response->step_w;
  check.noise_w = response->noise_w;
  const std::int64_t zero_ns = column.readings.front().time_ns;
  const auto polls = points(column.readings, zero_ns);
  check.resolution_w = resolution(polls);
  auto period = find_update_period(polls);
  // A faster sensor than this has shown a step within a few refreshes: known well enough.
  constexpr double fast_s = 0.010;
  const auto stamped_s = period.resolved ? std::nullopt : stamped_period_s(column.readings);
  const bool stamped = stamped_s && *stamped_s >= fast_s;
  if (stamped) {
    period.resolved = true;
    period.period_s = *stamped_s;
    period.poll_s = 0;
  }
  find_period(check, period, &*response);

  // A response over many refreshes shows its shape. A shorter one is found better by a fit to the
  // switches, which come at many phases of the refreshes.
  constexpr double many_refreshes = 10;
  const bool curve = response->resolved && response->time_s > 0;
  const auto take_curve = [&] {
    return resolved(check, response->lag ? ResponseKind::lag : ResponseKind::window,
                    response->time_s, response->delay_s);
  };
  if (curve && (!period.resolved || response->time_s > many_refreshes * check.period_s)) {
    return take_curve();
  }
  std::vector<double> switches;
  for (const LoadStep& step : steps) {
    switches.push_back(seconds(step.on_ns - zero_ns));
    switches.push_back(seconds(step.off_ns - zero_ns));
  }
  if (period.resolved) {
    const auto readings = thinned(stamped ? polls : refreshes(polls, period), switches);
    const SensorResponse fit = fit_response_to_load(readings, period, switches);
    // A load switched this fast shows no longer windows.
    const double longest_s = 0.45 * seconds(steps.front().off_ns - steps.front().on_ns);
    if (fit.kind != ResponseKind::not_resolved && fit.time_s < longest_s) {
      check.low_s = fit.low_s;
      check.high_s = fit.high_s;
      check.seen = fit.seen(period);
      return resolved(check, fit.kind, fit.time_s, std::max(0.0, fit.delay_s));
    }
    check.reason = fit.reason.empty() ? "the load switched too fast for it" : fit.reason;
  }
  if (curve) return take_curve();
  if (response->resolved && check.period_s < fast_s) {
    check.high_s = response->rise_s;
    return resolved(check, ResponseKind::window, response->rise_s, response->delay_s);
  }
  if (check.reason.empty()) check.reason = response->reason;
  // When it has arrived is known even where it cannot be said how it got there.
  if (response->resolved) {
    check.delay_s = response->delay_s;
    check.settle_s = response->delay_s + response->rise_s + check.period_s;
  }
  judge(check);
  return check;
}

Result<SensorReport> check_sensor(Sensor& sensor, Load& load,
                                  const std::function<void(const CheckProgress&)>& progress) {
  return Check(sensor, load, progress).run();
}

nlohmann::json to_json(const SensorCheck& check) {
  const auto known = [](bool there, double value) {
    return there ? nlohmann::json(value) : nlohmann::json();
  };
  const bool resolved = check.kind != ResponseKind::not_resolved;
  return {{"name", check.name},
          {"verdict", to_string(check.verdict)},
          {"detail", check.detail},
          {"status", to_string(check.status.status)},
          {"period_s", known(check.period_s > 0, check.period_s)},
          {"period_resolved", check.period_resolved},
          {"response", to_string(check.kind)},
          {"reason", check.reason},
          {"window_s", known(check.kind == ResponseKind::window, check.time_s)},
          {"lag_s", known(check.kind == ResponseKind::lag, check.time_s)},
          {"low_s", known(check.high_s > 0, check.low_s)},
          {"high_s", known(check.high_s > 0, check.high_s)},
          {"delay_s", known(resolved, check.delay_s)},
          {"seen", known(resolved, check.seen)},
          {"settle_s", known(check.settle_s > 0, check.settle_s)},
          {"step_w", known(check.step_w > 0, check.step_w)},
          {"noise_w", known(check.step_w > 0, check.noise_w)},
          {"resolution_w", known(check.resolution_w > 0, check.resolution_w)}};
}

}  // namespace ww::measure
