// Pinning in PTX, the text that NVIDIA's OpenCL returns as a program's binary: the marker
// xor.b32 %rD, %rG, 1589698049; in a kernel becomes mov.u32 %rD, %smid; padded with blanks to the
// same length. Source: NVIDIA, "Parallel Thread Execution ISA", sections 4 (syntax) and 10 (%smid).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ww/binpatch/patch.hpp"
#include "ww/core/result.hpp"

namespace ww::binpatch {

// Whether the bytes are PTX: text whose first directive is .version. A zero byte ends the text;
// what follows is kept as it is.
[[nodiscard]] bool is_ptx(std::span<const std::byte> bytes);

struct PtxModule {
  std::string target;                // "sm_80"
  std::vector<std::string> kernels;  // entries with a body, in order
};
// Error parse_error for text that ends inside a comment, a string or a body.
[[nodiscard]] Result<PtxModule> read_ptx(std::span<const std::byte> bytes);

// Patches PTX as patch() does: exactly one marker in the entry. PatchSite::address is the line
// number. Errors: not_found (entry, marker), unsupported (the marker constant only in other
// instructions), bad_data (more than once, entry defined twice).
[[nodiscard]] Result<PatchResult> patch_ptx(std::span<const std::byte> bytes,
                                            std::string_view kernel);
[[nodiscard]] Result<std::vector<std::byte>> unpatch_ptx(std::span<const std::byte> bytes,
                                                         const PatchSite& site);
// Parses the patched text again: at the site stands the read of %smid into the marker's register,
// and all other bytes are the same.
[[nodiscard]] Status verify_ptx(std::span<const std::byte> original, const PatchResult& patched);

}  // namespace ww::binpatch
