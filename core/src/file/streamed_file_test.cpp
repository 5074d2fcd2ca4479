#include "ww/core/streamed_file.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ww/core/atomic_file.hpp"
#include "ww/core/temporary_folder.hpp"

namespace ww {
namespace {

class StreamedFileTest : public testing::Test {
 protected:
  [[nodiscard]] bool empty() const { return std::filesystem::is_empty(folder_); }
  ScratchFolder scratch_ = ScratchFolder::create("streamed").value();
  std::filesystem::path folder_ = scratch_.path();
};

TEST_F(StreamedFileTest, HasNoNameUntilItIsKept) {
  const auto target = folder_ / "out.bin";
  auto file = StreamedFile::create(target);
  ASSERT_TRUE(file) << file.error().text();
  std::string whole;
  for (int i = 0; i < 300; ++i) {
    const std::string part(10'000, static_cast<char>('a' + i % 26));
    whole += part;
    ASSERT_TRUE(file->write(part));
  }
  const std::string longer(1 << 20, 'z');  // than the buffer, which holds some of the parts
  whole += longer + "end";
  ASSERT_TRUE(file->write(longer));
  ASSERT_TRUE(file->write("end"));
  EXPECT_EQ(file->size(), whole.size());
  EXPECT_FALSE(std::filesystem::exists(target));
  ASSERT_TRUE(file->keep());
  EXPECT_EQ(*read_file(target), whole);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

TEST_F(StreamedFileTest, IsLeftAloneByAChildOfItsProcess) {
  const auto target = folder_ / "out.bin";
  auto file = StreamedFile::create(target);
  ASSERT_TRUE(file) << file.error().text();
  ASSERT_TRUE(file->write("mine"));
  const std::string longer(1 << 20, 'z');  // than the buffer
  const pid_t child = fork();
  if (child == 0) {
    const bool refused = !file->write(longer) && !file->keep();
    { const StreamedFile dropped = std::move(*file); }
    _exit(refused ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  ASSERT_TRUE(file->keep());
  EXPECT_EQ(*read_file(target), "mine");
}

TEST_F(StreamedFileTest, LeavesNothingWhenItIsDropped) {
  {
    auto file = StreamedFile::create(folder_ / "out.bin");
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->write(std::string(3 << 20, 'x')));
  }
  EXPECT_TRUE(empty());
}

TEST_F(StreamedFileTest, ReplacesAnOlderFile) {
  const auto target = folder_ / "out.bin";
  ASSERT_TRUE(write_file_atomically(target, "old"));
  auto file = StreamedFile::create(target);
  ASSERT_TRUE(file);
  ASSERT_TRUE(file->write("new"));
  EXPECT_EQ(*read_file(target), "old");
  ASSERT_TRUE(file->keep());
  EXPECT_EQ(*read_file(target), "new");
}

TEST_F(StreamedFileTest, NamesTheFolderItCannotWriteTo) {
  const auto file = StreamedFile::create(folder_ / "missing" / "out.bin");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, ErrorCode::not_found);
  EXPECT_NE(file.error().text().find("missing"), std::string::npos);
}

}  // namespace
}  // namespace ww
