#include "ww/measure/sensor_response.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "quantile.hpp"

namespace ww::measure {
namespace {

// Truth with its running integral; before it begins it was as in its first 50 ms.
class Truth {
 public:
  explicit Truth(const PowerSeries& series) : series_(series) {
    const auto head = std::min<std::size_t>(
        series.power_w.size(), static_cast<std::size_t>(std::ceil(0.05 / series.step_s)));
    for (std::size_t i = 0; i < head; ++i) {
      before_ += series.power_w[i] / static_cast<double>(head);
    }
    integral_.reserve(series.power_w.size() + 1);
    integral_.push_back(0);
    for (const double power : series.power_w) {
      integral_.push_back(integral_.back() + power * series.step_s);
    }
  }

  [[nodiscard]] double mean(double from, double to) const {
    return (until(to) - until(from)) / (to - from);
  }

  // The output of a first-order lag at the end of each step.
  [[nodiscard]] std::vector<double> lagged(double tau_s) const {
    std::vector<double> out;
    out.reserve(series_.power_w.size());
    const double keep = std::exp(-series_.step_s / tau_s);
    double value = before_;
    for (const double power : series_.power_w) {
      value = power + (value - power) * keep;
      out.push_back(value);
    }
    return out;
  }

  [[nodiscard]] double at(const std::vector<double>& lagged, double time) const {
    const double steps = (time - series_.start_s) / series_.step_s - 1;
    if (steps < 0) return before_;
    const auto i = std::min(static_cast<std::size_t>(steps), lagged.size() - 1);
    const auto next = std::min(i + 1, lagged.size() - 1);
    return lagged[i] + (lagged[next] - lagged[i]) * (steps - std::floor(steps));
  }

 private:
  [[nodiscard]] double until(double time) const {
    const double steps = (time - series_.start_s) / series_.step_s;
    if (steps <= 0) return before_ * (time - series_.start_s);
    const auto last = series_.power_w.size();
    const auto i = std::min(static_cast<std::size_t>(steps), last);
    if (i == last) return integral_.back();
    return integral_[i] + series_.power_w[i] * (steps - static_cast<double>(i)) * series_.step_s;
  }

  const PowerSeries& series_;
  double before_{};
  std::vector<double> integral_;
};

struct Fit {
  double time_s{};
  double delay_s{};
  double gain{};
  double offset{};
  double rms{std::numeric_limits<double>::infinity()};
};

struct GainRange {
  double low{}, high{};
};

// reading = gain * x + offset.
Fit line(std::span<const PowerPoint> readings, const std::vector<double>& x, GainRange range) {
  const auto n = static_cast<double>(x.size());
  double mx = 0, my = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    mx += x[i];
    my += readings[i].power_w;
  }
  mx /= n;
  my /= n;
  double xx = 0, xy = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double dx = x[i] - mx, dy = readings[i].power_w - my;
    xx += dx * dx;
    xy += dx * dy;
    yy += dy * dy;
  }
  Fit fit;
  if (xx <= 0) return fit;
  fit.gain = std::clamp(xy / xx, range.low, range.high);
  fit.offset = my - fit.gain * mx;
  fit.rms = std::sqrt(std::max(0.0, yy - 2 * fit.gain * xy + fit.gain * fit.gain * xx) / n);
  return fit;
}

struct FitProfile {
  std::vector<Fit> by_time;  // best delay for each window or lag, ascending
  Fit best;
};

class Search {
 public:
  Search(std::span<const PowerPoint> readings, const Truth& truth, GainRange range,
         double earliest_s)
      : readings_(readings),
        truth_(truth),
        range_(range),
        earliest_s_(earliest_s),
        x_(readings.size()) {}

  FitProfile run(ResponseKind kind) {
    FitProfile profile;
    for (double time = 0.002; time < 2.5; time *= 1.04) profile.by_time.push_back(at(kind, time));
    profile.best = *std::ranges::min_element(profile.by_time, {}, &Fit::rms);
    // Finer around the best, in delay and time.
    const double around = profile.best.time_s;
    for (double time = around / 1.12; time < around * 1.12; time *= 1.004) {
      profile.by_time.push_back(at(kind, time));
    }
    std::ranges::sort(profile.by_time, {}, &Fit::time_s);
    profile.best = *std::ranges::min_element(profile.by_time, {}, &Fit::rms);
    return profile;
  }

