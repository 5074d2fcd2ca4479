#include "launches/launch_problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ww::measure {
namespace {

// Stretches of time without overlap, as a sensor sees them.
class SeenSpans {
 public:
  SeenSpans(std::vector<TimeSpan> spans, const LaunchSensor& sensor)
      : spans_(std::move(spans)), tau_s_(sensor.time_s) {
    before_s_.reserve(spans_.size());
    at_start_.reserve(spans_.size());
    double sum = 0, shown = 0, last = 0;
    for (const TimeSpan& span : spans_) {
      before_s_.push_back(sum);
      sum += span.to_s - span.from_s;
      if (sensor.kind != ResponseKind::lag) continue;
      shown *= std::exp(-(span.from_s - last) / tau_s_);
      at_start_.push_back(shown);
      shown = 1 + (shown - 1) * std::exp(-(span.to_s - span.from_s) / tau_s_);
      last = span.to_s;
    }
  }

  // Share of the time between two moments.
  [[nodiscard]] double share(double from, double to) const {
    return (until(to) - until(from)) / (to - from);
  }

  // Reading of a first-order lag at a moment, for a power of 1 within the stretches.
  [[nodiscard]] double lagged(double time) const {
    const auto next = after(time);
    if (next == 0) return 0;
    const TimeSpan& span = spans_[next - 1];
    const double inside = std::min(time, span.to_s) - span.from_s;
    const double shown = 1 + (at_start_[next - 1] - 1) * std::exp(-inside / tau_s_);
    return time <= span.to_s ? shown : shown * std::exp(-(time - span.to_s) / tau_s_);
  }

 private:
  // Number of stretches that began by then.
  [[nodiscard]] std::size_t after(double time) const {
    return static_cast<std::size_t>(std::ranges::upper_bound(spans_, time, {}, &TimeSpan::from_s) -
                                    spans_.begin());
  }
  [[nodiscard]] double until(double time) const {
    const auto next = after(time);
    if (next == 0) return 0;
    const TimeSpan& span = spans_[next - 1];
    return before_s_[next - 1] + std::min(time, span.to_s) - span.from_s;
  }

  std::vector<TimeSpan> spans_;
  double tau_s_;
  std::vector<double> before_s_;
  std::vector<double> at_start_;  // of a lag's output
};

}  // namespace

LaunchedKernel add_kernel(LaunchProblem& problem, std::span<const KernelLaunch> launches,
                          std::size_t kernel, const LaunchOptions& options) {
  LaunchedKernel launched;
  const std::size_t bins = std::max<std::size_t>(1, options.bins_s.size());
  std::vector<LaunchUnknown> unknowns(bins);
  launched.widths_s.assign(bins, 0);
  for (std::size_t i = 0; i < launches.size(); ++i) {
    if (launches[i].kernel != kernel) continue;
    const TimeSpan& time = launches[i].time;
    ++launched.launches;
    launched.duration_s += time.to_s - time.from_s;
    launched.middle_s += (time.from_s + time.to_s) / 2;
    if (options.bins_s.empty()) {
      unknowns[0].spans.push_back(time);
      launched.widths_s[0] += time.to_s - time.from_s;
      continue;
    }
    double from = time.from_s;
    for (std::size_t b = 0; b < bins; ++b) {
      double to = time.from_s + options.bins_s[b];
      if (i + 1 < launches.size()) to = std::min(to, launches[i + 1].time.from_s);
      if (to <= from) break;
      unknowns[b].spans.push_back({from, to});
      launched.widths_s[b] += std::max(0.0, std::min(to, time.to_s) - from);
      from = to;
    }
  }
  const auto count = static_cast<double>(launched.launches);
  launched.duration_s /= count;
  launched.middle_s /= count;
  for (std::size_t b = 0; b < bins; ++b) {
    launched.widths_s[b] /= count;
    launched.columns.push_back(problem.columns());
    unknowns[b].name = fmt::format("kernel {}, bin {} of {}", kernel, b + 1, bins);
    problem.unknowns.push_back(std::move(unknowns[b]));
  }
  return launched;
}

std::vector<double> energy_weights(const LaunchedKernel& kernel, std::size_t columns) {
  std::vector<double> c(columns, 0);
  for (std::size_t b = 0; b < kernel.columns.size(); ++b) c[kernel.columns[b]] = kernel.widths_s[b];
  return c;
}

std::vector<double> total_weights(const LaunchedKernel& kernel, const LaunchProblem& problem,
                                  bool awake) {
  auto c = energy_weights(kernel, problem.columns());
  double power = 1;
  for (std::size_t d = 0; d < problem.drift_columns; ++d) {
    c[d] = power * kernel.duration_s;
    power *= (kernel.middle_s - problem.middle_s) / problem.half_s;
  }
  if (awake) c.back() = kernel.duration_s;
  return c;
}

std::vector<double> launch_design(const LaunchProblem& problem,
                                  std::span<const PowerPoint> readings,
                                  const LaunchSensor& sensor) {
  const std::size_t p = problem.columns();
  std::vector<double> x(readings.size() * p, 0);
  for (std::size_t k = 0; k < readings.size(); ++k) {
    double power = 1;
    for (std::size_t d = 0; d < problem.drift_columns; ++d) {
      x[k * p + d] = power;
      power *= (readings[k].time_s - problem.middle_s) / problem.half_s;
    }
  }
  for (std::size_t u = 0; u < problem.unknowns.size(); ++u) {
    const SeenSpans spans(problem.unknowns[u].spans, sensor);
    for (std::size_t k = 0; k < readings.size(); ++k) {
      const double at = readings[k].time_s - sensor.delay_s;
      double& weight = x[k * p + problem.drift_columns + u];
      if (sensor.accumulator) {
        weight = spans.share(readings[k == 0 ? 0 : k - 1].time_s - sensor.delay_s, at);
        if (k == 0) weight = 0;
      } else {
        weight = sensor.kind == ResponseKind::lag ? spans.lagged(at)
                                                  : spans.share(at - sensor.time_s, at);
      }
    }
  }
  return x;
}

}  // namespace ww::measure
