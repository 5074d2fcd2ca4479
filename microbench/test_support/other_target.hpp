// Kernels of wirewatt for one AMD target as those for another, so that a stub can stand for a card
// whose instructions no virtual chip has.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "ww/core/result.hpp"

namespace ww::microbench::testing {

// `image` is a precompiled object for `from`, with the host's values written in and at most one
// kernel pinned. Returns the object of the same kernels for `to`, with the same values and the same
// kernel pinned; the clock has the 20 bits of RDNA 2 and 3. Error bad_data: it is no such object.
[[nodiscard]] Result<std::vector<std::byte>> as_for_target(std::span<const std::byte> image,
                                                           std::string_view from,
                                                           std::string_view to);

}  // namespace ww::microbench::testing
