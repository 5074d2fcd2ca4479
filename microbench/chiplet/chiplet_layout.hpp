// Finds which compute dies stand on which I/O die, where pages live, and how the I/O dies are
// linked: from latencies alone.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "ww/core/result.hpp"

namespace ww::microbench {

struct ChipletLayout {
  static constexpr int kIoDies = 4;
  // I/O dies are numbered in the order in which the compute dies first name them.
  std::vector<int> io_die_of_die;
  std::vector<int> home_of_page;  // I/O die; -1 for a page that is not clear
  // The I/O die at the other end of the row's link, of the column's link, and across, by I/O die.
  // Which links make a row is a name: the row is the pair of links of which one joins I/O die 0 to
  // the lower-numbered of its neighbours.
  std::array<int, kIoDies> row_of{}, column_of{}, across_of{};
  // Mean ticks of own, neighbouring and across pages, without what dies and homes have of their
  // own.
  std::array<double, 3> ticks_by_hops{};
  // Difference between a page's nearest I/O die and its second nearest, over the scatter of a
  // page's ticks about its home's median; the least of all clear pages.
  double separation{};
  double clear_pages{};  // share
};

// `ticks` are [die][page]. Errors: unsupported, with what was seen, where latencies show no four
// I/O dies with as many compute dies each, no home for 98% of the pages, or no ring of four.
[[nodiscard]] Result<ChipletLayout> chiplet_layout(const std::vector<std::vector<double>>& ticks,
                                                   const std::string& device);

// The layout by medians of several reads: three, or nine where some pages are not clear, as reads
// of HBM come late by chance. `read` returns [die][page]. Errors of `read` and of chiplet_layout().
[[nodiscard]] Result<ChipletLayout> layout_of_reads(
    const std::function<Result<std::vector<std::vector<double>>>()>& read,
    const std::string& device);

}  // namespace ww::microbench
