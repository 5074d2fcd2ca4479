#include "ww/core/result.hpp"

#include "process/interrupt_signal.hpp"

namespace ww {
namespace {

constexpr int kSignalled = 128;  // plus the signal: what shells report of a program it ended

}  // namespace

std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument: return "invalid_argument";
    case ErrorCode::not_found: return "not_found";
    case ErrorCode::parse_error: return "parse_error";
    case ErrorCode::out_of_range: return "out_of_range";
    case ErrorCode::unsupported: return "unsupported";
    case ErrorCode::io_error: return "io_error";
    case ErrorCode::permission_denied: return "permission_denied";
    case ErrorCode::missing_dependency: return "missing_dependency";
    case ErrorCode::device_error: return "device_error";
    case ErrorCode::bad_data: return "bad_data";
    case ErrorCode::cancelled: return "cancelled";
  }
  return "unknown";
}

std::string Error::text() const {
  return context.empty() ? message : context + ": " + message;
}

int exit_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
    case ErrorCode::out_of_range:
    case ErrorCode::not_found: return 2;
    case ErrorCode::missing_dependency:
    case ErrorCode::permission_denied:
    case ErrorCode::device_error:
    case ErrorCode::io_error: return 3;
    case ErrorCode::parse_error:
    case ErrorCode::unsupported:
    case ErrorCode::bad_data: return 1;
    case ErrorCode::cancelled: return interrupt_signal() != 0 ? kSignalled + interrupt_signal() : 1;
  }
  return 1;
}

}  // namespace ww
