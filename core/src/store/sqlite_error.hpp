// Turns an SQLite exception into an error that says what to do.
#pragma once

#include <string>

#include "ww/core/result.hpp"

namespace SQLite {
class Exception;
}

namespace ww {

[[nodiscard]] Error sqlite_error(const SQLite::Exception& e, const std::string& file);

}  // namespace ww
