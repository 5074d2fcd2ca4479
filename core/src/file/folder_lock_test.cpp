#include "ww/core/folder_lock.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <optional>

#include "ww/core/temporary_folder.hpp"

namespace ww {
namespace {

namespace fs = std::filesystem;

class FolderLockTest : public ::testing::Test {
 protected:
  Result<FolderLock> take(std::string_view kind = "measure") {
    return FolderLock::take(folder_.path(), kind, "measuring into");
  }
  ScratchFolder folder_{ScratchFolder::create("lock").value()};
};

TEST_F(FolderLockTest, ASecondOneIsToldWhoHasIt) {
  const auto first = take();
  ASSERT_TRUE(first) << first.error().text();
  const auto second = take();
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::invalid_argument);
  EXPECT_NE(second.error().text().find("process " + std::to_string(::getpid()) +
                                       " is measuring into this folder"),
            std::string::npos)
      << second.error().text();
  EXPECT_TRUE(take("sweep")) << "other work";
}

TEST_F(FolderLockTest, LeavesNothingBehind) {
  { ASSERT_TRUE(take()); }
  EXPECT_TRUE(fs::is_empty(folder_.path()));
  EXPECT_TRUE(take());
}

TEST_F(FolderLockTest, AKilledProcessBlocksNobody) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto lock = take();
    const char answer = lock ? 'y' : 'n';
    (void)!::write(ready[1], &answer, 1);
    ::pause();
    ::_exit(0);
  }
  char answer = 0;
  ASSERT_EQ(::read(ready[0], &answer, 1), 1);
  ASSERT_EQ(answer, 'y');
  const auto during = take();
  ASSERT_FALSE(during);
  EXPECT_NE(during.error().text().find("process " + std::to_string(child)), std::string::npos);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_FALSE(fs::is_empty(folder_.path())) << "a lock file is left, which locks nothing";
  EXPECT_TRUE(take());
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_F(FolderLockTest, AForeignLockFileLocksNothing) {
  std::ofstream(folder_.path() / ".wirewatt-measure.lock") << "1 another-host";
  EXPECT_TRUE(take());
}

TEST_F(FolderLockTest, AForkFreesNothing) {
  std::optional<FolderLock> lock(std::move(take().value()));
  const pid_t child = ::fork();
  if (child == 0) {
    lock.reset();
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  EXPECT_FALSE(take());
}

TEST_F(FolderLockTest, SaysWhereNoLockCanBeMade) {
  const auto lock = FolderLock::take(folder_.path() / "absent", "measure", "measuring into");
  ASSERT_FALSE(lock);
  EXPECT_EQ(lock.error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace ww
