// Limits the host's vector instructions that a program may use.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace ww {

enum class VectorLimit : std::uint8_t { none, avx2, avx512 };

// For tests: with WIREWATT_VECTORS=none or =avx2 in its environment, a program chooses its code as
// on a processor that has no more. Otherwise it uses all that the processor has.
[[nodiscard]] inline VectorLimit vector_limit() {
  static const VectorLimit limit = [] {
    const char* set = std::getenv("WIREWATT_VECTORS");
    const std::string_view wish = set == nullptr ? "" : set;
    if (wish == "none") return VectorLimit::none;
    return wish == "avx2" ? VectorLimit::avx2 : VectorLimit::avx512;
  }();
  return limit;
}

}  // namespace ww
