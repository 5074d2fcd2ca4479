#include "ww/core/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <sstream>

#include "write_all.hpp"
#include "ww/core/file_system.hpp"
#include "ww/core/owned_file.hpp"

namespace ww {

Status write_file_atomically(const std::filesystem::path& file, std::string_view content) {
  if (is_no_file(file)) {
    const int out = ::open(file.c_str(), O_WRONLY | O_CLOEXEC);
    if (out < 0) return tl::unexpected(errno_error(errno, "cannot write", file));
    Status written = write_all(out, content, file);
    ::close(out);
    return written;
  }
  WW_TRY(refuse_owned_database(file));
  const auto parent = file.has_parent_path() ? file.parent_path() : std::filesystem::path{"."};
  std::string aside = (parent / ("." + file.filename().string() + ".XXXXXX")).string();
  const int fd = ::mkostemp(aside.data(), O_CLOEXEC);
  if (fd < 0) {
    return tl::unexpected(errno_error(errno, "cannot write in this folder", parent));
  }
  const auto give_up = [&](const char* what) {
    const int number = errno;
    ::close(fd);
    ::unlink(aside.c_str());
    return tl::unexpected(errno_error(number, what, file));
  };
  if (Status written = write_all(fd, content, file); !written) {
    ::close(fd);
    ::unlink(aside.c_str());
    return written;
  }
  if (::fchmod(fd, 0644) != 0 || ::fsync(fd) != 0) return give_up("cannot flush");
  ::close(fd);
  if (::rename(aside.c_str(), file.c_str()) != 0) {
    const int number = errno;
    ::unlink(aside.c_str());
    return tl::unexpected(errno_error(number, "cannot put the file in place", file));
  }
  return {};
}

Result<std::string> read_file(const std::filesystem::path& file) {
  if (std::error_code ec; std::filesystem::is_directory(file, ec)) {
    return fail(ErrorCode::invalid_argument, "is a folder; name a file in it", file.string());
  }
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return tl::unexpected(errno_error(errno, "cannot read", file));
  std::ostringstream content;
  content << stream.rdbuf();
  if (stream.bad() || content.fail()) {
    if (std::error_code ec; std::filesystem::file_size(file, ec) == 0 && !ec) return std::string{};
    return fail(ErrorCode::io_error, "cannot read", file.string());
  }
  return std::move(content).str();
}

}  // namespace ww
