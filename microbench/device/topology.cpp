// The topology of a device by name: driver's facts, cache, JSON.
#include "ww/microbench/topology.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "device/device.hpp"
#include "device/kfd_topology.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/device_name.hpp"
#include "ww/core/hash.hpp"
#include "ww/core/json_reader.hpp"
#include "ww/core/log.hpp"
#include "ww/core/temporary_folder.hpp"
#include "ww/measure/virtual_device.hpp"
#include "ww/microbench/compute_device.hpp"
#include "ww/microbench/homes.hpp"
#include "ww/microbench/hosts.hpp"
#include "ww/model/known_floorplans.hpp"

namespace ww::microbench {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kCacheFormat = 4;

const char* to_string(AddressMap::Form form) {
  switch (form) {
    case AddressMap::Form::xor_of_bits: return "xor_of_bits";
    case AddressMap::Form::modulo: return "modulo";
    case AddressMap::Form::none: break;
  }
  return "none";
}

template <class T>
json optional(const std::optional<T>& value) {
  return value ? json(*value) : json();
}
// Takes a host's facts about its device, which need no run.
void take_host_facts(const HostFacts& facts, DriverLayout& reported) {
  const auto take = [](const auto& value, auto& into) {
    if (value > 0) into = value;
  };
  take(facts.memory_bytes, reported.memory_bytes);
  take(facts.constant_bytes, reported.constant_bytes);
  take(facts.local_bytes, reported.local_bytes);
  take(facts.largest_group, reported.largest_group);
  take(facts.clock_hz, reported.clock_hz);
}

// An opened device and what its driver reports.
struct Opened {
  std::string name;
  bool is_virtual{};
  std::unique_ptr<ComputeHost> host;
  DriverLayout reported_by_driver;
};

// Dies of which a floorplan is known. gfx90a is one die of the package.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kFloorplanOfTarget{
    {{"gfx701", "w9100"},
     {"gfx900", "vega10"},
     {"gfx906", "vega20"},
     {"gfx908", "mi100"},
     {"gfx90a", "mi210"},
     {"gfx1030", "navi21"},
     {"gfx1100", "navi31"}}};

Result<Opened> open(const DeviceRequest& request) {
  Opened opened;
  WW_ASSIGN(name, resolve_device_name(request));
  if (DeviceName(name).is_virtual()) {
    WW_ASSIGN(device, open_device(request, name));
    opened.name = name;
    opened.is_virtual = device.is_virtual;
    opened.host = std::move(device.host);
    opened.reported_by_driver.source = "vgpu";
    opened.reported_by_driver.engines = device.chip.engines;
    opened.reported_by_driver.compute_units = device.chip.engines * device.chip.cus_per_engine;
    opened.reported_by_driver.channels = device.chip.channels;
    if (device.chip.interleave_bytes > 0) {
      opened.reported_by_driver.interleave_bytes = device.chip.interleave_bytes;
    }
    opened.reported_by_driver.l2_bytes = device.chip.l2_bytes;
    take_host_facts(opened.host->facts(), opened.reported_by_driver);
    return opened;
  }
  WW_ASSIGN(host, open_host(name));
  opened.name = name;
  opened.host = std::move(host);
  const HostFacts facts = opened.host->facts();
  opened.reported_by_driver.source = "driver";
  if (facts.compute_units > 0) opened.reported_by_driver.compute_units = facts.compute_units;
  if (facts.l2_bytes > 0) opened.reported_by_driver.l2_bytes = facts.l2_bytes;
  if (facts.target.starts_with("gfx")) {
    if (const auto kfd = read_kfd_layout(kfd_root(), facts.pci_bus))
      opened.reported_by_driver = *kfd;
  }
  take_host_facts(facts, opened.reported_by_driver);
  return opened;
}

// One file for each device, driver and wirewatt's way of probing.
fs::path cache_file(const Opened& opened, const DeviceRequest& request) {
  const HostFacts facts = opened.host->facts();
  std::string identity =
      fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}", kCacheFormat, WW_VERSION, facts.api, facts.device,
                  facts.driver, facts.target, facts.pci_bus);
  if (opened.is_virtual) {
    identity += fmt::format("\n{}\n{}\n{}", opened.name, request.chip_seed, request.chip_class);
    // A chip file may change under its name.
    if (const DeviceName name(opened.name); name.is_chip_file()) {
      if (const auto text = read_file(name.chip())) {
        identity += "\n" + *text;
      }
    }
  }
  const auto bytes = std::as_bytes(std::span(identity));
  return topology_cache_folder() / (hash_text(bytes) + ".json");
}

}  // namespace

fs::path topology_cache_folder() {
  const char* xdg = std::getenv("XDG_CACHE_HOME");
  if (xdg != nullptr && *xdg == '/') return fs::path(xdg) / "wirewatt" / "topology";
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home == '/') return fs::path(home) / ".cache" / "wirewatt" / "topology";
  return temporary_parent().value_or("/tmp") / "wirewatt-topology";
}

