#include "machine/timing/fill_table.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace ww::sim::gpu::timing {
namespace {

TEST(FillTable, FindsALineUntilItsFillIsErased) {
  FillTable fills;
  EXPECT_EQ(fills.find(7), nullptr);
  const std::uint32_t number = fills.add(7, 21);
  ASSERT_NE(fills.find(7), nullptr);
  EXPECT_EQ(fills.find(7)->first, 21U);
  fills.find(7)->last = 30;
  EXPECT_EQ(fills[number].last, 30U);
  fills.erase(number);
  EXPECT_EQ(fills.find(7), nullptr);
}

// Few lines far apart share buckets; whatever comes and goes, each is found by itself.
TEST(FillTable, AgreesWithAMapOverManyLines) {
  FillTable fills;
  std::map<std::uint32_t, std::uint32_t> numbers;  // by line
  std::mt19937 random(11);
  for (std::uint32_t step = 0; step < 20000; ++step) {
    const std::uint32_t line = random() % 1024 * 509;
    const auto known = numbers.find(line);
    Fill* const found = fills.find(line);
    ASSERT_EQ(found != nullptr, known != numbers.end());
    if (found == nullptr) {
      numbers[line] = fills.add(line, step);
      continue;
    }
    ASSERT_EQ(found, &fills[known->second]);
    ASSERT_EQ(found->line, line);
    fills.erase(known->second);
    numbers.erase(known);
  }
  fills.clear();
  for (const auto& [line, number] : numbers) EXPECT_EQ(fills.find(line), nullptr);
}

}  // namespace
}  // namespace ww::sim::gpu::timing
