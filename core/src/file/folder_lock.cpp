#include "ww/core/folder_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "write_all.hpp"
#include "ww/core/file_system.hpp"
#include "ww/core/log.hpp"

namespace ww {
namespace {

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

// "4711" of this host, "4711 on HOST" of another.
std::string holder_of(int fd) {
  std::array<char, 512> text{};
  const auto size = ::pread(fd, text.data(), text.size(), 0);
  const std::string_view said(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  const auto blank = said.find(' ');
  if (blank == std::string_view::npos) return "of an unknown number";
  const auto host = said.substr(blank + 1);
  const std::string number(said.substr(0, blank));
  return host == host_name() ? number : fmt::format("{} on {}", number, host);
}

// Whether the name still leads to the open file: whoever had the lock removes the file at the end.
bool is_named(int fd, const std::filesystem::path& file) {
  struct stat open {};
  struct stat named {};
  return ::fstat(fd, &open) == 0 && ::stat(file.c_str(), &named) == 0 &&
         open.st_ino == named.st_ino && open.st_dev == named.st_dev;
}

}  // namespace

Result<FolderLock> FolderLock::take(const std::filesystem::path& folder, std::string_view kind,
                                    std::string_view doing) {
  const auto file = folder / fmt::format(".wirewatt-{}.lock", kind);
  for (;;) {
    const int fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0) return tl::unexpected(errno_error(errno, "cannot write in this folder", folder));
    if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
      const int number = errno;
      if (number == EWOULDBLOCK) {
        const std::string holder = holder_of(fd);
        ::close(fd);
        return fail(ErrorCode::invalid_argument,
                    fmt::format("process {} is {} this folder; wait for its end or choose another "
                                "folder",
                                holder, doing),
                    folder.string());
      }
      log::warn("{}: this file system has no locks ({}); let no second process work here",
                folder.string(), std::strerror(number));
      return FolderLock(file, fd);
    }
    if (!is_named(fd, file)) {
      ::close(fd);
      continue;
    }
    FolderLock lock(file, fd);
    if (::ftruncate(fd, 0) != 0) {
      return tl::unexpected(errno_error(errno, "cannot write", file));
    }
    WW_TRY(write_all(fd, fmt::format("{} {}", ::getpid(), host_name()), file));
    return lock;
  }
}

FolderLock::FolderLock(std::filesystem::path file, int fd)
    : file_(std::move(file)), fd_(fd), process_(::getpid()) {}

FolderLock::FolderLock(FolderLock&& other) noexcept
    : file_(std::move(other.file_)), fd_(std::exchange(other.fd_, -1)), process_(other.process_) {}

FolderLock& FolderLock::operator=(FolderLock&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(fd_, other.fd_);
  std::swap(process_, other.process_);
  return *this;
}

FolderLock::~FolderLock() {
  if (fd_ < 0) return;
  if (::getpid() == process_) ::unlink(file_.c_str());
  ::close(fd_);
}

}  // namespace ww
