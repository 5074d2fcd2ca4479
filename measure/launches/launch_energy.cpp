#include "ww/measure/launch_energy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "ww/core/statistics.hpp"

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

  // What a first-order lag shows at a moment, of 1 within the stretches.
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

// One unknown: the power within these stretches.
struct LaunchUnknown {
  std::string name;
  std::vector<TimeSpan> spans;
};

struct LaunchProblem {
  std::vector<LaunchUnknown> unknowns;
  std::size_t drift_columns{};  // come first; the rest powers of time
  double middle_s{}, half_s{};
  [[nodiscard]] std::size_t columns() const { return drift_columns + unknowns.size(); }
};

// Least squares with the covariance of its solution.
struct LaunchSolution {
  std::vector<double> value;
  std::vector<double> covariance;  // row by row
  double noise_w{};
  double dof{};
  std::vector<double> most;  // largest weight of each unknown
};

// Cholesky factor of a symmetric matrix with unit diagonal; empty if it is singular.
std::vector<double> cholesky(std::vector<double> a, std::size_t n) {
  constexpr double kSingular = 1e-9;
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t k = 0; k < j; ++k) a[j * n + j] -= a[j * n + k] * a[j * n + k];
    if (!(a[j * n + j] > kSingular)) return {};
    a[j * n + j] = std::sqrt(a[j * n + j]);
    for (std::size_t i = j + 1; i < n; ++i) {
      for (std::size_t k = 0; k < j; ++k) a[i * n + j] -= a[i * n + k] * a[j * n + k];
      a[i * n + j] /= a[j * n + j];
    }
  }
  return a;
}

std::vector<double> cholesky_solve(const std::vector<double>& l, std::size_t n,
                                   std::vector<double> b) {
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) b[i] -= l[i * n + k] * b[k];
    b[i] /= l[i * n + i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) b[i] -= l[k * n + i] * b[k];
    b[i] /= l[i * n + i];
  }
  return b;
}

// The rows of the regression: weights of each unknown in each reading.
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

