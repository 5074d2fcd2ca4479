#include "ww/core/file_system.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "ww/core/atomic_file.hpp"

namespace ww {
namespace {

TEST(PlacedFile, ReplacesAnOlderFile) {
  const auto folder = ScratchFolder::create("placed").value();
  const auto target = folder.path() / "out";
  ASSERT_TRUE(write_file_atomically(target, "old"));
  {
    const auto beside = folder_for(target);
    ASSERT_TRUE(beside) << beside.error().text();
    EXPECT_EQ(beside->path().parent_path(), folder.path());
    ASSERT_TRUE(write_file_atomically(beside->path() / "made", "new"));
    ASSERT_TRUE(place_file(beside->path() / "made", target));
  }
  EXPECT_EQ(read_file(target).value(), "new");
  EXPECT_EQ(folder.files().size(), 1U);
}

// As root, renaming a file to /dev/null would replace the device.
TEST(PlacedFile, GivesItsContentToAPipeAndDoesNotReplaceIt) {
  const auto folder = ScratchFolder::create("placed").value();
  const auto pipe = folder.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ASSERT_GE(reader, 0);
  EXPECT_TRUE(is_device_or_pipe(pipe));
  const auto elsewhere = folder_for(pipe);
  ASSERT_TRUE(elsewhere) << elsewhere.error().text();
  EXPECT_NE(elsewhere->path().parent_path(), folder.path());
  ASSERT_TRUE(write_file_atomically(elsewhere->path() / "made", "content"));
  ASSERT_TRUE(place_file(elsewhere->path() / "made", pipe));
  std::string text(16, '\0');
  text.resize(static_cast<std::size_t>(::read(reader, text.data(), text.size())));
  EXPECT_EQ(text, "content");
  ::close(reader);
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
  EXPECT_TRUE(elsewhere->files().empty());
}

TEST(PlacedFile, SaysWhatCannotBePlaced) {
  const auto folder = ScratchFolder::create("placed").value();
  const auto missing = place_file(folder.path() / "none", folder.path() / "out");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::not_found);
  EXPECT_EQ(place_file(folder.path() / "none", "/dev/null").error().code, ErrorCode::not_found);
}

TEST(MakeFolder, MakesThoseAboveItAndTakesOneThatIsThere) {
  const auto folder = ScratchFolder::create("made").value();
  const auto deep = folder.path() / "a" / "b";
  ASSERT_TRUE(make_folder(deep));
  EXPECT_TRUE(std::filesystem::is_directory(deep));
  EXPECT_TRUE(make_folder(deep));
}

TEST(MakeFolder, CallsAFileInTheWayWrongUsage) {
  const auto folder = ScratchFolder::create("made").value();
  const auto file = folder.path() / "file";
  ASSERT_TRUE(write_file_atomically(file, "text"));
  for (const auto& wrong : {file, file / "x", file / "x" / "y"}) {
    const auto made = make_folder(wrong);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, ErrorCode::invalid_argument) << made.error().text();
    EXPECT_NE(made.error().text().find(wrong.string()), std::string::npos);
  }
  EXPECT_EQ(read_file(file).value(), "text");
}

}  // namespace
}  // namespace ww
