#include "ww/core/interrupt.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

namespace ww {
namespace {

void ask(int signal) {
  catch_interrupts();
  std::raise(signal);
}

TEST(InterruptDeathTest, IsAFlagThatLetsTheProgramEndByItself) {
  const auto body = [] {
    ask(SIGTERM);
    std::exit(interrupted() ? 7 : 1);
  };
  EXPECT_EXIT(body(), ::testing::ExitedWithCode(7), "");
}

// As `timeout` does, which signals the process and then its group.
TEST(InterruptDeathTest, SentTwiceAtOnceIsOneRequest) {
  const auto body = [] {
    ask(SIGTERM);
    std::raise(SIGTERM);
    std::raise(SIGINT);
    std::exit(interrupted() ? 7 : 1);
  };
  EXPECT_EXIT(body(), ::testing::ExitedWithCode(7), "");
}

TEST(InterruptDeathTest, SentAgainLaterKillsAtOnce) {
  const auto body = [] {
    ask(SIGINT);
    std::this_thread::sleep_for(std::chrono::milliseconds(600));
    std::raise(SIGINT);
    std::exit(1);
  };
  EXPECT_EXIT(body(), ::testing::KilledBySignal(SIGINT), "");
}

}  // namespace
}  // namespace ww