Result<LaunchSolution> solve_launches(const LaunchProblem& problem, std::span<const PowerPoint> all,
                                      const LaunchSensor& sensor) {
  const std::size_t p = problem.columns();
  std::vector<double> x = launch_design(problem, all, sensor);
  std::span<const PowerPoint> readings = all;
  if (sensor.accumulator) {  // the first reading has none before it
    readings = all.subspan(1);
    x.erase(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(p));
  }
  const std::size_t n = readings.size();
  LaunchSolution solution;
  std::vector<double> length(p, 0);
  for (std::size_t u = 0; u < p; ++u) {
    double most = 0;
    for (std::size_t k = 0; k < n; ++k) {
      length[u] += x[k * p + u] * x[k * p + u];
      most = std::max(most, x[k * p + u]);
    }
    length[u] = std::sqrt(length[u]);
    solution.most.push_back(most);
    if (!(length[u] > 0)) {
      return fail(ErrorCode::bad_data,
                  "no reading sees it; record until the sensor has shown the last launch",
                  problem.unknowns[u - problem.drift_columns].name);
    }
    for (std::size_t k = 0; k < n; ++k) x[k * p + u] /= length[u];
  }
  std::vector<double> gram(p * p, 0), moment(p, 0);
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t i = 0; i < p; ++i) {
      moment[i] += x[k * p + i] * readings[k].power_w;
      for (std::size_t j = 0; j <= i; ++j) gram[i * p + j] += x[k * p + i] * x[k * p + j];
    }
  }
  for (std::size_t i = 0; i < p; ++i) {
    for (std::size_t j = i + 1; j < p; ++j) gram[i * p + j] = gram[j * p + i];
  }
  const auto factor = cholesky(gram, p);
  if (factor.empty()) {
    return fail(ErrorCode::bad_data,
                "the readings cannot separate the launches from rest or from one another; vary "
                "their density and order, and leave pauses longer than the sensor's window",
                "launches");
  }
  solution.value = cholesky_solve(factor, p, moment);
  solution.dof = static_cast<double>(n - p);
  std::vector<double> residual(n);
  double squares = 0;
  for (std::size_t k = 0; k < n; ++k) {
    residual[k] = readings[k].power_w;
    for (std::size_t i = 0; i < p; ++i) residual[k] -= x[k * p + i] * solution.value[i];
    squares += residual[k] * residual[k];
  }
  solution.noise_w = std::sqrt(squares / solution.dof);
  // Neighbours share noise where their windows overlap, and where rest wanders.
  const double period =
      (readings.back().time_s - readings.front().time_s) / static_cast<double>(n - 1);
  const double overlap = sensor.accumulator ? 1 : std::min(50.0, sensor.time_s / period);
  const auto lags = std::min(
      n / 4,
      static_cast<std::size_t>(overlap + 4 * std::pow(static_cast<double>(n) / 100, 2.0 / 9.0)));
  std::vector<double> meat(p * p, 0);
  for (std::size_t lag = 0; lag <= lags; ++lag) {
    const double taper = 1 - static_cast<double>(lag) / static_cast<double>(lags + 1);
    for (std::size_t k = lag; k < n; ++k) {
      const double product = taper * residual[k] * residual[k - lag];
      for (std::size_t i = 0; i < p; ++i) {
        for (std::size_t j = 0; j < p; ++j) {
          const double term = product * x[k * p + i] * x[(k - lag) * p + j];
          meat[i * p + j] += term;
          if (lag > 0) meat[j * p + i] += term;
        }
      }
    }
  }
  // (X'X)^-1 meat (X'X)^-1, column by column.
  const auto both = [&](const std::vector<double>& matrix) {
    std::vector<double> out(p * p);
    std::vector<double> column(p);
    for (std::size_t j = 0; j < p; ++j) {
      for (std::size_t i = 0; i < p; ++i) column[i] = matrix[i * p + j];
      column = cholesky_solve(factor, p, column);
      for (std::size_t i = 0; i < p; ++i) out[j * p + i] = column[i];  // transposed
    }
    return out;
  };
  solution.covariance = both(both(meat));
  const double small_sample = static_cast<double>(n) / solution.dof;
  for (std::size_t i = 0; i < p; ++i) {
    for (std::size_t j = 0; j < p; ++j) {
      solution.covariance[i * p + j] *= small_sample / (length[i] * length[j]);
    }
  }
  for (std::size_t i = 0; i < p; ++i) solution.value[i] /= length[i];
  return solution;
}

double weighted(const std::vector<double>& c, const std::vector<double>& value) {
  return std::inner_product(c.begin(), c.end(), value.begin(), 0.0);
}

double covariance_of(const std::vector<double>& a, const std::vector<double>& b,
                     const std::vector<double>& covariance) {
  double sum = 0;
  const std::size_t p = a.size();
  for (std::size_t i = 0; i < p; ++i) {
    for (std::size_t j = 0; j < p; ++j) sum += a[i] * covariance[i * p + j] * b[j];
  }
  return sum;
}

// What a kernel's launches look like, and which unknowns are its own.
struct LaunchedKernel {
  std::size_t launches{};
  double duration_s{};
  double middle_s{};                 // mean time of its launches
  std::vector<std::size_t> columns;  // one a bin
  std::vector<double> widths_s;      // mean time of each bin within the launch
};

Status check_launches(std::span<const PowerPoint> readings, std::span<const KernelLaunch> launches,
                      const LaunchSensor& sensor, const LaunchOptions& options) {
  if (launches.empty()) return fail(ErrorCode::bad_data, "no launches", "launches");
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const TimeSpan& time = launches[i].time;
    if (!(time.to_s > time.from_s) || (i > 0 && time.from_s < launches[i - 1].time.to_s)) {
      return fail(ErrorCode::bad_data,
                  "launches must be in order of time, last longer than 0 and not overlap",
                  fmt::format("launch {}", i));
    }
  }
  if (!sensor.accumulator && (sensor.kind == ResponseKind::not_resolved || !(sensor.time_s > 0))) {
    return fail(ErrorCode::invalid_argument,
                "its window or lag is not known; find it with `wirewatt doctor`", "sensor");
  }
  if (!std::ranges::is_sorted(options.bins_s, std::less_equal<>{}) ||
      (!options.bins_s.empty() && options.bins_s.front() <= 0)) {
    return fail(ErrorCode::invalid_argument, "must rise from above 0", "bins_s");
  }
  if (!std::ranges::is_sorted(readings, {}, &PowerPoint::time_s)) {
    return fail(ErrorCode::bad_data, "readings must be in order of time", "readings");
  }
  return {};
}

