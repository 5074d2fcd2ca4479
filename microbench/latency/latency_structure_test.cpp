#include "latency/latency_structure.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "latency/latency_map.hpp"

namespace ww::microbench {
namespace {

using ::testing::HasSubstr;
using Table = std::vector<std::vector<double>>;

LatencyMap measured(std::size_t places, std::size_t lines, double noise,
                    const std::function<double(std::size_t, std::size_t)>& truth,
                    unsigned seed = 5) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> error(0, 1);
  std::vector<Table> repeats(3, Table(places, std::vector<double>(lines)));
  for (Table& repeat : repeats) {
    for (std::size_t p = 0; p < places; ++p) {
      for (std::size_t l = 0; l < lines; ++l) {
        repeat[p][l] = truth(p, l) + noise * error(generator);
      }
    }
  }
  return latency_map(repeats).value();
}

// Latencies as arXiv 2606.22588 describes an L40: R2 0.87 of the sum, 0.98 with a product.
double smeared(std::size_t place, std::size_t line) {
  const double gpc = static_cast<double>(place / 2 % 8) / 3.5 - 1;
  const double slice = static_cast<double>(line * 5 % 16) / 7.5 - 1;
  const double of_place = 22 * std::sin(3.0 * static_cast<double>(place / 2 % 8)) +
                          4 * std::cos(7.0 * static_cast<double>(place));
  const double of_line = 15 * std::cos(2.0 * static_cast<double>(line * 5 % 16));
  const double of_pair = 2.0 * std::sin(static_cast<double>(place * 37 + line * 101));
  return 250 + of_place + of_line - 16 * gpc * slice + of_pair;
}

TEST(LatencyStructure, IsASumAndAProductWhoseEndsAreNearAndFar) {
  const auto map = measured(72, 320, 0.5, smeared);
  const auto structure = latency_structure(map);
  ASSERT_TRUE(structure.found) << structure.reason;
  EXPECT_GT(structure.additive_r2, 0.8);
  EXPECT_LT(structure.additive_r2, 0.9);
  EXPECT_GT(structure.with_product_r2, 0.98);
  EXPECT_GT(structure.product_share, 0.9);
  EXPECT_LT(structure.next_share, 0.05);
  EXPECT_NEAR(structure.residual_ticks, 2.0 / std::sqrt(2.0), 0.3);
  std::vector<int> homes;
  EXPECT_FALSE(find_sides(map, homes).found);

  std::vector<int> side_of_line;
  const Sides ends = ends_of(map, structure, side_of_line);
  EXPECT_EQ(std::ranges::count(ends.side_of_place, 0), 24);
  EXPECT_EQ(std::ranges::count(ends.side_of_place, 1), 24);
  EXPECT_EQ(std::ranges::count(side_of_line, -1), 320 - 2 * 106);
  // The product between the means of the outer thirds, of which the sum is no part.
  double gpc[2] = {};
  double slice[2] = {};
  for (std::size_t p = 0; p < 72; ++p) {
    if (ends.side_of_place[p] >= 0) {
      gpc[ends.side_of_place[p]] += (static_cast<double>(p / 2 % 8) / 3.5 - 1) / 24;
    }
  }
  for (std::size_t l = 0; l < 320; ++l) {
    if (side_of_line[l] >= 0) {
      slice[side_of_line[l]] += (static_cast<double>(l * 5 % 16) / 7.5 - 1) / 106;
    }
  }
  const double truth = 16 * std::abs(gpc[0] - gpc[1]) * std::abs(slice[0] - slice[1]) / 2;
  EXPECT_GT(truth, 15);
  const double error = difference_error_ticks(structure, ends, side_of_line);
  EXPECT_NEAR(ends.far_ticks - ends.near_ticks, truth, 2 * error);
  EXPECT_LT(error, 0.1);
}

TEST(LatencyStructure, OfNoiseIsNotFound) {
  const auto structure = latency_structure(measured(72, 320, 3.0, [](std::size_t p, std::size_t l) {
    return 250.0 + 5.0 * static_cast<double>(p % 7) + 3.0 * static_cast<double>(l % 11);
  }));
  EXPECT_FALSE(structure.found);
  EXPECT_THAT(structure.reason, HasSubstr("within the noise"));
  EXPECT_GT(structure.additive_r2, 0.9);  // and yet the sum is seen
}

// A term of single pairs repeats in every measurement, and is no way through a chip.
TEST(LatencyStructure, OfSinglePairsIsNotFound) {
  const auto structure = latency_structure(measured(72, 320, 0.2, [](std::size_t p, std::size_t l) {
    std::mt19937 pair(static_cast<unsigned>(p * 1000 + l));
    return 250.0 + static_cast<double>(pair() % 16);
  }));
  EXPECT_FALSE(structure.found);
  EXPECT_THAT(structure.reason, HasSubstr("no way through the chip stands out"));
}

TEST(LatencyStructure, OfAFewPlacesHasNoEnds) {
  const auto structure = latency_structure(measured(4, 320, 0.2, smeared));
  EXPECT_FALSE(structure.found);
  EXPECT_THAT(structure.reason, HasSubstr("4 places and 320 lines have no ends"));
}

TEST(Fingerprint, IsTheSameForADieMeasuredAgainAndAtAnotherRatioOfClocks) {
  const auto first = latency_structure(measured(72, 320, 0.5, smeared, 1));
  ASSERT_FALSE(first.fingerprint.empty());
  EXPECT_EQ(first.place_steps.size(), 72u);
  int alike = 0;
  int stable = 0;
  for (unsigned seed = 2; seed < 12; ++seed) {
    const auto again = latency_structure(measured(
        72, 320, 0.5, [](std::size_t p, std::size_t l) { return 1.1 * smeared(p, l); }, seed));
    if (!again.fingerprint_stable) continue;
    ++stable;
    alike += again.fingerprint == first.fingerprint ? 1 : 0;
  }
  EXPECT_TRUE(first.fingerprint_stable);
  EXPECT_EQ(alike, stable);
  EXPECT_GE(stable, 5);
  // One SM that lies elsewhere is another die.
  const auto other = latency_structure(measured(72, 320, 0.5, [](std::size_t p, std::size_t l) {
    return smeared(p, l) + (p == 40 ? 15.0 : 0.0);
  }));
  EXPECT_NE(other.fingerprint, first.fingerprint);
}

// 255 dependent loads, four bytes apart, from one thread; empty without the recordings.
std::vector<double> recorded(const std::string& card) {
  const char* folder = std::getenv("WW_SHARED_DATA");
  std::vector<double> ticks;
  if (folder == nullptr) return ticks;
  std::ifstream file(std::filesystem::path(folder) / "data" / "mt4g" / card / "L2_Latency.txt");
  for (double one = 0; file >> one;) ticks.push_back(one);
  return ticks;
}

// Checks known values: the commonest latency of each block of 256 B, that is, of its slice.
TEST(RecordedLatencies, ChangeWithTheSliceAsKnown) {
  if (recorded("Quadro_P6000").empty()) GTEST_SKIP() << "no recordings beside the checkout";
  struct Known {
    const char* card;
    std::array<double, 4> ticks;
  };
  for (const auto& [card, ticks] : {Known{"AMD_Instinct_MI210", {324, 292, 316, 276}},
                                    Known{"Quadro_P6000", {234, 218, 234, 218}},
                                    Known{"AMD_Instinct_MI300X_VF", {288, 292, 288, 288}}}) {
    SCOPED_TRACE(card);
    const auto loads = recorded(card);
    ASSERT_GE(loads.size(), 255u);
    std::vector<Table> repeats;
    for (std::size_t load = 0; load < 63; ++load) {
      repeats.push_back({{loads[load], loads[64 + load], loads[128 + load], loads[192 + load]}});
    }
    const auto structure = latency_structure(latency_map(repeats).value());
    const double mean = (ticks[0] + ticks[1] + ticks[2] + ticks[3]) / 4;
    ASSERT_EQ(structure.line_offset_ticks.size(), 4u);
    for (std::size_t block = 0; block < 4; ++block) {
      EXPECT_NEAR(structure.line_offset_ticks[block], ticks[block] - mean, 2) << block;
    }
  }
}

// One SM has no pair to compare with, so neither sides nor ends, although two modes of an A100 are
// 130 cycles apart: why they are is not known.
TEST(RecordedLatencies, OfOneSmHaveNeitherSidesNorEnds) {
  if (recorded("Quadro_P6000").empty()) GTEST_SKIP() << "no recordings beside the checkout";
  for (const char* card :
       {"NVIDIA_A100_PCIE_40GB", "NVIDIA_H100_80GB_HBM3", "Tesla_V100_PCIE_16GB", "Quadro_P6000"}) {
    SCOPED_TRACE(card);
    const auto line = recorded(card);
    ASSERT_GE(line.size(), 255u);
    const auto map = latency_map(std::vector<Table>(2, Table{line})).value();
    std::vector<int> homes;
    EXPECT_FALSE(find_sides(map, homes).found);
    EXPECT_FALSE(latency_structure(map).found);
  }
}

}  // namespace
}  // namespace ww::microbench
