// Comma-separated values as RFC 4180 has them: quoted fields, doubled quotes, commas and line ends
// inside quotes, CR LF or LF. (Debian has no C++ library for it; libcsv, in C, tells no line.)
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "ww/core/result.hpp"

namespace ww::measure {

struct CsvRow {
  std::size_t line{};  // 1-based line of the file on which the row begins
  std::vector<std::string> fields;
  bool cut{};  // the text ends in the last field, unquoted and without a line end: more may be lost
  [[nodiscard]] bool cut_at(std::size_t field) const { return cut && field + 1 == fields.size(); }
};

struct CsvOptions {
  std::size_t first_line{1};     // line number of the first line of `text`
  std::string_view skip_prefix;  // lines that begin so, between rows, are no rows ("==" of ncu)
  bool trim{false};              // spaces around unquoted fields are no part of them
};

// Rows in file order; blank lines are left out; a byte order mark is dropped. Errors: parse_error
// that names `source` and the line (quote that never closes, text after a closing quote, NUL
// bytes, UTF-16).
[[nodiscard]] Result<std::vector<CsvRow>> parse_csv(std::string_view text,
                                                    const std::string& source,
                                                    const CsvOptions& options = {});

// The text without a UTF-8 byte order mark.
[[nodiscard]] std::string_view without_bom(std::string_view text);

}  // namespace ww::measure
