// Folders for files that nobody keeps.
#pragma once

#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include "ww/core/result.hpp"

namespace ww {

// The folder that TMPDIR names, else /tmp. Error io_error: it is no folder.
[[nodiscard]] Result<std::filesystem::path> temporary_parent();

// A new, empty folder that only this user may enter. It is removed with everything in it when the
// object goes.
class ScratchFolder {
 public:
  // Makes "wirewatt-PURPOSE-......" in temporary_parent(). `purpose` is a word for whoever finds
  // the folder after a crash. Errors: those of temporary_parent and create_in.
  [[nodiscard]] static Result<ScratchFolder> create(std::string_view purpose);
  // Makes a hidden folder in `parent`. A file in it can then move to `parent` by a rename, which is
  // atomic within one file system. Errors: permission_denied, not_found (no such `parent`),
  // io_error.
  [[nodiscard]] static Result<ScratchFolder> create_in(const std::filesystem::path& parent);

  ScratchFolder(ScratchFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ~ScratchFolder();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  // The files and folders directly inside, in order of name. Without those whose names begin with a
  // dot: their writer has not put them in place, or was killed before it could (StreamedFile).
  [[nodiscard]] std::vector<std::filesystem::path> files() const;

 private:
  explicit ScratchFolder(std::filesystem::path path) : path_(std::move(path)) {}
  static Result<ScratchFolder> make(const std::filesystem::path& parent, std::string_view prefix);

  std::filesystem::path path_;
};

}  // namespace ww
