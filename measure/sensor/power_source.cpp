#include "ww/measure/power_source.hpp"

#include <algorithm>

namespace ww::measure {

std::string_view to_string(FieldStatus status) {
  switch (status) {
    case FieldStatus::ok: return "ok";
    case FieldStatus::missing: return "missing";
    case FieldStatus::denied: return "denied";
    case FieldStatus::failed: return "failed";
  }
  return "unknown";
}

std::string measured_besides(const std::vector<FieldState>& fields) {
  std::string text;
  for (const FieldState& field : fields) {
    if (field.name != kPackageField || field.status != FieldStatus::ok) continue;
    if (!text.empty()) text += "; ";
    text += field.reason;
  }
  return text;
}

std::string sensor_of(const std::vector<FieldState>& fields) {
  const auto other = std::ranges::find(fields, kOtherSensorField, &FieldState::name);
  return other == fields.end() ? std::string() : other->reason;
}

}  // namespace ww::measure
