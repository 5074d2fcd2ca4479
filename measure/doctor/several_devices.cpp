#include "several_devices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <vector>

#include "quantile.hpp"
#include "traffic/number_text.hpp"

namespace ww::measure {
namespace {

constexpr std::size_t kMinGroups = 5;
constexpr std::size_t kMaxDevices = 16;

// Differences between two neighbours of a group, over the groups.
struct Differences {
  double mean{}, sd{};
  double same_sign{};  // share that has the sign of the mean
  std::size_t count{};
};

Differences differences(const std::vector<double>& values) {
  Differences found;
  found.count = values.size();
  const auto n = static_cast<double>(values.size());
  for (const double value : values) found.mean += value / n;
  for (const double value : values) {
    found.sd += (value - found.mean) * (value - found.mean);
    found.same_sign += value * found.mean > 0 ? 1 / n : 0;
  }
  found.sd = std::sqrt(found.sd / std::max(1.0, n - 1));
  return found;
}

// Gaps above it lie between groups; absent where the gaps are of one kind.
std::optional<double> longest_within_groups(std::span<const PowerPoint> polls) {
  std::vector<double> gaps;
  for (std::size_t i = 1; i < polls.size(); ++i) {
    gaps.push_back(polls[i].time_s - polls[i - 1].time_s);
  }
  std::ranges::sort(gaps);
  // Between groups of 16 lies one gap in 16; a rarer one is a pause.
  const std::size_t rare = gaps.size() / 32;
  constexpr double kOfAnotherKind = 4;
  constexpr double kShortest_s = 1e-6;
  double ratio = kOfAnotherKind, between = 0;
  for (std::size_t i = rare + 1; i + rare < gaps.size(); ++i) {
    const double below = std::max(gaps[i - 1], kShortest_s);
    if (gaps[i] / below <= ratio) continue;
    ratio = gaps[i] / below;
    between = std::sqrt(gaps[i] * below);
  }
  if (between == 0) return std::nullopt;
  return between;
}

// The size that nearly all groups have, and the first poll of each of them.
struct Groups {
  std::size_t size{};
  std::vector<std::size_t> first;
};

std::optional<Groups> groups_of(std::span<const PowerPoint> polls) {
  const auto longest = longest_within_groups(polls);
  if (!longest) return std::nullopt;
  std::map<std::size_t, std::vector<std::size_t>> by_size;
  std::size_t begin = 0, count = 0;
  for (std::size_t i = 1; i <= polls.size(); ++i) {
    if (i < polls.size() && polls[i].time_s - polls[i - 1].time_s <= *longest) continue;
    by_size[i - begin].push_back(begin);
    begin = i;
    ++count;
  }
  for (auto& [size, first] : by_size) {
    if (size < 2 || size > kMaxDevices || first.size() < kMinGroups) continue;
    if (10 * first.size() >= 8 * count) return Groups{size, std::move(first)};
  }
  return std::nullopt;
}

// One device's neighbours differ in either direction.
std::string by_groups(std::span<const PowerPoint> polls) {
  const auto groups = groups_of(polls);
  if (!groups) return {};
  for (std::size_t place = 1; place < groups->size; ++place) {
    std::vector<double> values;
    for (const std::size_t first : groups->first) {
      values.push_back(polls[first + place - 1].power_w - polls[first + place].power_w);
    }
    const Differences found = differences(values);
    constexpr double kCertain = 5;  // standard deviations of the mean
    const double error = found.sd / std::sqrt(static_cast<double>(found.count));
    if (found.mean == 0 || std::abs(found.mean) <= kCertain * error) continue;
    return fmt::format("the rows come in groups of {}, in which row {} shows {:.3g} W {} row {}",
                       groups->size, place, std::abs(found.mean),
                       found.mean > 0 ? "more than" : "less than", place + 1);
  }
  return {};
}

// At equal distances one device under a load that is switched in step with the polls looks like
// two, but not for as long as a recording lasts.
std::string by_turns(std::span<const PowerPoint> polls) {
  constexpr std::size_t kMaxInTurn = 8;
  constexpr std::size_t kMinTurns = 15;
  std::vector<double> neighbours;
  for (std::size_t i = 1; i < polls.size(); ++i) {
    neighbours.push_back(std::abs(polls[i].power_w - polls[i - 1].power_w));
  }
  for (std::size_t turn = 2; turn <= kMaxInTurn && polls.size() >= turn * kMinTurns; ++turn) {
    std::vector<double> turns;
    for (std::size_t i = turn; i < polls.size(); ++i) {
      turns.push_back(std::abs(polls[i].power_w - polls[i - turn].power_w));
    }
    if (quantile(turns, 0.5) >= 0.25 * quantile(neighbours, 0.5)) continue;
    for (std::size_t place = 0; place < turn; ++place) {
      std::vector<double> values;
      for (std::size_t i = place; i + 1 < polls.size(); i += turn) {
        values.push_back(polls[i].power_w - polls[i + 1].power_w);
      }
      const Differences found = differences(values);
      if (found.same_sign < 0.98) continue;
      return fmt::format("row after row the power takes {} values in turn, {:.3g} W apart", turn,
                         std::abs(found.mean));
    }
  }
  return {};
}

}  // namespace

std::string several_devices(std::span<const PowerPoint> polls) {
  if (polls.size() < 3) return {};
  std::size_t together = 0;
  for (std::size_t i = 1; i < polls.size(); ++i) {
    together += polls[i].time_s == polls[i - 1].time_s ? 1 : 0;
  }
  if (10 * together > polls.size()) return "many polls have the time of the poll before";
  if (std::string found = by_groups(polls); !found.empty()) return found;
  return by_turns(polls);
}

Status require_one_device(std::span<const CsvRow> rows, const std::string& source) {
  constexpr std::array<std::string_view, 20> kIdentities = {
      "uuid",       "gpu_uuid", "index",      "gpu",        "gpu_id",  "device",      "device_id",
      "gpu_index",  "card",     "name",       "gpu_name",   "serial",  "gpu_serial",  "pci.bus_id",
      "gpu_bus_id", "pci.bus",  "pci.device", "pci.domain", "pci_bus", "minor_number"};
  if (rows.size() < 2) return {};
  const auto& head = rows.front().fields;
  for (std::size_t column = 0; column < head.size(); ++column) {
    if (std::ranges::find(kIdentities, head[column]) == kIdentities.end()) continue;
    std::string_view first;
    for (const CsvRow& row : rows.subspan(1)) {
      if (row.fields.size() != head.size() || is_absent(row.fields[column])) continue;
      if (first.empty()) first = row.fields[column];
      if (row.fields[column] == first || row.cut_at(column)) continue;
      return fail(ErrorCode::bad_data,
                  fmt::format("polls of several devices ({} '{}' and '{}'): record one at a time",
                              head[column], first, row.fields[column]),
                  fmt::format("{}:{}", source, row.line));
    }
  }
  return {};
}

Status require_one_device(std::span<const PollColumn> columns, const std::string& source) {
  for (const PollColumn& column : columns) {
    const std::string why = several_devices(column.polls);
    if (why.empty()) continue;
    return fail(
        ErrorCode::bad_data,
        fmt::format("polls of several devices ({}: {}): record one at a time", column.name, why),
        source);
  }
  return {};
}

}  // namespace ww::measure