// Appends the unknowns of one kernel: one for each bin of the time since its launch.
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

// Adds rest, and awake power if it is the last unknown, over the launch's duration.
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

// Sensors at the ends of the response's intervals, in pairs.
std::vector<LaunchSensor> response_ends(const LaunchSensor& sensor) {
  std::vector<LaunchSensor> ends;
  if (!sensor.accumulator && sensor.high_s > sensor.low_s && sensor.low_s > 0) {
    ends.assign(2, sensor);
    ends[0].time_s = sensor.low_s;
    ends[1].time_s = sensor.high_s;
  }
  if (sensor.delay_error_s > 0) {
    ends.resize(ends.size() + 2, sensor);
    ends[ends.size() - 2].delay_s -= sensor.delay_error_s;
    ends[ends.size() - 1].delay_s += sensor.delay_error_s;
  }
  return ends;
}

// 95% half-width that whole steps of the readings leave on a plateau's height.
double step_error_w(double quantum_w, double noise_w) {
  if (quantum_w <= 0) return 0;
  const double dither2 = std::max(0.0, noise_w * noise_w - quantum_w * quantum_w / 12);
  const double pi = std::numbers::pi;
  return quantum_w * std::exp(-2 * pi * pi * dither2 / (quantum_w * quantum_w));
}

void judge_launch(LaunchEnergy& found, const LaunchOptions& options) {
  const double steady = std::hypot(found.response_j, found.quantum_j, found.gain_j);
  const double target = options.wanted * found.energy_j;
  if (target > steady) {
    found.launches_wanted = static_cast<double>(found.launches) * found.noise_j * found.noise_j /
                            (target * target - steady * steady);
    found.launches_wanted = std::ceil(std::max(1.0, *found.launches_wanted));
  }
  if (found.half_j <= options.resolved * found.energy_j) {
    found.status = RowStatus::ok;
    return;
  }
  found.reason = fmt::format("{:.3g} J with a half-width of {:.3g} J after {} launches",
                             found.energy_j, found.half_j, found.launches);
  found.reason +=
      found.launches_wanted
          ? fmt::format("; {:.0f} launches would bring it to {:.0f}%", *found.launches_wanted,
                        100 * options.wanted)
          : fmt::format("; no number of launches would bring it to {:.0f}%", 100 * options.wanted);
}

}  // namespace

LaunchSensor launch_sensor(const SensorResponse& response) {
  LaunchSensor sensor;
  sensor.kind = response.kind;
  sensor.time_s = response.time_s;
  sensor.low_s = response.low_s;
  sensor.high_s = response.high_s;
  sensor.delay_s = response.delay_s;
  sensor.delay_error_s = 0.002;
  return sensor;
}

