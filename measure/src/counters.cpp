#include <fmt/format.h>

#include <cmath>

#include "ww/measure/i_counters.hpp"

namespace ww::measure {

namespace {

struct Term {
  std::string name;
  double bytes;
  bool needed;
};

Result<double> weighted_sum(const std::string& gfx_target,
                            const std::map<std::string, double>& counters,
                            std::initializer_list<Term> terms) {
  double sum = 0;
  for (const Term& term : terms) {
    auto found = counters.find(term.name + "_sum");
    if (found == counters.end()) found = counters.find(term.name);
    if (found == counters.end()) {
      if (!term.needed) continue;
      return fail(ErrorCode::bad_data, fmt::format("the counter {} is missing", term.name),
                  gfx_target);
    }
    if (!std::isfinite(found->second) || found->second < 0) {
      return fail(ErrorCode::bad_data,
                  fmt::format("the counter {} reads {}", term.name, found->second), gfx_target);
    }
    sum += term.bytes * found->second;
  }
  return sum;
}

}  // namespace

Result<double> l1_l2_bytes(const std::string& gfx_target,
                           const std::map<std::string, double>& counters) {
  // Vega 10 and CDNA: requests between L1 and L2 of 64 bytes (counter_map_tables.hpp).
  if (gfx_target == "gfx900" || gfx_target == "gfx908" || gfx_target == "gfx90a") {
    return weighted_sum(gfx_target, counters,
                        {{"TCP_TCC_READ_REQ", 64, true},
                         {"TCP_TCC_WRITE_REQ", 64, true},
                         {"TCP_TCC_ATOMIC_WITH_RET_REQ", 128, false},
                         {"TCP_TCC_ATOMIC_WITHOUT_RET_REQ", 64, false}});
  }
  // gfx7 and gfx8 names have six characters, "gfx701"; "gfx70..." to "gfx81.".
  const bool counted_in_lines = gfx_target.size() == 6 && gfx_target.starts_with("gfx") &&
                                (gfx_target[3] == '7' || gfx_target[3] == '8');
  if (!counted_in_lines) {
    return fail(ErrorCode::unsupported, "no counter of L1-L2 bytes is known for this target",
                gfx_target);
  }
  return weighted_sum(gfx_target, counters, {{"TCC_HIT", 64, true}, {"TCC_MISS", 64, true}});
}

}  // namespace ww::measure
