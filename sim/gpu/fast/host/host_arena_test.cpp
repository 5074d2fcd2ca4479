#include "fast/host/host_arena.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <thread>

namespace ww::sim::gpu::exec::host_arena_test {
namespace {

struct Piece {
  std::byte* begin;
  std::size_t bytes;
};

// Takes pieces and fills them with one value.
std::vector<Piece> take(HostArena& arena, std::byte value) {
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < 200; ++i) {
    const std::size_t bytes = 1 + i * 7919 % 1'000'000;
    auto* const begin = static_cast<std::byte*>(arena.allocate(bytes));
    EXPECT_EQ(std::count(begin, begin + bytes, std::byte{0}), bytes);
    std::memset(begin, static_cast<int>(value), bytes);
    pieces.push_back({begin, bytes});
  }
  return pieces;
}

TEST(HostArena, GivesEveryPieceItsOwnLines) {
  HostArena arena;
  std::vector<Piece> one;
  std::thread other([&] { one = take(arena, std::byte{1}); });
  std::vector<Piece> two = take(arena, std::byte{2});
  other.join();
  for (const Piece& piece : one) {
    EXPECT_EQ(std::count(piece.begin, piece.begin + piece.bytes, std::byte{1}), piece.bytes);
  }
  for (const Piece& piece : two) {
    EXPECT_EQ(std::count(piece.begin, piece.begin + piece.bytes, std::byte{2}), piece.bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(piece.begin) % kHostLine, 0);
  }
}

TEST(HostArena, GivesMoreThanAChunkAtOnce) {
  HostArena arena;
  static_cast<void>(arena.allocate(1));
  constexpr std::size_t kBytes = std::size_t{1} << 30;  // of which two pages are touched
  auto* const begin = static_cast<std::byte*>(arena.allocate(kBytes));
  begin[0] = begin[kBytes - 1] = std::byte{1};
  auto* const behind = static_cast<std::byte*>(arena.allocate(64));
  EXPECT_TRUE(behind + 64 <= begin || behind >= begin + kBytes);
}

TEST(HostArena, KeepsRarePiecesOffThePagesOfCommonOnes) {
  HostArena arena;
  const auto page_of = [&](HostArena::Pages pages) {
    return reinterpret_cast<std::uintptr_t>(arena.allocate(100, pages)) / kHugePage;
  };
  const std::uintptr_t common = page_of(HostArena::Pages::common);
  const std::uintptr_t rare = page_of(HostArena::Pages::rare);
  EXPECT_NE(common, rare);
  EXPECT_EQ(common, page_of(HostArena::Pages::common));
  EXPECT_EQ(rare, page_of(HostArena::Pages::rare));
}

#if defined(__SANITIZE_ADDRESS__)
TEST(HostArenaDeathTest, LetsTheSanitizerSeeWhatLiesBehindAPiece) {
  HostArena arena;
  auto* const begin = static_cast<volatile char*>(arena.allocate(3));
  begin[2] = 1;
  EXPECT_DEATH(begin[3] = 1, "use-after-poison");
}
#endif

}  // namespace
}  // namespace ww::sim::gpu::exec::host_arena_test
