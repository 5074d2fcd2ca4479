// Algorithm 1 on buffers made by hand.
#include "network/dapper/approximator.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace ww::sim::net {
namespace {

template <class T>
std::vector<std::byte> bytes(std::initializer_list<T> words) {
  std::vector<std::byte> data(words.size() * sizeof(T));
  std::memcpy(data.data(), std::data(words), data.size());
  return data;
}

template <class T>
bool within(WordType type, double threshold, std::initializer_list<T> leader,
            std::initializer_list<T> other, bool literal = false) {
  ApproximatorWork work;
  return may_replace(type, threshold, bytes(leader), bytes(other), literal, work);
}

bool ints(double threshold, std::int32_t leader, std::int32_t other, bool literal = false) {
  return within<std::int32_t>(WordType::int32, threshold, {leader}, {other}, literal);
}
bool floats(double threshold, float leader, float other) {
  return within<float>(WordType::float32, threshold, {leader}, {other});
}

TEST(Approximator, IntegersPassBelowTheThresholdOnEitherSide) {
  EXPECT_TRUE(ints(0.1, 100, 100));
  EXPECT_TRUE(ints(0.1, 100, 109));
  EXPECT_TRUE(ints(0.1, 100, 91));
  EXPECT_FALSE(ints(0.1, 100, 110));
  EXPECT_FALSE(ints(0.1, 100, 90));
  EXPECT_TRUE(ints(0.1, -100, -109));
  EXPECT_FALSE(ints(0.1, -100, 100));
  EXPECT_FALSE(ints(0.5, 2'000'000'000, -2'000'000'000));
}

TEST(Approximator, ZeroStandsForZeroOnly) {
  EXPECT_TRUE(ints(0.2, 0, 0));
  EXPECT_FALSE(ints(0.2, 0, 1));
  EXPECT_FALSE(ints(0.2, 1, 0));
  EXPECT_FALSE(floats(0.2, 0.0F, -0.0F));
}

TEST(Approximator, ThresholdZeroReplacesNothing) {
  EXPECT_FALSE(ints(0, 100, 100));
  EXPECT_FALSE(floats(0, 1.0F, 1.0F));
}

TEST(Approximator, FloatsNeedTheSameSignAndExponent) {
  EXPECT_TRUE(floats(0.1, 1.5F, 1.6F));
  EXPECT_TRUE(floats(0.1, -1.5F, -1.4F));
  EXPECT_FALSE(floats(0.1, 1.5F, 1.66F));
  EXPECT_FALSE(floats(0.1, 1.99F, 2.01F));  // 1% apart, but another exponent
  EXPECT_FALSE(floats(0.1, 1.5F, -1.5F));
}

TEST(Approximator, SpecialFloatsStandForThemselves) {
  const float inf = std::numeric_limits<float>::infinity();
  const float tiny = std::numeric_limits<float>::denorm_min();
  EXPECT_TRUE(floats(0.1, inf, inf));
  EXPECT_FALSE(floats(0.1, inf, std::nanf("1")));
  EXPECT_FALSE(floats(0.9, 100 * tiny, 101 * tiny));
  EXPECT_TRUE(floats(0.1, 100 * tiny, 100 * tiny));
}

TEST(Approximator, EveryPixelOfTheLineMustPass) {
  EXPECT_TRUE(within<std::uint8_t>(WordType::uint8, 0.1, {200, 100, 50, 0}, {210, 95, 54, 0}));
  EXPECT_FALSE(within<std::uint8_t>(WordType::uint8, 0.1, {200, 100, 50, 0}, {210, 95, 54, 1}));
  EXPECT_FALSE(within<std::uint8_t>(WordType::uint8, 0.1, {200, 100, 50, 0}, {210, 95, 56, 0}));
}

TEST(Approximator, LiterallyAnyLargerDatumPasses) {
  EXPECT_TRUE(ints(0.1, 100, 100'000, true));
  EXPECT_FALSE(ints(0.1, 100, 80, true));
  EXPECT_FALSE(ints(0.1, 0, 5, true));
}

// A buffer of one-word lines; a type per entry.
struct Buffer {
  std::vector<std::vector<std::byte>> data;
  std::vector<Waiting> waiting;

  void add(std::int32_t value, WordType type = WordType::int32, std::uint16_t flits = 5,
           double threshold = 0.1) {
    data.push_back(bytes({value}));
    waiting.push_back({{type, threshold, 0}, flits, {}});
  }
  std::vector<std::uint32_t> choose(int check_depth, bool literal = false) {
    for (std::size_t i = 0; i < data.size(); ++i) waiting[i].data = data[i];
    std::vector<std::uint32_t> followers;
    ApproximatorWork work;
    choose_followers(waiting, check_depth, literal, followers, work);
    return followers;
  }
};

Buffer alike(int count) {
  Buffer buffer;
  for (int i = 0; i < count; ++i) buffer.add(1000 + i);
  return buffer;
}

TEST(Approximator, TakesAtMostCheckDepthPacketsTogether) {
  using Positions = std::vector<std::uint32_t>;
  EXPECT_EQ(alike(12).choose(3), (Positions{1, 2}));
  EXPECT_EQ(alike(12).choose(6), (Positions{1, 2, 3, 4, 5}));
  EXPECT_EQ(alike(3).choose(6), (Positions{1, 2}));
  EXPECT_TRUE(alike(12).choose(1).empty());
}

TEST(Approximator, LooksPastWhatDoesNotPass) {
  Buffer buffer;
  buffer.add(1000);
  buffer.add(5000);
  buffer.add(1050, WordType::exact);
  buffer.add(1050, WordType::float32);
  buffer.add(1050, WordType::int32, 9);
  buffer.add(1050);
  EXPECT_EQ(buffer.choose(6), (std::vector<std::uint32_t>{5}));
  EXPECT_TRUE(buffer.choose(5).empty());
}

TEST(Approximator, AnExactFrontTakesNothingAlong) {
  Buffer buffer;
  buffer.add(1000, WordType::exact);
  buffer.add(1000);
  EXPECT_TRUE(buffer.choose(6).empty());
}

TEST(Approximator, TheSmallerThresholdCounts) {
  Buffer buffer;
  buffer.add(1000, WordType::int32, 5, 0.2);
  buffer.add(1150, WordType::int32, 5, 0.1);
  buffer.add(1150, WordType::int32, 5, 0.2);
  EXPECT_EQ(buffer.choose(6), (std::vector<std::uint32_t>{2}));
}

TEST(Approximator, LiterallyTheEntryBehindATakenOneIsSkipped) {
  EXPECT_EQ(alike(12).choose(4, true), (std::vector<std::uint32_t>{1, 3, 5}));
}

TEST(Approximator, CountsWordsUntilTheFirstThatFails) {
  ApproximatorWork work;
  const auto leader = bytes<std::int32_t>({10, 20, 30, 40});
  EXPECT_FALSE(may_replace(WordType::int32, 0.1, leader, bytes<std::int32_t>({10, 99, 30, 40}),
                           false, work));
  EXPECT_EQ(work.words_compared, 2U);
}

}  // namespace
}  // namespace ww::sim::net
