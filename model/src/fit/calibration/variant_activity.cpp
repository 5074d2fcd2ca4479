#include "fit/calibration/variant_activity.hpp"

#include <cmath>
#include <map>

namespace ww::model {

std::vector<VariantActivity> variant_activity(const Payloads& payloads,
                                              const Uncertainty& uncertainty,
                                              std::span<const StoredRun> runs,
                                              int reference_state) {
  struct Sums {
    double energy{}, error{}, bits{};
    double slot_bits{}, toggles{}, adjacent{}, opposite{};
    double control_toggles{}, control_adjacent{}, control_opposite{};
  };
  std::map<std::pair<std::string, int>, Sums> sums;
  for (std::size_t p = 0; p < payloads.count(); ++p) {
    const Variant& variant = payloads.variant(p);
    if (variant.dvfs_state != reference_state) continue;
    const Eigen::VectorXd weights = payloads.weights(p);
    auto& sum = sums[{variant.pattern, variant.throttle}];
    sum.energy = payloads.energy(p);
    sum.error = std::sqrt(weights.dot(uncertainty.covariance * weights));
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
    if (!(sum.bits > 0) || !std::isfinite(sum.energy) || !(sum.error > 0)) continue;
    variants.push_back({key.first, key.second, sum.energy, sum.error, sum.slot_bits / sum.bits,
                        sum.toggles / sum.bits, sum.adjacent / sum.bits, sum.opposite / sum.bits,
                        sum.control_toggles / sum.bits, sum.control_adjacent / sum.bits,
                        sum.control_opposite / sum.bits});
  }
  return variants;
}

}  // namespace ww::model
