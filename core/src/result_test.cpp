#include "ww/core/result.hpp"

#include <gtest/gtest.h>

namespace ww {
namespace {

Result<int> half(int number) {
  if (number % 2 != 0) return fail(ErrorCode::invalid_argument, "odd", "half");
  return number / 2;
}

Result<int> quarter(int number) {
  WW_ASSIGN(first, half(number));
  WW_ASSIGN(second, half(first));
  return second;
}

TEST(Result, CarriesTheValueThroughSteps) {
  EXPECT_EQ(quarter(8).value(), 2);
}

TEST(Result, StopsAtTheFirstErrorAndKeepsItsContext) {
  const auto result = quarter(6);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(result.error().text(), "half: odd");
}

TEST(ExitCode, TellsUsageFromEnvironmentFromBadResult) {
  EXPECT_EQ(exit_code(ErrorCode::invalid_argument), 2);
  EXPECT_EQ(exit_code(ErrorCode::missing_dependency), 3);
  EXPECT_EQ(exit_code(ErrorCode::permission_denied), 3);
  EXPECT_EQ(exit_code(ErrorCode::bad_data), 1);
}

}  // namespace
}  // namespace ww
