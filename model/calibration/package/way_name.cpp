#include "ww/calibration/way_name.hpp"

namespace ww::calibration {

std::string way_name(const std::string& hop_class) {
  if (hop_class == "row_hop") return "link between I/O dies, along a row";
  if (hop_class == "column_hop") return "link between I/O dies, along a column";
  if (hop_class == "across") return "to the I/O die across, over two links";
  if (hop_class == "memory_phy") return "I/O die to memory, on the I/O die (PHY and controller)";
  if (hop_class == "memory") return "memory stack";
  if (hop_class == "xgmi") return "link to the other part of the package";
  if (hop_class == "compute_die_and_cache") {
    return "compute die to its I/O die, with the Infinity Cache";
  }
  if (hop_class == "compute_die") return "compute die to its I/O die, alone";
  if (hop_class == "infinity_cache") return "Infinity Cache, alone";
  return hop_class;
}

}  // namespace ww::calibration
