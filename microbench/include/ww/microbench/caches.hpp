// Measures a card's memories by chains of dependent loads and by streams: the rows of MT4G's files
// (https://github.com/caps-tum/mt4g), which `topology --format mt4g` writes.
//
// One work-item walks a chain. A chain that fits into a cache, walked once before, is timed load by
// load: the cache's latency. The longest chain whose loads all still hit gives a size. A chain
// whose step is one and a half times L visits more bytes than a cache holds, and yet fits where
// lines have L bytes: that gives a line's length. A chain of neighbouring words through lines that
// nobody read before has one late load for each piece that is fetched.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/microbench/i_compute_host.hpp"

namespace ww::microbench {

struct Topology;

// A size [B] or a rate [GiB/s].
struct CacheFigure {
  std::optional<double> value;
  std::string reason;  // why not, where there is none
  // Share of hits just inside the size, less that just outside; for lines and fetches likewise the
  // share of loads that behave as they must. 0 where the driver reported the figure.
  double confidence{};
};

// Times of single loads, each with one reading of the clock.
struct LoadLatency {
  bool found{};
  std::string reason;  // why not
  double mean_cycles{};
  double p50_cycles{};
  double p95_cycles{};
  double stdev_cycles{};
  int measurements{};
};

struct CacheLevel {
  LoadLatency latency;
  CacheFigure size_bytes;
  CacheFigure line_bytes;
  CacheFigure fetch_bytes;
  CacheFigure read_gib_s;
  CacheFigure write_gib_s;
  // Mean of the loads that this level did not answer, less that of those which it did [cycles].
  std::optional<double> miss_penalty_cycles;
};

// Vector L1, L2, scalar cache, local memory, and what lies behind the L2.
struct Caches {
  CacheLevel l1, l2, scalar_l1, shared, memory;
};

[[nodiscard]] nlohmann::json to_json(const Caches& caches);
// Error parse_error names the key.
[[nodiscard]] Result<Caches> caches_from_json(const nlohmann::json& json);

// Measures all of them on an opened AMD device, from whatever compute unit the chip gives to a
// single work-group. `compute_units` of the device set how many work-items stream. What cannot be
// found has a reason. Errors: those of the host. 2 to 4 s on a virtual GPU.
[[nodiscard]] Result<Caches> discover_caches(ComputeHost& host, int compute_units,
                                             std::int64_t l2_bytes,
                                             const std::function<void(double)>& progress);

// The topology in the schema of MT4G's result files. Keys without a value are left out.
[[nodiscard]] nlohmann::json to_mt4g(const Topology& topology);

}  // namespace ww::microbench
