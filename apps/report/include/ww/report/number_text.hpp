// Numbers as people write them.
#pragma once

#include <string>

namespace ww::report {

// "32,768", "0.0042", "1.5e-07": whole numbers in full with commas, others in `digits` significant
// digits. Exponents appear only below 0.0001 and from 1e15. A dash where it is not finite.
[[nodiscard]] std::string number_text(double value, int digits = 4);

}  // namespace ww::report
