#include "ww/core/wire_constants.hpp"

#include <string_view>

namespace ww {
namespace {

struct Row {
  std::string_view name, unit;
  bool per_distance{};  // both end in the unit of distance
};

Row row_of(WireConstant constant) {
  switch (constant) {
    case WireConstant::energy: return {"energy_fj_per_bit", "fJ/bit", true};
    case WireConstant::wire_energy: return {"wire_energy_fj_per_bit", "fJ/bit", true};
    case WireConstant::zero_toggle_intercept:
      return {"zero_toggle_intercept_fj_per_bit", "fJ/bit", true};
    case WireConstant::toggle_slope:
      return {"toggle_slope_fj_per_transition", "fJ/transition", true};
    case WireConstant::throttled_energy: return {"throttled_energy_fj_per_bit", "fJ/bit", true};
    case WireConstant::lock_in_energy: return {"lock_in_energy_fj_per_bit", "fJ/bit", true};
    case WireConstant::plateau_energy: return {"plateau_energy_fj_per_bit", "fJ/bit", true};
    case WireConstant::coupling: return {"coupling_fj_per_bit", "fJ/bit", true};
    case WireConstant::neighbour_coupling: return {"neighbour_coupling_fj_per_bit", "fJ/bit", true};
    case WireConstant::zero_bit_value: return {"value_fj_per_zero_bit", "fJ/bit", true};
    case WireConstant::ones_intercept: return {"ones_intercept_fj_per_bit", "fJ/bit", true};
    case WireConstant::aa_intercept: return {"aa_intercept_fj_per_bit", "fJ/bit", true};
    case WireConstant::registers_l1_energy:
      return {"registers_l1_energy_fj_per_bit", "fJ/bit", true};
    case WireConstant::l2_memory_energy: return {"l2_memory_energy_fj_per_bit", "fJ/bit", true};
    case WireConstant::legs_energy: return {"legs_energy_fj_per_bit", "fJ/bit", true};
    case WireConstant::registers_l1_per_bit:
      return {"registers_l1_energy_fj_per_bit", "fJ/bit", false};
    case WireConstant::fanout_link: return {"fanout_link_fj_per_bit", "fJ/bit", false};
    case WireConstant::voltage_exponent_along_curve:
      return {"voltage_exponent_along_curve", "1", false};
    case WireConstant::voltage_exponent: return {"voltage_exponent", "1", false};
    case WireConstant::frequency_exponent: return {"frequency_exponent", "1", false};
  }
  return {};
}

std::string text_of(std::string_view stem, const Row& row, char between, Distance distance) {
  std::string text(stem);
  if (row.per_distance) text += between + std::string(distance == Distance::mm ? "mm" : "ns");
  return text;
}

}  // namespace

bool follows_distance(WireConstant constant) {
  return row_of(constant).per_distance;
}

std::string name_of(WireConstant constant, Distance distance) {
  const Row row = row_of(constant);
  return text_of(row.name, row, '_', distance);
}

std::string unit_of(WireConstant constant, Distance distance) {
  const Row row = row_of(constant);
  return text_of(row.unit, row, '/', distance);
}

}  // namespace ww