 private:
  Fit at(ResponseKind kind, double time) {
    if (kind == ResponseKind::lag) lagged_ = truth_.lagged(time);
    const auto tried = [&](double delay) {
      for (std::size_t i = 0; i < readings_.size(); ++i) {
        const double seen = readings_[i].time_s - delay;
        x_[i] =
            kind == ResponseKind::lag ? truth_.at(lagged_, seen) : truth_.mean(seen - time, seen);
      }
      Fit fit = line(readings_, x_, range_);
      fit.time_s = time;
      fit.delay_s = delay;
      return fit;
    };
    Fit best;
    best.time_s = time;
    for (double delay = earliest_s_; delay < 0.300; delay += 0.004) {
      if (const Fit fit = tried(delay); fit.rms < best.rms) best = fit;
    }
    const double middle = best.delay_s;
    for (double delay = middle - 0.003; delay < middle + 0.0035; delay += 0.001) {
      if (const Fit fit = tried(delay); fit.rms < best.rms) best = fit;
    }
    return best;
  }

  std::span<const PowerPoint> readings_;
  const Truth& truth_;
  GainRange range_;
  double earliest_s_;  // delays from here
  std::vector<double> x_;
  std::vector<double> lagged_;
};

double span_of(std::span<const PowerPoint> readings) {
  std::vector<double> values;
  for (const PowerPoint& reading : readings) values.push_back(reading.power_w);
  return quantile(values, 0.95) - quantile(values, 0.05);
}

// The readings under the truth; of very many, every so manieth: more show nothing new.
std::vector<PowerPoint> under(std::span<const PowerPoint> readings, const PowerSeries& truth) {
  constexpr std::size_t kMaxReadings = 3000;
  std::vector<PowerPoint> out;
  for (const PowerPoint& reading : readings) {
    if (reading.time_s > truth.start_s + 0.02 && reading.time_s < truth.end_s()) {
      out.push_back(reading);
    }
  }
  const std::size_t stride = (out.size() + kMaxReadings - 1) / kMaxReadings;
  if (stride < 2) return out;
  for (std::size_t i = 0; i * stride < out.size(); ++i) out[i] = out[i * stride];
  out.resize((out.size() + stride - 1) / stride);
  return out;
}

