// Layouts of packages from made-up latencies, of which some come late as reads of HBM do: right or
// refused, and no page that is used has a wrong home.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "chiplet/chiplet_layout.hpp"
#include "ww/core/split_mix.hpp"

namespace ww::microbench {
namespace {

constexpr int kPages = 4096;
constexpr int kDies = 8;

struct Reads {
  const char* name;
  double late{};        // share of reads
  double late_ticks{};  // by up to so many
  double noise_ticks{8};
};

// On a real MI300X a read of memory takes 239 cycles more in the 95th percentile than in the median
// (MT4G); refresh closes a bank of HBM3 for some hundreds of ns of every 3.9 us.
constexpr Reads kReads[] = {
    {"none late"},
    {"1% late by up to 300 ticks", 0.01, 300},
    {"5% late by up to 300 ticks", 0.05, 300},
    {"9% late by up to 700 ticks", 0.09, 700},
    {"20% late by up to 700 ticks", 0.2, 700},
    {"noise of 30 ticks, 5% late", 0.05, 700, 30},
    {"40% late by up to 2000 ticks", 0.4, 2000},
    {"noise of 300 ticks", 0, 0, 300},
};

struct Package {
  std::vector<int> io_die_of_die;
  std::vector<int> home_of_page;
  double hop{};

  explicit Package(std::uint64_t seed) {
    SplitMix random(seed);
    hop = random.uniform(60, 260);
    for (int die = 0; die < kDies; ++die) io_die_of_die.push_back(die / 2);
    for (std::size_t i = kDies - 1; i > 0; --i) {
      std::swap(io_die_of_die[i], io_die_of_die[random.next() % (i + 1)]);
    }
    for (int page = 0; page < kPages; ++page) {
      home_of_page.push_back(static_cast<int>(random.next() % 4));
    }
  }
  [[nodiscard]] std::vector<std::vector<double>> ticks(const Reads& reads, SplitMix& random) const {
    std::vector<std::vector<double>> table;
    for (std::size_t die = 0; die < kDies; ++die) {
      auto& row = table.emplace_back();
      for (std::size_t page = 0; page < kPages; ++page) {
        const int apart = std::abs(io_die_of_die[die] - home_of_page[page]);
        const double way = apart == 0 ? 0 : apart == 2 ? 2 * hop : hop;
        const double late =
            random.unit() < reads.late ? random.uniform(0.2, 1) * reads.late_ticks : 0;
        row.push_back(700 + 13.0 * static_cast<double>(die) + way + late +
                      reads.noise_ticks * random.normal());
      }
    }
    return table;
  }
  [[nodiscard]] bool is(const ChipletLayout& layout) const {
    // Numbers of the layout's I/O dies by true ones, as the compute dies name them.
    std::vector<int> number(4, -1);
    for (std::size_t die = 0; die < kDies; ++die) {
      int& named = number[static_cast<std::size_t>(io_die_of_die[die])];
      if (named >= 0 && named != layout.io_die_of_die[die]) return false;
      named = layout.io_die_of_die[die];
    }
    for (std::size_t page = 0; page < kPages; ++page) {
      const int found = layout.home_of_page[page];
      if (found >= 0 && found != number[static_cast<std::size_t>(home_of_page[page])]) return false;
    }
    for (std::size_t io = 0; io < 4; ++io) {
      if (layout.across_of[static_cast<std::size_t>(number[io])] != number[(io + 2) % 4]) {
        return false;
      }
    }
    return true;
  }
};

enum class Answer { right, refused, wrong };

Answer judge(const Package& package, const Result<ChipletLayout>& layout) {
  if (!layout) return Answer::refused;
  return package.is(*layout) ? Answer::right : Answer::wrong;
}

// WW_LAYOUTS: how many for each kind of reads.
TEST(LayoutsByMadeUpTimes, AreRightOrRefused) {
  const char* const wanted = std::getenv("WW_LAYOUTS");
  const int layouts = wanted != nullptr ? std::atoi(wanted) : 5;
  int wrong = 0;
  fmt::print("{:32} {:>14} {:>14} {:>6}\n", "reads", "single reads", "right", "wrong");
  for (const Reads& reads : kReads) {
    std::array<int, 3> by_one{};
    std::array<int, 3> by_medians{};
    for (int i = 0; i < layouts; ++i) {
      const Package package(88'000 + static_cast<std::uint64_t>(i));
      SplitMix random(1 + static_cast<std::uint64_t>(i));
      ++by_one[static_cast<std::size_t>(
          judge(package, chiplet_layout(package.ticks(reads, random), "made up")))];
      const auto layout = layout_of_reads(
          [&]() -> Result<std::vector<std::vector<double>>> {
            return package.ticks(reads, random);
          },
          "made up");
      ++by_medians[static_cast<std::size_t>(judge(package, layout))];
    }
    const int wrong_here = by_medians[static_cast<std::size_t>(Answer::wrong)];
    const int right = by_medians[static_cast<std::size_t>(Answer::right)];
    wrong += wrong_here;
    fmt::print("{:32} {:>7} of {:<4} {:>6} of {:<4} {:>6}\n", reads.name,
               by_one[static_cast<std::size_t>(Answer::right)], layouts, right, layouts,
               wrong_here);
    EXPECT_EQ(wrong_here, 0) << reads.name;
    if (reads.late < 0.15 && reads.noise_ticks < 50) {
      EXPECT_GE(right, (95 * layouts + 99) / 100) << reads.name;
    }
  }
  fmt::print("{} wrong layouts of {}\n", wrong, std::ssize(kReads) * layouts);
}

}  // namespace
}  // namespace ww::microbench