json to_json(const Topology& topology) {
  json places = json::array();
  for (const TopologyPlace& place : topology.places) {
    places.push_back({{"engine", place.engine}, {"cu", place.cu}, {"id", place.id}});
  }
  json sides;
  if (topology.sides) {
    sides = {{"found", topology.sides->found},
             {"reason", topology.sides->reason},
             {"side_of_place", topology.sides->side_of_place},
             {"near_ticks", topology.sides->near_ticks},
             {"far_ticks", topology.sides->far_ticks},
             {"explained", topology.sides->explained},
             {"line_mask", topology.sides->line_mask},
             {"line_foretold", topology.sides->predicted_line_share},
             {"line_reason", topology.sides->line_reason}};
  }
  json structure;
  if (topology.structure) {
    structure = {{"found", topology.structure->found},
                 {"reason", topology.structure->reason},
                 {"additive_r2", topology.structure->additive_r2},
                 {"with_product_r2", topology.structure->with_product_r2},
                 {"product_share", topology.structure->product_share},
                 {"next_share", topology.structure->next_share},
                 {"residual_ticks", topology.structure->residual_ticks},
                 {"place_offset_ticks", topology.structure->place_offset_ticks},
                 {"line_offset_ticks", topology.structure->line_offset_ticks},
                 {"place_way", topology.structure->place_way},
                 {"line_way", topology.structure->line_way},
                 {"fingerprint", topology.structure->fingerprint},
                 {"place_steps", topology.structure->place_steps},
                 {"fingerprint_stable", topology.structure->fingerprint_stable}};
  }
  return {{"device", topology.device},
          {"driver", topology.driver},
          {"target", topology.target},
          {"virtual", topology.is_virtual},
          {"driver_says",
           {{"source", topology.reported_by_driver.source},
            {"engines", optional(topology.reported_by_driver.engines)},
            {"compute_units", optional(topology.reported_by_driver.compute_units)},
            {"channels", optional(topology.reported_by_driver.channels)},
            {"interleave_bytes", optional(topology.reported_by_driver.interleave_bytes)},
            {"l2_bytes", optional(topology.reported_by_driver.l2_bytes)},
            {"dies", optional(topology.reported_by_driver.dies)},
            {"memory_bytes", optional(topology.reported_by_driver.memory_bytes)},
            {"constant_bytes", optional(topology.reported_by_driver.constant_bytes)},
            {"local_bytes", optional(topology.reported_by_driver.local_bytes)},
            {"largest_group", optional(topology.reported_by_driver.largest_group)},
            {"clock_hz", optional(topology.reported_by_driver.clock_hz)}}},
          {"pinned", topology.pinned},
          {"pinning_reason", topology.pinning_reason},
          {"engines", topology.engines()},
          {"places", places},
          {"places_reason", topology.places_reason},
          {"address",
           {{"found", topology.address.found},
            {"reason", topology.address.reason},
            {"form", to_string(topology.address.form)},
            {"channels", topology.address.channels},
            {"interleave_bytes", topology.address.interleave_bytes},
            {"masks", topology.address.masks},
            {"foretold", topology.address.predicted_share},
            {"pairs", topology.address.pairs}}},
          {"latency",
           {{"found", topology.latency.found},
            {"reason", topology.latency.reason},
            {"ticks", topology.latency.ticks},
            {"noise_ticks", topology.latency.noise_ticks},
            {"contrast_ticks", topology.latency.contrast_ticks},
            {"nearest_place", topology.latency.nearest_place}}},
          {"lines", topology.lines},
          {"sides", sides},
          {"structure", structure},
          {"homes", topology.homes ? to_json(*topology.homes) : json()},
          {"caches", topology.caches ? to_json(*topology.caches) : json()},
          {"caches_reason", topology.caches_reason},
          {"from_cache", topology.from_cache}};
}

