// The one table of workloads.
#pragma once

#include <span>

#include "ww/workloads/workloads.hpp"

namespace ww::workloads {

class Session;

struct Entry {
  Info info;
  void (*body)(Session&);  // prepares input, launches, checks, states its traffic
};

[[nodiscard]] std::span<const Entry> registry();

// The input with its extent, where the workload has one: the named size's, or the number that was
// asked for. Error invalid_argument (the workload has none, or it is out of range).
[[nodiscard]] Result<Input> complete_input(const Info& info, Input asked);

}  // namespace ww::workloads
