// Errors as values: what went wrong, where, and what to do about it.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace ww {

enum class ErrorCode {
  invalid_argument,    // the caller asked for something that makes no sense
  not_found,           // the named thing does not exist
  parse_error,         // a file or a byte stream is not what it should be
  out_of_range,        // a value is outside its documented range
  unsupported,         // understood, but not possible on this device or format
  io_error,            // the file system or another process failed
  permission_denied,   // the user may not do this; the message names the remedy
  missing_dependency,  // a library or driver is absent; the message names the package
  device_error,        // the device or its driver refused or misbehaved
  bad_data,            // measured data cannot be used (frozen sensor, empty campaign)
  cancelled,           // interrupted by the user; what was finished is kept
};

// Stable lower-case name, as printed in JSON.
[[nodiscard]] std::string_view to_string(ErrorCode code);

struct Error {
  ErrorCode code{ErrorCode::invalid_argument};
  std::string message;  // what happened and what to do, one sentence or two
  std::string context;  // where: file and line, device, kernel, key; may be empty

  // "context: message", or the message alone.
  [[nodiscard]] std::string text() const;
};

template <class T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

[[nodiscard]] inline tl::unexpected<Error> fail(ErrorCode code, std::string message,
                                                std::string context = {}) {
  return tl::unexpected<Error>(Error{code, std::move(message), std::move(context)});
}

// Process exit code of an error, the command line's contract: 1 the result is bad, 2 usage,
// 3 environment (driver, permission, device, file system).
[[nodiscard]] int exit_code(ErrorCode code);

}  // namespace ww

// Returns the error of a Result expression from the enclosing function.
#define WW_TRY(expression)                                                  \
  do {                                                                      \
    if (auto ww_try_result = (expression); !ww_try_result) {                \
      return tl::unexpected<::ww::Error>(std::move(ww_try_result).error()); \
    }                                                                       \
  } while (false)

// Declares `name` as the value of a Result expression, or returns its error.
#define WW_ASSIGN(name, expression)                                       \
  auto name##_result = (expression);                                      \
  if (!name##_result) {                                                   \
    return tl::unexpected<::ww::Error>(std::move(name##_result).error()); \
  }                                                                       \
  auto name = std::move(*name##_result)
