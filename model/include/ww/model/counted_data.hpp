// Toggles of an application's data as monitors counted them, per bit, so that another run can use
// them (`wirewatt toggles`, `estimate --toggles-from`).
#pragma once

#include "ww/model/wire_model.hpp"

namespace ww::model {

struct CountedData {
  double toggle_rate{};  // toggles per payload bit
  // Wires that a beat moves per payload bit: more than 1 where beats carry few bits.
  double wires_per_bit{1};
  double coupling_per_toggle{};  // as ApplicationToggles has it
};

// The rates of `wires` over this many payload bytes, above 0.
[[nodiscard]] CountedData counted_data(const WireActivity& wires, double bytes);
// Whether a bus can have such rates: a beat changes a wire at most twice (to its bit, and back to
// where an idle or precharged bus rests), and each toggle has at most two neighbours.
[[nodiscard]] bool is_possible(const CountedData& data);

}  // namespace ww::model