SensorResponse fit(std::span<const PowerPoint> all, const UpdatePeriod& period,
                   const PowerSeries& series, bool metered) {
  SensorResponse response;
  const auto readings = under(all, series);
  const auto unresolved = [&response](std::string why) {
    response.kind = ResponseKind::not_resolved;
    response.reason = std::move(why);
    if (response.gain_reason.empty()) response.gain_reason = response.reason;
    return response;
  };
  if (!period.resolved && !period.within_poll) {
    return unresolved("the update period is not resolved");
  }
  if (readings.size() < 12) {
    return unresolved(fmt::format("only {} refreshes while the load was known", readings.size()));
  }
  response.span_w = span_of(readings);
  const auto [low_reading, high_reading] = std::ranges::minmax(readings, {}, &PowerPoint::power_w);
  const double full = high_reading.power_w - low_reading.power_w;
  if (full <= 0) return unresolved("the readings do not move");

  const Truth truth(series);
  // Against a switch (0 or 1) the gain is the load's height: at least what was seen of it, and at
  // most twice, as even the mean of equal times on and off shows half.
  const GainRange range = metered ? GainRange{0.5, 1.6} : GainRange{0.8 * full, 2.2 * full};
  // The times of switches are the host's, some ms off; a meter's clock was aligned.
  const double earliest_s = (metered ? -0.020 : -0.060) - series.known_to_s;
  Search search(readings, truth, range, earliest_s);
  const FitProfile window = search.run(ResponseKind::window);
  const FitProfile lag = search.run(ResponseKind::lag);
  // A lag that is over before the next refresh carries nothing from reading to reading: whatever
  // its shape, the reading sees one stretch of time and misses the rest.
  const bool within_period = 3 * lag.best.time_s < period.period_s;
  const bool lags = lag.best.rms < window.best.rms && !within_period;
  const FitProfile& profile = lags ? lag : window;
  response.rms_w = profile.best.rms;
  response.other_rms_w = lags ? window.best.rms : lag.best.rms;
  response.time_s = profile.best.time_s;
  response.delay_s = profile.best.delay_s;
  response.of_the_load = !metered;

  // Errors of neighbours are not independent, and a clock a few ms off leaves its own.
  const double n = static_cast<double>(readings.size());
  const double tolerated =
      std::max(profile.best.rms * std::sqrt(1 + 20 / n), 0.001 * response.span_w);
  response.low_s = response.time_s - 1e-3;  // the truth is known by the millisecond
  response.high_s = response.time_s + 1e-3;
  for (const Fit& fit : profile.by_time) {
    if (fit.rms > tolerated) continue;
    response.low_s = std::min(response.low_s, fit.time_s);
    response.high_s = std::max(response.high_s, fit.time_s);
  }
  if (profile.best.rms > 0.25 * full) {
    return unresolved("the readings do not follow the load");
  }
  if (response.high_s > 2 * response.low_s) {
    return unresolved(fmt::format(
        "{:.0f} ms to {:.0f} ms fit alike: too few refreshes fall into the load's changes",
        response.low_s * 1e3, response.high_s * 1e3));
  }
  const double blur_s = lags ? series.known_to_s / std::sqrt(12.0) : series.known_to_s;
  response.low_s = std::max(0.0, response.low_s - blur_s);
  response.high_s += blur_s;
  if (response.high_s > 2 * response.low_s) {
    return unresolved(fmt::format("{:.0f} ms to {:.0f} ms: the {} known every {:.3g} ms only",
                                  response.low_s * 1e3, response.high_s * 1e3,
                                  metered ? "true power is" : "load is", series.known_to_s * 1e3));
  }
  // A loaded chip's power is no square wave: its own rise and fall looks like a sensor's.
  const double clearly = profile.best.rms * (metered ? 1.1 : 1.5);
  if (std::max(tolerated, clearly) >= response.other_rms_w && !within_period) {
    return unresolved(fmt::format("a window of {:.0f} ms and a lag of {:.0f} ms fit alike",
                                  window.best.time_s * 1e3, lag.best.time_s * 1e3));
  }
  if (profile.best.delay_s < earliest_s + 0.002) {
    return unresolved("the readings come before their cause: the clocks are not aligned");
  }
  response.kind = lags ? ResponseKind::lag : ResponseKind::window;
  if (within_period && lag.best.rms < window.best.rms) {
    response.note = fmt::format(
        "a lag of {:.0f} ms fits better ({:.1f} W against {:.1f} W left) and is over before the "
        "next refresh",
        lag.best.time_s * 1e3, lag.best.rms, window.best.rms);
  }
  if (!metered) {
    response.gain_reason = "no external meter";
  } else if (response.rms_w > 0.03 * response.span_w) {
    response.gain_reason = fmt::format(
        "the fit leaves {:.1f} W of {:.0f} W: times that are off by a part of the window pull the "
        "gain down; hold the load steady at several heights instead",
        response.rms_w, response.span_w);
  } else if (period.poll_s > response.time_s / 3) {
    response.gain_reason = fmt::format("polls {:.0f} ms apart against {:.0f} ms pull the gain down",
                                       period.poll_s * 1e3, response.time_s * 1e3);
  } else {
    response.gain = profile.best.gain;
    response.offset_w = profile.best.offset;
  }
  return response;
}

// A level before and after a place, over this many polls.
constexpr std::size_t kLevelPolls = 12;

double level_from(std::span<const PowerPoint> readings, std::size_t from) {
  std::vector<double> values;
  for (std::size_t i = from; i < from + kLevelPolls; ++i) values.push_back(readings[i].power_w);
  return quantile(values, 0.5);
}

// The response of a sensor whose steps pass between two polls. A lag shows itself in the polls
// behind the step, and a spike of one poll is no step.
std::optional<SensorResponse> by_edges(std::span<const PowerPoint> readings,
                                       const UpdatePeriod& period) {
  constexpr double kOfTheStep = 0.9;
  constexpr double kOfTheSpan = 0.5;
  constexpr std::size_t kMinEdges = 2;
  if (period.resolved || !period.within_poll || readings.size() < 2 * kLevelPolls + 1)
    return std::nullopt;
  const auto [low, high] = std::ranges::minmax(readings, {}, &PowerPoint::power_w);
  const double full = high.power_w - low.power_w;
  if (full <= 0) return std::nullopt;
  std::size_t edges = 0;
  for (std::size_t i = kLevelPolls; i + kLevelPolls <= readings.size(); ++i) {
    const double jump = readings[i].power_w - readings[i - 1].power_w;
    if (std::abs(jump) < kOfTheSpan * full) continue;
    const double step = level_from(readings, i) - level_from(readings, i - kLevelPolls);
    edges += std::abs(step) >= kOfTheSpan * full && jump / step >= kOfTheStep ? 1 : 0;
  }
  if (edges < kMinEdges) return std::nullopt;
  const double poll_s =
      (readings.back().time_s - readings.front().time_s) / static_cast<double>(readings.size() - 1);
  SensorResponse response;
  response.kind = ResponseKind::window;
  response.at_most = true;
  response.time_s = response.high_s = 2 * poll_s;
  response.span_w = full;
  response.note =
      fmt::format("{} steps passed between two polls, nine tenths of each or more", edges);
  response.gain_reason = "no external meter";
  return response;
}

}  // namespace

