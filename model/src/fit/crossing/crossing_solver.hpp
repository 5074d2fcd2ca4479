// The regression behind the crossing's energy (ww/model/crossing_fit.hpp): one linear solution of
// all runs, and the scatter of its terms over blocks.
#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fit/solver/assumptions.hpp"
#include "ww/model/crossing_fit.hpp"

namespace ww::model {

// Terms that a fit estimates, one number each, after the blocks' P0.
enum class CrossingTerm {
  place,
  random,
  zeros,
  line,
  far_random,
  far_zeros,
  far_other,
  null,
  bend,
  heat
};

struct CrossingVariant {
  bool bend{};      // a term in the square of the rate
  bool heat{true};  // a term in the temperature
  double clock_exponent{kCrossingClockExponent};
  bool by_place{};  // a crossing for each side of places, instead of a line offset
};

using CrossingTerms = std::map<CrossingTerm, double>;

class CrossingSolver {
 public:
  explicit CrossingSolver(std::span<const CrossingRun> runs);

  // Whether temperature or clock moved enough to matter.
  [[nodiscard]] bool has_clock() const { return clocked_; }
  // Terms in J/bit where they follow the rate; empty where the runs do not determine them.
  [[nodiscard]] CrossingTerms solve(const CrossingVariant& variant,
                                    std::optional<std::int64_t> left_out = {}) const;
  // Standard deviation of the far term for random bits that goes with what prior and data leave
  // open of the heat term [J/bit]; 0 without a heat term. The prior is an error that no repetition
  // shows, so blocks that agree say nothing of it.
  [[nodiscard]] double heat_error() const;

 private:
  struct System;  // rows, right-hand side, and what the columns are
  [[nodiscard]] System system_of(const CrossingVariant& variant,
                                 std::optional<std::int64_t> left_out) const;
  [[nodiscard]] std::map<CrossingTerm, double> row_of(const CrossingRun& run,
                                                      const CrossingVariant& variant) const;
  // The last row is the prior of heat, of width as its mean.
  Eigen::VectorXd with_priors(System& system, double sigma) const;
  // The solution whose prior has the weight that the scatter of the runs gives it; empty where the
  // runs do not determine the terms. Leaves that prior in the system, and its sigma.
  Eigen::VectorXd solve_system(System& system) const;

  std::vector<CrossingRun> runs_;
  double mean_rate_{};
  double mean_power_w_{};
  double over_idle_w_{};
  double mean_temperature_{};
  double mean_clock_{};
  bool heats_{};
  bool clocked_{};
};

struct CrossingEstimate {
  double value{};
  double error{};  // standard error over blocks
};

// Solutions of the whole campaign and of the campaign without each of its blocks.
class CrossingBlocks {
 public:
  using Function = std::function<double(const CrossingTerms&)>;

  explicit CrossingBlocks(std::span<const CrossingRun> runs);
  [[nodiscard]] const CrossingSolver& solver() const { return solver_; }
  [[nodiscard]] int count() const { return static_cast<int>(blocks_.size()); }
  [[nodiscard]] double freedom() const { return static_cast<double>(blocks_.size()) - 1; }
  // The whole campaign's terms first, then without each block; empty where one is not determined.
  [[nodiscard]] std::vector<CrossingTerms> solve_all(const CrossingVariant& variant) const;
  [[nodiscard]] static CrossingEstimate jackknife(const std::vector<CrossingTerms>& all,
                                                  const Function& function);

 private:
  CrossingSolver solver_;
  std::vector<std::int64_t> blocks_;
};

// "1.234 pJ/bit"
[[nodiscard]] std::string in_pj(double joules);

}  // namespace ww::model
