#include "ww/calibration/calibration.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ww::calibration {
namespace {

Error has_none(const Calibration& calibration, const char* what) {
  return {ErrorCode::unsupported, fmt::format("{} has no {}", calibration.title(), what),
          calibration.provenance().source};
}

}  // namespace

Status Calibration::use_floorplan(const model::Floorplan& /*floorplan*/) {
  return tl::unexpected(has_none(*this, "distances of a floorplan"));
}

Status Calibration::use_registers_l1(const Interval& /*fj_per_bit*/) {
  return tl::unexpected(has_none(*this, "energy of registers"));
}

Result<Answer> Calibration::score_application(
    const Traffic& /*traffic*/, const EstimateRequest& /*request*/,
    const std::map<std::string, double>& /*sealed*/) const {
  return tl::unexpected(has_none(*this, "sealed energies of an application to compare with"));
}

Status refuse_foreign(const Calibration& calibration, Use use, std::span<const std::string> given) {
  const Foreign foreign = calibration.foreign(use);
  for (const std::string& option : given) {
    if (std::ranges::find(foreign.options, option) == foreign.options.end()) continue;
    return fail(
        ErrorCode::unsupported,
        fmt::format("does not go with {}: {} {}", option, calibration.title(), foreign.reason),
        calibration.provenance().source);
  }
  return {};
}

}  // namespace ww::calibration
