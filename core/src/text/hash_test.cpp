#include "ww/core/hash.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace ww {
namespace {

TEST(RunningHash, IsTheHashOfAllPiecesTogether) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += std::to_string(i * i);
  const auto bytes = std::as_bytes(std::span(text));
  RunningHash hash;
  std::size_t size = 0;
  for (std::size_t at = 0; at < bytes.size(); at += size) {
    size = std::min(3 * size + 1, bytes.size() - at);
    hash.add(bytes.subspan(at, size));
  }
  EXPECT_EQ(hash.text(), hash_text(bytes));
  EXPECT_EQ(RunningHash().text(), hash_text({}));
}

}  // namespace
}  // namespace ww