std::string_view to_string(ResponseKind kind) {
  switch (kind) {
    case ResponseKind::not_resolved: return "not_resolved";
    case ResponseKind::window: return "window";
    case ResponseKind::lag: return "lag";
  }
  return "unknown";
}

SensorResponse fit_response(std::span<const PowerPoint> readings, const UpdatePeriod& period,
                            const PowerSeries& meter) {
  if (meter.empty() || meter.step_s <= 0) {
    SensorResponse response;
    response.reason = response.gain_reason = "no external meter";
    return response;
  }
  auto response = fit(readings, period, meter, true);
  if (response.kind != ResponseKind::not_resolved) return response;
  return by_edges(readings, period).value_or(std::move(response));
}

SensorResponse fit_response_to_load(std::span<const PowerPoint> readings,
                                    const UpdatePeriod& period, std::span<const double> switches,
                                    double switches_known_to_s) {
  if (auto response = by_edges(readings, period)) return *response;
  if (switches.empty() || readings.empty()) {
    SensorResponse response;
    response.reason = response.gain_reason = "it is not known when the load was switched";
    return response;
  }
  // A load that stays on after the last switch would be a guess: the truth ends with it.
  PowerSeries load{readings.front().time_s, 1e-3, {}, switches_known_to_s};
  load.start_s = std::min(load.start_s, switches.front() - 0.1);
  const double end = switches.size() % 2 == 0 ? readings.back().time_s : switches.back();
  const double steps = (end - load.start_s) / load.step_s;
  constexpr double most_steps = 1e7;
  if (!(steps > 0) || steps > most_steps) {
    SensorResponse response;
    response.reason = response.gain_reason = "the load's switches do not lie among the polls";
    return response;
  }
  std::size_t next = 0;
  for (double i = 0; i < steps; ++i) {
    const double at = load.start_s + i * load.step_s;
    // Share of the step with the load on.
    double on = 0, from = at;
    while (next < switches.size() && switches[next] < at + load.step_s) {
      if (next % 2 == 1) on += switches[next] - from;
      from = switches[next++];
    }
    if (next % 2 == 1) on += at + load.step_s - from;
    load.power_w.push_back(on / load.step_s);
  }
  return fit(readings, period, load, false);
}

std::vector<SteadyError> steady_errors(std::span<const PowerPoint> readings,
                                       const PowerSeries& meter, std::span<const double> switches,
                                       const SensorResponse& response) {
  std::vector<SteadyError> out;
  if (meter.empty() || switches.empty()) return out;
  const Truth truth(meter);
  if (response.time_s <= 0) return out;
  // The meter as the readings see it: a load that repeats in nearly the sensor's period is not seen
  // in equal shares, and readings after a switch still see what was before.
  const bool lags = response.kind == ResponseKind::lag;
  const auto lagged = lags ? truth.lagged(response.time_s) : std::vector<double>{};
  const auto add = [&](std::string what, double from, double to) {
    double sensor = 0, power = 0;
    std::size_t count = 0;
    for (const PowerPoint& reading : readings) {
      if (reading.time_s < from || reading.time_s >= std::min(to, meter.end_s())) continue;
      const double seen = reading.time_s - response.delay_s;
      sensor += reading.power_w;
      power += lags ? truth.at(lagged, seen) : truth.mean(seen - response.time_s, seen);
      ++count;
    }
    if (count < 3 || power <= 0) return;
    const auto n = static_cast<double>(count);
    out.push_back({std::move(what), sensor / n, power / n});
  };
  // The first readings average power from before the meter began, in part.
  const double idle_s = switches.front() - meter.start_s;
  add("idle", meter.start_s + std::min(response.time_s + 0.02, idle_s / 2), switches.front());
  bool plateaus = false;
  for (std::size_t i = 0; i + 1 < switches.size(); ++i) {
    const double length = switches[i + 1] - switches[i];
    if (length < 2) continue;
    plateaus = true;
    add(fmt::format("load {} from {:.0f} s to {:.0f} s", i % 2 == 0 ? "on" : "off", switches[i],
                    switches[i + 1]),
        switches[i] + length / 2, switches[i + 1]);
  }
  if (!plateaus) add("mean of the run", switches.front(), switches.back());
  return out;
}

}  // namespace ww::measure
