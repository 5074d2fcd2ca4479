#include "ww/core/atomic_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "ww/core/temporary_folder.hpp"

namespace ww {
namespace {

namespace fs = std::filesystem;

TEST(AtomicFile, ReplacesTheContentAndLeavesNothingBeside) {
  const auto folder = ScratchFolder::create("atomic");
  ASSERT_TRUE(folder) << folder.error().text();
  const auto file = folder->path() / "model.json";
  ASSERT_TRUE(write_file_atomically(file, "first"));
  ASSERT_TRUE(write_file_atomically(file, "second"));
  EXPECT_EQ(read_file(file).value(), "second");
  EXPECT_EQ(folder->files().size(), 1U);
}

TEST(AtomicFile, NamesTheFolderThatCannotBeWritten) {
  const auto status = write_file_atomically("/proc/nowhere/model.json", "x");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().context, "/proc/nowhere");
}

TEST(ReadFile, SaysThatAFileIsMissing) {
  EXPECT_EQ(read_file("/nonexistent/file").error().code, ErrorCode::not_found);
}

TEST(ReadFile, ReadsAnEmptyFile) {
  std::string pattern = (fs::temp_directory_path() / "ww-empty-XXXXXX").string();
  const int fd = ::mkstemp(pattern.data());
  ASSERT_GE(fd, 0);
  ::close(fd);
  const auto content = read_file(pattern);
  ASSERT_TRUE(content) << content.error().text();
  EXPECT_TRUE(content->empty());
  fs::remove(pattern);
}

}  // namespace
}  // namespace ww
