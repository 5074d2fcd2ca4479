#include "ww/core/table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ww {

nlohmann::json table_json(const Table& table) {
  auto rows = nlohmann::json::array();
  for (const auto& row : table.rows) {
    auto object = nlohmann::json::object();
    for (std::size_t i = 0; i < std::min(row.size(), table.columns.size()); ++i) {
      const std::string& key = table.columns[i].key;
      if (!key.empty() && row[i].value) object[key] = *row[i].value;
    }
    rows.push_back(std::move(object));
  }
  return rows;
}

std::string table_text(const Table& table) {
  std::vector<std::size_t> shown;
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].title.empty()) continue;
    shown.push_back(i);
    widths.push_back(table.columns[i].title.size());
    for (const auto& row : table.rows) {
      if (i < row.size()) widths.back() = std::max(widths.back(), row[i].text.size());
    }
  }
  std::string lines;
  const auto add = [&](const auto& text_of) {
    for (std::size_t n = 0; n < shown.size(); ++n) {
      const std::string& text = text_of(shown[n]);
      lines += n + 1 < shown.size() ? fmt::format("{:<{}}  ", text, widths[n]) : text;
    }
    lines += '\n';
  };
  add([&](std::size_t i) -> const std::string& { return table.columns[i].title; });
  static const std::string kNothing;
  for (const auto& row : table.rows) {
    add([&](std::size_t i) -> const std::string& {
      return i < row.size() ? row[i].text : kNothing;
    });
  }
  return lines;
}

}  // namespace ww
