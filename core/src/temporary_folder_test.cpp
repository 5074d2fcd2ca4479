#include "ww/core/temporary_folder.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

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

}  // namespace
}  // namespace ww
