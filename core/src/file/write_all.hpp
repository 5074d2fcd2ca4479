// Declares the functions that writing a file in one piece and writing one bit by bit share.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string_view>

#include "ww/core/file_system.hpp"
#include "ww/core/result.hpp"

namespace ww {

// Whether the path names a device, a pipe or a socket (/dev/null, /dev/stdout). Nothing is put in
// the place of such a thing: root would replace the device. It is written to.
inline bool is_no_file(const std::filesystem::path& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

inline Status write_all(int fd, std::string_view bytes, const std::filesystem::path& file) {
  while (!bytes.empty()) {
    const auto written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return tl::unexpected(errno_error(errno, "cannot write", file));
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

}  // namespace ww
