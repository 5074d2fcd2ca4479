// A table of figures and texts. The terminal, JSON and the pages of a report are made from it.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ww/core/figure.hpp"

namespace ww {

struct Column {
  std::string title;  // empty: people do not see it
  bool number{};      // aligned to the right on a page
  std::string key{};  // of the row's JSON object; empty: JSON does not have it
};

struct Cell {
  std::string text;
  std::optional<nlohmann::json> value;  // nothing: the row's object lacks the key

  Cell() = default;
  Cell(std::string shown) : text(std::move(shown)), value(text) {}  // NOLINT: a text is a cell
  Cell(std::string_view shown) : Cell(std::string(shown)) {}        // NOLINT
  Cell(const char* shown) : Cell(std::string(shown)) {}             // NOLINT
  Cell(std::string shown, nlohmann::json json) : text(std::move(shown)), value(std::move(json)) {}
  // Returns a cell for people alone.
  [[nodiscard]] static Cell shown(std::string text) {
    Cell cell;
    cell.text = std::move(text);
    return cell;
  }
  // An interval, or null, which is shown as a dash.
  Cell(const std::optional<Interval>& interval)  // NOLINT
      : Cell(interval_text(interval), interval_json(interval)) {}
  Cell(const Interval& interval) : Cell(std::optional(interval)) {}  // NOLINT
};

struct Table {
  std::string heading;  // also its name for screen readers
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;
};

// A list of objects, one a row.
[[nodiscard]] nlohmann::json table_json(const Table& table);
// Lines with columns padded to their widest cell; the titles are the first line. The heading is not
// among them.
[[nodiscard]] std::string table_text(const Table& table);

}  // namespace ww
