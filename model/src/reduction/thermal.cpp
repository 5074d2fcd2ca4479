#include "reduction/thermal.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

namespace ww::model {
Drift::Place Drift::place(std::int64_t session, double time_s) const {
  Place place;
  for (std::size_t s = 0; s < sessions.size(); ++s) {
    if (sessions[s].session == session) place.session = s;
  }
  const std::size_t last = sessions[place.session].knots.size() - 2;
  const double scaled = std::max(0.0, time_s / knot_s);
  place.knot = std::min(static_cast<std::size_t>(scaled), last);
  place.weight = std::clamp(scaled - static_cast<double>(place.knot), 0.0, 1.0);
  return place;
}

double Drift::at(std::int64_t session, double time_s) const {
  const Place p = place(session, time_s);
  const auto& knots = sessions[p.session].knots;
  return (1 - p.weight) * knots[p.knot] + p.weight * knots[p.knot + 1];
}

TemperatureModel fit_temperature(const Reduced& reduced) {
  TemperatureModel model;
  std::vector<Eigen::Index> offset;
  Eigen::Index columns = static_cast<Eigen::Index>(kHeatCount);
  for (std::size_t s = 0; s < reduced.sessions.size(); ++s) {
    Drift::Session session;
    session.session = reduced.sessions[s];
    session.knots.resize(2 + static_cast<std::size_t>(reduced.session_length_s[s] / Drift::knot_s));
    offset.push_back(columns);
    columns += static_cast<Eigen::Index>(session.knots.size());
    model.ambient.sessions.push_back(std::move(session));
  }
  model.low_c = 1;
  model.high_c = 0;
  if (reduced.temperature.empty()) return model;
  model.low_c = model.high_c = reduced.temperature.front().temperature_c;

  Eigen::MatrixXd normal = Eigen::MatrixXd::Zero(columns, columns);
  Eigen::VectorXd right = Eigen::VectorXd::Zero(columns);
  Eigen::VectorXd row = Eigen::VectorXd::Zero(columns);
  const auto fill = [&](const Window& window) {
    row.setZero();
    for (std::size_t j = kFastHeatCount; j < kHeatCount; ++j) {
      row[static_cast<Eigen::Index>(j)] = window.heat[j];
    }
    const auto p = model.ambient.place(window.session, window.time_s);
    const Eigen::Index knot = offset[p.session] + static_cast<Eigen::Index>(p.knot);
    row[knot] = 1 - p.weight;
    row[knot + 1] = p.weight;
  };
  const double shared = std::max(1.0, kRestS / reduced.temperature_window_s);
  const double step_error_c = kStepErrorC * reduced.temperature_step_c;
  const double weight = 1 / (step_error_c * step_error_c * shared);
  for (const Window& window : reduced.temperature) {
    fill(window);
    model.low_c = std::min(model.low_c, window.temperature_c);
    model.high_c = std::max(model.high_c, window.temperature_c);
    normal.selfadjointView<Eigen::Lower>().rankUpdate(row, weight);
    right += weight * window.temperature_c * row;
  }
  for (std::size_t j = 0; j < kHeatCount; ++j) {
    const auto i = static_cast<Eigen::Index>(j);
    normal(i, i) += 1 / (kResponseSigmaKPerW * kResponseSigmaKPerW);
  }
  for (std::size_t s = 0; s < model.ambient.sessions.size(); ++s) {
    const double stiffness = 1 / (kAmbientStepSigmaC * kAmbientStepSigmaC);
    const auto knots = static_cast<Eigen::Index>(model.ambient.sessions[s].knots.size());
    for (Eigen::Index k = offset[s]; k + 1 < offset[s] + knots; ++k) {
      normal(k, k) += stiffness;
      normal(k + 1, k + 1) += stiffness;
      normal(k + 1, k) -= stiffness;
    }
    normal(offset[s], offset[s]) += 1e-6;
  }
  const auto factors = normal.selfadjointView<Eigen::Lower>().ldlt();
  const Eigen::VectorXd solution = factors.solve(right);
  constexpr auto kFilters = static_cast<Eigen::Index>(kHeatCount);
  model.covariance = factors.solve(Eigen::MatrixXd::Identity(columns, kFilters)).topRows(kFilters);
  for (std::size_t j = 0; j < kHeatCount; ++j) {
    model.response[j] = solution[static_cast<Eigen::Index>(j)];
  }
  for (std::size_t s = 0; s < model.ambient.sessions.size(); ++s) {
    auto& knots = model.ambient.sessions[s].knots;
    for (std::size_t k = 0; k < knots.size(); ++k) {
      knots[k] = solution[offset[s] + static_cast<Eigen::Index>(k)];
    }
  }
  double square = 0;
  for (const Window& window : reduced.temperature) {
    fill(window);
    const double residual = window.temperature_c - row.dot(solution);
    square += residual * residual;
  }
  model.rms_c = std::sqrt(square / static_cast<double>(reduced.temperature.size()));
  return model;
}

}  // namespace ww::model
