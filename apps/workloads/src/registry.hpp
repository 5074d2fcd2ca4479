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

}  // namespace ww::workloads
