#include "machine/caches/l2_tags.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <utility>
#include <vector>

namespace ww::sim::gpu::exec {
namespace {

HostArena& arena() {
  static HostArena of_all_tests;
  return of_all_tests;
}

// Lines of one channel and set: channel 0 repeats every 16 * 256 bytes, its 64 sets every 16
// blocks.
std::uint32_t in_set(std::uint32_t n) {
  return n * 64 * 16;
}

TEST(L2Tags, InterleavesChannelsBy256Bytes) {
  const L2Tags l2{Architecture{}, arena()};
  EXPECT_EQ(l2.channel(0), 0);
  EXPECT_EQ(l2.channel(3), 0);
  EXPECT_EQ(l2.channel(4), 1);
  EXPECT_EQ(l2.channel(63), 15);
  EXPECT_EQ(l2.channel(64), 0);
}

TEST(L2Tags, HitsWhatItHoldsAndEvictsTheLeastRecent) {
  L2Tags l2{Architecture{}, arena()};
  for (std::uint32_t n = 0; n < 16; ++n) EXPECT_FALSE(l2.read(in_set(n)).hit);
  for (std::uint32_t n = 0; n < 16; ++n) EXPECT_TRUE(l2.read(in_set(n)).hit);
  EXPECT_TRUE(l2.read(in_set(0)).hit);
  EXPECT_FALSE(l2.read(in_set(16)).hit);  // in place of line 1
  EXPECT_TRUE(l2.read(in_set(0)).hit);
  EXPECT_FALSE(l2.read(in_set(1)).hit);
}

TEST(L2Tags, HoldsItsWholeSize) {
  L2Tags l2{Architecture{}, arena()};
  for (std::uint32_t line = 0; line < 16384; ++line) EXPECT_TRUE(l2.read(line).fill);
  for (std::uint32_t line = 0; line < 16384; ++line) EXPECT_TRUE(l2.read(line).hit);
}

TEST(L2Tags, WritesDirtyLinesBackAndNoOthers) {
  L2Tags l2{Architecture{}, arena()};
  EXPECT_FALSE(l2.write(in_set(0), ~std::uint64_t{0}).fill);
  for (std::uint32_t n = 1; n < 16; ++n) l2.read(in_set(n));
  const auto access = l2.read(in_set(16));
  EXPECT_TRUE(access.writeback);
  EXPECT_EQ(access.victim, in_set(0));
  EXPECT_FALSE(l2.read(in_set(17)).writeback);
}

TEST(L2Tags, FillsALineThatWasWrittenInPartWhenItIsRead) {
  L2Tags l2{Architecture{}, arena()};
  l2.write(5, 0xFF);
  EXPECT_TRUE(l2.write(5, 0xFF00).hit);
  const auto access = l2.read(5);
  EXPECT_FALSE(access.hit);
  EXPECT_TRUE(access.fill);
  EXPECT_TRUE(l2.read(5).hit);
  l2.write(6, 0xFFFFFFFF);
  l2.write(6, 0xFFFFFFFF00000000);
  EXPECT_TRUE(l2.read(6).hit);  // whole by now
}

// Cleaning looks only where a line was used since it last did, or since a snapshot came back.
TEST(L2Tags, CleansEveryDirtyLineOnce) {
  L2Tags l2{Architecture{}, arena()};
  std::map<std::uint32_t, std::uint64_t> dirty;
  const auto write = [&](std::uint32_t line, std::uint64_t bytes = 0xFF) {
    const L2Tags::Access access = l2.write(line, bytes);
    if (access.writeback) {
      const auto left = dirty.extract(access.victim);
      ASSERT_FALSE(left.empty());
      EXPECT_EQ(left.mapped(), access.victim_dirty);
    }
    dirty[line] |= bytes;
  };
  const auto expect_cleaned = [&] {
    std::map<std::uint32_t, std::uint64_t> cleaned;
    l2.clean([&](std::uint32_t line, std::uint64_t bytes) {
      EXPECT_TRUE(cleaned.emplace(line, bytes).second);
    });
    EXPECT_EQ(cleaned, dirty);
    dirty.clear();
  };
  std::uint32_t state = 1;
  const auto next = [&state] { return (state = state * 1664525U + 1013904223U) >> 8 & 0xFFFF; };
  for (int launch = 0; launch < 8; ++launch) {
    l2.begin_launch();
    for (int i = 0; i < 100 << launch; ++i) {
      write(next(), i % 3 == 0 ? ~std::uint64_t{0} : std::uint64_t{0xFF} << i % 56);
    }
    if (launch % 2 == 1) l2.begin_launch();  // what an earlier one left
    expect_cleaned();
  }
  write(5);
  write(7000);
  const auto snapshot = l2.snapshot();
  const auto both = dirty;
  expect_cleaned();
  l2.begin_launch();
  expect_cleaned();
  l2.restore(*snapshot);
  dirty = both;
  expect_cleaned();
}

TEST(L2Tags, TellsWhatItHas) {
  constexpr std::uint32_t kLines = 1U << 16;
  LineHolders holders(kLines);
  L2Tags l2[2]{L2Tags{Architecture{}, arena()}, L2Tags{Architecture{}, arena()}};
  for (unsigned die : {0U, 1U})
    l2[die].set_snoop_filter(&holders, static_cast<LineHolders::Dies>(1U << die));
  std::uint32_t state = 1;
  const auto next = [&state](std::uint32_t limit) {
    return static_cast<std::uint32_t>((state = state * 1664525U + 1013904223U) >> 8) % limit;
  };
  for (int round = 0; round < 4; ++round) {
    for (L2Tags& each : l2) each.begin_launch();
    for (int i = 0; i < 60000; ++i) {
      L2Tags& each = l2[next(2)];
      const std::uint32_t line = next(kLines);
      switch (next(8)) {
        case 0: each.write(line, 0); break;
        case 1:
        case 2: each.write(line, 0xFF); break;
        case 3: static_cast<void>(each.clean_line(line)); break;
        case 4:
          if (each.holds(line)) static_cast<void>(each.drop(line));
          break;
        default: each.read(line); break;
      }
    }
    if (round == 1) l2[0].clean([](std::uint32_t, std::uint64_t) {});
    for (std::uint32_t line = 0; line < kLines; ++line) {
      for (unsigned die : {0U, 1U}) {
        ASSERT_EQ((holders.present(line) >> die & 1) != 0, l2[die].holds(line)) << line;
        const bool dirty = (holders.dirty(line) >> die & 1) != 0;
        if (round == 3) {
          ASSERT_EQ(dirty, l2[die].clean_line(line) != 0) << line;
        }
      }
      if (round == 3) {
        ASSERT_EQ(holders.dirty(line), 0);
      }
    }
  }
}

// A snapshot takes from the last one what was not used since: another L2 that saw the same, and of
// which none was taken before, says what it has to be.
TEST(L2Tags, TakesASnapshotFromTheLastOneAsFromTheStart) {
  L2Tags l2{Architecture{}, arena()};
  std::vector<std::function<void(L2Tags&)>> seen;
  const auto both = [&](auto step) {
    step(l2);
    seen.emplace_back(step);
  };
  std::uint32_t state = 1;
  const auto next = [&state](std::uint32_t lines) {
    return (state = state * 1664525U + 1013904223U) >> 8 & (lines - 1);
  };
  const auto use = [&](std::uint32_t begin, std::uint32_t lines, int times) {
    for (int i = 0; i < times; ++i) {
      both([line = begin + next(lines), writes = i % 5 == 0](L2Tags& tags) {
        writes ? tags.write(line, 0xF0) : tags.read(line);
      });
    }
  };
  for (std::uint32_t launch = 0; launch < 20; ++launch) {
    both([](L2Tags& tags) { tags.begin_launch(); });
    use(launch * 4096, 1U << (launch % 3 == 0 ? 15 : 6), launch % 3 == 0 ? 20000 : 200);
    if (launch % 4 == 1) static_cast<void>(l2.snapshot());
    use(launch * 64, 64, 50);
    if (launch % 4 == 3) {
      both([line = launch * 64](L2Tags& tags) { tags.drop(line); });
    }
    if (launch % 2 == 0) continue;
    const auto snapshot = l2.snapshot();
    L2Tags other{Architecture{}, arena()};
    for (const auto& step : seen) step(other);
    EXPECT_EQ(l2.lines_used(), other.lines_used());
    const auto expected = other.snapshot();
    EXPECT_EQ(snapshot->tags, expected->tags);
    EXPECT_EQ(snapshot->unclean, expected->unclean);
    EXPECT_EQ(snapshot->hash, expected->hash);
  }
}

TEST(L2Tags, BehavesAlikeAfterSnapshotAndRestore) {
  L2Tags l2{Architecture{}, arena()};
  std::uint32_t state = 1;
  const auto next = [&state] { return (state = state * 1664525U + 1013904223U) >> 12 & 0x7FFF; };
  for (int i = 0; i < 50000; ++i) i % 5 == 0 ? l2.write(next(), 0xF0) : l2.read(next());
  const auto snapshot = l2.snapshot();
  L2Tags copy{Architecture{}, arena()};
  copy.restore(*snapshot);
  EXPECT_EQ(copy.snapshot()->hash, snapshot->hash);
  for (int i = 0; i < 50000; ++i) {
    const std::uint32_t line = next();
    const auto a = l2.read(line);
    const auto b = copy.read(line);
    ASSERT_EQ(a.hit, b.hit);
    ASSERT_EQ(a.writeback, b.writeback);
    ASSERT_EQ(a.victim, b.victim);
  }
  EXPECT_EQ(copy.snapshot()->hash, l2.snapshot()->hash);
  EXPECT_NE(copy.snapshot()->hash, snapshot->hash);
}

// A set as a list, the most recent line first.
struct PlainSet {
  std::vector<std::uint32_t> lines;
  bool access(std::uint32_t line, std::size_t ways) {
    const auto found = std::find(lines.begin(), lines.end(), line);
    const bool hit = found != lines.end();
    if (hit) lines.erase(found);
    lines.insert(lines.begin(), line);
    if (lines.size() > ways) lines.pop_back();
    return hit;
  }
};

// Single lines and runs of them, in caches of shapes that are laid out and searched in other ways.
TEST(L2Tags, HoldsWhatAListOfRecentLinesHoldsWhateverItsShape) {
  struct Shape {
    int channels, ways, sets, lines_per_block;
  };
  for (const Shape shape : {Shape{16, 16, 64, 4}, Shape{8, 8, 32, 4}, Shape{3, 16, 20, 4},
                            Shape{4, 16, 10, 4}, Shape{4, 6, 8, 2}, Shape{2, 16, 16, 1}}) {
    Architecture architecture;
    architecture.l2_channels = shape.channels;
    architecture.l2_ways = shape.ways;
    architecture.l2_bytes = std::int64_t{64} * shape.channels * shape.ways * shape.sets;
    architecture.channel_interleave_bytes = 64 * shape.lines_per_block;
    L2Tags l2{architecture, arena()};
    std::vector<PlainSet> plain(static_cast<std::size_t>(shape.channels * shape.sets));
    const auto block = static_cast<std::uint32_t>(shape.lines_per_block);
    const auto set_of = [&](std::uint32_t line) {
      const auto channels = static_cast<std::uint32_t>(shape.channels);
      const std::uint32_t in_channel = line / block / channels * block + line % block;
      return line / block % channels * static_cast<std::uint32_t>(shape.sets) +
             in_channel % static_cast<std::uint32_t>(shape.sets);
    };
    std::uint32_t state = 7;
    const std::uint32_t most = 2U * static_cast<std::uint32_t>(plain.size()) * 16U;
    for (int i = 0; i < 20000; ++i) {
      state = state * 1664525U + 1013904223U;
      const std::uint32_t line = (state >> 8) % most / block * block;
      const unsigned lines = i % 3 == 0 ? 1 : block;
      std::int64_t leaves[4];
      L2Tags::Access accesses[4];
      const unsigned hits =
          i % 2 == 0 ? l2.hits(line, l2.first_of(line), l2.channel(line), lines, leaves, 0, 1) : 0;
      L2Tags::ReplacedRow row;
      const std::uint32_t next = line + hits;
      const bool replaced =
          hits < lines && l2.read_run(next, l2.first_of(next), l2.channel(next), lines - hits,
                                      accesses, i % 5 < 3 ? &row : nullptr);
      for (unsigned n = 0; n < lines; ++n) {
        const bool expected =
            plain[set_of(line + n)].access(line + n, static_cast<std::size_t>(shape.ways));
        ASSERT_EQ(n < hits || (!replaced && accesses[n - hits].hit), expected)
            << shape.ways << " ways, " << i;
      }
    }
  }
}

// Lists written-back lines: victims with their dirty bytes.
using WrittenBack = std::vector<std::pair<std::uint32_t, std::uint64_t>>;

void add(WrittenBack& all, const L2Tags::Access& access) {
  if (access.writeback) all.emplace_back(access.victim, access.victim_dirty);
}
void add(WrittenBack& all, const L2Tags::ReplacedRow& row) {
  for (unsigned i = 0; i < L2Tags::ReplacedRow::kLines; ++i) {
    if (row.dirty[i] != 0) all.emplace_back(row.victim[i], row.dirty[i]);
  }
}

TEST(L2Tags, DoesWithARowWhatItDoesWithItsLinesOneByOne) {
  constexpr std::uint64_t kAll = ~std::uint64_t{0};
  L2Tags rows{Architecture{}, arena()};
  L2Tags lines{Architecture{}, arena()};
  std::uint32_t state = 11;
  const auto random = [&state](std::uint32_t below) {
    state = state * 1664525U + 1013904223U;
    return (state >> 8) % below;
  };
  int replaced = 0;
  int overwritten = 0;
  for (int i = 0; i < 60000; ++i) {
    if (i % 20000 == 0) {
      rows.begin_launch();
      lines.begin_launch();
    }
    const std::uint32_t line = random(5000) * 4;
    const std::uint32_t first = rows.first_of(line);
    const std::uint32_t channel = rows.channel(line);
    WrittenBack of_rows;
    WrittenBack of_lines;
    L2Tags::ReplacedRow row;
    switch (random(8)) {
      case 0: {  // a line alone, so that rows do not stay whole
        const std::uint64_t bytes = random(2) == 0 ? 0xF0 : kAll;
        const std::uint32_t one = line + random(4);
        add(of_rows, rows.write(one, bytes));
        add(of_lines, lines.write(one, bytes));
        break;
      }
      case 1:
        add(of_rows, rows.read(line + 2));
        add(of_lines, lines.read(line + 2));
        break;
      case 2:
      case 3:
      case 4:
        if (rows.overwrite_row(line, first, channel, 4)) {
          ++overwritten;
        } else if (rows.write_new_row(line, first, channel, 4, row)) {
          add(of_rows, row);
          ++replaced;
        } else {
          for (std::uint32_t n = 0; n < 4; ++n) add(of_rows, rows.write(line + n, kAll));
        }
        for (std::uint32_t n = 0; n < 4; ++n) add(of_lines, lines.write(line + n, kAll));
        break;
      default: {
        L2Tags::Access accesses[4];
        bool filled[4]{};
        const bool is_new = random(2) == 0 && rows.read_new_row(line, first, channel, 4, row);
        if (is_new || rows.read_run(line, first, channel, 4, accesses, &row)) {
          add(of_rows, row);
          ++replaced;
          std::ranges::fill(filled, true);
          std::fill_n(row.ready, 4, i);
        } else {
          for (std::uint32_t n = 0; n < 4; ++n) {
            add(of_rows, accesses[n]);
            filled[n] = accesses[n].fill;
            if (filled[n]) *accesses[n].ready = i;
          }
        }
        for (std::uint32_t n = 0; n < 4; ++n) {
          const L2Tags::Access access = lines.read(line + n);
          add(of_lines, access);
          ASSERT_EQ(access.fill, filled[n]) << i;
          if (access.fill) *access.ready = i;
        }
      }
    }
    ASSERT_EQ(of_rows, of_lines) << i;
  }
  EXPECT_EQ(rows.snapshot()->hash, lines.snapshot()->hash);
  EXPECT_GT(replaced, 1000);
  EXPECT_GT(overwritten, 500);
  // Compares the times of data, too.
  for (std::uint32_t line = 0; line < 4 * 5000; ++line) {
    if (!lines.holds(line)) continue;
    ASSERT_EQ(*rows.read(line).ready, *lines.read(line).ready) << line;
  }
}

// A launch of 300 random accesses to the first `lines` lines, the same for the same seed.
void use(L2Tags& l2, std::uint32_t seed, std::uint32_t lines, bool writes = true) {
  l2.begin_launch();
  for (int i = 0; i < 300; ++i) {
    seed = seed * 1664525U + 1013904223U;
    const std::uint32_t line = (seed >> 8) % lines;
    if (writes && i % 5 == 0) {
      l2.write(line, ~std::uint64_t{0});
    } else {
      l2.read(line);
    }
  }
}

TEST(L2Tags, KeepTheStateThatALaunchBeganWith) {
  for (std::uint32_t seed = 1; seed <= 10; ++seed) {
    L2Tags l2{Architecture{}, arena()};
    use(l2, seed + 100, 20000);
    l2.write(7, 0xFF);  // partial
    const auto before = l2.snapshot();
    l2.keep_begin(true);
    use(l2, seed, 20000);
    l2.write(7, 0xFF00);
    l2.write(9, 0xFF);
    l2.clean_line(7);
    l2.drop(11);
    l2.clean([](std::uint32_t, std::uint64_t) {});
    const auto after = l2.snapshot();
    EXPECT_NE(after->hash, before->hash);
    const auto kept = l2.snapshot_at_begin();
    EXPECT_EQ(kept->tags, before->tags);
    EXPECT_EQ(kept->unclean, before->unclean);
    EXPECT_EQ(kept->hash, before->hash);
    const auto again = l2.snapshot();
    EXPECT_EQ(again->tags, after->tags);
    EXPECT_EQ(again->unclean, after->unclean);
  }
}

TEST(L2Tags, ForgetWhenLinesOfAnEarlierLaunchArrived) {
  L2Tags l2{Architecture{}, arena()};
  for (std::uint32_t line = 0; line < 4; ++line) *l2.read(line).ready = 1000;
  std::int64_t leaves[4];
  ASSERT_EQ(l2.hits(0, l2.first_of(0), l2.channel(0), 4, leaves, 5, 1), 4);
  EXPECT_EQ(leaves[0], 1000);
  l2.begin_launch();
  ASSERT_EQ(l2.hits(0, l2.first_of(0), l2.channel(0), 4, leaves, 5, 1), 4);
  EXPECT_EQ(leaves[0], 5);
  EXPECT_EQ(*l2.read(3).ready, 0);
}

TEST(TagsAfter, HitsAreThoseAfterTheAccessesThemselves) {
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    L2Tags l2{Architecture{}, arena()};
    use(l2, seed + 100, 20000);  // other lines, some in the same sets
    use(l2, seed, 400);
    use(l2, seed, 400);  // all accesses hit
    const auto after = l2.snapshot();
    const auto used = l2.lines_used();
    for (std::uint32_t other = 200; other < 205; ++other) {
      use(l2, other, 400, false);
      const auto before = l2.snapshot();
      EXPECT_NE(before->hash, after->hash);
      const auto expected = tags_after(L2Outcome::hits, *before, *after, used);
      ASSERT_NE(expected, nullptr);
      use(l2, seed, 400);
      EXPECT_EQ(l2.snapshot()->tags, expected->tags);
      EXPECT_EQ(l2.snapshot()->unclean, expected->unclean);
      EXPECT_EQ(l2.snapshot()->hash, expected->hash);
    }
  }
}

TEST(TagsAfter, HitsAreUnknownWhereALineIsGoneOrDiffers) {
  L2Tags l2{Architecture{}, arena()};
  const auto launch = [&l2] {
    l2.begin_launch();
    for (std::uint32_t n = 0; n < 4; ++n) l2.read(in_set(n));
  };
  launch();
  launch();
  const auto after = l2.snapshot();
  const auto used = l2.lines_used();
  EXPECT_EQ(used[0], 4);
  EXPECT_EQ(used[1], 0);
  EXPECT_NE(tags_after(L2Outcome::hits, *after, *after, used), nullptr);
  l2.write(in_set(2), 1);
  EXPECT_EQ(tags_after(L2Outcome::hits, *l2.snapshot(), *after, used), nullptr);
  L2Tags others{Architecture{}, arena()};
  for (std::uint32_t n = 1; n < 16; ++n) others.read(in_set(n));
  EXPECT_EQ(tags_after(L2Outcome::hits, *others.snapshot(), *after, used), nullptr);
}

TEST(TagsAfter, MissesAreThoseAfterTheAccessesThemselves) {
  // 10 lines of one set and 3 of another, none of which is there before.
  const auto launch = [](L2Tags& l2) {
    l2.begin_launch();
    for (std::uint32_t n = 0; n < 10; ++n) l2.read(in_set(100 + n));
    for (std::uint32_t n = 0; n < 3; ++n) l2.read(in_set(100 + n) + 1);
    for (std::uint32_t n = 9; n > 4; --n) l2.read(in_set(100 + n));
  };
  L2Tags l2{Architecture{}, arena()};
  launch(l2);
  const auto after = l2.snapshot();
  const auto used = l2.lines_used();
  for (std::uint32_t others = 0; others < 30; others += 7) {
    L2Tags other{Architecture{}, arena()};
    for (std::uint32_t n = 0; n < others; ++n) other.read(in_set(n));
    const auto expected = tags_after(L2Outcome::misses, *other.snapshot(), *after, used);
    ASSERT_NE(expected, nullptr);
    launch(other);
    EXPECT_EQ(other.snapshot()->tags, expected->tags);
    EXPECT_EQ(other.snapshot()->unclean, expected->unclean);
    EXPECT_EQ(other.snapshot()->hash, expected->hash);
  }
  // A line that is there would hit; a dirty one would be written back when it leaves.
  EXPECT_EQ(tags_after(L2Outcome::misses, *after, *after, used), nullptr);
  L2Tags dirty{Architecture{}, arena()};
  for (std::uint32_t n = 0; n < 6; ++n) dirty.read(in_set(n));
  dirty.write(in_set(6), 1);
  EXPECT_NE(tags_after(L2Outcome::misses, *dirty.snapshot(), *after, used), nullptr);
  for (std::uint32_t n = 7; n < 16; ++n) dirty.read(in_set(n));
  EXPECT_EQ(tags_after(L2Outcome::misses, *dirty.snapshot(), *after, used), nullptr);
}

}  // namespace
}  // namespace ww::sim::gpu::exec
