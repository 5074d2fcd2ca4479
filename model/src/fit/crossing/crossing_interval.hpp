// The 95% interval of a crossing's energy, by propagation of distributions (JCGM 101:2008).
//
// The sensor shows power times a gain, and the regulator's marginal efficiency scales it once more.
// With the fitted energy c and what may have been added to it, the energy is therefore
//   E = (c + noise + heat + clock + bend + asleep) / (gain * efficiency),
// whose interval is not symmetric about c. Each source has the distribution that what is known of
// it allows (JCGM 101, table 1): Student's t for noise that was seen to repeat, rectangular where
// only limits are known, normal where a 95% half-width or a prior's standard deviation is.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ww::model {

// Errors that add to or scale the answer. [J/bit/crossing] but for the last two.
struct CrossingSources {
  double heat{};       // standard deviation
  double clock{};      // limit
  double bend{};       // limit
  double asleep{};     // limit
  double gain{};       // relative, 95% half-width
  double regulator{};  // relative, 95% half-width
};

// Draws of all sources in units of their own, made once for all answers of a campaign. The same
// degrees of freedom give the same draws.
class CrossingDraws {
 public:
  // `freedom`: degrees of freedom of the noise, 1 or more.
  explicit CrossingDraws(int freedom);

  // Low and high: 2.5% of the draws lie below and as many above. `noise`: standard error [same unit
  // as value].
  [[nodiscard]] std::pair<double, double> interval(double value, double noise,
                                                   const CrossingSources& sources) const;

 private:
  enum Source { kNoise, kHeat, kClock, kBend, kAsleep, kGain, kRegulator, kSources };
  std::vector<std::array<double, kSources>> draws_;
};

// Why an interval of an energy [J] cannot be right: all of it lies below zero. Nothing where it
// reaches zero.
[[nodiscard]] std::optional<std::string> why_below_zero(double low, double high);

}  // namespace ww::model
