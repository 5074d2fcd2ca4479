// A package of compute dies on four I/O dies with memory stacks beside them, drawn as its maker's
// block diagram has it; nothing is to scale.
#pragma once

#include <optional>
#include <string>

namespace ww::report {

// Energy of a bit on each way between dies [pJ]; a way without a figure is drawn without colour.
struct PackageWays {
  std::optional<double> compute_die;  // compute die to its I/O die, with the cache
  std::optional<double> row, column, across;
  std::optional<double> phy;     // I/O die to memory stack, on the I/O die
  std::optional<double> memory;  // the stack
};

// Two compute dies on each I/O die, two stacks beside it. Ways and stacks are coloured by their
// figure on a scale from 0 to the most.
[[nodiscard]] std::string package_map(const PackageWays& ways, const std::string& what,
                                      const std::string& unit);

}  // namespace ww::report
