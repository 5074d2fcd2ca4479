#include "machine/timing/directory.hpp"

#include <gtest/gtest.h>

namespace ww::sim::gpu::timing {
namespace {

TEST(Directory, RecallsALineFromItsOwnerOnce) {
  Directory directory;
  EXPECT_TRUE(directory.write(7, 1, true).empty());
  EXPECT_TRUE(directory.owns(7, 1));
  EXPECT_EQ(directory.read(7, 1), Directory::kNobody);  // its own
  EXPECT_EQ(directory.read(7, 2), 1U);
  EXPECT_EQ(directory.read(7, 3), Directory::kNobody);
  EXPECT_FALSE(directory.owns(7, 1));
}

TEST(Directory, InvalidatesEveryOtherCopy) {
  Directory directory;
  for (const std::uint32_t core : {4U, 5U, 6U}) directory.read(7, core);
  EXPECT_EQ(directory.write(7, 5, true), (Directory::Cores{4, 6}));
  EXPECT_TRUE(directory.owns(7, 5));
  EXPECT_EQ(directory.write(7, 6, false), (Directory::Cores{5}));  // an atomic: nobody has it
  EXPECT_TRUE(directory.write(7, 1, true).empty());
}

TEST(Directory, ForgetsWhatItsOwnerWroteBackAlone) {
  Directory directory;
  EXPECT_TRUE(directory.write(7, 1, true).empty());
  EXPECT_EQ(directory.write(7, 2, true), (Directory::Cores{1}));
  directory.written_back(7, 1);  // too late: it is another's
  EXPECT_TRUE(directory.owns(7, 2));
  directory.written_back(7, 2);
  EXPECT_FALSE(directory.owns(7, 2));
  EXPECT_EQ(directory.read(7, 3), Directory::kNobody);
}

}  // namespace
}  // namespace ww::sim::gpu::timing
