#include "device/kfd_topology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <sstream>
#include <utility>
#include <vector>

#include "ww/core/atomic_file.hpp"
#include "ww/measure/amd_gpu.hpp"
#include "ww/measure/telemetry.hpp"

namespace ww::microbench {
namespace {

namespace fs = std::filesystem;
using Properties = std::map<std::string, std::uint64_t, std::less<>>;

// "name number" lines; values that are no numbers are left out.
Result<Properties> read_properties(const fs::path& file) {
  WW_ASSIGN(text, read_file(file));
  Properties properties;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.empty()) continue;
    const auto blank = line.find(' ');
    if (blank == std::string::npos) {
      return fail(ErrorCode::parse_error, "not a name and a value",
                  fmt::format("{}:{}", file.string(), number));
    }
    std::uint64_t value = 0;
    const char* end = line.data() + line.size();
    if (std::from_chars(line.data() + blank + 1, end, value).ec == std::errc{}) {
      properties.emplace(line.substr(0, blank), value);
    }
  }
  return properties;
}

std::uint64_t value_of(const Properties& properties, std::string_view name) {
  const auto found = properties.find(name);
  return found == properties.end() ? 0 : found->second;
}

// Bus, device and function as location_id packs them, after the domain.
std::string bus_of(const Properties& properties) {
  const std::uint64_t location = value_of(properties, "location_id");
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", value_of(properties, "domain"),
                     location >> 8 & 0xff, location >> 3 & 0x1f, location & 7);
}

// Bytes of one level's caches, those of one die's L2 once each.
std::uint64_t cache_bytes(const fs::path& node, std::uint64_t level) {
  std::uint64_t bytes = 0;
  std::error_code ec;
  for (const auto& entry : fs::directory_iterator(node / "caches", ec)) {
    const auto properties = read_properties(entry.path() / "properties");
    if (!properties || value_of(*properties, "level") != level) continue;
    bytes += value_of(*properties, "size") * 1024;
  }
  return bytes;
}

// The folder and the properties of the GPU's node.
using Node = std::pair<fs::path, Properties>;
Result<Node> find_node(const fs::path& root, const std::string& pci_bus) {
  std::error_code ec;
  std::vector<fs::path> nodes;
  for (const auto& entry : fs::directory_iterator(root, ec)) nodes.push_back(entry.path());
  if (ec) {
    return fail(ErrorCode::not_found, "no KFD topology (amdgpu is not loaded, or not mounted here)",
                root.string());
  }
  std::ranges::sort(nodes);
  std::vector<Node> gpus;
  for (const fs::path& node : nodes) {
    auto properties = read_properties(node / "properties");
    // Nodes of GPUs outside this container's group may not be read.
    if (!properties && properties.error().code == ErrorCode::parse_error) {
      return tl::unexpected(properties.error());
    }
    if (!properties || value_of(*properties, "simd_count") == 0) continue;  // a processor
    if (!pci_bus.empty() && bus_of(*properties) != pci_bus) continue;
    gpus.emplace_back(node, std::move(*properties));
  }
  if (gpus.empty() || (pci_bus.empty() && gpus.size() > 1)) {
    return fail(ErrorCode::not_found,
                gpus.empty() ? "no such GPU among KFD's nodes" : "several GPUs; which one?",
                pci_bus);
  }
  return gpus.front();
}

}  // namespace

fs::path kfd_root() {
  return fs::path(measure::sysfs_of({})) / "class/kfd/kfd/topology/nodes";
}

std::optional<std::string> kfd_target(const fs::path& root, const std::string& pci_bus) {
  const auto node = find_node(root, pci_bus);
  if (!node) return {};
  std::string target = measure::gfx_target(value_of(node->second, "gfx_target_version"));
  return target.empty() ? std::nullopt : std::optional(std::move(target));
}

Result<DriverLayout> read_kfd_layout(const fs::path& root, const std::string& pci_bus) {
  WW_ASSIGN(found, find_node(root, pci_bus));
  const auto& [node, properties] = found;
  DriverLayout layout;
  layout.source = "kfd";
  const std::uint64_t arrays = value_of(properties, "array_count");
  const std::uint64_t arrays_per_engine = value_of(properties, "simd_arrays_per_engine");
  if (arrays > 0 && arrays_per_engine > 0) {
    layout.engines = static_cast<int>(arrays / arrays_per_engine);
  }
  const std::uint64_t simds_per_cu = value_of(properties, "simd_per_cu");
  if (simds_per_cu > 0) {
    layout.compute_units = static_cast<int>(value_of(properties, "simd_count") / simds_per_cu);
  }
  if (const std::uint64_t dies = value_of(properties, "num_xcc"); dies > 0) {
    layout.dies = static_cast<int>(dies);
  }
  if (const std::uint64_t bytes = cache_bytes(node, 2); bytes > 0) {
    layout.l2_bytes = static_cast<std::int64_t>(bytes);
  }
  // KFD gives Vega 20 the 8 MiB of the MI100, whose table it shares (kfd_crat.c,
  // vega20_cache_info).
  constexpr std::uint64_t kVega20 = 90006;
  constexpr std::int64_t kVega20L2 = 4 << 20;
  if (value_of(properties, "gfx_target_version") == kVega20) layout.l2_bytes = kVega20L2;
  return layout;
}

}  // namespace ww::microbench
