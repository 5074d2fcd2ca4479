// Files that are complete or absent: they are written under another name, flushed, then renamed.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "ww/core/result.hpp"

namespace ww {

// Replaces the content of `file`. Errors: io_error, permission_denied; the old file then remains.
Status write_file_atomically(const std::filesystem::path& file, std::string_view content);

// Reads a whole file. Errors: not_found, permission_denied, io_error; invalid_argument for a
// folder.
[[nodiscard]] Result<std::string> read_file(const std::filesystem::path& file);

}  // namespace ww
