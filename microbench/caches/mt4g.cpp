// The schema of MT4G's result files, as its version of 2025 writes it for AMD cards.
#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "host/pinning.hpp"
#include "ww/microbench/caches.hpp"
#include "ww/microbench/topology.hpp"

namespace ww::microbench {
namespace {

using nlohmann::json;

json latency_rows(const LoadLatency& latency) {
  return {{"mean", latency.mean_cycles},   {"measurements", latency.measurements},
          {"method", "p-chase"},           {"p50", latency.p50_cycles},
          {"p95", latency.p95_cycles},     {"sampleSize", latency.measurements},
          {"stdev", latency.stdev_cycles}, {"unit", "cycles"}};
}

json measured_size(const CacheFigure& figure) {
  return {{"confidence", figure.confidence},
          {"method", "p-chase"},
          {"randomized", false},
          {"size", static_cast<std::int64_t>(*figure.value)},
          {"unit", "bytes"}};
}

json of_unit(const json& value, const char* unit) {
  return {{"unit", unit}, {"value", value}};
}

// Writes the rows that all levels share; what was not found is left out.
json level_rows(const CacheLevel& level) {
  json rows = json::object();
  if (level.latency.found) rows["latency"] = latency_rows(level.latency);
  if (level.fetch_bytes.value) rows["fetchGranularity"] = measured_size(level.fetch_bytes);
  if (level.line_bytes.value) rows["lineSize"] = measured_size(level.line_bytes);
  if (level.size_bytes.value) rows["size"] = measured_size(level.size_bytes);
  if (level.miss_penalty_cycles) {
    rows["missPenalty"] = of_unit(*level.miss_penalty_cycles, "cycles");
  }
  if (level.read_gib_s.value) rows["readBandwidth"] = of_unit(*level.read_gib_s.value, "GiB/s");
  if (level.write_gib_s.value) {
    rows["writeBandwidth"] = of_unit(*level.write_gib_s.value, "GiB/s");
  }
  return rows;
}

// HIP's numbers: gfx90a is 9.0, gfx1030 is 10.3. The last two digits are minor number and stepping.
json compute_capability(const std::string& target) {
  constexpr std::size_t kBefore = 3;  // "gfx"
  constexpr std::size_t kAfter = 2;
  if (target.size() <= kBefore + kAfter) return {};
  int major = 0;
  const std::string number = target.substr(kBefore, target.size() - kBefore - kAfter);
  if (std::from_chars(number.data(), number.data() + number.size(), major).ec != std::errc{}) {
    return {};
  }
  return {{"major", major}, {"minor", target[target.size() - 2] - '0'}};
}

json compute_rows(const Topology& topology) {
  json compute;
  const int units = static_cast<int>(topology.places.size());
  if (units > 0) {
    compute["multiProcessorCount"] = units;
    const int dies = topology.reported_by_driver.dies.value_or(1);
    compute["numXCDs"] = dies;
    compute["computeUnitsPerDie"] = units / dies;
  }
  compute["warpSize"] = kernel_target(topology.target).wave_size;
  // GCN and CDNA: four SIMDs of sixteen lanes (AMD, "Graphics Core Next Architecture", 2012).
  if (topology.target.starts_with("gfx7") || topology.target.starts_with("gfx8") ||
      topology.target.starts_with("gfx9")) {
    constexpr int kSimds = 4;
    constexpr int kLanes = 16;
    compute["numSIMDsPerCU"] = kSimds;
    compute["numberOfCoresPerMultiProcessor"] = kSimds * kLanes;
  }
  if (topology.reported_by_driver.largest_group)
    compute["maxThreadsPerBlock"] = *topology.reported_by_driver.largest_group;
  return compute;
}

json memory_rows(const Topology& topology) {
  json memory;
  const DriverLayout& reported = topology.reported_by_driver;
  if (reported.constant_bytes) {
    memory["constant"]["totalConstMem"] = of_unit(*reported.constant_bytes, "bytes");
  }
  if (!topology.caches) return memory;
  const Caches& caches = *topology.caches;
  memory["l1"] = level_rows(caches.l1);
  memory["l2"] = level_rows(caches.l2);
  if (reported.l2_bytes) memory["l2"]["size"] = of_unit(*reported.l2_bytes, "bytes");
  // The API reports it on real cards, so that it has another form there.
  if (caches.l2.line_bytes.value) {
    memory["l2"]["lineSize"]["value"] = static_cast<std::int64_t>(*caches.l2.line_bytes.value);
  }
  memory["l2"]["amount"] = reported.dies.value_or(1);  // one a die
  memory["scalarL1"] = level_rows(caches.scalar_l1);
  memory["shared"] = level_rows(caches.shared);
  if (reported.local_bytes)
    memory["shared"]["sharedMemPerBlock"] = of_unit(*reported.local_bytes, "bytes");
  memory["main"] = level_rows(caches.memory);
  if (reported.memory_bytes) {
    memory["main"]["totalGlobalMem"] = of_unit(*reported.memory_bytes, "bytes");
  }
  return memory;
}

}  // namespace

json to_mt4g(const Topology& topology) {
  json general;
  general["name"] = topology.device;
  if (topology.target.starts_with("gfx")) {
    general["vendor"] = "AMD";
    if (json number = compute_capability(topology.target); !number.is_null()) {
      general["computeCapability"] = std::move(number);
    }
  }
  constexpr std::int64_t kHertzOfKilohertz = 1000;
  if (topology.reported_by_driver.clock_hz) {
    general["clockRate"] =
        of_unit(*topology.reported_by_driver.clock_hz / kHertzOfKilohertz, "kHz");
  }
  return {{"general", std::move(general)},
          {"compute", compute_rows(topology)},
          {"memory", memory_rows(topology)},
          {"meta", {{"driver", topology.driver}, {"virtual", topology.is_virtual}}}};
}

}  // namespace ww::microbench
