#include "ww/core/atomic_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "ww/core/streamed_file.hpp"
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

// As root, renaming a file to /dev/null would replace the device.
TEST(AtomicFile, WritesToAPipeAndDoesNotReplaceIt) {
  const auto folder = ScratchFolder::create("pipe").value();
  const auto pipe = folder.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ASSERT_GE(reader, 0);
  char text[16] = {};
  EXPECT_TRUE(write_file_atomically(pipe, "whole"));
  EXPECT_EQ(::read(reader, text, sizeof text), 5);
  EXPECT_STREQ(text, "whole");
  auto stream = StreamedFile::create(pipe).value();
  EXPECT_TRUE(stream.write("parts"));
  EXPECT_TRUE(stream.keep());
  EXPECT_EQ(::read(reader, text, sizeof text), 5);
  EXPECT_STREQ(text, "parts");
  ::close(reader);
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
  EXPECT_EQ(folder.files().size(), 1U);
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
  std::ofstream(file).close();
  const auto content = read_file(file);
  ASSERT_TRUE(content) << content.error().text();
  EXPECT_TRUE(content->empty());
}

}  // namespace
}  // namespace ww
