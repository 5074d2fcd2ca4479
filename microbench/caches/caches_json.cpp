#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "ww/core/json_reader.hpp"
#include "ww/microbench/caches.hpp"

namespace ww::microbench {
namespace {

using nlohmann::json;

template <class T>
json cache_value(const std::optional<T>& value) {
  return value ? json(*value) : json();
}

json figure_json(const CacheFigure& figure) {
  return {{"value", cache_value(figure.value)},
          {"reason", figure.reason},
          {"confidence", figure.confidence}};
}

void read_figure(const JsonReader& reader, CacheFigure& figure) {
  reader.read_optional("value", figure.value);
  reader.read("reason", figure.reason);
  reader.read("confidence", figure.confidence);
}

json level_json(const CacheLevel& level) {
  const LoadLatency& latency = level.latency;
  return {{"latency",
           {{"found", latency.found},
            {"reason", latency.reason},
            {"mean_cycles", latency.mean_cycles},
            {"p50_cycles", latency.p50_cycles},
            {"p95_cycles", latency.p95_cycles},
            {"stdev_cycles", latency.stdev_cycles},
            {"measurements", latency.measurements}}},
          {"size_bytes", figure_json(level.size_bytes)},
          {"line_bytes", figure_json(level.line_bytes)},
          {"fetch_bytes", figure_json(level.fetch_bytes)},
          {"read_gib_s", figure_json(level.read_gib_s)},
          {"write_gib_s", figure_json(level.write_gib_s)},
          {"miss_penalty_cycles", cache_value(level.miss_penalty_cycles)}};
}

void read_level(const JsonReader& reader, CacheLevel& level) {
  const JsonReader latency = reader.object("latency");
  latency.read("found", level.latency.found);
  latency.read("reason", level.latency.reason);
  latency.read("mean_cycles", level.latency.mean_cycles);
  latency.read("p50_cycles", level.latency.p50_cycles);
  latency.read("p95_cycles", level.latency.p95_cycles);
  latency.read("stdev_cycles", level.latency.stdev_cycles);
  latency.read("measurements", level.latency.measurements);
  read_figure(reader.object("size_bytes"), level.size_bytes);
  read_figure(reader.object("line_bytes"), level.line_bytes);
  read_figure(reader.object("fetch_bytes"), level.fetch_bytes);
  read_figure(reader.object("read_gib_s"), level.read_gib_s);
  read_figure(reader.object("write_gib_s"), level.write_gib_s);
  reader.read_optional("miss_penalty_cycles", level.miss_penalty_cycles);
}

constexpr std::array<std::pair<const char*, CacheLevel Caches::*>, 5> kLevels{
    {{"l1", &Caches::l1},
     {"l2", &Caches::l2},
     {"scalar_l1", &Caches::scalar_l1},
     {"shared", &Caches::shared},
     {"memory", &Caches::memory}}};

}  // namespace

json to_json(const Caches& caches) {
  json levels;
  for (const auto& [name, level] : kLevels) levels[name] = level_json(caches.*level);
  return levels;
}

Result<Caches> caches_from_json(const json& from) {
  Caches caches;
  const JsonReader reader(from, "caches");
  for (const auto& [name, level] : kLevels) read_level(reader.object(name), caches.*level);
  WW_TRY(reader.status());
  return caches;
}

}  // namespace ww::microbench