Result<LaunchEnergies> launch_energies(std::span<const PowerPoint> readings,
                                       std::span<const KernelLaunch> launches,
                                       std::span<const TimeSpan> awake, const LaunchSensor& sensor,
                                       const LaunchOptions& options) {
  WW_TRY(check_launches(readings, launches, sensor, options));
  std::size_t kernels = 0;
  for (const auto& launch : launches) kernels = std::max(kernels, launch.kernel + 1);
  LaunchProblem problem;
  problem.drift_columns = static_cast<std::size_t>(options.drift_order) + 1;
  std::vector<LaunchedKernel> launched;
  for (std::size_t m = 0; m < kernels; ++m) {
    launched.push_back(add_kernel(problem, launches, m, options));
    if (launched.back().launches == 0) {
      return fail(ErrorCode::bad_data, "is never launched", fmt::format("kernel {}", m));
    }
  }
  if (!awake.empty()) problem.unknowns.push_back({"awake", {awake.begin(), awake.end()}});
  const std::size_t p = problem.columns();
  if (readings.size() < p + 4) {
    return fail(ErrorCode::bad_data,
                fmt::format("{} readings for {} unknowns; record longer", readings.size(), p),
                "readings");
  }
  problem.middle_s = (readings.front().time_s + readings.back().time_s) / 2;
  problem.half_s = (readings.back().time_s - readings.front().time_s) / 2;
  WW_ASSIGN(solution, solve_launches(problem, readings, sensor));

  LaunchEnergies result;
  result.noise_w = solution.noise_w;
  result.rest_w = solution.value[0];
  result.awake_w = awake.empty() ? 0 : solution.value.back();
  const double t = t_quantile_95(solution.dof);
  std::vector<std::vector<double>> own, total;
  for (const auto& kernel : launched) {
    own.push_back(energy_weights(kernel, p));
    total.push_back(total_weights(kernel, problem, !awake.empty()));
  }
  // Shifts of energy and total that the response's intervals allow.
  std::vector<double> own_shift(kernels, 0), total_shift(kernels, 0);
  const auto ends = response_ends(sensor);
  for (std::size_t e = 0; e < ends.size(); ++e) {
    WW_ASSIGN(other, solve_launches(problem, readings, ends[e]));
    for (std::size_t m = 0; m < kernels; ++m) {
      // Half of the squares of both ends: the mean of the pair.
      const double moved = weighted(own[m], other.value) - weighted(own[m], solution.value);
      const double all = weighted(total[m], other.value) - weighted(total[m], solution.value);
      own_shift[m] += moved * moved / 2;
      total_shift[m] += all * all / 2;
    }
  }
  const double step_w = step_error_w(sensor.quantum_w, solution.noise_w);
  for (std::size_t m = 0; m < kernels; ++m) {
    LaunchEnergy found;
    found.launches = launched[m].launches;
    found.duration_s = launched[m].duration_s;
    found.energy_j = weighted(own[m], solution.value);
    found.total_j = weighted(total[m], solution.value);
    double most = 0;
    for (const std::size_t column : launched[m].columns) {
      found.bin_power_w.push_back(solution.value[column]);
      most = std::max(most, solution.most[column]);
    }
    found.noise_j =
        t * std::sqrt(std::max(0.0, covariance_of(own[m], own[m], solution.covariance)));
    found.response_j = std::sqrt(own_shift[m]);
    found.quantum_j = step_w / most * found.duration_s;
    found.gain_j = sensor.gain_tolerance_95 * std::abs(found.energy_j);
    found.half_j = std::hypot(std::hypot(found.noise_j, found.response_j),
                              std::hypot(found.quantum_j, found.gain_j));
    const double total_noise =
        t * std::sqrt(std::max(0.0, covariance_of(total[m], total[m], solution.covariance)));
    found.total_half_j =
        std::hypot(std::hypot(total_noise, std::sqrt(total_shift[m]), found.quantum_j),
                   std::hypot(sensor.gain_tolerance_95 * found.total_j,
                              sensor.offset_tolerance_w * found.duration_s));
    judge_launch(found, options);
    for (std::size_t other = 0; other < kernels; ++other) {
      result.covariance.push_back(covariance_of(own[m], own[other], solution.covariance));
    }
    result.kernels.push_back(std::move(found));
  }
  return result;
}

std::optional<double> naive_launch_energy(std::span<const PowerPoint> readings,
                                          std::span<const KernelLaunch> launches,
                                          std::size_t kernel) {
  double power = 0, duration = 0;
  std::size_t inside = 0, count = 0;
  for (const auto& launch : launches) {
    if (launch.kernel != kernel) continue;
    duration += launch.time.to_s - launch.time.from_s;
    ++count;
    auto at = std::ranges::lower_bound(readings, launch.time.from_s, {}, &PowerPoint::time_s);
    for (; at != readings.end() && at->time_s < launch.time.to_s; ++at) {
      power += at->power_w;
      ++inside;
    }
  }
  if (inside == 0) return std::nullopt;
  return power / static_cast<double>(inside) * duration / static_cast<double>(count);
}

}  // namespace ww::measure
