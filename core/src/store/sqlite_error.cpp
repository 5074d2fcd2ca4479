#include "sqlite_error.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <sqlite3.h>

namespace ww {

Error sqlite_error(const SQLite::Exception& e, const std::string& file) {
  const int code = e.getErrorCode() & 0xff;
  if (code == SQLITE_OK || code == SQLITE_CORRUPT || code == SQLITE_NOTADB) {
    return {ErrorCode::parse_error,
            std::string("not a campaign file, or a damaged one (") + e.what() +
                "); restore it from a copy or run 'wirewatt calibrate' into a new folder",
            file};
  }
  if (code == SQLITE_READONLY || code == SQLITE_AUTH) {
    return {ErrorCode::permission_denied, std::string("cannot write the campaign: ") + e.what(),
            file};
  }
  if (code == SQLITE_BUSY || code == SQLITE_LOCKED) {
    return {ErrorCode::io_error,
            "another process is writing this campaign; wait for it or choose another folder", file};
  }
  return {ErrorCode::io_error, std::string("campaign file: ") + e.what(), file};
}

}  // namespace ww
