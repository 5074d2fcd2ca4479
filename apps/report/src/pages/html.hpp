// Declares the parts of every page: head, answer, sections with charts and tables, and one file
// that needs no other and no network (its content-security policy forbids both).
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "drawing/bars.hpp"
#include "drawing/svg.hpp"
#include "ww/core/result.hpp"

namespace ww::report {

struct Column {
  std::string name;
  bool number{};  // aligned to the right
};

struct Table {
  std::string caption;  // also its name for screen readers and for what is copied
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;  // plain text; escaped when written
};

class Html {
 public:
  // `notice` is the warning of a virtual device: every page about one carries it.
  Html(const std::string& title, bool is_virtual);

  // Markup as it is; the caller escapes what it puts in.
  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    text_ += fmt::format(format, std::forward<Args>(args)...);
    text_ += '\n';
  }
  // The figure that the reader came for, with its interval or reason below.
  void answer(const std::string& big, const std::vector<std::string>& lines);
  void warn(const std::string& strong, const std::string& text);
  // Small figures in a row: {value, what it is}.
  void tiles(const std::vector<std::pair<std::string, std::string>>& tiles);
  // A heading that the list of contents names; sections follow each other.
  void section(const std::string& heading);
  void chart(const std::string& heading, const Plot& plot);
  void chart(const std::string& heading, const BarChart& chart);
  // An SVG that stays as it is, such as a map.
  void drawing(const std::string& svg, const std::string& caption);
  void table(const Table& table);

  // The whole page. Call once.
  [[nodiscard]] std::string finish();
  [[nodiscard]] Status save(const std::filesystem::path& html);

 private:
  void figure(const std::string& svg, const std::string& json, const std::string& caption);

  std::string head_, text_;
  std::vector<std::string> sections_;
};

// "Power over time" becomes "power-over-time".
[[nodiscard]] std::string anchor(std::string_view heading);

}  // namespace ww::report
