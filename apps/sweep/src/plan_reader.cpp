#include "plan_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "ww/core/suggest.hpp"

namespace ww::sweep {
namespace {

constexpr double most_steps = 10'000'000;

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Value number_value(std::string text) {
  Value value;
  value.kind = Value::Kind::scalar;
  value.json = text;
  value.words = {std::move(text)};
  return value;
}

// 0.1 + 0.2 shall read 0.3: a step of a range has at most 12 digits.
Value step_value(double x, bool whole) {
  if (whole) return number_value(fmt::format("{}", std::llround(x)));
  return number_value(fmt::format("{}", std::stod(fmt::format("{:.12g}", x))));
}

}  // namespace

std::vector<const toml::key*> in_file_order(const toml::table& table) {
  std::vector<const toml::key*> keys;
  for (const auto& [key, node] : table) keys.push_back(&key);
  std::stable_sort(keys.begin(), keys.end(), [](const auto* a, const auto* b) {
    const auto& left = a->source().begin;
    const auto& right = b->source().begin;
    return std::pair(left.line, left.column) < std::pair(right.line, right.column);
  });
  return keys;
}

tl::unexpected<Error> PlanReader::wrong(const toml::node& node, std::string_view key,
                                        std::string_view what) const {
  return fail(ErrorCode::parse_error, fmt::format("key '{}' {}", key, what),
              fmt::format("{}:{}", origin_, node.source().begin.line));
}

Status PlanReader::only(const toml::table& table,
                        std::initializer_list<std::string_view> known) const {
  for (const auto* key : in_file_order(table)) {
    if (std::find(known.begin(), known.end(), key->str()) == known.end()) {
      return fail(ErrorCode::parse_error,
                  fmt::format("unknown key '{}'; known here: {}{}", key->str(),
                              fmt::join(known.begin(), known.end(), ", "),
                              did_you_mean(key->str(), {known.begin(), known.end()})),
                  fmt::format("{}:{}", origin_, key->source().begin.line));
    }
  }
  return {};
}

Result<std::string> PlanReader::text(const toml::node& node, std::string_view key) const {
  const auto value = node.value_exact<std::string>();
  if (!value || value->empty()) return wrong(node, key, "must be a non-empty text");
  return *value;
}

Result<std::vector<std::string>> PlanReader::texts(const toml::node& node,
                                                   std::string_view key) const {
  const auto* list = node.as_array();
  if (list == nullptr) return wrong(node, key, "must be a list of texts");
  std::vector<std::string> found;
  for (const auto& entry : *list) {
    WW_ASSIGN(one, text(entry, key));
    found.push_back(std::move(one));
  }
  return found;
}

Result<double> PlanReader::number(const toml::node& node, std::string_view key, double low,
                                  double high) const {
  const auto value = node.is_number() ? node.value<double>() : std::nullopt;
  if (!value) return wrong(node, key, "must be a number");
  if (!(*value >= low && *value <= high)) {
    return fail(ErrorCode::out_of_range,
                fmt::format("key '{}' must lie between {} and {}", key, low, high),
                fmt::format("{}:{}", origin_, node.source().begin.line));
  }
  return *value;
}

Result<Value> PlanReader::value(const toml::node& node, std::string_view key) const {
  if (const auto flag = node.value_exact<bool>()) {
    Value value;
    value.on = *flag;
    value.json = *flag ? "true" : "false";
    return value;
  }
  if (const auto whole = node.value_exact<std::int64_t>()) {
    return number_value(fmt::format("{}", *whole));
  }
  if (const auto real = node.value_exact<double>()) {
    if (!std::isfinite(*real)) return wrong(node, key, "must be a finite number");
    return number_value(fmt::format("{}", *real));
  }
  if (const auto text = node.value_exact<std::string>()) {
    if (text->find('\0') != std::string::npos) return wrong(node, key, "holds a zero byte");
    Value value;
    value.kind = Value::Kind::scalar;
    value.json = quoted(*text);
    value.words = {*text};
    return value;
  }
  if (const auto* list = node.as_array()) {
    Value value;
    value.kind = Value::Kind::list;
    for (const auto& entry : *list) {
      WW_ASSIGN(one, this->value(entry, key));
      if (one.kind != Value::Kind::scalar) {
        return wrong(entry, key, "may list numbers and texts only");
      }
      value.json += (value.json.empty() ? "[" : ",") + one.json;
      value.words.push_back(std::move(one.words.front()));
    }
    value.json += value.json.empty() ? "[]" : "]";
    return value;
  }
  return wrong(node, key, "must be true or false, a number, a text, or a list of them");
}

Result<Settings> PlanReader::settings(const toml::table& table) const {
  Settings found;
  for (const auto& [key, node] : table) {
    WW_ASSIGN(one, value(node, key.str()));
    found.emplace(std::string(key.str()), std::move(one));
  }
  return found;
}

Result<std::vector<Value>> PlanReader::range(const toml::table& table, std::string_view key) const {
  WW_TRY(only(table, {"from", "to", "step", "count", "scale"}));
  const auto* from_node = table.get("from");
  const auto* to_node = table.get("to");
  if (from_node == nullptr || to_node == nullptr) {
    return wrong(table, key, "is a range: it needs from and to, and step or count");
  }
  constexpr double huge = 1e15;
  WW_ASSIGN(from, number(*from_node, "from", -huge, huge));
  WW_ASSIGN(to, number(*to_node, "to", -huge, huge));
  const auto* step_node = table.get("step");
  const auto* count_node = table.get("count");
  if ((step_node == nullptr) == (count_node == nullptr)) {
    return wrong(table, key, "is a range: it needs either step or count");
  }
  std::string scale = "linear";
  if (const auto* node = table.get("scale")) {
    WW_ASSIGN(named, text(*node, "scale"));
    scale = named;
    if (scale != "linear" && scale != "log") return wrong(*node, "scale", "is linear or log");
    if (step_node != nullptr) return wrong(*node, "scale", "needs count instead of step");
  }
  bool whole = from_node->is_integer() && to_node->is_integer();
  std::vector<Value> found;
  if (step_node != nullptr) {
    WW_ASSIGN(step, number(*step_node, "step", -huge, huge));
    if (step == 0 || (to - from) / step < 0) {
      return wrong(*step_node, "step", "does not lead from 'from' to 'to'");
    }
    whole = whole && step_node->is_integer();
    const double steps = std::floor((to - from) / step * (1 + 1e-12) + 1e-9);
    if (steps > most_steps) return wrong(*step_node, "step", "makes too many steps");
    for (double i = 0; i <= steps; ++i) found.push_back(step_value(from + i * step, whole));
    return found;
  }
  WW_ASSIGN(count, number(*count_node, "count", 1, most_steps));
  if (!count_node->is_integer()) return wrong(*count_node, "count", "must be a whole number");
  const bool log = scale == "log";
  if (log && !(from > 0 && to > 0)) return wrong(table, key, "on a log scale lies above 0");
  whole = false;
  for (double i = 0; i < count; ++i) {
    const double share = count > 1 ? i / (count - 1) : 0;
    const double x = log ? from * std::pow(to / from, share) : from + (to - from) * share;
    found.push_back(step_value(x, whole));
  }
  return found;
}

Result<std::vector<Value>> PlanReader::steps(const toml::node& node, std::string_view key) const {
  if (const auto* table = node.as_table()) return range(*table, key);
  const auto* list = node.as_array();
  if (list == nullptr) return wrong(node, key, "must be a list or a range {from, to, step}");
  if (list->empty()) return wrong(node, key, "lists nothing to vary over");
  std::vector<Value> found;
  for (const auto& entry : *list) {
    WW_ASSIGN(one, value(entry, key));
    found.push_back(std::move(one));
  }
  return found;
}

Result<std::vector<Axis>> PlanReader::axes(const toml::table& table) const {
  std::vector<Axis> found;
  for (const auto* key : in_file_order(table)) {
    WW_ASSIGN(values, steps(*table.get(key->str()), key->str()));
    Axis axis;
    axis.names.emplace_back(key->str());
    for (auto& one : values) axis.rows.push_back({std::move(one)});
    found.push_back(std::move(axis));
  }
  return found;
}

Result<Axis> PlanReader::zipped(const toml::table& table) const {
  Axis axis;
  for (const auto* key : in_file_order(table)) {
    const auto& node = *table.get(key->str());
    WW_ASSIGN(values, steps(node, key->str()));
    if (!axis.names.empty() && values.size() != axis.rows.size()) {
      return wrong(node, key->str(),
                   fmt::format("has {} values beside {} of '{}': zipped axes are equally long",
                               values.size(), axis.rows.size(), axis.names.front()));
    }
    axis.rows.resize(values.size());
    axis.names.emplace_back(key->str());
    for (std::size_t i = 0; i < values.size(); ++i) axis.rows[i].push_back(std::move(values[i]));
  }
  if (axis.names.empty()) return wrong(table, "zip", "names nothing to vary");
  return axis;
}

Result<Condition> PlanReader::condition(const toml::table& table) const {
  WW_TRY(only(table, {"if", "set", "axes", "zip", "skip"}));
  Condition found;
  const auto* match = table.get("if");
  if (match == nullptr || match->as_table() == nullptr || match->as_table()->empty()) {
    return wrong(table, "when", "needs if = { NAME = VALUE }");
  }
  for (const auto& [key, node] : *match->as_table()) {
    auto& any = found.match[std::string(key.str())];
    WW_ASSIGN(one, value(node, key.str()));
    if (one.kind != Value::Kind::list) {
      any.push_back(std::move(one));
      continue;
    }
    for (const auto& entry : *node.as_array()) {
      WW_ASSIGN(each, value(entry, key.str()));
      any.push_back(std::move(each));
    }
  }
  if (const auto* node = table.get("skip")) {
    const auto skip = node->value_exact<bool>();
    if (!skip) return wrong(*node, "skip", "must be true or false");
    found.skip = *skip;
  }
  const auto need_table = [&](const char* key) -> Result<const toml::table*> {
    const auto* node = table.get(key);
    if (node != nullptr && node->as_table() == nullptr) return wrong(*node, key, "must be a table");
    return node == nullptr ? nullptr : node->as_table();
  };
  WW_ASSIGN(set, need_table("set"));
  WW_ASSIGN(axes_table, need_table("axes"));
  WW_ASSIGN(zip, need_table("zip"));
  if (set != nullptr) {
    WW_ASSIGN(values, settings(*set));
    found.set = std::move(values);
  }
  if (axes_table != nullptr) {
    WW_ASSIGN(axes, this->axes(*axes_table));
    found.axes = std::move(axes);
  }
  if (zip != nullptr) {
    WW_ASSIGN(axis, zipped(*zip));
    found.axes.push_back(std::move(axis));
  }
  if (!found.skip && set == nullptr && found.axes.empty()) {
    return wrong(table, "when", "does nothing: give set, axes, zip or skip = true");
  }
  return found;
}

}  // namespace ww::sweep
