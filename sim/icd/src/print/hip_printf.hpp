// The text of a HIP kernel's printf: format and strings come whole, each other value in 64 bits.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace ww::sim::icd::hip {

// Renders the words behind the control word: the zero-terminated format, padded to whole words, and
// its arguments in order. What the words do not hold is rendered as it stands in the format.
[[nodiscard]] std::string render_message(std::span<const std::uint64_t> words);

}  // namespace ww::sim::icd::hip
