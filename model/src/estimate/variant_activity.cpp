#include "estimate/variant_activity.hpp"

#include <cmath>
#include <map>

namespace ww::model {

std::vector<VariantActivity> variant_activity(const std::vector<PairPoint>& pairs,
                                              std::span<const StoredRun> runs,
                                              int reference_state) {
  struct Sums {
    double energy_distance{}, distance_squared{}, variance{}, bits{};
    double slot_bits{}, toggles{}, adjacent{}, opposite{};
    double control_toggles{}, control_adjacent{}, control_opposite{};
  };
  std::map<std::pair<std::string, int>, Sums> sums;
  for (const auto& pair : pairs) {
    if (pair.dvfs_state != reference_state) continue;
    auto& sum = sums[{pair.pattern, pair.throttle}];
    const double d = pair.centred_distance_mm;
    sum.energy_distance += pair.energy_fj_per_bit * d;
    sum.distance_squared += d * d;
    sum.variance += d * d * pair.error_fj_per_bit * pair.error_fj_per_bit;
  }
  for (const auto& run : runs) {
    if (run.kind != RunKind::stream || run.status != RunStatus::ok ||
        run.dvfs_state != reference_state) {
      continue;
    }
    const auto found = sums.find({run.pattern, run.throttle});
    if (found == sums.end()) continue;
    Sums& sum = found->second;
    const auto counter = [&](const char* name) {
      const auto value = run.counters.find(name);
      return value == run.counters.end() ? 0.0 : value->second;
    };
    sum.bits += counter("WW_XBAR_BITS_sum");
    sum.slot_bits += counter("WW_XBAR_SLOT_BITS_sum");
    sum.toggles += counter("WW_TRUNK_TOGGLES_sum");
    sum.adjacent += counter("WW_TRUNK_ADJACENT_sum");
    sum.opposite += counter("WW_TRUNK_OPPOSITE_sum");
    sum.control_toggles += counter("WW_CONTROL_TOGGLES_sum");
    sum.control_adjacent += counter("WW_CONTROL_ADJACENT_sum");
    sum.control_opposite += counter("WW_CONTROL_OPPOSITE_sum");
  }
  std::vector<VariantActivity> variants;
  for (const auto& [key, sum] : sums) {
    if (!(sum.bits > 0) || !(sum.distance_squared > 0)) continue;
    variants.push_back({key.first, key.second, sum.energy_distance / sum.distance_squared,
                        std::sqrt(sum.variance) / sum.distance_squared, sum.slot_bits / sum.bits,
                        sum.toggles / sum.bits, sum.adjacent / sum.bits, sum.opposite / sum.bits,
                        sum.control_toggles / sum.bits, sum.control_adjacent / sum.bits,
                        sum.control_opposite / sum.bits});
  }
  return variants;
}

}  // namespace ww::model
