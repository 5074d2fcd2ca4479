#include "ww/model/attribution.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "attribution/nonnegative.hpp"
#include "ww/core/statistics.hpp"

namespace ww::model {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using AttributionRows = std::vector<std::size_t>;

constexpr std::size_t kFewestApplications = 4;
constexpr std::size_t kSpareRuns = 3;
constexpr int kWeightRounds = 2;

// One column of the regression: the sum of these terms, or the constant without any.
struct AttributionColumn {
  std::string name;
  std::string part;
  std::vector<std::size_t> terms;
};
using AttributionColumns = std::vector<AttributionColumn>;

double activity_of(const AttributionTable& table, const AttributionColumn& column,
                   std::size_t run) {
  if (column.terms.empty()) return 1;
  double sum = 0;
  for (const std::size_t term : column.terms) sum += table.terms[term].activity[run];
  return sum;
}

VectorXd activities(const AttributionTable& table, const AttributionColumns& columns,
                    std::size_t run) {
  VectorXd row(static_cast<Index>(columns.size()));
  for (std::size_t c = 0; c < columns.size(); ++c) {
    row(static_cast<Index>(c)) = activity_of(table, columns[c], run);
  }
  return row;
}

// The fit to some of the runs, with rows divided by their power.
struct WeightedFit {
  NonnegativeFit fit;
  VectorXd coefficients;
  VectorXd divisors;  // power by which each row was divided [W]
};

WeightedFit fit_rows(const AttributionTable& table, const AttributionColumns& columns,
                     const AttributionRows& rows) {
  const auto n = static_cast<Index>(rows.size());
  MatrixXd design(n, static_cast<Index>(columns.size()));
  VectorXd power(n);
  for (Index i = 0; i < n; ++i) {
    design.row(i) = activities(table, columns, rows[static_cast<std::size_t>(i)]).transpose();
    power(i) = table.power_w[rows[static_cast<std::size_t>(i)]];
  }
  // Noise in the weights would pull the fit down, so that they come from the fit itself. A fit
  // near 0 must not rule all others.
  const double least = 0.05 * power.mean();
  VectorXd divisors = power;
  for (int round = 0;; ++round) {
    NonnegativeFit fit(divisors.cwiseInverse().asDiagonal() * design,
                       power.cwiseQuotient(divisors));
    VectorXd coefficients = fit.coefficients();
    if (round == kWeightRounds) return {std::move(fit), std::move(coefficients), divisors};
    divisors = (design * coefficients).cwiseMax(least);
  }
}

std::vector<std::string> applications_of(const AttributionTable& table,
                                         const AttributionRows& rows) {
  std::set<std::string> names;
  for (const std::size_t row : rows) names.insert(table.applications[row]);
  return {names.begin(), names.end()};
}

struct PartedRows {
  AttributionRows in, out;
};
PartedRows part_rows(const AttributionTable& table, const AttributionRows& rows,
                     const std::string& application) {
  PartedRows parted;
  for (const std::size_t row : rows) {
    (table.applications[row] == application ? parted.out : parted.in).push_back(row);
  }
  return parted;
}

// Relative errors of predictions of each application from all others, by application. Each is
// divided by sqrt(1 + leverage), so that its variance is that of one run.
std::vector<std::vector<double>> unseen_errors(const AttributionTable& table,
                                               const AttributionColumns& columns,
                                               const AttributionRows& rows) {
  std::vector<std::vector<double>> errors;
  for (const auto& application : applications_of(table, rows)) {
    const PartedRows parted = part_rows(table, rows, application);
    const WeightedFit fitted = fit_rows(table, columns, parted.in);
    const double least = 0.05 * fitted.divisors.mean();
    auto& of_application = errors.emplace_back();
    for (const std::size_t row : parted.out) {
      const VectorXd x = activities(table, columns, row);
      const double predicted = std::max(least, x.dot(fitted.coefficients));
      const double leverage = fitted.fit.leverage(x / predicted);
      of_application.push_back((table.power_w[row] / predicted - 1) / std::sqrt(1 + leverage));
    }
  }
  return errors;
}

double sum_of_squares(const std::vector<double>& values) {
  return std::inner_product(values.begin(), values.end(), values.begin(), 0.0);
}

// Returns how far the mean square per run of `now` lies under that of `before`, beyond one standard
// error over applications; negative where it does not.
double clear_gain(const std::vector<std::vector<double>>& before,
                  const std::vector<std::vector<double>>& now) {
  const auto n = static_cast<double>(before.size());
  double mean = 0, squares = 0;
  for (std::size_t a = 0; a < before.size(); ++a) {
    const double difference = sum_of_squares(before[a]) - sum_of_squares(now[a]);
    mean += difference / n;
    squares += difference * difference / n;
  }
  return mean - std::sqrt(std::max(0.0, squares - mean * mean) / (n - 1));
}

// AttributionColumns with every part of several terms summed, except those that are to be split.
AttributionColumns columns_of(const AttributionTable& table, const std::set<std::string>& split) {
  AttributionColumns columns{{"static", "static", {}}};
  for (std::size_t t = 0; t < table.terms.size(); ++t) {
    const auto& term = table.terms[t];
    const auto same = std::ranges::find(columns, term.part, &AttributionColumn::part);
    if (same == columns.end() || split.contains(term.part)) {
      columns.push_back({term.name, term.part, {t}});
    } else {
      same->name = term.part;
      same->terms.push_back(t);
    }
  }
  return columns;
}

AttributionColumns choose_columns(const AttributionTable& table, const AttributionRows& rows,
                                  const AttributionOptions& options) {
  std::map<std::string, std::size_t> sizes;
  for (const auto& term : table.terms) ++sizes[term.part];
  std::set<std::string> split, open;
  for (const auto& [name, size] : sizes) {
    if (size > 1) open.insert(name);
  }
  if (options.split_all) return columns_of(table, open);
  AttributionColumns columns = columns_of(table, split);
  while (!open.empty()) {
    const auto errors = unseen_errors(table, columns, rows);
    double best_gain = 0;
    std::string best;
    for (const auto& name : open) {
      auto tried = split;
      tried.insert(name);
      const AttributionColumns candidate = columns_of(table, tried);
      if (candidate.size() + kSpareRuns > rows.size()) continue;
      const double gain = clear_gain(errors, unseen_errors(table, candidate, rows));
      if (gain > best_gain) {
        best_gain = gain;
        best = name;
      }
    }
    if (best.empty()) break;
    split.insert(best);
    open.erase(best);
    columns = columns_of(table, split);
  }
  return columns;
}

// Scale of the intervals.
struct AttributionScale {
  double scatter{};
  double dof{};
  // Rise of the weighted sum of squares at the ends of a 95% interval.
  [[nodiscard]] double allowed() const {
    const double t = t_quantile_95(dof);
    return t * t * scatter * scatter;
  }
};

AttributionScale scale_of(const AttributionTable& table, const AttributionColumns& columns,
                          const AttributionRows& rows, const WeightedFit& fitted) {
  const auto errors = unseen_errors(table, columns, rows);
  double squares = 0;
  for (const auto& of_application : errors) squares += sum_of_squares(of_application);
  const auto n = static_cast<double>(rows.size());
  const double dof = std::min(n - static_cast<double>((fitted.coefficients.array() > 0).count()),
                              static_cast<double>(errors.size()) - 1);
  return {std::sqrt(squares / n), std::max(1.0, dof)};
}

Status check_attribution(const AttributionTable& table) {
  const auto n = table.power_w.size();
  const auto wrong = [](std::string message, const std::string& where) {
    return fail(ErrorCode::bad_data, std::move(message), where);
  };
  if (table.runs.size() != n || table.applications.size() != n) {
    return wrong("names, applications and powers differ in number", "table of runs");
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (!std::isfinite(table.power_w[i]) || table.power_w[i] <= 0) {
      return wrong(fmt::format("power of {} W is not a positive number; leave the run out",
                               table.power_w[i]),
                   table.runs[i]);
    }
  }
  std::set<std::string> names{"static"};
  for (const auto& term : table.terms) {
    if (!names.insert(term.name).second) return wrong("two terms have this name", term.name);
    if (term.part == "static") {
      return wrong("the part static is the constant and has no terms", term.name);
    }
    if (term.activity.size() != n) {
      return wrong(fmt::format("{} values for {} runs", term.activity.size(), n), term.name);
    }
    for (std::size_t i = 0; i < n; ++i) {
      if (!std::isfinite(term.activity[i]) || term.activity[i] < 0) {
        return wrong(fmt::format("activity of {} in {}; it must be a number of at least 0",
                                 term.activity[i], table.runs[i]),
                     term.name);
      }
    }
  }
  return {};
}

Status check_attribution_size(const AttributionTable& table, const AttributionRows& rows,
                              std::size_t columns) {
  if (rows.size() < columns + kSpareRuns) {
    return fail(ErrorCode::bad_data,
                fmt::format("{} runs for {} coefficients; at least {} are needed: measure more "
                            "runs or put terms into one part",
                            rows.size(), columns, columns + kSpareRuns),
                "table of runs");
  }
  const auto applications = applications_of(table, rows).size();
  if (applications < kFewestApplications) {
    return fail(ErrorCode::bad_data,
                fmt::format("{} applications; the errors' scale needs at least {}", applications,
                            kFewestApplications),
                "table of runs");
  }
  return {};
}

// Groups of coefficients that must be joined, by the rule that the header states.
struct AttributionCollinearity {
  std::vector<double> inflation;
  MatrixXd correlation;
  std::vector<std::vector<std::size_t>> groups;  // of two members and more
};

AttributionCollinearity collinearity_of(const WeightedFit& fitted, const MatrixXd& design) {
  const auto columns = static_cast<std::size_t>(design.cols());
  const MatrixXd covariance = fitted.fit.covariance();
  const VectorXd deviation = covariance.diagonal().cwiseSqrt();
  AttributionCollinearity found;
  found.correlation = covariance.array() / (deviation * deviation.transpose()).array();
  found.inflation.assign(columns, 0);
  const VectorXd weights = fitted.divisors.cwiseInverse().cwiseAbs2();
  std::vector<std::size_t> root(columns);
  std::iota(root.begin(), root.end(), std::size_t{0});
  const auto occurs = [&](std::size_t c) { return !design.col(static_cast<Index>(c)).isZero(); };
  const auto find = [&](std::size_t c) {
    while (root[c] != c) c = root[c];
    return c;
  };
  const auto join = [&](std::size_t a, std::size_t b) { root[find(b)] = find(a); };
  for (std::size_t a = 0; a < columns; ++a) {
    if (!occurs(a)) continue;
    const auto i = static_cast<Index>(a);
    std::size_t opposite = a;
    for (std::size_t b = 0; b < columns; ++b) {
      if (b == a || !occurs(b)) continue;
      const double r = found.correlation(i, static_cast<Index>(b));
      if (opposite == a || r < found.correlation(i, static_cast<Index>(opposite))) opposite = b;
    }
    if (opposite == a) continue;
    if (a > 0) {
      const double mean = weights.dot(design.col(i)) / weights.sum();
      const double squares = weights.dot((design.col(i).array() - mean).square().matrix());
      found.inflation[a] =
          squares * covariance(i, i) / (fitted.fit.length(i) * fitted.fit.length(i));
    }
    const bool opposed = found.correlation(i, static_cast<Index>(opposite)) < kHarmfulCorrelation;
    if (opposed || found.inflation[a] > kHarmfulInflation) join(a, opposite);
  }
  std::map<std::size_t, std::vector<std::size_t>> members;
  for (std::size_t c = 0; c < columns; ++c) members[find(c)].push_back(c);
  for (auto& [_, group] : members) {
    if (group.size() > 1) found.groups.push_back(std::move(group));
  }
  return found;
}

// Without an upper end nothing was predicted.
RowStatus status_of(const Interval& predicted_w) {
  return std::isfinite(predicted_w.high) ? RowStatus::ok : RowStatus::not_identified;
}

// The interval of one run from that of the form's mean. A run deviates from the form by `own_w`
// (95% half-width), and all of the deviation may lie in what the interval is of.
Interval of_one_run(const Interval& mean, double own_w) {
  return {mean.value, std::max(0.0, mean.value - std::hypot(mean.value - mean.low, own_w)),
          mean.value + std::hypot(mean.high - mean.value, own_w)};
}

// Says of an interval that reaches 0 that it identifies nothing.
void judge_attributed(const Interval& power_w, RowStatus& status, std::string& reason) {
  if (status != RowStatus::ok || power_w.low > 0) return;
  status = RowStatus::not_identified;
  reason = std::isfinite(power_w.high)
               ? fmt::format("cannot be told from 0; at most {:.3g} W in the mean", power_w.high)
               : std::string("no run has any");
}

}  // namespace

