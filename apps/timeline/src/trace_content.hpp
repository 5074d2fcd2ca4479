// Collects what a timeline's file shows, whatever its form.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ww/timeline/timeline.hpp"

namespace ww::timeline {

struct TraceContent {
  std::string title;         // of every process
  std::string architecture;  // "gfx90a"; empty: unknown
  // A segment's name with the status of its figures. Absent: its joules would be too few.
  std::array<std::optional<std::string>, 3> tracks;
  const std::vector<std::string>& kernels;
  const std::vector<std::string>& counters;
  const std::map<std::string, ClockDomain>& domains;
};

// The number of a process as `name` gives it, and `otherwise` where it gives none.
[[nodiscard]] std::int32_t process_number(const std::string& name, std::int32_t otherwise);

}  // namespace ww::timeline
