#include "ww/model/attributed_parts.hpp"

namespace ww::model {

std::vector<AttributedPart> attributed_parts(const Attribution& attribution,
                                             const AttributedRun* run,
                                             std::optional<double> seconds) {
  std::vector<AttributedPart> parts;
  for (std::size_t c = 0; c < attribution.coefficients.size(); ++c) {
    const AttributedCoefficient& from = attribution.coefficients[c];
    AttributedPart part;
    part.name = from.name;
    part.part = from.part;
    part.power_w = run == nullptr ? from.power_w : run->coefficients_w[c];
    part.value = from.value;
    part.inflation = from.inflation;
    part.status = from.status;
    part.reason = from.reason;
    parts.push_back(std::move(part));
  }
  const auto add_sum = [&](const AttributedSum& from, const Interval& power_w, std::string name) {
    AttributedPart part;
    part.name = std::move(name);
    part.power_w = power_w;
    part.status = from.status;
    part.reason = from.reason;
    part.is_sum = true;
    parts.push_back(std::move(part));
  };
  for (std::size_t s = 0; s < attribution.sums.size(); ++s) {
    const AttributedSum& from = attribution.sums[s];
    add_sum(from, run == nullptr ? from.power_w : run->sums_w[s], from.name);
  }
  for (std::size_t p = 0; p < attribution.parts.size(); ++p) {
    const AttributedSum& from = attribution.parts[p];
    add_sum(from, run == nullptr ? from.power_w : run->parts_w[p], from.name + ", in all");
  }
  const double total_w = run == nullptr ? attribution.mean_power_w() : run->fitted_w;
  for (AttributedPart& part : parts) {
    part.share = part.power_w.value / total_w;
    if (seconds) part.energy_j = part.power_w.times(*seconds);
  }
  return parts;
}

}  // namespace ww::model
