// Runs a trace through caches of other sizes to find the traffic behind them. The caches have only
// tags and no timing. Two waves that ask for a line while it is on its way therefore count once.
#pragma once

#include <cstdint>

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
};

struct CacheTraffic {
  std::uint64_t l1_accesses{};  // lines that instructions touch
  std::uint64_t l1_hits{};
  std::uint64_t l2_accesses{};  // lines that cross from L1 to L2 or back
  std::uint64_t l2_misses{};
  std::uint64_t memory_read_bytes{};
  std::uint64_t memory_write_bytes{};
  [[nodiscard]] double l1_l2_bytes() const { return 64.0 * static_cast<double>(l2_accesses); }
  [[nodiscard]] double l2_memory_bytes() const {
    return static_cast<double>(memory_read_bytes + memory_write_bytes);
  }
};

// Runs a trace through the caches. L1s write through without allocation, lose their content between
// launches, and see loads by lines of 64 B. The L2 writes back, allocates without a fill on
// full-line writes, and keeps its content. Groups go to engines in turn and to their compute units
// in turn. Errors: out_of_range (a shape that makes no cache), and those of the reader.
[[nodiscard]] Result<CacheTraffic> replay_through_caches(Reader& reader, const CacheShape& shape);

}  // namespace ww::sim::trace
