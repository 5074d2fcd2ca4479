// The code objects that were compiled when wirewatt was built; generated into the build folder by
// cmake/EmbedCodeObjects.cmake.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "ww/kernels/sources.hpp"

namespace ww::kernels {

struct CodeObjectFile {
  std::string_view target;   // "gfx90a", "gfx11-generic"
  std::string_view variant;  // what the code of l2_stream and cross depends on: "sleep", ...
  std::span<const std::byte> bytes;
};
[[nodiscard]] std::span<const CodeObjectFile> code_object_files();

}  // namespace ww::kernels
