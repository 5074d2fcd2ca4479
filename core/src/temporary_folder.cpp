#include "ww/core/temporary_folder.hpp"

#include <cstdlib>
#include <string>

namespace ww {

Result<std::filesystem::path> temporary_parent() {
  std::error_code ec;
  auto parent = std::filesystem::temp_directory_path(ec);
  if (!ec) return parent;
  const char* named = std::getenv("TMPDIR");
  return fail(ErrorCode::io_error, "no folder for temporary files; set TMPDIR to one",
              named == nullptr ? "/tmp" : named);
}

}  // namespace ww
