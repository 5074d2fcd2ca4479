#include "ww/core/subprocess.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ww {
namespace {

using ::testing::HasSubstr;

ProcessRequest shell(const std::string& text) {
  ProcessRequest request;
  request.command = {"sh", "-c", text};
  return request;
}

TEST(Subprocess, GivesOutputErrorsAndExitCode) {
  const auto result = run_process(shell("echo out; echo err >&2; exit 3"));
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->output, "out\n");
  EXPECT_EQ(result->errors, "err\n");
  EXPECT_EQ(result->exit_code, 3);
}

TEST(Subprocess, RunsInItsFolderWithItsEnvironment) {
  ProcessRequest request = shell("pwd; echo $WW_SUBPROCESS_TEST");
  request.folder = "/usr";
  request.environment = {{"WW_SUBPROCESS_TEST", "there"}};
  EXPECT_EQ(run_process(request)->output, "/usr\nthere\n");
}

TEST(Subprocess, IsEndedWithItsChildrenAtTheLimit) {
  ProcessRequest request = shell("sleep 60 & echo begun; wait");
  request.limit = std::chrono::milliseconds(200);
  const auto result = run_process(request);
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_TRUE(result->timed_out);
  EXPECT_EQ(result->output, "begun\n");
}

TEST(Subprocess, MayPutThingsRightBeforeItIsKilled) {
  ProcessRequest request = shell("trap 'echo right again; exit 0' TERM; sleep 60 & wait");
  request.limit = std::chrono::milliseconds(200);
  request.time_to_end = std::chrono::seconds(20);
  const auto start = std::chrono::steady_clock::now();
  const auto result = run_process(request);
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_TRUE(result->timed_out);
  EXPECT_EQ(result->output, "right again\n");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(15));
}

TEST(Subprocess, ThatDoesNotEndInItsTimeIsKilled) {
  ProcessRequest request = shell("trap '' TERM; echo begun; while :; do sleep 1; done");
  request.limit = std::chrono::milliseconds(100);
  request.time_to_end = std::chrono::milliseconds(300);
  const auto result = run_process(request);
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_TRUE(result->timed_out);
  EXPECT_EQ(result->signal, 9);
  EXPECT_EQ(result->output, "begun\n");
}

TEST(Subprocess, SaysWhichSignalEndedIt) {
  const auto result = run_process(shell("kill -SEGV $$"));
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->signal, 11);
  EXPECT_EQ(result->exit_code, 139);
}

TEST(Subprocess, OutputBeyondAPipesRoomIsKept) {
  const auto result = run_process(shell("head -c 300000 /dev/zero; head -c 300000 /dev/zero >&2"));
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->output.size(), 300000u);
  EXPECT_EQ(result->errors.size(), 300000u);
}

TEST(Subprocess, NamesAProgramOrFolderThatIsNotThere) {
  ProcessRequest request;
  EXPECT_EQ(run_process(request).error().code, ErrorCode::invalid_argument);
  request.command = {"no-such-program-anywhere"};
  EXPECT_EQ(run_process(request).error().code, ErrorCode::not_found);
  EXPECT_THAT(run_process(request).error().text(), HasSubstr("no-such-program-anywhere"));
  request.command = {"/etc/passwd"};
  EXPECT_EQ(run_process(request).error().code, ErrorCode::permission_denied);
  request = shell("true");
  request.folder = "/no/such/folder";
  EXPECT_EQ(run_process(request).error().code, ErrorCode::io_error);
}

TEST(Subprocess, LeavesStandardErrorToTheUserWhereAsked) {
  ProcessRequest request = shell("echo out; echo err >&2");
  request.shows_errors = true;
  ::testing::internal::CaptureStderr();
  const auto result = run_process(request);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "err\n");
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->output, "out\n");
  EXPECT_EQ(result->errors, "");
}

// The program itself has ended by the time the limit is reached.
TEST(Subprocess, DoesNotListenToAChattyGrandchildBeyondTheLimit) {
  ProcessRequest request = shell("yes & exit 0");
  request.limit = std::chrono::milliseconds(300);
  const auto start = std::chrono::steady_clock::now();
  const auto result = run_process(request);
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->exit_code, 0);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

}  // namespace
}  // namespace ww
