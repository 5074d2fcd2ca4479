// A kernel file that is read again and again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/measure/power_source.hpp"

namespace ww::measure {

class SysfsFile {
 public:
  SysfsFile() = default;
  explicit SysfsFile(std::string path) : path_(std::move(path)) { open_again(); }
  ~SysfsFile() { close_file(); }
  SysfsFile(SysfsFile&& other) noexcept;
  SysfsFile& operator=(SysfsFile&& other) noexcept;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] bool is_open() const { return fd_ >= 0; }
  // The last read was refused although the file could be opened: the kernel answers so while the
  // card sleeps.
  [[nodiscard]] bool asleep() const;
  // How it answers now; `what` names the field.
  [[nodiscard]] FieldState state(const std::string& what);

  // Opens the file anew for every read. Some drivers fill a table once for each opening.
  void open_every_time() { fresh_ = true; }

  // The whole content (up to 256 KiB) from its beginning, without the last line's end; valid until
  // the next read. Empty when it cannot be read.
  std::string_view read();
  std::span<const std::byte> read_bytes();
  std::optional<std::int64_t> read_number();

 private:
  void open_again();
  void close_file();
  std::string path_;
  int fd_{-1};
  int error_{};
  unsigned reads_{};
  bool fresh_{};
  std::vector<char> buffer_;
};

// The whole of a small file, without the last line's end; empty where there is none.
[[nodiscard]] std::string file_text(const std::string& path);
// Errors: permission_denied with the remedy, device_error, not_found.
[[nodiscard]] Status write_file(const std::string& path, std::string_view text);

}  // namespace ww::measure
