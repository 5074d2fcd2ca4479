// Where files go that nobody is to keep.
#pragma once

#include <filesystem>

#include "ww/core/result.hpp"

namespace ww {

// The folder that TMPDIR names, else /tmp. Error io_error: it is no folder.
[[nodiscard]] Result<std::filesystem::path> temporary_parent();

}  // namespace ww