Result<Attribution> attribute(const AttributionTable& table, const AttributionOptions& options) {
  return attribute(table, table, options);
}

Result<Attribution> attribute(const AttributionTable& table, const AttributionTable& shown,
                              const AttributionOptions& options) {
  WW_TRY(check_attribution(table));
  WW_TRY(check_attribution(shown));
  if (!std::ranges::equal(table.terms, shown.terms, {}, &AttributionTerm::name,
                          &AttributionTerm::name)) {
    return fail(ErrorCode::bad_data, "the runs to show have other terms than those to fit",
                "table of runs");
  }
  AttributionRows rows(table.power_w.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  WW_TRY(check_attribution_size(table, rows, columns_of(table, {}).size()));
  const AttributionColumns columns = choose_columns(table, rows, options);
  WW_TRY(check_attribution_size(table, rows, columns.size()));
  const WeightedFit fitted = fit_rows(table, columns, rows);
  const AttributionScale scale = scale_of(table, columns, rows, fitted);
  const double allowed = scale.allowed();

  MatrixXd design(static_cast<Index>(rows.size()), static_cast<Index>(columns.size()));
  for (const std::size_t row : rows) {
    design.row(static_cast<Index>(row)) = activities(table, columns, row).transpose();
  }
  const VectorXd mean = design.colwise().mean().transpose();
  const AttributionCollinearity collinearity = collinearity_of(fitted, design);

  Attribution result;
  result.scatter = scale.scatter;
  result.dof = scale.dof;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const auto i = static_cast<Index>(c);
    AttributedCoefficient coefficient;
    coefficient.name = columns[c].name;
    coefficient.part = columns[c].part;
    for (const std::size_t term : columns[c].terms) {
      coefficient.terms.push_back(table.terms[term].name);
    }
    const VectorXd unit = VectorXd::Unit(mean.size(), i);
    coefficient.value = fitted.fit.interval(unit, allowed);
    coefficient.power_w = coefficient.value.times(mean(i));
    if (design.col(i).isZero()) {
      coefficient.power_w = {0, 0, std::numeric_limits<double>::infinity()};
    }
    coefficient.inflation = collinearity.inflation[c];
    result.coefficients.push_back(std::move(coefficient));
  }
  const auto restricted = [](const VectorXd& x, const std::vector<std::size_t>& members) {
    VectorXd c = VectorXd::Zero(x.size());
    for (const std::size_t member : members) {
      c(static_cast<Index>(member)) = x(static_cast<Index>(member));
    }
    return c;
  };
  const auto sum_of = [&](std::string name, std::vector<std::size_t> members) {
    AttributedSum sum{std::move(name), std::move(members), {}, RowStatus::ok, ""};
    sum.power_w = fitted.fit.interval(restricted(mean, sum.members), allowed);
    judge_attributed(sum.power_w, sum.status, sum.reason);
    return sum;
  };
  for (const auto& group : collinearity.groups) {
    std::vector<std::string> names;
    names.reserve(group.size());
    for (const std::size_t member : group) names.push_back(columns[member].name);
    result.sums.push_back(sum_of(fmt::format("{}", fmt::join(names, " + ")), group));
    for (const std::size_t member : group) {
      auto& coefficient = result.coefficients[member];
      coefficient.status = RowStatus::not_identified;
      coefficient.reason = fmt::format("collinear; identified as {}", result.sums.back().name);
    }
  }
  for (std::size_t c = 0; c < columns.size(); ++c) {
    std::vector<std::size_t> members;
    for (std::size_t other = 0; other < columns.size(); ++other) {
      if (columns[other].part == columns[c].part) members.push_back(other);
    }
    if (members.size() > 1 && members.front() == c) {
      result.parts.push_back(sum_of(columns[c].part, std::move(members)));
    }
  }
  for (auto& coefficient : result.coefficients) {
    judge_attributed(coefficient.power_w, coefficient.status, coefficient.reason);
  }
  for (std::size_t row = 0; row < shown.runs.size(); ++row) {
    AttributedRun run;
    run.run = shown.runs[row];
    run.application = shown.applications[row];
    run.measured_w = shown.power_w[row];
    const VectorXd x = activities(shown, columns, row);
    run.fitted_w = x.dot(fitted.coefficients);
    const double own_w = std::sqrt(allowed) * run.fitted_w;
    run.predicted_w = of_one_run(fitted.fit.interval(x, allowed), own_w);
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const double activity = x(static_cast<Index>(c));
      run.coefficients_w.push_back(
          activity > 0 ? of_one_run(result.coefficients[c].value.times(activity), own_w)
                       : Interval{});
    }
    const auto in_run = [&](const std::vector<std::size_t>& members) {
      const VectorXd c = restricted(x, members);
      return c.isZero() ? Interval{} : of_one_run(fitted.fit.interval(c, allowed), own_w);
    };
    for (const auto& sum : result.sums) run.sums_w.push_back(in_run(sum.members));
    for (const auto& part : result.parts) run.parts_w.push_back(in_run(part.members));
    result.runs.push_back(std::move(run));
  }
  return result;
}

