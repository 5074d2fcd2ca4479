// How far each compute unit lies from each channel of the L2: the lengths of the wires of the
// crossbar that joins them.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/model/floorplan.hpp"

namespace ww::model {

struct CrossbarLengths {
  // [engine][cu][channel]: routed length [mm]. Within a pair of engine and quadrant, as the
  // floorplan draws it; the pair's mean is the calibration's, where there is one.
  std::vector<std::vector<std::vector<double>>> mm;
  std::string source;

  // [unit][channel]: the compute units in the order in which they get work-groups, one of each
  // engine in turn.
  [[nodiscard]] std::vector<std::vector<double>> units_in_turn() const;
};

// Lengths of a floorplan as it is drawn.
[[nodiscard]] CrossbarLengths crossbar_lengths(const Floorplan& floorplan);

// Lengths of the chip of a calibration: a model.json, or the folder with it. Its floorplan must be
// one of known_floorplans.hpp. Errors: io_error, parse_error (not a model); unsupported (the
// calibration has no millimetres, or its floorplan is not known); bad_data (its distances are not
// those of as many engines and quadrants).
[[nodiscard]] Result<CrossbarLengths> crossbar_lengths(const std::filesystem::path& model);

}  // namespace ww::model
