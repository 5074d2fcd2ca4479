// Runs a trace through caches of other sizes to find the traffic behind them. The caches have only
// tags and no timing. Two waves that ask for a line while it is on its way therefore count once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/sim/trace/reader.hpp"

namespace ww::sim::trace {

struct CacheShape {
  std::int64_t l1_bytes{16 * 1024};  // of each compute unit
  int l1_ways{4};
  std::int64_t l2_bytes{1024 * 1024};  // of all channels together
  int l2_ways{16};
  int engines{4};
  int cus_per_engine{11};
  int channels{16};
  int interleave_bytes{256};
  // 64, or 128 where a tag of the L1 stands for 128 B and a read asks the L2 for all of them
  // (gfx94).
  int l1_line_bytes{64};
  int l2_line_bytes{64};  // 64, or 128 where a miss brings 128 B; not less than the L1's
};

struct CacheTraffic {
  std::uint64_t l1_accesses{};  // requests to an L1: a line that a load touches, 64 B of a store
  std::uint64_t l1_hits{};
  std::uint64_t l2_reads{};   // requests for an L1's line
  std::uint64_t l2_writes{};  // and of stores and atomics, up to 64 B each
  std::uint64_t l2_misses{};
  std::uint64_t l1_l2_read_bytes{};  // those requests in bytes: whole lines
  std::uint64_t l1_l2_write_bytes{};
  std::uint64_t memory_read_bytes{};
  std::uint64_t memory_write_bytes{};
  bool operator==(const CacheTraffic&) const = default;
  [[nodiscard]] std::uint64_t l2_accesses() const { return l2_reads + l2_writes; }
  [[nodiscard]] double l1_l2_bytes() const {
    return static_cast<double>(l1_l2_read_bytes + l1_l2_write_bytes);
  }
  [[nodiscard]] double l2_memory_bytes() const {
    return static_cast<double>(memory_read_bytes + memory_write_bytes);
  }
};

// Runs a trace through the caches. L1s write through without allocation, lose their content between
// launches, and see loads by their lines. Stores and atomics cross by 64 B. The L2 writes back,
// allocates without a fill on full-line writes, and keeps its content. Groups go to engines in turn
// and to their compute units in turn. Errors: out_of_range (a shape that makes no cache), and those
// of the reader.
[[nodiscard]] Result<CacheTraffic> replay_through_caches(Reader& reader, const CacheShape& shape);
// Runs it through caches of several shapes in one pass, and returns their traffic in that order.
[[nodiscard]] Result<std::vector<CacheTraffic>> replay_through_caches(
    Reader& reader, std::span<const CacheShape> shapes);

}  // namespace ww::sim::trace
