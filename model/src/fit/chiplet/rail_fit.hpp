// The fit of one rail of a package: a constant for each block, columns that a condition has, and
// what a kelvin adds.
#pragma once

#include <Eigen/Dense>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ww/model/chiplet_fit.hpp"

namespace ww::model {

// Fills a run's columns but for the heat's, which the fit fills in itself.
struct RailEquation {
  Eigen::Index columns{};
  Eigen::Index heat{};  // column of kelvin above the mean
  void (*fill)(const ChipletRun& run, std::span<double> row){};
};

struct RailFit {
  std::string why_not;           // empty: the figures below are there
  Eigen::VectorXd value, error;  // by column, noise alone
  int freedom{};
};

// `columns`: how many of the equation's columns, from the first on.
[[nodiscard]] RailFit fit_rail(std::span<const ChipletRun> all, ChipletRail which,
                               const RailEquation& equation, Eigen::Index columns);

// Fills an answer's rows.
class ChipletRows {
 public:
  ChipletRows(ChipletAnswer& answer, double gain) : answer_(answer), gain_(gain) {}

  // `other_95`: half-width of what the column may have that is not noise [J/bit].
  void add(const char* name, const char* unit, const RailFit& fit, Eigen::Index column,
           double other_95 = 0);
  // Takes the values of rows that rest on a control that failed.
  void reject(std::span<const std::string_view> names, const ChipletControl& control);
  void missing(Figure row, std::string reason);

 private:
  ChipletAnswer& answer_;
  double gain_;
};

// Whether a coefficient that must be zero may be. The rail was fitted.
[[nodiscard]] ChipletControl zero_control(const char* name, const RailFit& fit, Eigen::Index column,
                                          double against, const char* what);

}  // namespace ww::model
