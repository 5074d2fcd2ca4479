// Energy of each kernel of a program, from a sensor's readings and the times of its launches.
//
// `estimate`, `top`, `launches` and the library call this one function, so that the same readings
// and launches give the same joules at each door. It chooses what of the sensor can be used and
// which readings count; the regression itself is measure/launch_energy.hpp.
//
// *Which column.* The energy accumulator, where there is one. Else the power register, if the
// caller knows how it responds (`wirewatt doctor` finds it): the register shows a mean over a
// window, or lags, and the regression takes that into account. Without a response there are no
// joules, and the reason says so.
//
// *Which readings.* Those from 30 readings before the first launch to 30 after the last one. What
// is further away is no evidence of the power at rest beside the launches, and launches that nobody
// wrote down may be there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ww/core/figure.hpp"
#include "ww/energy/energy.hpp"
#include "ww/measure/counter_file.hpp"
#include "ww/measure/launch_energy.hpp"
#include "ww/model/interval.hpp"

namespace ww::session {

// Launches of a program, by the clock of the sensor's readings.
class LaunchLog {
 public:
  struct Launch {
    std::size_t kernel{};
    std::int64_t start_ns{}, end_ns{};
  };

  void add(std::string_view kernel, std::int64_t start_ns, std::int64_t end_ns);
  // Adds counted launches. Returns false where one has no times; that one is left out.
  bool add(std::span<const measure::CounterDispatch> dispatches);
  void clear() { *this = {}; }
  // Names of the kernels, in order of their first launches.
  [[nodiscard]] const std::vector<std::string>& kernels() const { return kernels_; }
  [[nodiscard]] const std::vector<Launch>& launches() const { return launches_; }

 private:
  std::map<std::string, std::size_t, std::less<>> numbers_;
  std::vector<std::string> kernels_;
  std::vector<Launch> launches_;
};

struct KernelSensor {
  // The power register, with its own gain's tolerance; absent: it cannot be used.
  std::optional<measure::LaunchSensor> response;
  // Gain of the energy accumulator, relative half-width; absent: 5%.
  std::optional<double> gain_tolerance_95;
};

struct KernelEnergy {
  std::string kernel;
  std::size_t launches{};
  RowStatus status{RowStatus::not_identified};  // or ok
  std::string reason;                           // why it is not identified
  std::optional<model::Interval> energy_j;      // of all its launches, above rest; if ok
  // Launches that would bring the half-width to 5%, or to 1.2 times the gain's tolerance if that is
  // more. Where there are too few readings to say, launches that fill 100 readings. Absent if no
  // number would help.
  std::optional<double> launches_wanted;
  std::optional<measure::LaunchEnergy> launch;  // of one launch; absent if the readings part none
};

struct KernelEnergies {
  std::vector<KernelEnergy> kernels;  // as LaunchLog::kernels
  // Covariance of the kernels' joules [J^2], row by row, by noise and by the gain that they share.
  // Empty if the readings part none.
  std::vector<double> covariance;
  std::string source;      // "energy counter" or "power register"; empty if neither can be used
  std::size_t readings{};  // that count
  double period_s{};       // between them
  double rest_w{};         // mean power without launches
  double noise_w{};        // standard deviation of the readings about the fit

  // Covariance of the joules of one launch of each kernel.
  [[nodiscard]] std::vector<double> covariance_of_one_launch() const;
};

// Finds the energies. Kernels that the readings do not part have a reason and no energy.
[[nodiscard]] KernelEnergies kernel_energies(const LaunchLog& log,
                                             const energy::EnergySeries& series,
                                             const KernelSensor& sensor = {});

// Joules of a kernel's launches as a reader of the register would have them who knows nothing of
// its response: the mean reading during the launches times their length. For comparison only.
// Absent where no reading fell into a launch.
[[nodiscard]] std::optional<double> naive_kernel_energy(const LaunchLog& log,
                                                        const energy::EnergySeries& series,
                                                        std::size_t kernel);

}  // namespace ww::session
