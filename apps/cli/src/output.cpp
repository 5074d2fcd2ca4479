#include "output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "ww/core/log.hpp"

namespace ww::cli {
namespace {

struct Scale {
  double above;
  double factor;
  const char* prefix;
};

// The prefix that a value is printed with; its interval is printed with the same.
Scale scale_of(double value) {
  static constexpr Scale scales[] = {
      {1, 1, ""}, {1e-3, 1e3, "m"}, {1e-6, 1e6, "u"}, {1e-9, 1e9, "n"}, {0, 1e12, "p"}};
  for (const auto& scale : scales) {
    if (std::abs(value) >= scale.above && value != 0) return scale;
  }
  return scales[0];
}

}  // namespace

void print_json(const nlohmann::json& json) {
  // Paths and device names can hold bytes that are not UTF-8: replace them rather than throw.
  fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

void print_ordered_json(const nlohmann::ordered_json& json) {
  using Json = nlohmann::ordered_json;
  fmt::print("{}\n", json.dump(2, ' ', false, Json::error_handler_t::replace));
}

void print_table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += i + 1 < row.size() ? fmt::format("{:<{}}  ", row[i], widths[i]) : row[i];
    }
    fmt::print("{}\n", line);
  }
}

nlohmann::json interval_json(const std::optional<model::Interval>& interval) {
  if (!interval) return {};
  return {{"value", interval->value}, {"low", interval->low}, {"high", interval->high}};
}

int report_error(const Error& error) {
  spdlog::error("{}", error.text());
  return exit_code(error.code);
}

std::string interval_text(const std::optional<model::Interval>& interval,
                          const std::optional<double>& upper, const char* unit) {
  if (interval) {
    const Scale scale = scale_of(interval->value);
    return fmt::format("{:.3g} {}{} ({:.3g}..{:.3g})", interval->value * scale.factor, scale.prefix,
                       unit, interval->low * scale.factor, interval->high * scale.factor);
  }
  if (upper) {
    const Scale scale = scale_of(*upper);
    return fmt::format("at most {:.3g} {}{}", *upper * scale.factor, scale.prefix, unit);
  }
  return "-";
}

}  // namespace ww::cli
