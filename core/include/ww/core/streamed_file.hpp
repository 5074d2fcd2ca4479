// A file that is written in pieces and appears complete or not at all. Its bytes have no name until
// keep() gives them one, so a process that is killed at any moment leaves nothing behind.
//
// It is the opening process's: after a fork, the child writes nothing and removes nothing.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "ww/core/result.hpp"

namespace ww {

class StreamedFile {
 public:
  // Opens an unnamed file in the folder of `target`. If the file system has no unnamed files, it
  // opens a hidden one, which the destructor removes. Errors: not_found, permission_denied,
  // io_error.
  static Result<StreamedFile> create(const std::filesystem::path& target);
  // Creates a file whose bytes have the name `aside`, in the same folder, until keep(): if the
  // process is killed they stay there, up to the last flush().
  static Result<StreamedFile> create(const std::filesystem::path& target,
                                     const std::filesystem::path& aside);

  StreamedFile(StreamedFile&& other) noexcept;
  StreamedFile& operator=(StreamedFile&& other) noexcept;
  ~StreamedFile();  // drops the file unless keep() put it in place

  // Appends bytes, short pieces through a buffer. Errors: io_error (disk full), unsupported
  // (another process opened the file).
  Status write(std::string_view bytes);
  Status flush();  // errors as write()
  // Flushes, and puts bytes behind the end that the next write() replaces. A killed process leaves
  // them behind in `aside`; the file that keep() puts in place is without them. Errors as write().
  Status write_ahead(std::string_view bytes);
  // Flushes and puts the file in place of `target`; the object can then only be destroyed.
  // Errors: permission_denied, io_error, unsupported (as write); the old file then remains.
  Status keep();

  [[nodiscard]] const std::filesystem::path& target() const { return target_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }

 private:
  StreamedFile() = default;
  Status put(std::string_view bytes);

  std::filesystem::path target_;
  std::string aside_;  // hidden name; empty while the file has none
  std::string buffer_;
  std::uint64_t size_{};
  pid_t process_{};
  int fd_{-1};
};

}  // namespace ww
