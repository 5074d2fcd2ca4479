#include "chiplet/chiplet_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "ww/core/statistics.hpp"

namespace ww::microbench {
namespace {

// Single reads of HBM come late by chance (refresh), and medians leave few of them.
constexpr double kMinClearPages = 0.98;
// With fewer clear pages than this, some may look like another home's by several late reads.
constexpr double kSurelyClear = 0.999;
constexpr int kFewReads = 3;
constexpr int kMaxReads = 9;
constexpr double kNormalOfMedian = 1.4826;  // standard deviation by median absolute deviation
constexpr auto kIoDies = static_cast<std::size_t>(ChipletLayout::kIoDies);
using Table = std::vector<std::vector<double>>;

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

// Removes the means of rows and columns, so that each die's and page's own part is left.
Table interaction(Table table) {
  for (auto& row : table) {
    const double mean = mean_of(row);
    for (double& value : row) value -= mean;
  }
  for (std::size_t page = 0; page < table.front().size(); ++page) {
    double mean = 0;
    for (const auto& row : table) mean += row[page] / static_cast<double>(table.size());
    for (auto& row : table) row[page] -= mean;
  }
  return table;
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double squares = 0;
  for (std::size_t i = 0; i < a.size(); ++i) squares += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(squares / static_cast<double>(a.size()));
}

// Dies whose profiles over the pages are similar stand on one I/O die: closer to each other than
// half of the greatest distance between any two. Numbers from 0 on.
std::vector<int> groups_of(const Table& profiles) {
  double greatest = 0;
  for (const auto& a : profiles) {
    for (const auto& b : profiles) greatest = std::max(greatest, distance(a, b));
  }
  std::vector<int> group(profiles.size(), -1);
  int groups = 0;
  for (std::size_t die = 0; die < profiles.size(); ++die) {
    for (std::size_t other = 0; other < die && group[die] < 0; ++other) {
      if (distance(profiles[die], profiles[other]) < 0.5 * greatest) group[die] = group[other];
    }
    if (group[die] < 0) group[die] = groups++;
  }
  return group;
}

// Time of a page of each home from each I/O die, [io][home]: medians over the home's pages, so that
// pages whose reads came late change nothing. Absent for a home without pages.
std::optional<std::array<std::array<double, kIoDies>, kIoDies>> typical(
    const Table& means, const std::vector<int>& home_of_page) {
  std::array<std::array<double, kIoDies>, kIoDies> found{};
  for (std::size_t home = 0; home < kIoDies; ++home) {
    for (std::size_t io = 0; io < kIoDies; ++io) {
      std::vector<double> values;
      for (std::size_t page = 0; page < home_of_page.size(); ++page) {
        if (home_of_page[page] == static_cast<int>(home)) values.push_back(means[io][page]);
      }
      if (values.empty()) return {};
      found[io][home] = median(std::move(values));
    }
  }
  return found;
}

Table median_ticks(const std::vector<Table>& repeats) {
  Table middle = repeats.front();
  std::vector<double> values(repeats.size());
  for (std::size_t die = 0; die < middle.size(); ++die) {
    for (std::size_t page = 0; page < middle[die].size(); ++page) {
      for (std::size_t i = 0; i < repeats.size(); ++i) values[i] = repeats[i][die][page];
      middle[die][page] = median(values);
    }
  }
  return middle;
}

}  // namespace

Result<ChipletLayout> chiplet_layout(const std::vector<std::vector<double>>& ticks,
                                     const std::string& device) {
  const auto refuse = [&device](const std::string& why) {
    return fail(ErrorCode::unsupported, "the ways between the dies cannot be told: " + why, device);
  };
  const std::size_t dies = ticks.size();
  if (dies < kIoDies || dies % kIoDies != 0 || ticks.front().empty()) {
    return refuse(fmt::format("{} compute dies reported", dies));
  }
  const std::size_t pages = ticks.front().size();
  const Table profiles = interaction(ticks);
  ChipletLayout layout;
  layout.io_die_of_die = groups_of(profiles);
  std::array<std::size_t, kIoDies> on_it{};
  for (const int group : layout.io_die_of_die) {
    if (group >= ChipletLayout::kIoDies) return refuse("latencies show more than four I/O dies");
    ++on_it[static_cast<std::size_t>(group)];
  }
  if (std::ranges::any_of(on_it, [&](std::size_t n) { return n != dies / kIoDies; })) {
    return refuse("latencies do not put as many compute dies on each of four I/O dies");
  }
  // A page's home is the I/O die whose compute dies wait least.
  Table means(kIoDies, std::vector<double>(pages));
  for (std::size_t die = 0; die < dies; ++die) {
    for (std::size_t page = 0; page < pages; ++page) {
      means[static_cast<std::size_t>(layout.io_die_of_die[die])][page] +=
          profiles[die][page] * static_cast<double>(kIoDies) / static_cast<double>(dies);
    }
  }
  for (std::size_t page = 0; page < pages; ++page) {
    std::size_t nearest = 0;
    for (std::size_t io = 1; io < kIoDies; ++io) {
      if (means[io][page] < means[nearest][page]) nearest = io;
    }
    layout.home_of_page.push_back(static_cast<int>(nearest));
  }
  const auto medians = typical(means, layout.home_of_page);
  if (!medians) return refuse("no page lives at one of the I/O dies");
  const auto& mean = *medians;  // [from][home]
  std::vector<double> deviations;
  for (std::size_t page = 0; page < pages; ++page) {
    const auto home = static_cast<std::size_t>(layout.home_of_page[page]);
    for (std::size_t io = 0; io < kIoDies; ++io) {
      deviations.push_back(std::abs(means[io][page] - mean[io][home]));
    }
  }
  // As a standard deviation, of most pages alone; whole ticks are noise as well.
  const double scatter = std::max(1.0, kNormalOfMedian * median(std::move(deviations)));
  // A page is clear whose ticks are those of its home's pages to within half of what tells two
  // homes apart. A late read of one die makes it look like no home's.
  std::size_t clear = 0;
  double least_margin = std::numeric_limits<double>::infinity();
  for (std::size_t page = 0; page < pages; ++page) {
    const auto home = static_cast<std::size_t>(layout.home_of_page[page]);
    double greatest = 0;
    double margin = std::numeric_limits<double>::infinity();
    double typical_margin = margin;
    for (std::size_t io = 0; io < kIoDies; ++io) {
      greatest = std::max(greatest, std::abs(means[io][page] - mean[io][home]));
      if (io == home) continue;
      margin = std::min(margin, means[io][page] - means[home][page]);
      typical_margin = std::min(typical_margin, mean[io][home] - mean[home][home]);
    }
    if (greatest < 0.5 * typical_margin && margin > scatter) {
      ++clear;
      least_margin = std::min(least_margin, margin);
    } else {
      layout.home_of_page[page] = -1;
    }
  }
  layout.clear_pages = static_cast<double>(clear) / static_cast<double>(pages);
  layout.separation = clear == 0 ? 0 : least_margin / scatter;
  if (layout.clear_pages < kMinClearPages) {
    return refuse(fmt::format(
        "{:.1f}% of {} pages are clearly nearer to one I/O die than to others; {:.0f}% are needed",
        100 * layout.clear_pages, pages, 100 * kMinClearPages));
  }
  for (std::size_t io = 0; io < kIoDies; ++io) {
    std::array<std::pair<double, int>, kIoDies> order;
    for (std::size_t home = 0; home < kIoDies; ++home) {
      order[home] = {0.5 * (mean[io][home] + mean[home][io]), static_cast<int>(home)};
    }
    std::ranges::sort(order);
    const double step = order[3].first - order[2].first;
    if (order[0].second != static_cast<int>(io) || !(step > order[2].first - order[1].first) ||
        !(step > scatter)) {
      return refuse("latencies show no ring of four I/O dies, with one farther than two");
    }
    layout.across_of[io] = order[3].second;
    layout.ticks_by_hops[0] += order[0].first / kIoDies;
    layout.ticks_by_hops[1] += 0.5 * (order[1].first + order[2].first) / kIoDies;
    layout.ticks_by_hops[2] += order[3].first / kIoDies;
  }
  for (std::size_t io = 0; io < kIoDies; ++io) {
    const auto across = static_cast<std::size_t>(layout.across_of[io]);
    if (layout.across_of[across] != static_cast<int>(io)) {
      return refuse("the I/O die farthest from one has another one farthest from itself");
    }
  }
  // 0's lower neighbour names the row; the two that are left make the other row.
  int lower = 1;
  while (lower == layout.across_of[0]) ++lower;
  const int upper = 6 - lower - layout.across_of[0];
  const auto join = [](std::array<int, kIoDies>& to, int a, int b) {
    to[static_cast<std::size_t>(a)] = b;
    to[static_cast<std::size_t>(b)] = a;
  };
  join(layout.row_of, 0, lower);
  join(layout.row_of, upper, layout.across_of[0]);
  join(layout.column_of, 0, upper);
  join(layout.column_of, lower, layout.across_of[0]);
  return layout;
}

Result<ChipletLayout> layout_of_reads(const std::function<Result<Table>()>& read,
                                      const std::string& device) {
  std::vector<Table> repeats;
  for (;;) {
    WW_ASSIGN(table, read());
    repeats.push_back(std::move(table));
    if (std::ssize(repeats) < kFewReads) continue;
    auto layout = chiplet_layout(median_ticks(repeats), device);
    if (std::ssize(repeats) >= kMaxReads || (layout && layout->clear_pages >= kSurelyClear)) {
      return layout;
    }
  }
}

}  // namespace ww::microbench
