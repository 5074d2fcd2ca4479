#include "ww/measure/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace ww::measure {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

class RowReader {
 public:
  RowReader(std::string_view text, const std::string& source, const CsvOptions& options)
      : text_(text), source_(source), options_(options), line_(options.first_line) {}

  Status each(const std::function<Status(CsvRow&)>& take) {
    CsvRow row;  // one for all of them: its texts keep their memory
    while (at_ < text_.size()) {
      if (skipped_line()) continue;
      row.line = line_;
      row.cut = false;
      fields_ = 0;
      bool more = true;
      while (more) {
        WW_TRY(field(row, more));
      }
      row.fields.resize(fields_);
      WW_TRY(take(row));
    }
    return {};
  }

 private:
  // Blank lines and lines of another program.
  bool skipped_line() {
    const auto end = text_.find('\n', at_);
    const auto line = text_.substr(at_, end == std::string_view::npos ? end : end - at_);
    const bool other = !options_.skip_prefix.empty() && line.starts_with(options_.skip_prefix);
    if (!other && line.find_first_not_of(" \t\r") != std::string_view::npos) return false;
    at_ = end == std::string_view::npos ? text_.size() : end + 1;
    ++line_;
    return true;
  }

  std::string& next_field(CsvRow& row) {
    if (fields_ == row.fields.size()) row.fields.emplace_back();
    return row.fields[fields_++];
  }

  // One field and what ends it. `more`: another field of the row follows.
  Status field(CsvRow& row, bool& more) {
    auto start = at_;
    if (options_.trim) {
      while (start < text_.size() && (text_[start] == ' ' || text_[start] == '\t')) ++start;
    }
    if (start < text_.size() && text_[start] == '"') {
      at_ = start;
      WW_TRY(quoted(row));
    } else {
      auto end = at_;
      while (end < text_.size() && text_[end] != ',' && text_[end] != '\n') ++end;
      auto value = text_.substr(at_, end - at_);
      if (value.ends_with('\r') && (end == text_.size() || text_[end] == '\n')) {
        value.remove_suffix(1);
      }
      row.cut = end == text_.size();
      next_field(row) = options_.trim ? trimmed(value) : value;
      at_ = end;
    }
    more = at_ < text_.size() && text_[at_] == ',';
    if (at_ < text_.size()) {
      if (text_[at_] == '\n') ++line_;
      ++at_;
    }
    return {};
  }

  Status quoted(CsvRow& row) {
    const auto opened = line_;
    std::string& value = next_field(row);
    value.clear();
    for (++at_;; ++at_) {
      const auto quote = std::min(text_.find('"', at_), text_.size());
      const auto part = text_.substr(at_, quote - at_);
      line_ += static_cast<std::size_t>(std::ranges::count(part, '\n'));
      value += part;
      at_ = quote;
      if (at_ == text_.size()) break;
      if (at_ + 1 < text_.size() && text_[at_ + 1] == '"') {
        value += text_[++at_];
      } else {
        ++at_;
        while (at_ < text_.size() && (text_[at_] == '\r' || (options_.trim && text_[at_] == ' '))) {
          ++at_;
        }
        if (at_ < text_.size() && text_[at_] != ',' && text_[at_] != '\n') {
          return error("text after a closing quote", line_);
        }
        return {};
      }
    }
    return error("a quote is never closed", opened);
  }

  [[nodiscard]] Status error(std::string what, std::size_t line) const {
    return fail(ErrorCode::parse_error, std::move(what), fmt::format("{}:{}", source_, line));
  }

  std::string_view text_;
  const std::string& source_;
  CsvOptions options_;
  std::size_t line_;
  std::size_t at_{0};
  std::size_t fields_{0};  // of this row so far
};

// The whole field as a number.
template <class Number>
Result<Number> parsed(const Result<std::string_view>& field, const CsvRow& row,
                      std::string_view column, const std::string& source) {
  if (!field) return tl::unexpected(field.error());
  Number value{};
  const char* const end = field->data() + field->size();
  const auto [stop, error] = std::from_chars(field->data(), end, value);
  if (error != std::errc{} || stop != end) {
    return fail(ErrorCode::parse_error, fmt::format("{} '{}' is not a number", column, *field),
                fmt::format("{}:{}", source, row.line));
  }
  return value;
}

}  // namespace

std::string_view without_bom(std::string_view text) {
  return text.starts_with("\xEF\xBB\xBF") ? text.substr(3) : text;
}

Status each_csv_row(std::string_view text, const std::string& source, const CsvOptions& options,
                    const std::function<Status(CsvRow&)>& take) {
  text = without_bom(text);
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) {
    return fail(ErrorCode::parse_error, "the file is UTF-16; save it as UTF-8", source);
  }
  if (text.find('\0') != std::string_view::npos) {
    return fail(ErrorCode::parse_error, "the file has NUL bytes: it is not a text file", source);
  }
  return RowReader(text, source, options).each(take);
}

Result<std::vector<CsvRow>> parse_csv(std::string_view text, const std::string& source,
                                      const CsvOptions& options) {
  std::vector<CsvRow> rows;
  WW_TRY(each_csv_row(text, source, options, [&rows](CsvRow& row) -> Status {
    rows.push_back(std::move(row));
    return {};
  }));
  return rows;
}

CsvColumns::CsvColumns(const CsvRow& header, std::string source)
    : names_(header.fields), source_(std::move(source)) {}

bool CsvColumns::has(std::string_view column) const {
  return std::ranges::find(names_, column) != names_.end();
}

Result<std::string_view> CsvColumns::text(const CsvRow& row, std::string_view column) const {
  const auto index = static_cast<std::size_t>(std::ranges::find(names_, column) - names_.begin());
  if (index == names_.size()) {
    return fail(ErrorCode::parse_error, fmt::format("the table has no column {}", column), source_);
  }
  if (index >= row.fields.size()) {
    return fail(ErrorCode::parse_error,
                fmt::format("the row ends before the column {}: {} fields of {}", column,
                            row.fields.size(), names_.size()),
                fmt::format("{}:{}", source_, row.line));
  }
  return std::string_view(row.fields[index]);
}

Result<double> CsvColumns::number(const CsvRow& row, std::string_view column) const {
  return parsed<double>(text(row, column), row, column, source_);
}

Result<std::int64_t> CsvColumns::integer(const CsvRow& row, std::string_view column) const {
  return parsed<std::int64_t>(text(row, column), row, column, source_);
}

Result<std::optional<std::int64_t>> CsvColumns::optional_integer(const CsvRow& row,
                                                                 std::string_view column) const {
  WW_ASSIGN(field, text(row, column));
  if (field.empty()) return std::nullopt;
  WW_ASSIGN(value, integer(row, column));
  return value;
}

}  // namespace ww::measure
