// Energy of crossing between the two sides of a partitioned L2, from runs at several rates.
//
// Power of a run with traffic:
//   P = P0(block) + place + (e + d * line + c * far) * rate + k_T * (T - mean) + k_f * (f/mean - 1)
// P0 holds what does not follow the rate (idle, awake SMs); e is what a bit costs on either way, d
// how the two sides' lines differ, and c the crossing. Near and far run with the same waits at
// three or more rates, so P0 and e come from the runs themselves, and c does not depend on near and
// far having equal rates. k_T and k_f are used where the temperature or the clock moved. k_T has a
// wide prior from physics. k_f is not fitted, because power sets the clock: it is the power over
// idle. The answer is at the clocks and voltages of the runs. The noise is the scatter of c over
// blocks (jackknife, Student's t).
//
// Powers are what the sensor sees: a board sensor's answer includes the regulator's losses.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ww/core/figure.hpp"
#include "ww/core/sensor_tolerances.hpp"
#include "ww/core/units.hpp"

namespace ww::model {

enum class CrossingTraffic {
  idle,    // nothing runs
  waits,   // the kernel's loop and its wait, without an update
  zeros,   // updates whose operands are zeros
  random,  // updates whose operands are random bits
};

// One steady run.
struct CrossingRun {
  std::int64_t block{};
  CrossingTraffic traffic{};
  int place_side{};  // 0 or 1
  int line_side{};   // 0 or 1; equal to place_side: near
  int line_half{};   // 0: all lines; 1 or 2: half of near's lines, for the null pair
  int wait{};        // length of the wait, in the kernel's units; runs without traffic go round as
                     // often as far does at the same wait
  Watt power{};
  double bits_per_s{};  // payload; 0 without traffic
  std::optional<double> temperature_c{};
  std::optional<double> clock_hz{};
};

// Relative 95% half-widths about 1 of what scales the readings.
struct CrossingTolerances {
  double gain{kBoardGainTolerance95};            // of the power sensor
  double regulator{kRegulatorSlopeTolerance95};  // of its marginal efficiency
};

// A condition whose outcome is known in advance.
struct CrossingControl {
  std::string name;
  bool passed{};
  std::string detail;  // what was seen, and where it failed what that means
};

// Half-width of the 95% interval [J/bit/crossing] that each source alone would leave. The answer's
// interval is of all of them together, by propagation of their distributions.
struct CrossingErrors {
  double noise{};      // Student's t
  double heat{};       // what is not known of power's growth with the temperature; normal
  double clock{};      // exponent of power with the clock, 0 to 3; rectangular
  double rate{};       // a bend of power with the rate; rectangular
  double asleep{};     // unequal times asleep; rectangular
  double gain{};       // normal, divides the answer
  double regulator{};  // normal, divides the answer
};

struct CrossingAnswer {
  // J a payload bit and crossing, 95% interval, which reaches farther up than down because the
  // reading is divided by an uncertain gain; one that holds zero is an answer too: nothing was
  // seen to cross at a cost above its end. Status ok only where the rates allow an answer and every
  // control passed; else not_identified or rejected, without a value, and the reason.
  Figure random_bit;  // convention per_random_bit
  Figure zero_bit;
  Figure difference;
  CrossingErrors errors;                  // of random_bit
  std::vector<CrossingControl> controls;  // all of them, also those that could not be judged
  double greatest_mismatch{};             // of near's and far's rates at one wait, as a fraction
  int waits{};                            // common to near and far
  int blocks{};
};

// Errors are statuses of the rows: three common waits, two blocks and rates over a quarter of their
// greatest are the least that gives a value.
[[nodiscard]] CrossingAnswer fit_crossing_runs(std::span<const CrossingRun> runs,
                                               const CrossingTolerances& tolerances);

}  // namespace ww::model