void refer_to_voltage(AttributionTable& table, std::span<const double> volts, double reference_v) {
  for (AttributionTerm& term : table.terms) {
    for (std::size_t run = 0; run < volts.size(); ++run) {
      term.activity[run] *= std::pow(volts[run] / reference_v, 2);
    }
  }
}

double Attribution::mean_power_w() const {
  double sum = 0;
  for (const AttributedCoefficient& coefficient : coefficients) sum += coefficient.power_w.value;
  return sum;
}

Predictions::Predictions(std::vector<PredictedRun> predicted) : runs(std::move(predicted)) {
  for (const PredictedRun& run : runs) {
    mean_absolute_error += std::abs(run.error()) / static_cast<double>(runs.size());
    if (run.status != RowStatus::ok) continue;
    ++judged;
    if (run.covered()) ++covered;
  }
}

Predictions::Predictions(const Attribution& shown)
    : Predictions([&] {
        std::vector<PredictedRun> predicted;
        for (const AttributedRun& run : shown.runs) {
          predicted.push_back({run.run, run.application, run.measured_w, run.predicted_w,
                               status_of(run.predicted_w)});
        }
        return predicted;
      }()) {}

Result<Predictions> leave_one_application_out(const AttributionTable& table,
                                              const AttributionOptions& options) {
  WW_TRY(check_attribution(table));
  AttributionRows rows(table.power_w.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  std::vector<PredictedRun> predicted(rows.size());
  for (const auto& application : applications_of(table, rows)) {
    const PartedRows parted = part_rows(table, rows, application);
    const auto fewest = options.split_all ? 0 : columns_of(table, {}).size();
    WW_TRY(check_attribution_size(table, parted.in, fewest));
    const AttributionColumns columns = choose_columns(table, parted.in, options);
    const WeightedFit fitted = fit_rows(table, columns, parted.in);
    const AttributionScale scale = scale_of(table, columns, parted.in, fitted);
    for (const std::size_t row : parted.out) {
      PredictedRun& run = predicted[row];
      run.run = table.runs[row];
      run.application = application;
      run.measured_w = table.power_w[row];
      const VectorXd x = activities(table, columns, row);
      const Interval mean = fitted.fit.interval(x, scale.allowed());
      const double own = t_quantile_95(scale.dof) * scale.scatter * mean.value;
      run.predicted_w = of_one_run(mean, own);
      run.status = status_of(run.predicted_w);
    }
  }
  return Predictions(std::move(predicted));
}

}  // namespace ww::model
