#include "ww/sweep/choices.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

namespace ww::sweep {
namespace {

constexpr std::size_t kMaxMetrics = 4;
constexpr std::size_t kLookedAt = 100;  // points, for a first result

constexpr std::array<std::string_view, 3> part_axes{"host", "device", "chip-seed"};

}  // namespace

Result<std::vector<std::string>> axes_of(const Store& store) {
  WW_ASSIGN(facts, store.facts());
  const auto axes = nlohmann::json::parse(facts["axes"], nullptr, false);
  if (!axes.is_array()) return fail(ErrorCode::parse_error, "its axes are not there", "sweep.db");
  return axes.get<std::vector<std::string>>();
}

Result<std::vector<std::string>> usual_metrics(const Store& store) {
  WW_ASSIGN(facts, store.facts());
  if (facts["command"] == "simulate") {
    return std::vector<std::string>{"avg_packet_latency", "p99_packet_latency",
                                    "accepted_flits_per_node_cycle", "energy_pj.total"};
  }
  if (facts["command"] == "calibrate") {
    return std::vector<std::string>{"energy_fj_per_bit_mm.value", "energy_fj_per_bit_mm.low",
                                    "energy_fj_per_bit_mm.high", "long_over_short_percent"};
  }
  std::vector<std::string> names;
  WW_TRY(store.each(
      [&](StoredPoint&& point) -> Status {
        if (!names.empty()) return {};
        for (auto& leaf : leaves(point.result)) {
          if (leaf.number && names.size() < kMaxMetrics) names.push_back(std::move(leaf.name));
        }
        return {};
      },
      0, kLookedAt));
  return names;
}

Result<MarkedTable> load_marked_table(const Store& store, std::vector<std::string> settings,
                                      std::vector<std::string> metrics,
                                      std::optional<std::size_t> limit) {
  metrics.emplace_back("stable");
  metrics.emplace_back("virtual");
  WW_ASSIGN(table, load_table(store, std::move(settings), std::move(metrics), limit));
  MarkedTable marked{std::move(table), {}};
  const auto take = [](Row& row) {
    const auto mark = row.metrics.back();
    row.metrics.pop_back();
    return mark;
  };
  for (Row& row : marked.table.rows) {
    marked.marks.is_virtual = take(row).value_or(0) != 0 || marked.marks.is_virtual;
    marked.marks.settled.push_back(take(row).value_or(1) != 0);
  }
  marked.table.metrics.resize(marked.table.metrics.size() - 2);
  return marked;
}

Table settled_rows(const Table& table, const std::vector<bool>& settled) {
  Table kept{table.settings, table.metrics, {}};
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    if (settled[row]) kept.rows.push_back(table.rows[row]);
  }
  return kept;
}

std::vector<std::size_t> settled_front(const Table& table, const std::vector<bool>& settled,
                                       const std::vector<Goal>& goals,
                                       const std::vector<std::size_t>& columns) {
  Table candidates = table;
  for (std::size_t row = 0; row < candidates.rows.size(); ++row) {
    if (!settled[row]) candidates.rows[row].metrics[columns.front()].reset();
  }
  return pareto_front(candidates, goals, columns);
}

std::vector<Goal> usual_goals(const std::string& command) {
  if (command == "simulate") {
    return {{"avg_packet_latency", false}, {"energy_pj_per_flit", false}};
  }
  return {};
}

bool are_parts(const std::vector<std::string>& axes) {
  return !axes.empty() && std::ranges::all_of(axes, [](const std::string& axis) {
    return std::ranges::find(part_axes, axis) != part_axes.end();
  });
}

Result<std::vector<PartValue>> load_parts(const Store& store, const std::vector<std::string>& axes,
                                          const std::string& metric) {
  WW_ASSIGN(table, load_table(store, axes, {metric + ".value", metric + ".low", metric + ".high"}));
  std::vector<PartValue> parts;
  for (const auto& row : table.rows) {
    if (!row.metrics[0] || !row.metrics[1] || !row.metrics[2]) continue;
    std::string name;
    for (const auto& setting : row.settings) {
      if (!setting.empty()) name += (name.empty() ? "" : " ") + setting;
    }
    parts.push_back({name, *row.metrics[0], *row.metrics[1], *row.metrics[2]});
  }
  return parts;
}

}  // namespace ww::sweep
