#include <cerrno>
#include <system_error>
#include <utility>

#include "ww/core/file_system.hpp"

namespace ww {

Error errno_error(int number, const std::string& what, const std::filesystem::path& file) {
  const auto code = number == EACCES || number == EPERM || number == EROFS
                        ? ErrorCode::permission_denied
                    : number == ENOENT                      ? ErrorCode::not_found
                    : number == EISDIR || number == ENOTDIR ? ErrorCode::invalid_argument
                                                            : ErrorCode::io_error;
  return Error{code, what + ": " + std::generic_category().message(number), file.string()};
}

Error errno_error(std::error_code error, const std::string& what,
                  const std::filesystem::path& file) {
  return errno_error(error.value(), what, file);
}

Status make_folder(const std::filesystem::path& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (!failed) return {};
  Error error = errno_error(failed, "cannot make the folder", folder);
  // Those above are there by now, so this file system makes none, as /proc.
  if (error.code == ErrorCode::not_found) error.code = ErrorCode::io_error;
  return tl::unexpected(std::move(error));
}

}  // namespace ww
