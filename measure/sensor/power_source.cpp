#include "ww/measure/power_source.hpp"

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

}  // namespace ww::measure
