// A small file system, gone with the object: a disk that can be full.
#pragma once

#include <sys/mount.h>

#include <cerrno>
#include <filesystem>
#include <utility>

namespace ww::e2e {

class Mounted {
 public:
  explicit Mounted(std::filesystem::path path) : path_(std::move(path)) {
    std::filesystem::create_directories(path_);
    mounted_ = ::mount("tmpfs", path_.c_str(), "tmpfs", 0, "size=256k") == 0;
    error_ = errno;
  }
  ~Mounted() {
    if (mounted_) ::umount2(path_.c_str(), MNT_DETACH);
  }
  [[nodiscard]] bool there() const { return mounted_; }
  [[nodiscard]] int error() const { return error_; }
  [[nodiscard]] bool grow() const {
    return ::mount("tmpfs", path_.c_str(), "tmpfs", MS_REMOUNT, "size=64m") == 0;
  }

 private:
  std::filesystem::path path_;
  bool mounted_{};
  int error_{};
};

}  // namespace ww::e2e
