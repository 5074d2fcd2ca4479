// The doctor's judgement of one capability.
#pragma once

#include <string>
#include <string_view>

namespace ww::measure {

enum class Verdict {
  good,
  limited,      // usable with the care that the detail names
  bad,          // present, but its values cannot be believed
  unavailable,  // absent, or not permitted for this user
};
[[nodiscard]] std::string_view to_string(Verdict verdict);

struct Finding {
  std::string capability;  // "ROCm SMI", "clock control", "ECC"
  Verdict verdict{};
  std::string detail;
  std::string remedy;  // the command or package that helps; empty where nothing does or needs to
};

}  // namespace ww::measure
