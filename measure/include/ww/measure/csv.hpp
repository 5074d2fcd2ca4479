// Comma-separated values as RFC 4180 has them: quoted fields, doubled quotes, commas and line ends
// inside quotes, CR LF or LF. (Debian has no C++ library for it; libcsv, in C, reports no line.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
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

// Reads rows one at a time, for tables that are too long to keep. An error of `take` ends it.
[[nodiscard]] Status each_csv_row(std::string_view text, const std::string& source,
                                  const CsvOptions& options,
                                  const std::function<Status(CsvRow& row)>& take);

// Reads the fields of rows by the names in their header. Errors: parse_error that names the source,
// the line and the column (no such column, a row that is too short, a field that is not a number).
class CsvColumns {
 public:
  CsvColumns(const CsvRow& header, std::string source);
  [[nodiscard]] bool has(std::string_view column) const;
  // The field lives as long as the row.
  [[nodiscard]] Result<std::string_view> text(const CsvRow& row, std::string_view column) const;
  [[nodiscard]] Result<double> number(const CsvRow& row, std::string_view column) const;
  [[nodiscard]] Result<std::int64_t> integer(const CsvRow& row, std::string_view column) const;
  // Absent where the field is empty.
  [[nodiscard]] Result<std::optional<std::int64_t>> optional_integer(const CsvRow& row,
                                                                     std::string_view column) const;

 private:
  std::vector<std::string> names_;
  std::string source_;
};

// The text without a UTF-8 byte order mark.
[[nodiscard]] std::string_view without_bom(std::string_view text);

}  // namespace ww::measure
