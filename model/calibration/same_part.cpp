#include "ww/calibration/same_part.hpp"

#include <fmt/format.h>

namespace ww::calibration {
namespace {

std::string part_of(const std::string& architecture) {
  return architecture.substr(0, architecture.find(':'));
}

}  // namespace

bool of_another_part(const std::string& calibrated, const std::string& counted) {
  return !calibrated.empty() && !counted.empty() && part_of(calibrated) != part_of(counted);
}

Status require_named_part(const std::string& asked, const std::string& named,
                          const std::string& file) {
  if (!of_another_part(asked, named)) return {};
  return fail(ErrorCode::invalid_argument,
              fmt::format("is of {}, as it or the sysinfo.csv beside it says, and --arch is {}: "
                          "leave --arch out, or move the file away from what describes another "
                          "card",
                          named, asked),
              file);
}

Status require_same_part(const std::string& calibrated, const std::string& counted,
                         const std::string& what, const std::string& cost,
                         const std::string& way_out) {
  if (!of_another_part(calibrated, counted)) return {};
  return fail(ErrorCode::invalid_argument,
              fmt::format("is of {}, the calibration of {}: {} costs something else on another "
                          "part. Calibrate a card of {}, {}",
                          counted, calibrated, cost, counted, way_out),
              what);
}

}  // namespace ww::calibration
