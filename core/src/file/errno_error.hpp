#pragma once

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>

#include "ww/core/result.hpp"

namespace ww {

// The Error of a failed system call on a file.
inline Error errno_error(int number, const std::string& what, const std::filesystem::path& file) {
  const auto code = number == EACCES || number == EPERM || number == EROFS
                        ? ErrorCode::permission_denied
                    : number == ENOENT                      ? ErrorCode::not_found
                    : number == EISDIR || number == ENOTDIR ? ErrorCode::invalid_argument
                                                            : ErrorCode::io_error;
  return Error{code, what + ": " + std::strerror(number), file.string()};
}

}  // namespace ww