Result<Topology> topology_from_json(const json& from) {
  Topology topology;
  const JsonReader reader(from, "topology");
  reader.read("device", topology.device);
  reader.read("driver", topology.driver);
  reader.read("target", topology.target);
  reader.read("virtual", topology.is_virtual);
  const JsonReader reported = reader.object("driver_says");
  reported.read("source", topology.reported_by_driver.source);
  reported.read_optional("engines", topology.reported_by_driver.engines);
  reported.read_optional("compute_units", topology.reported_by_driver.compute_units);
  reported.read_optional("channels", topology.reported_by_driver.channels);
  reported.read_optional("interleave_bytes", topology.reported_by_driver.interleave_bytes);
  reported.read_optional("l2_bytes", topology.reported_by_driver.l2_bytes);
  reported.read_optional("dies", topology.reported_by_driver.dies);
  reported.read_optional("memory_bytes", topology.reported_by_driver.memory_bytes);
  reported.read_optional("constant_bytes", topology.reported_by_driver.constant_bytes);
  reported.read_optional("local_bytes", topology.reported_by_driver.local_bytes);
  reported.read_optional("largest_group", topology.reported_by_driver.largest_group);
  reported.read_optional("clock_hz", topology.reported_by_driver.clock_hz);
  reader.read("pinned", topology.pinned);
  reader.read("pinning_reason", topology.pinning_reason);
  reader.read("places_reason", topology.places_reason);
  for (const JsonReader& place : reader.objects("places")) {
    TopologyPlace& entry = topology.places.emplace_back();
    place.read("engine", entry.engine);
    place.read("cu", entry.cu);
    place.read("id", entry.id);
  }
  const JsonReader address = reader.object("address");
  std::string form;
  address.read("found", topology.address.found);
  address.read("reason", topology.address.reason);
  address.read("form", form);
  for (const auto each : {AddressMap::Form::xor_of_bits, AddressMap::Form::modulo}) {
    if (form == to_string(each)) topology.address.form = each;
  }
  address.read("channels", topology.address.channels);
  address.read("interleave_bytes", topology.address.interleave_bytes);
  address.read("masks", topology.address.masks);
  address.read("foretold", topology.address.predicted_share);
  address.read("pairs", topology.address.pairs);
  const JsonReader latency = reader.object("latency");
  latency.read("found", topology.latency.found);
  latency.read("reason", topology.latency.reason);
  latency.read("ticks", topology.latency.ticks);
  latency.read("noise_ticks", topology.latency.noise_ticks);
  latency.read("contrast_ticks", topology.latency.contrast_ticks);
  latency.read("nearest_place", topology.latency.nearest_place);
  reader.read("lines", topology.lines);
  if (reader.optional_object("homes")) {
    WW_ASSIGN(homes, homes_from_json(from["homes"]));
    topology.homes = std::move(homes);
  }
  if (reader.optional_object("caches")) {
    WW_ASSIGN(caches, caches_from_json(from["caches"]));
    topology.caches = std::move(caches);
  }
  reader.read("caches_reason", topology.caches_reason);
  if (const auto sides = reader.optional_object("sides")) {
    Sides& into = topology.sides.emplace();
    sides->read("found", into.found);
    sides->read("reason", into.reason);
    sides->read("side_of_place", into.side_of_place);
    sides->read("near_ticks", into.near_ticks);
    sides->read("far_ticks", into.far_ticks);
    sides->read("explained", into.explained);
    sides->read("line_mask", into.line_mask);
    sides->read("line_foretold", into.predicted_line_share);
    sides->read("line_reason", into.line_reason);
  }
  if (const auto structure = reader.optional_object("structure")) {
    LatencyStructure& into = topology.structure.emplace();
    structure->read("found", into.found);
    structure->read("reason", into.reason);
    structure->read("additive_r2", into.additive_r2);
    structure->read("with_product_r2", into.with_product_r2);
    structure->read("product_share", into.product_share);
    structure->read("next_share", into.next_share);
    structure->read("residual_ticks", into.residual_ticks);
    structure->read("place_offset_ticks", into.place_offset_ticks);
    structure->read("line_offset_ticks", into.line_offset_ticks);
    structure->read("place_way", into.place_way);
    structure->read("line_way", into.line_way);
    structure->read("fingerprint", into.fingerprint);
    structure->read("place_steps", into.place_steps);
    structure->read("fingerprint_stable", into.fingerprint_stable);
  }
  WW_TRY(reader.status());
  return topology;
}

Result<Topology> topology_of(const TopologyRequest& request,
                             const std::function<void(double)>& progress) {
  WW_ASSIGN(opened, open(request.device));
  const fs::path file = cache_file(opened, request.device);
  if (!request.fresh) {
    if (const auto text = read_file(file)) {
      const json parsed = json::parse(*text, nullptr, false);
      Result<Topology> cached = topology_from_json(parsed);
      if (cached) {
        cached->from_cache = true;
        return cached;
      }
      log::warn("{} is not as it was written ({}); probing again", file.string(),
                cached.error().message);
    }
  }
  WW_ASSIGN(topology, discover_topology(*opened.host, progress));
  if (topology.target.starts_with("gfx")) {
    WW_ASSIGN(caches,
              discover_caches(*opened.host, opened.reported_by_driver.compute_units.value_or(0),
                              opened.reported_by_driver.l2_bytes.value_or(0), progress));
    topology.caches = std::move(caches);
  } else {
    topology.caches_reason = "caches are measured on AMD's parts alone";
  }
  topology.device = opened.is_virtual ? opened.name : topology.device;
  topology.is_virtual = opened.is_virtual;
  topology.reported_by_driver = opened.reported_by_driver;
  std::error_code ec;
  fs::create_directories(file.parent_path(), ec);
  // A result that cannot be kept is a result all the same.
  if (const auto kept = write_file_atomically(file, to_json(topology).dump(1)); !kept) {
    log::warn("the topology is not cached: {}", kept.error().text());
  }
  return topology;
}

Result<std::string> published_floorplan(const TopologyRequest& request, const Topology& topology) {
  if (topology.is_virtual) {
    WW_ASSIGN(device, open_device(request.device, topology.device));
    return device.floorplan_toml;
  }
  for (const auto& [target, name] : kFloorplanOfTarget) {
    if (topology.target == target) {
      return std::string(model::known_floorplan(name).value_or(std::string_view()));
    }
  }
  return std::string();
}

}  // namespace ww::microbench
