#include <fmt/format.h>

#include <cmath>

#include "ww/measure/i_counters.hpp"

namespace ww::measure {

Result<double> l1_l2_bytes(const std::string& gfx_target,
                           const std::map<std::string, double>& counters) {
  // gfx7 and gfx8 names have six characters, "gfx701"; "gfx70..." to "gfx81.".
  const bool counted_in_lines = gfx_target.size() == 6 && gfx_target.starts_with("gfx") &&
                                (gfx_target[3] == '7' || gfx_target[3] == '8');
  if (!counted_in_lines) {
    return fail(ErrorCode::unsupported, "no counter of L1-L2 bytes is known for this target",
                gfx_target);
  }
  double lines = 0;
  for (const std::string name : {"TCC_HIT", "TCC_MISS"}) {
    auto found = counters.find(name + "_sum");
    if (found == counters.end()) found = counters.find(name);
    if (found == counters.end()) {
      return fail(ErrorCode::bad_data, fmt::format("the counter {} is missing", name), gfx_target);
    }
    if (!std::isfinite(found->second) || found->second < 0) {
      return fail(ErrorCode::bad_data, fmt::format("the counter {} reads {}", name, found->second),
                  gfx_target);
    }
    lines += found->second;
  }
  return lines * 64.0;
}

}  // namespace ww::measure
