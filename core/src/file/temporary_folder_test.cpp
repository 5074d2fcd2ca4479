#include "ww/core/temporary_folder.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <fstream>
#include <string>

namespace ww {
namespace {

TEST(TemporaryParent, IsAnErrorThatNamesWhatIsNoFolder) {
  const char* named = ::getenv("TMPDIR");
  const std::string before = named == nullptr ? "" : named;
  ::setenv("TMPDIR", "/proc/nowhere", 1);
  const auto parent = temporary_parent();
  before.empty() ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", before.c_str(), 1);
  ASSERT_FALSE(parent);
  EXPECT_EQ(parent.error().context, "/proc/nowhere");
  EXPECT_TRUE(temporary_parent());
}

TEST(ScratchFolder, IsRemovedWithAllInItWhenItsOwnerGoes) {
  std::filesystem::path path;
  {
    const auto scratch = ScratchFolder::create("core-test");
    ASSERT_TRUE(scratch) << scratch.error().text();
    path = scratch->path();
    EXPECT_EQ(path.parent_path(), *temporary_parent());
    EXPECT_TRUE(path.filename().string().starts_with("wirewatt-core-test-"));
    std::filesystem::create_directories(path / "a/b");
    std::ofstream(path / "a/b/c") << "text";
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(ScratchFolder, MayBeEnteredByThisUserAlone) {
  const auto scratch = ScratchFolder::create("core-test");
  ASSERT_TRUE(scratch) << scratch.error().text();
  struct stat info {};
  ASSERT_EQ(::stat(scratch->path().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700U);
}

TEST(ScratchFolder, LivesOnWhereItIsMovedTo) {
  auto first = ScratchFolder::create("core-test");
  ASSERT_TRUE(first) << first.error().text();
  const ScratchFolder second = std::move(*first);
  EXPECT_TRUE(std::filesystem::is_directory(second.path()));
  EXPECT_TRUE(first->path().empty());
}

TEST(ScratchFolder, ListsItsFilesByName) {
  const auto scratch = ScratchFolder::create("core-test");
  ASSERT_TRUE(scratch) << scratch.error().text();
  // The last one is what a writer leaves that is killed before its file is in place.
  for (const char* name : {"2.csv", "10.csv", "1.csv", ".3.csv.aBcDeF"}) {
    std::ofstream(scratch->path() / name) << "text";
  }
  const auto& folder = scratch->path();
  EXPECT_EQ(scratch->files(), (std::vector<std::filesystem::path>{
                                  folder / "1.csv", folder / "10.csv", folder / "2.csv"}));
}

TEST(ScratchFolder, IsAnErrorWhereItsParentIsMissing) {
  const auto scratch = ScratchFolder::create_in("/no/such/folder");
  ASSERT_FALSE(scratch);
  EXPECT_EQ(scratch.error().code, ErrorCode::not_found);
  EXPECT_EQ(scratch.error().context, "/no/such/folder");
}

}  // namespace
}  // namespace ww
