// The MessagePack metadata of code objects V3 and later (note NT_AMDGPU_METADATA).
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ww/binpatch/code_object.hpp"
#include "ww/core/result.hpp"

namespace ww::binpatch {

struct Metadata {
  std::vector<Kernel> kernels;  // what the metadata knows; descriptor and code are still empty
  std::vector<std::string> printf_formats;
};

// Errors: parse_error naming the key that is missing or of the wrong type.
[[nodiscard]] Result<Metadata> parse_metadata(std::span<const std::byte> message_pack);

// The YAML metadata of version 2 (note NT_AMD_HSA_METADATA), in the form that LLVM writes: one key
// a line, two blanks a level. Nothing where it is not of that form or lacks what a launch needs.
[[nodiscard]] std::optional<Metadata> parse_yaml_metadata(std::string_view text);

}  // namespace ww::binpatch
