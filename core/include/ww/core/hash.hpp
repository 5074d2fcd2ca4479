// Content hashes, to name kernels and inputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace ww {

[[nodiscard]] std::uint64_t hash64(std::span<const std::byte> bytes);
// 32 lower-case hexadecimal digits.
[[nodiscard]] std::string hash_text(std::span<const std::byte> bytes);

}  // namespace ww
