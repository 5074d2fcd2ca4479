// What the doctor says of one capability.
#pragma once

#include <string>
#include <string_view>

namespace ww::measure {

enum class Verdict {
  good,
  limited,      // can be used, with the care that the detail names
  bad,          // there, and not to be believed
  unavailable,  // not there, or not for this user
};
[[nodiscard]] std::string_view to_string(Verdict verdict);

struct Finding {
  std::string capability;  // "ROCm SMI", "clock control", "ECC"
  Verdict verdict{};
  std::string detail;
  std::string remedy;  // the command or package that helps; empty where nothing does or needs to
};

}  // namespace ww::measure
