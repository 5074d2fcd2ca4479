#include "fast/replay/replay.hpp"

#include <gtest/gtest.h>

namespace ww::sim::gpu::exec {
namespace {

using Worth = ReplayBook::Worth;

constexpr std::uint64_t kLinesOfL2 = 16;
const std::string kReplayKey = "program, kernel and arguments";

TEST(ReplayBook, RecordsAKeyWhenItComesAgain) {
  ReplayBook book(kLinesOfL2);
  EXPECT_EQ(book.worth_of_a_record(kReplayKey), Worth::none);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(book.worth_of_a_record(kReplayKey), Worth::always);
}

TEST(ReplayBook, RecordsAKeySeldomThatIsNeverReplayed) {
  ReplayBook book(kLinesOfL2);
  constexpr int kLaunches = 10'000;
  int records = 0;
  int last = 0;
  for (int i = 0; i < kLaunches; ++i) {
    if (book.worth_of_a_record(kReplayKey) != Worth::always) continue;
    ++records;
    last = i;
  }
  EXPECT_LT(records, 30);
  EXPECT_GT(last, kLaunches / 2);
  book.replayed(kReplayKey);
  EXPECT_EQ(book.worth_of_a_record(kReplayKey), Worth::always);
}

TEST(ReplayBook, RecordsLongLaunchesEachTime) {
  ReplayBook book(kLinesOfL2);
  EXPECT_FALSE(book.executed(kReplayKey, 8 * kLinesOfL2 - 1));
  EXPECT_EQ(book.worth_of_a_record(kReplayKey), Worth::none);
  EXPECT_TRUE(book.executed(kReplayKey, 8 * kLinesOfL2));
  for (int i = 0; i < 1000; ++i) EXPECT_NE(book.worth_of_a_record(kReplayKey), Worth::none);
}

}  // namespace
}  // namespace ww::sim::gpu::exec
