// Whether traffic is of another part than the one that was calibrated.
#pragma once

#include <string>

#include "ww/core/result.hpp"

namespace ww::calibration {

// Whether both architectures are known and differ, features aside: "gfx90a:sramecc+:xnack-" is
// gfx90a.
[[nodiscard]] bool of_another_part(const std::string& calibrated, const std::string& counted);

// Error invalid_argument, on `file`, where what --arch says is not what the file names; nothing
// where either is empty.
Status require_named_part(const std::string& asked, const std::string& named,
                          const std::string& file);

// Error invalid_argument, on `what` was counted (a file, a device), where its architecture is
// another one than the calibrated one. `cost`: what costs something else there, for example "a
// crossing"; `way_out`: what else to do than to calibrate such a card, for example "or give
// --anyway".
Status require_same_part(const std::string& calibrated, const std::string& counted,
                         const std::string& what, const std::string& cost,
                         const std::string& way_out);

}  // namespace ww::calibration
