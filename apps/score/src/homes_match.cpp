#include "homes_match.hpp"

#include <algorithm>

namespace ww::score {

std::ptrdiff_t HomesMatch::mixed(const std::map<int, std::set<int>>& sets) {
  return std::ranges::count_if(sets, [](const auto& entry) { return entry.second.size() > 1; });
}

}  // namespace ww::score
