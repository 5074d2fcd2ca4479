// One process at a time works in a folder: two would load one device at once, or run the same work
// twice.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "ww/core/result.hpp"

namespace ww {

// Held until it is destroyed or its process ends, however it ends; the kernel then frees it
// (flock), so a lock file that was left behind locks nothing.
class FolderLock {
 public:
  // `kind` names the hidden lock file, .wirewatt-KIND.lock; locks of other kinds do not disturb
  // each other. `doing` completes the error "process 4711 is <doing> this folder". Errors:
  // invalid_argument (another process has it), permission_denied, not_found, io_error. A file
  // system without locks gets a warning and no lock.
  static Result<FolderLock> take(const std::filesystem::path& folder, std::string_view kind,
                                 std::string_view doing);

  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&& other) noexcept;
  ~FolderLock();  // in a fork of the process: frees nothing

 private:
  FolderLock(std::filesystem::path file, int fd);

  std::filesystem::path file_;
  int fd_{-1};
  pid_t process_{};
};

}  // namespace ww
