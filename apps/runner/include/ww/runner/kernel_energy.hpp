// Energy of each kernel of a program, from the sensor's readings and the times of its launches.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/core/result_row.hpp"
#include "ww/model/interval.hpp"

namespace ww::runner {

struct KernelEnergy {
  std::string kernel;
  std::size_t launches{};
  RowStatus status{RowStatus::not_identified};  // or ok
  std::string reason;                           // why it is not identified
  std::optional<model::Interval> energy_j;      // of all its launches, above rest; if ok
  // Launches that would bring the half-width to 6%, or fill 100 readings where there are too few to
  // say; absent if no number would help.
  std::optional<double> launches_wanted;
};

// Finds the energies by regression (measure/launch_energy.hpp), with the energy counter of a
// WIREWATT_SAMPLES file and the launches of a WIREWATT_COUNTERS file of the same run. The counter's
// gain is taken to be known to 5%. Kernels that the readings do not part have a reason and no
// energy; a sensor without an energy counter parts none. Errors: io_error, parse_error.
[[nodiscard]] Result<std::vector<KernelEnergy>> kernel_energies(const std::string& samples_file,
                                                                const std::string& counters_file);

}  // namespace ww::runner
