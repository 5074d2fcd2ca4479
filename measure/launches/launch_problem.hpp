// Declares the regression of readings on launches: its unknowns, and how much of each one every
// reading shows.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "ww/measure/launch_energy.hpp"

namespace ww::measure {

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

// Mean shape of a kernel's launches, and the unknowns that are its own.
struct LaunchedKernel {
  std::size_t launches{};
  double duration_s{};
  double middle_s{};                 // mean time of its launches
  std::vector<std::size_t> columns;  // one a bin
  std::vector<double> widths_s;      // mean time of each bin within the launch
};

// Appends the unknowns of one kernel: one for each bin of the time since its launch.
LaunchedKernel add_kernel(LaunchProblem& problem, std::span<const KernelLaunch> launches,
                          std::size_t kernel, const LaunchOptions& options);

// The rows of the regression, one a reading: weights of each unknown.
std::vector<double> launch_design(const LaunchProblem& problem,
                                  std::span<const PowerPoint> readings, const LaunchSensor& sensor);

// How a launch's energy above rest and awake follows from the unknowns.
std::vector<double> energy_weights(const LaunchedKernel& kernel, std::size_t columns);
// Returns the weights of the total, with rest, and with awake power if it is the last unknown.
std::vector<double> total_weights(const LaunchedKernel& kernel, const LaunchProblem& problem,
                                  bool awake);

}  // namespace ww::measure
