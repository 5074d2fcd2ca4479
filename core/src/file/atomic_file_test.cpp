#include "ww/core/atomic_file.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "ww/core/temporary_folder.hpp"

namespace ww {
namespace {

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
  const auto folder = ScratchFolder::create("empty").value();
  const auto file = folder.path() / "empty";
  std::ofstream{file};
  const auto content = read_file(file);
  ASSERT_TRUE(content) << content.error().text();
  EXPECT_TRUE(content->empty());
}

}  // namespace
}  // namespace ww
