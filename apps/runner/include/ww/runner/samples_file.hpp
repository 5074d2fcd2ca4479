// Readings of the virtual GPU's sensor, from a file that its driver wrote (WIREWATT_SAMPLES).
#pragma once

#include <cstdint>
#include <string>

#include "ww/core/result.hpp"
#include "ww/energy/energy.hpp"

namespace ww::runner {

struct SamplesFile {
  // Valid readings by their time of refresh. The ticks of a sensor without an energy counter are
  // absent.
  energy::EnergySeries series;
  std::int64_t launches{1};  // how often the program's kernels were launched
  [[nodiscard]] bool counts_energy() const;
};

// Errors: io_error, parse_error.
[[nodiscard]] Result<SamplesFile> read_samples_file(const std::string& file);

}  // namespace ww::runner
