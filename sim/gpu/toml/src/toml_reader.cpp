#include "ww/sim/gpu/toml_reader.hpp"

#include <fmt/format.h>

#include <cmath>

namespace ww::sim::gpu {

Result<toml::table> parse_toml(std::string_view text, const std::string& origin) {
  try {
    return toml::parse(text, origin);
  } catch (const toml::parse_error& error) {
    return fail(ErrorCode::parse_error, std::string(error.description()),
                fmt::format("{}:{}", origin, error.source().begin.line));
  }
}

void TomlErrors::add(ErrorCode code, std::uint32_t line, const std::string& key,
                     const std::string& message) {
  if (!first_) {
    first_ = Error{code, fmt::format("{}: {}", key, message), fmt::format("{}:{}", origin_, line)};
  }
}

std::string TomlReader::full(std::string_view key) const {
  return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

const toml::node* TomlReader::find(std::string_view key, const char* kind) {
  asked_.emplace(key);
  const toml::node* node = table_.get(key);
  if (node == nullptr) {
    errors_.add(ErrorCode::parse_error, line_of(table_), full(key),
                fmt::format("missing key ({} expected in this table)", kind));
  }
  return node;
}

std::optional<double> TomlReader::as_number(const toml::node& node, std::string_view key,
                                            double low, double high) {
  const auto value = node.value<double>();
  if (!value || !(node.is_floating_point() || node.is_integer())) {
    errors_.add(ErrorCode::parse_error, line_of(node), full(key), "a number is expected");
    return std::nullopt;
  }
  if (!std::isfinite(*value) || *value < low || *value > high) {
    errors_.add(ErrorCode::out_of_range, line_of(node), full(key),
                fmt::format("{} is outside {} to {}", *value, low, high));
    return std::nullopt;
  }
  return value;
}

double TomlReader::number(std::string_view key, double low, double high) {
  const toml::node* node = find(key, "number");
  return node == nullptr ? low : as_number(*node, key, low, high).value_or(low);
}

double TomlReader::number_or(std::string_view key, double low, double high, double fallback) {
  asked_.emplace(key);
  return has(key) ? number(key, low, high) : fallback;
}

std::int64_t TomlReader::integer(std::string_view key, std::int64_t low, std::int64_t high) {
  const toml::node* node = find(key, "integer");
  if (node == nullptr) {
    return low;
  }
  if (!node->is_integer()) {
    errors_.add(ErrorCode::parse_error, line_of(*node), full(key), "an integer is expected");
    return low;
  }
  const std::int64_t value = node->value_or(low);
  if (value < low || value > high) {
    errors_.add(ErrorCode::out_of_range, line_of(*node), full(key),
                fmt::format("{} is outside {} to {}", value, low, high));
    return low;
  }
  return value;
}

bool TomlReader::boolean(std::string_view key) {
  const toml::node* node = find(key, "true or false");
  if (node != nullptr && !node->is_boolean()) {
    errors_.add(ErrorCode::parse_error, line_of(*node), full(key), "true or false is expected");
  }
  return node != nullptr && node->value_or(false);
}

std::string TomlReader::text(std::string_view key) {
  const toml::node* node = find(key, "text");
  if (node != nullptr && !node->is_string()) {
    errors_.add(ErrorCode::parse_error, line_of(*node), full(key), "text is expected");
  }
  return node == nullptr ? std::string{} : node->value_or(std::string{});
}

std::string TomlReader::text_or(std::string_view key, const std::string& fallback) {
  asked_.emplace(key);
  return has(key) ? text(key) : fallback;
}

Point TomlReader::as_point(const toml::node& node, std::string_view key, double width_mm,
                           double height_mm) {
  const toml::array* pair = node.as_array();
  if (pair == nullptr || pair->size() != 2) {
    errors_.add(ErrorCode::parse_error, line_of(node), full(key), "a point [x, y] is expected");
    return {};
  }
  return {as_number(*pair->get(0), key, 0.0, width_mm).value_or(0.0),
          as_number(*pair->get(1), key, 0.0, height_mm).value_or(0.0)};
}

Point TomlReader::point(std::string_view key, double width_mm, double height_mm) {
  const toml::node* node = find(key, "point [x, y]");
  return node == nullptr ? Point{} : as_point(*node, key, width_mm, height_mm);
}

std::vector<Point> TomlReader::points(std::string_view key, double width_mm, double height_mm) {
  std::vector<Point> result;
  const toml::node* node = find(key, "list of points");
  if (node == nullptr) {
    return result;
  }
  if (!node->is_array()) {
    errors_.add(ErrorCode::parse_error, line_of(*node), full(key), "a list of points is expected");
    return result;
  }
  for (const toml::node& entry : *node->as_array()) {
    result.push_back(as_point(entry, key, width_mm, height_mm));
  }
  return result;
}

std::vector<double> TomlReader::numbers(std::string_view key, double low, double high) {
  std::vector<double> result;
  const toml::node* node = find(key, "list of numbers");
  if (node == nullptr) {
    return result;
  }
  if (!node->is_array()) {
    errors_.add(ErrorCode::parse_error, line_of(*node), full(key), "a list of numbers is expected");
    return result;
  }
  for (const toml::node& entry : *node->as_array()) {
    result.push_back(as_number(entry, key, low, high).value_or(low));
  }
  return result;
}

std::vector<std::string> TomlReader::texts(std::string_view key) {
  std::vector<std::string> result;
  const toml::node* node = find(key, "list of texts");
  if (node == nullptr) {
    return result;
  }
  const toml::array* list = node->as_array();
  bool good = list != nullptr;
  for (std::size_t i = 0; good && i < list->size(); ++i) {
    good = list->get(i)->is_string();
    if (good) {
      result.push_back(list->get(i)->value_or(std::string{}));
    }
  }
  if (!good) {
    errors_.add(ErrorCode::parse_error, line_of(*node), full(key), "a list of texts is expected");
  }
  return result;
}

std::vector<double> TomlReader::matrix(std::string_view key, double low, double high,
                                       std::size_t& columns) {
  std::vector<double> result;
  columns = 0;
  const toml::node* node = find(key, "list of rows");
  if (node == nullptr) {
    return result;
  }
  const toml::array* rows = node->as_array();
  bool good = rows != nullptr && !rows->empty();
  for (std::size_t row = 0; good && row < rows->size(); ++row) {
    const toml::array* entries = rows->get(row)->as_array();
    good = entries != nullptr && !entries->empty() && (row == 0 || entries->size() == columns);
    if (good) {
      columns = entries->size();
      for (const toml::node& entry : *entries) {
        result.push_back(as_number(entry, key, low, high).value_or(low));
      }
    }
  }
  if (!good) {
    errors_.add(ErrorCode::parse_error, line_of(*node), full(key),
                "a list of rows of equal length is expected");
  }
  return result;
}

std::vector<std::vector<int>> TomlReader::integer_rows(std::string_view key, int low, int high) {
  std::vector<std::vector<int>> result;
  const toml::node* node = find(key, "list of lists of integers");
  if (node == nullptr) {
    return result;
  }
  const toml::array* rows = node->as_array();
  bool good = rows != nullptr;
  for (std::size_t row = 0; good && row < rows->size(); ++row) {
    const toml::array* entries = rows->get(row)->as_array();
    good = entries != nullptr;
    std::vector<int> values;
    for (std::size_t i = 0; good && i < entries->size(); ++i) {
      good = entries->get(i)->is_integer();
      if (good) {
        const auto value = as_number(*entries->get(i), key, low, high);
        values.push_back(static_cast<int>(value.value_or(low)));
      }
    }
    result.push_back(std::move(values));
  }
  if (!good) {
    errors_.add(ErrorCode::parse_error, line_of(*node), full(key),
                "a list of lists of integers is expected");
  }
  return result;
}

TomlReader TomlReader::table(std::string_view key) {
  static const toml::table empty;
  const toml::node* node = find(key, "table");
  if (node != nullptr && !node->is_table()) {
    errors_.add(ErrorCode::parse_error, line_of(*node), full(key), "a table is expected");
    node = nullptr;
  }
  return {node == nullptr ? empty : *node->as_table(), full(key), errors_};
}

std::vector<TomlReader> TomlReader::tables(std::string_view key) {
  std::vector<TomlReader> result;
  const toml::node* node = find(key, "list of tables");
  if (node == nullptr) {
    return result;
  }
  if (!node->is_array_of_tables()) {
    errors_.add(ErrorCode::parse_error, line_of(*node), full(key), "a list of tables is expected");
    return result;
  }
  std::size_t index = 0;
  for (const toml::node& entry : *node->as_array()) {
    result.emplace_back(*entry.as_table(), fmt::format("{}[{}]", full(key), index++), errors_);
  }
  return result;
}

void TomlReader::fail_at(std::string_view key, ErrorCode code, const std::string& message) {
  const toml::node* node = table_.get(key);
  errors_.add(code, line_of(node == nullptr ? static_cast<const toml::node&>(table_) : *node),
              full(key), message);
}

void TomlReader::finish() {
  for (const auto& [key, node] : table_) {
    if (!asked_.contains(key.str())) {
      errors_.add(ErrorCode::parse_error, line_of(node), full(key.str()), "unknown key");
    }
  }
}

}  // namespace ww::sim::gpu
