// Strict reading of a TOML table: every key is asked for by name and range, whatever was not asked
// for is an error, and errors name file, line and key.
#pragma once

#include <toml++/toml.h>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/sim/gpu/point.hpp"

namespace ww::sim::gpu {

// Parses text; the error names origin and line.
[[nodiscard]] Result<toml::table> parse_toml(std::string_view text, const std::string& origin);

// Keeps the first error of a document; after one, readers return harmless values.
class TomlErrors {
 public:
  explicit TomlErrors(std::string origin) : origin_(std::move(origin)) {}
  void add(ErrorCode code, std::uint32_t line, const std::string& key, const std::string& message);
  [[nodiscard]] const std::optional<Error>& first() const { return first_; }

 private:
  std::string origin_;
  std::optional<Error> first_;
};

class TomlReader {
 public:
  TomlReader(const toml::table& table, std::string path, TomlErrors& errors)
      : table_(table), path_(std::move(path)), errors_(errors) {}

  [[nodiscard]] bool has(std::string_view key) const { return table_.contains(key); }
  // Required; outside [low, high] is out_of_range.
  double number(std::string_view key, double low, double high);
  std::int64_t integer(std::string_view key, std::int64_t low, std::int64_t high);
  bool boolean(std::string_view key);
  std::string text(std::string_view key);
  // Missing: the fallback.
  double number_or(std::string_view key, double low, double high, double fallback);
  std::string text_or(std::string_view key, const std::string& fallback);
  Point point(std::string_view key, double width_mm, double height_mm);
  std::vector<Point> points(std::string_view key, double width_mm, double height_mm);
  std::vector<double> numbers(std::string_view key, double low, double high);
  std::vector<std::string> texts(std::string_view key);
  // Rows of equal length, flattened; columns through the last argument.
  std::vector<double> matrix(std::string_view key, double low, double high, std::size_t& columns);
  std::vector<std::vector<int>> integer_rows(std::string_view key, int low, int high);
  // Sub-tables. A missing one is an error; the reader that comes back is then empty.
  TomlReader table(std::string_view key);
  std::vector<TomlReader> tables(std::string_view key);
  void fail_at(std::string_view key, ErrorCode code, const std::string& message);
  // Every key that was not asked for is an error. Call last.
  void finish();

 private:
  const toml::node* find(std::string_view key, const char* kind);
  [[nodiscard]] std::string full(std::string_view key) const;
  std::optional<double> as_number(const toml::node& node, std::string_view key, double low,
                                  double high);
  Point as_point(const toml::node& node, std::string_view key, double width_mm, double height_mm);
  [[nodiscard]] static std::uint32_t line_of(const toml::node& node) {
    return node.source().begin.line;
  }

  const toml::table& table_;
  std::string path_;
  TomlErrors& errors_;
  std::set<std::string, std::less<>> asked_;
};

}  // namespace ww::sim::gpu
