#include "ww/core/named_file.hpp"

#include <fmt/format.h>

namespace ww {

Result<std::filesystem::path> named_file(const std::filesystem::path& path, std::string_view name,
                                         std::string_view source) {
  namespace fs = std::filesystem;
  std::error_code ec;
  if (fs::is_directory(path, ec)) {
    fs::path file = path / name;
    if (fs::is_regular_file(file, ec)) return file;
    return fail(ErrorCode::not_found, fmt::format("this folder holds no {}; {}", name, source),
                path.string());
  }
  if (fs::is_regular_file(path, ec)) return path;
  if (const auto kind = fs::status(path, ec).type();
      kind != fs::file_type::not_found && kind != fs::file_type::none) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("is not a file; give a {} or its folder; {}", name, source),
                path.string());
  }
  return fail(ErrorCode::not_found, fmt::format("no {} here; {}", name, source), path.string());
}

}  // namespace ww
