#include "ww/sweep/analysis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <string_view>
#include <unordered_map>

#include "ww/core/streamed_file.hpp"
#include "ww/sweep/choices.hpp"

namespace ww::sweep {
namespace {

using nlohmann::json;

// Prefix of a result's name where a setting or a column of the point itself has that name.
constexpr std::string_view kOfResult = "result.";

void collect_leaves(const json& node, const std::string& path, std::vector<Leaf>& into) {
  if (node.is_null()) return;
  if (node.is_object()) {
    for (const auto& [key, child] : node.items()) {
      collect_leaves(child, path.empty() ? key : fmt::format("{}.{}", path, key), into);
    }
  } else if (node.is_array()) {
    for (std::size_t i = 0; i < node.size(); ++i) {
      collect_leaves(node[i], fmt::format("{}{}{}", path, path.empty() ? "" : ".", i), into);
    }
  } else if (node.is_string()) {
    into.push_back({path, node.get<std::string>(), false});
  } else {
    into.push_back({path, node.dump(), node.is_number()});
  }
}

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

// A setting as a table shows it: a text without its quotes.
std::string plain(const json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

}  // namespace

std::vector<Leaf> leaves(const std::string& text) {
  std::vector<Leaf> found;
  const auto document = json::parse(text, nullptr, false);
  if (!document.is_discarded()) collect_leaves(document, "", found);
  return found;
}

Result<Table> load_table(const Store& store, std::vector<std::string> settings,
                         std::vector<std::string> metrics, std::optional<std::size_t> limit) {
  Table table{std::move(settings), std::move(metrics), {}};
  WW_TRY(store.numbers(
      table.settings, table.metrics,
      [&](std::size_t index, const auto& texts, const auto& values) -> Status {
        table.rows.push_back({index, texts, values});
        return {};
      },
      limit));
  return table;
}

Result<std::vector<Goal>> parse_goals(const std::string& text) {
  std::vector<Goal> goals;
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find(',', at), text.size());
    const auto one = text.substr(at, end - at);
    const bool smallest = one.starts_with("min:");
    if ((!smallest && !one.starts_with("max:")) || one.size() < 5) {
      return fail(ErrorCode::invalid_argument, "goals are written as min:METRIC,max:METRIC", one);
    }
    goals.push_back({one.substr(4), !smallest});
    at = end + 1;
  }
  return goals;
}

std::vector<std::size_t> pareto_front(const Table& table, const std::vector<Goal>& goals,
                                      const std::vector<std::size_t>& columns) {
  // All goals as costs: smaller is better.
  const auto cost = [&](std::size_t row, std::size_t goal) {
    const double value = *table.rows[row].metrics[columns[goal]];
    return goals[goal].largest ? -value : value;
  };
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const bool whole = std::all_of(columns.begin(), columns.end(), [&](std::size_t column) {
      return table.rows[i].metrics[column].has_value();
    });
    if (whole) order.push_back(i);
  }
  const auto compare = [&](std::size_t a, std::size_t b) {
    for (std::size_t g = 0; g < goals.size(); ++g) {
      if (cost(a, g) != cost(b, g)) return cost(a, g) < cost(b, g);
    }
    return a < b;
  };
  std::sort(order.begin(), order.end(), compare);
  // In this order no later row beats an earlier one.
  std::vector<std::size_t> front;
  for (const auto row : order) {
    const bool beaten = std::any_of(front.begin(), front.end(), [&](std::size_t better) {
      bool strictly = false;
      for (std::size_t g = 0; g < goals.size(); ++g) {
        if (cost(better, g) > cost(row, g)) return false;
        strictly = strictly || cost(better, g) < cost(row, g);
      }
      return strictly;
    });
    if (!beaten) front.push_back(row);
  }
  return front;
}

std::vector<AxisEffect> sensitivity(const Table& table, std::size_t metric) {
  double sum = 0;
  double squares = 0;
  double count = 0;
  for (const auto& row : table.rows) {
    if (!row.metrics[metric]) continue;
    sum += *row.metrics[metric];
    ++count;
  }
  const double mean = count > 0 ? sum / count : 0;
  for (const auto& row : table.rows) {
    if (row.metrics[metric]) squares += std::pow(*row.metrics[metric] - mean, 2);
  }
  std::vector<AxisEffect> effects;
  for (std::size_t axis = 0; axis < table.settings.size(); ++axis) {
    AxisEffect effect;
    effect.axis = table.settings[axis];
    std::unordered_map<std::string, std::size_t> places;
    for (const auto& row : table.rows) {
      if (!row.metrics[metric]) continue;
      const auto [at, fresh] = places.try_emplace(row.settings[axis], effect.levels.size());
      if (fresh) effect.levels.push_back({row.settings[axis], 0, 0});
      auto& level = effect.levels[at->second];
      ++level.points;
      level.mean += (*row.metrics[metric] - level.mean) / static_cast<double>(level.points);
    }
    if (effect.levels.empty()) continue;
    double between = 0;
    double low = effect.levels.front().mean;
    double high = low;
    for (const auto& level : effect.levels) {
      between += static_cast<double>(level.points) * std::pow(level.mean - mean, 2);
      low = std::min(low, level.mean);
      high = std::max(high, level.mean);
    }
    effect.range = high - low;
    if (squares > 0) effect.share = between / squares;
    effects.push_back(std::move(effect));
  }
  std::stable_sort(effects.begin(), effects.end(), [](const auto& a, const auto& b) {
    return a.share.value_or(0) > b.share.value_or(0);
  });
  return effects;
}

Status write_csv(const Store& store, const std::filesystem::path& file) {
  WW_ASSIGN(axes, axes_of(store));
  std::set<std::string> names;
  WW_TRY(store.each([&](StoredPoint&& point) -> Status {
    for (auto& leaf : leaves(point.result)) names.insert(std::move(leaf.name));
    return {};
  }));
  WW_ASSIGN(out, StreamedFile::create(file));
  std::string line = "index,hash";
  for (const auto& axis : axes) line += "," + csv_cell(axis);
  line += ",status,reason";
  const auto is_taken = [&](const std::string& name) {
    constexpr std::array<std::string_view, 4> kOwn{"index", "hash", "status", "reason"};
    return std::ranges::find(kOwn, name) != kOwn.end() ||
           std::ranges::find(axes, name) != axes.end();
  };
  for (const auto& name : names) {
    line += "," + csv_cell(is_taken(name) ? std::string(kOfResult) + name : name);
  }
  WW_TRY(out.write(line + "\n"));
  WW_TRY(store.each([&](StoredPoint&& point) -> Status {
    line = fmt::format("{},{}", point.index, point.hash);
    const auto settings = json::parse(point.configuration, nullptr, false);
    for (const auto& axis : axes) {
      line += ",";
      if (settings.is_object() && settings.contains(axis)) line += csv_cell(plain(settings[axis]));
    }
    line += fmt::format(",{},{}", to_string(point.status), csv_cell(point.reason));
    const auto found = leaves(point.result);
    std::unordered_map<std::string_view, const Leaf*> by_name;
    for (const auto& leaf : found) by_name[leaf.name] = &leaf;
    for (const auto& name : names) {
      line += ",";
      if (const auto at = by_name.find(name); at != by_name.end())
        line += csv_cell(at->second->text);
    }
    return out.write(line + "\n");
  }));
  return out.keep();
}

}  // namespace ww::sweep
