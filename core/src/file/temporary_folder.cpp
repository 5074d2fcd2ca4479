#include "ww/core/temporary_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string>

#include "ww/core/file_system.hpp"

namespace ww {

namespace fs = std::filesystem;

Result<fs::path> temporary_parent() {
  std::error_code ec;
  auto parent = fs::temp_directory_path(ec);
  if (!ec) {
    return parent;
  }
  const char* named = std::getenv("TMPDIR");
  return fail(ErrorCode::io_error, "no folder for temporary files; set TMPDIR to one",
              named == nullptr ? "/tmp" : named);
}

Result<ScratchFolder> ScratchFolder::make(const fs::path& parent, std::string_view prefix) {
  std::string name = (parent / fmt::format("{}-XXXXXX", prefix)).string();
  if (::mkdtemp(name.data()) == nullptr) {
    return tl::unexpected(errno_error(errno, "cannot write in this folder", parent));
  }
  return ScratchFolder(name);
}

Result<ScratchFolder> ScratchFolder::create(std::string_view purpose) {
  WW_ASSIGN(parent, temporary_parent());
  auto folder = make(parent, fmt::format("wirewatt-{}", purpose));
  if (!folder) {
    folder.error().message += "; set TMPDIR to another one";
  }
  return folder;
}

Result<ScratchFolder> ScratchFolder::create_in(const fs::path& parent) {
  return make(parent, ".wirewatt");
}

ScratchFolder::~ScratchFolder() {
  if (!path_.empty()) {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
}

std::vector<fs::path> ScratchFolder::files() const {
  std::vector<fs::path> found;
  std::error_code ec;
  for (const auto& entry : fs::directory_iterator(path_, ec)) {
    if (!entry.path().filename().string().starts_with('.')) found.push_back(entry.path());
  }
  std::ranges::sort(found);
  return found;
}

}  // namespace ww
