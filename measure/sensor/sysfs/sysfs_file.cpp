#include "sysfs_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <utility>

namespace ww::measure {

SysfsFile::SysfsFile(SysfsFile&& other) noexcept
    : path_(std::move(other.path_)),
      fd_(std::exchange(other.fd_, -1)),
      error_(other.error_),
      fresh_(other.fresh_) {}

SysfsFile& SysfsFile::operator=(SysfsFile&& other) noexcept {
  if (this == &other) return *this;
  close_file();
  path_ = std::move(other.path_);
  fd_ = std::exchange(other.fd_, -1);
  error_ = other.error_;
  fresh_ = other.fresh_;
  return *this;
}

void SysfsFile::close_file() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

void SysfsFile::open_again() {
  close_file();
  fd_ = open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  error_ = fd_ >= 0 ? 0 : errno;
}

std::span<const std::byte> SysfsFile::read_bytes() {
  if (path_.empty()) return {};
  // A file that was replaced rather than written is another one; the kernel replaces none.
  constexpr unsigned reads_between_looks = 16;
  struct stat info {};
  const bool look = reads_++ % reads_between_looks == 0;
  if (fd_ < 0 || fresh_ || (look && fstat(fd_, &info) == 0 && info.st_nlink == 0)) open_again();
  if (fd_ < 0) return {};
  // One read gives at most a page; what stat() says of the size is no guide.
  constexpr std::size_t page = 4096, most = std::size_t{256} * 1024;
  std::size_t length = 0;
  while (length < most) {
    if (buffer_.size() < length + page) buffer_.resize(length + page);
    const ssize_t n = pread(fd_, buffer_.data() + length, page, static_cast<off_t>(length));
    error_ = n < 0 ? errno : 0;
    if (n < 0) return {};
    length += static_cast<std::size_t>(n);
    if (static_cast<std::size_t>(n) < page) break;
  }
  return std::as_bytes(std::span(buffer_.data(), length));
}

bool SysfsFile::asleep() const {
  return fd_ >= 0 && error_ == EPERM;
}

std::string_view SysfsFile::read() {
  const auto bytes = read_bytes();
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  while (!text.empty() && (text.back() == '\n' || text.back() == '\0')) text.remove_suffix(1);
  return text;
}

std::optional<std::int64_t> SysfsFile::read_number() {
  const auto text = read();
  std::int64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size()) return {};
  return value;
}

FieldState SysfsFile::state(const std::string& what) {
  FieldState state{what, FieldStatus::ok, path_};
  if (!read_bytes().empty()) return state;
  if (error_ == ENOENT || error_ == ENODEV || error_ == EOPNOTSUPP || error_ == ENODATA) {
    state.status = FieldStatus::missing;
    state.reason = fmt::format("{}: {}", path_, std::strerror(error_));
  } else if (asleep()) {
    state.status = FieldStatus::failed;
    state.reason =
        fmt::format("{}: the card sleeps or is being reset ({})", path_, std::strerror(error_));
  } else if (error_ == EBUSY) {
    state.status = FieldStatus::failed;
    state.reason =
        fmt::format("{}: the driver or the firmware is busy ({})", path_, std::strerror(error_));
  } else if (error_ == EACCES || error_ == EPERM) {
    state.status = FieldStatus::denied;
    state.reason = fmt::format("{}: {}", path_, std::strerror(error_));
  } else {
    state.status = FieldStatus::failed;
    state.reason =
        fmt::format("{}: {}", path_, error_ != 0 ? std::strerror(error_) : "it is empty");
  }
  return state;
}

std::string file_text(const std::string& path) {
  return std::string(SysfsFile(path).read());
}

Status write_file(const std::string& path, std::string_view text) {
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC | O_TRUNC);
  int error = errno;
  if (fd >= 0) {
    const ssize_t n = write(fd, text.data(), text.size());
    error = n == static_cast<ssize_t>(text.size()) ? 0 : errno;
    close(fd);
    if (error == 0) return {};
  }
  if (error == EACCES || error == EPERM || error == EROFS) {
    return fail(ErrorCode::permission_denied,
                fmt::format("cannot write '{}' ({}); run as root (sudo), or leave the clocks alone "
                            "with --no-clock-control",
                            text, std::strerror(error)),
                path);
  }
  return fail(error == ENOENT ? ErrorCode::not_found : ErrorCode::device_error,
              fmt::format("cannot write '{}': {}", text, std::strerror(error)), path);
}

}  // namespace ww::measure
