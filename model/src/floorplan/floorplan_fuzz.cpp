// Any bytes as a floorplan: an error or a plan with finite distances, never a crash.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "ww/model/floorplan.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto plan = ww::model::parse_floorplan(text, "fuzzed");
  if (!plan) return 0;
  for (std::size_t e = 0; e < plan->compute_units.size(); ++e) {
    for (std::size_t q = 0; q < plan->quadrants.size(); ++q) {
      const double mm = plan->distance(static_cast<int>(e), static_cast<int>(q)).value();
      if (!std::isfinite(mm) || mm < 0) std::abort();
    }
  }
  return 0;
}
