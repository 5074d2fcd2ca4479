// Whether counters are of another part than the one that was calibrated.
#pragma once

#include <string>
#include <vector>

#include "ww/core/result.hpp"

namespace ww::cli {

// Whether both architectures are known and differ, features aside: "gfx90a:sramecc+:xnack-" is
// gfx90a.
[[nodiscard]] bool of_another_part(const std::string& calibrated, const std::string& counted);

// Error invalid_argument, on the first of `counters`, where what --arch says is not what the files
// name; nothing where either is empty.
Status require_named_part(const std::string& asked, const std::string& named,
                          const std::vector<std::string>& counters);

// Error invalid_argument, on the first of `counters`, where their architecture is another one than
// the calibrated one. `cost`: what costs something else there, for example "a crossing"; `way_out`:
// what else to do than to calibrate such a card, for example "or give --anyway".
Status require_same_part(const std::string& calibrated, const std::string& counted,
                         const std::vector<std::string>& counters, const std::string& cost,
                         const std::string& way_out);

}  // namespace ww::cli
