#include "ww/core/streamed_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "write_all.hpp"
#include "ww/core/file_system.hpp"
#include "ww/core/owned_file.hpp"

namespace ww {
namespace {

constexpr std::size_t kBuffer = std::size_t{1} << 18;

std::filesystem::path folder_of(const std::filesystem::path& file) {
  return file.has_parent_path() ? file.parent_path() : std::filesystem::path{"."};
}

std::string hidden_name(const std::filesystem::path& file) {
  return (folder_of(file) / ("." + file.filename().string() + ".XXXXXX")).string();
}

}  // namespace

Result<StreamedFile> StreamedFile::create(const std::filesystem::path& target) {
  StreamedFile file;
  file.target_ = target;
  file.process_ = ::getpid();
  if (is_no_file(target)) {
    file.fd_ = ::open(target.c_str(), O_WRONLY | O_CLOEXEC);
    if (file.fd_ < 0) return tl::unexpected(errno_error(errno, "cannot write", target));
    return file;
  }
  WW_TRY(refuse_owned_database(target));
  const auto folder = folder_of(target);
  file.fd_ = ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0644);
  if (file.fd_ < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
    file.aside_ = hidden_name(target);
    file.fd_ = ::mkostemp(file.aside_.data(), O_CLOEXEC);
    if (file.fd_ < 0) file.aside_.clear();
  }
  if (file.fd_ < 0) {
    return tl::unexpected(errno_error(errno, "cannot write in this folder", folder));
  }
  return file;
}

Result<StreamedFile> StreamedFile::create(const std::filesystem::path& target,
                                          const std::filesystem::path& aside) {
  if (is_no_file(target)) return create(target);
  WW_TRY(refuse_owned_database(target));
  StreamedFile file;
  file.target_ = target;
  file.process_ = ::getpid();
  file.fd_ = ::open(aside.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
  if (file.fd_ < 0) return tl::unexpected(errno_error(errno, "cannot write", aside));
  file.aside_ = aside.string();
  return file;
}

StreamedFile::StreamedFile(StreamedFile&& other) noexcept
    : target_(std::move(other.target_)),
      aside_(std::exchange(other.aside_, {})),
      buffer_(std::exchange(other.buffer_, {})),
      size_(other.size_),
      process_(other.process_),
      fd_(std::exchange(other.fd_, -1)) {}

StreamedFile& StreamedFile::operator=(StreamedFile&& other) noexcept {
  std::swap(target_, other.target_);
  std::swap(aside_, other.aside_);
  std::swap(buffer_, other.buffer_);
  std::swap(size_, other.size_);
  std::swap(process_, other.process_);
  std::swap(fd_, other.fd_);
  return *this;
}

StreamedFile::~StreamedFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!aside_.empty() && ::getpid() == process_) ::unlink(aside_.c_str());
}

Status StreamedFile::write(std::string_view bytes) {
  size_ += bytes.size();
  if (buffer_.size() + bytes.size() < kBuffer) {
    buffer_.append(bytes);
    return {};
  }
  WW_TRY(flush());
  return put(bytes);
}

Status StreamedFile::flush() {
  WW_TRY(put(buffer_));
  buffer_.clear();
  return {};
}

Status StreamedFile::write_ahead(std::string_view bytes) {
  WW_TRY(flush());
  if (is_no_file(target_)) return {};
  WW_TRY(put(bytes));
  if (::lseek(fd_, static_cast<off_t>(size_), SEEK_SET) < 0) {
    return tl::unexpected(errno_error(errno, "cannot write", target_));
  }
  return {};
}

Status StreamedFile::put(std::string_view bytes) {
  if (::getpid() != process_) {
    return fail(ErrorCode::unsupported, "another process is writing this file", target_.string());
  }
  return write_all(fd_, bytes, target_);
}

Status StreamedFile::keep() {
  WW_TRY(flush());
  if (is_no_file(target_)) {
    ::close(std::exchange(fd_, -1));
    return {};
  }
  if (::ftruncate(fd_, static_cast<off_t>(size_)) != 0 || ::fchmod(fd_, 0644) != 0 ||
      ::fsync(fd_) != 0) {
    return tl::unexpected(errno_error(errno, "cannot flush", target_));
  }
  if (aside_.empty()) {
    // A name of its own first: linking cannot replace a file, renaming can.
    const std::string self = "/proc/self/fd/" + std::to_string(fd_);
    for (int attempt = 0; aside_.empty(); ++attempt) {
      std::string name = hidden_name(target_);
      const int reserved = ::mkostemp(name.data(), O_CLOEXEC);
      if (reserved < 0) {
        return tl::unexpected(errno_error(errno, "cannot write in this folder", target_));
      }
      ::close(reserved);
      ::unlink(name.c_str());
      if (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) {
        aside_ = name;
      } else if (errno != EEXIST || attempt == 8) {
        return tl::unexpected(errno_error(errno, "cannot put the file in place", target_));
      }
    }
  }
  if (::rename(aside_.c_str(), target_.c_str()) != 0) {
    return tl::unexpected(errno_error(errno, "cannot put the file in place", target_));
  }
  aside_.clear();
  ::close(std::exchange(fd_, -1));
  return {};
}

}  // namespace ww
