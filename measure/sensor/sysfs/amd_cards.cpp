// Lists AMD cards, finds those that are dies of one package, and wakes one.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <map>
#include <thread>

#include "sysfs_file.hpp"
#include "ww/measure/amd_gpu.hpp"

namespace ww::measure {
namespace {

namespace fs = std::filesystem;

bool is_card(const std::string& name) {
  return name.starts_with("card") && name.size() > 4 &&
         std::all_of(name.begin() + 4, name.end(), [](unsigned char c) { return std::isdigit(c); });
}

// The die without the sensor reads 0 for power, and 0 for the limit of power where it shows one.
bool reads_no_power(const AmdGpu& gpu) {
  const std::string limit = file_text(gpu.hwmon + "/power1_cap");
  return file_text(gpu.hwmon + "/power1_average") == "0" && (limit.empty() || limit == "0");
}

// Tables of cards begin with another format than those of processors (kgd_pp_interface.h).
bool has_table_of_a_processor(const AmdGpu& gpu) {
  constexpr std::size_t format_at = 2;
  constexpr char format_of_cards = 1;
  const std::string table = file_text(gpu.folder + "/gpu_metrics");
  return table.size() > format_at && table[format_at] > format_of_cards;
}

// "name number" lines of a file of the driver's topology.
std::map<std::string, std::uint64_t> topology_numbers(const fs::path& file) {
  std::map<std::string, std::uint64_t> numbers;
  const std::string text = file_text(file.string());
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    const auto blank = text.find(' ', at);
    if (blank < end) {
      std::uint64_t value = 0;
      const auto parsed = std::from_chars(text.data() + blank + 1, text.data() + end, value);
      if (parsed.ec == std::errc{}) numbers[text.substr(at, blank - at)] = value;
    }
    at = end + 1;
  }
  return numbers;
}

// The GPUs by the numbers of their topology nodes.
std::map<std::uint64_t, std::size_t> topology_nodes(const fs::path& nodes,
                                                    const std::vector<AmdGpu>& gpus) {
  std::map<std::uint64_t, std::size_t> found;
  std::error_code ec;
  for (const auto& entry : fs::directory_iterator(nodes, ec)) {
    const std::string name = entry.path().filename().string();
    std::uint64_t number = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), number).ec != std::errc{}) continue;
    auto facts = topology_numbers(entry.path() / "properties");
    const auto location = facts["location_id"];
    const PciAddress pci{static_cast<std::uint32_t>(facts["domain"]),
                         static_cast<std::uint32_t>(location >> 8 & 0xff),
                         static_cast<std::uint32_t>(location >> 3 & 0x1f),
                         static_cast<std::uint32_t>(location & 7)};
    const auto gpu = std::ranges::find(gpus, pci, &AmdGpu::pci);
    if (gpu != gpus.end() && location != 0) {
      found[number] = static_cast<std::size_t>(gpu - gpus.begin());
    }
  }
  return found;
}

// The GPU behind the widest link of a node. Within a package there are four links where others have
// one or two, so the sum of their bandwidths is the largest. Absent where two are equal.
std::optional<std::size_t> widest_link(const fs::path& node,
                                       const std::map<std::uint64_t, std::size_t>& gpus) {
  std::uint64_t widest = 0;
  std::optional<std::size_t> other;
  std::error_code ec;
  for (const auto& link : fs::directory_iterator(node / "io_links", ec)) {
    auto facts = topology_numbers(link.path() / "properties");
    const auto to = gpus.find(facts["node_to"]);
    const auto width = facts["max_bandwidth"];
    if (to == gpus.end() || width == 0) continue;
    if (width > widest) {
      other = to->second;
    } else if (width == widest) {
      other.reset();
    }
    widest = std::max(widest, width);
  }
  return other;
}

// Reads the driver's topology: each GPU's number there, and the dies of one package.
void read_topology(const std::string& sysfs, std::vector<AmdGpu>& gpus) {
  const fs::path nodes = sysfs + "/class/kfd/kfd/topology/nodes";
  const auto by_node = topology_nodes(nodes, gpus);
  for (const auto& [node, index] : by_node) {
    const fs::path folder = nodes / std::to_string(node);
    gpus[index].kfd_id = file_text((folder / "gpu_id").string());
    gpus[index].target = gfx_target(topology_numbers(folder / "properties")["gfx_target_version"]);
  }
  for (const auto& [node, index] : by_node) {
    AmdGpu& gpu = gpus[index];
    if (!is_die_of_two(gpu)) continue;
    const auto other = widest_link(nodes / std::to_string(node), by_node);
    if (!other || !is_die_of_two(gpus[*other])) continue;
    const AmdGpu& die = gpus[*other];
    gpu.other_die = {die.pci, die.folder, die.hwmon, reads_no_power(gpu) && !reads_no_power(die)};
  }
  for (AmdGpu& gpu : gpus) {
    if (!is_die_of_two(gpu) || gpu.other_die || !reads_no_power(gpu)) continue;
    gpu.no_other_die =
        "this die reads 0 W and a limit of 0 W: the other die of its package holds the sensor, and "
        "the links under " +
        nodes.string() + " do not say which that is";
  }
}

// MI300A is a CPU as well: the processors that are near to the GPU are those of its package, whose
// number HSMP's folders carry. The second name is that of a driver which ACPI probes.
std::string hsmp_folder(const std::string& sysfs, const AmdGpu& gpu) {
  if (!is_mi300a(gpu)) return {};
  const std::string near = file_text(gpu.folder + "/local_cpulist");  // "24-47,120-143"
  const auto digits = near.substr(0, near.find_first_not_of("0123456789"));
  const std::string package = file_text(
      fmt::format("{}/devices/system/cpu/cpu{}/topology/physical_package_id", sysfs, digits));
  unsigned number = 0;
  const auto parsed = std::from_chars(package.data(), package.data() + package.size(), number);
  if (digits.empty() || package.empty() || parsed.ec != std::errc{}) return {};
  for (const auto& folder : {fmt::format("{}/devices/platform/amd_hsmp/socket{}", sysfs, number),
                             fmt::format("{}/devices/platform/AMDI0097:{:02x}", sysfs, number)}) {
    if (fs::exists(folder + "/metrics_bin")) return folder;
  }
  return {};
}

}  // namespace

std::string gfx_target(std::uint64_t version) {
  if (version == 0) return {};
  return fmt::format("gfx{}{}{:x}", version / 10000, version / 100 % 100, version % 100);
}

bool is_die_of_two(const AmdGpu& gpu) {
  constexpr std::array<std::string_view, 2> ids = {"0x7408", "0x740c"};
  return std::ranges::find(ids, gpu.device_id) != ids.end();
}

bool is_mi300a(const AmdGpu& gpu) {
  return gpu.device_id == "0x74a0";
}

std::vector<AmdGpu> list_amd_gpus(const std::string& sysfs) {
  std::vector<AmdGpu> gpus;
  std::error_code ec;
  for (const auto& entry : fs::directory_iterator(sysfs + "/class/drm", ec)) {
    if (!is_card(entry.path().filename().string())) continue;
    const auto folder = fs::canonical(entry.path() / "device", ec);
    if (ec || file_text((folder / "vendor").string()) != "0x1002") continue;
    AmdGpu gpu;
    gpu.folder = folder.string();
    const auto address = parse_pci_address(folder.filename().string());
    if (!address) continue;
    gpu.pci = *address;
    gpu.device_id = file_text(gpu.folder + "/device");
    gpu.compute_partition = file_text(gpu.folder + "/current_compute_partition");
    gpu.name = file_text(gpu.folder + "/product_name");
    if (gpu.name.empty()) gpu.name = fmt::format("AMD GPU {}", gpu.device_id);
    for (const auto& hwmon : fs::directory_iterator(folder / "hwmon", ec)) {
      const auto path = hwmon.path().string();
      if (gpu.hwmon.empty() || file_text(path + "/name") == "amdgpu") gpu.hwmon = path;
    }
    for (const auto& node : fs::directory_iterator(folder / "drm", ec)) {
      const auto name = node.path().filename().string();
      if (name.starts_with("renderD")) gpu.render = name;
    }
    if (!gpu.render.empty()) {
      gpu.render_device = (fs::path(sysfs).parent_path() / "dev/dri" / gpu.render).string();
    }
    gpu.integrated = has_table_of_a_processor(gpu);
    gpu.hsmp = hsmp_folder(sysfs, gpu);
    gpus.push_back(std::move(gpu));
  }
  std::ranges::sort(gpus, {}, &AmdGpu::pci);
  read_topology(sysfs, gpus);
  return gpus;
}

std::string amd_energy_doubt(const AmdGpu& gpu) {
  // MI100, MI200, MI300 and MI350 by the upper digits of their PCI ids.
  constexpr std::array<std::string_view, 7> counted = {"0x738", "0x739", "0x740", "0x741",
                                                       "0x74a", "0x74b", "0x75a"};
  const bool known = std::ranges::any_of(
      counted, [&gpu](std::string_view id) { return gpu.device_id.starts_with(id); });
  if (known) return {};
  return fmt::format(
      "the energy counter of this part (PCI id {}) is not documented to count 2^-16 J: on Radeon "
      "cards it counts another unit or stands still",
      gpu.device_id.empty() ? "unknown" : gpu.device_id);
}

std::vector<FieldState> package_fields(const AmdGpu& gpu, bool integrated) {
  std::vector<FieldState> fields;
  const auto note = [&fields](std::string text) {
    fields.push_back({std::string(kPackageField), FieldStatus::ok, std::move(text)});
  };
  if (is_die_of_two(gpu)) {
    std::string other;
    if (gpu.other_die) {
      other = (gpu.other_die->holds_sensor ? ", read at " : "; the other one is ") +
              to_string(gpu.other_die->pci);
    }
    note("power and energy are those of both dies of the package" + other);
    if (gpu.other_die && gpu.other_die->holds_sensor) {
      fields.push_back(
          {std::string(kOtherSensorField), FieldStatus::ok, to_string(gpu.other_die->pci)});
    }
  }
  if (!gpu.compute_partition.empty() && gpu.compute_partition != "SPX") {
    note(fmt::format("power and energy are those of all partitions ({}); the others must be idle",
                     gpu.compute_partition));
  }
  if (integrated || gpu.integrated || is_mi300a(gpu)) {
    note("power is that of the whole package, processor cores included");
  }
  return fields;
}

Status wake_amd_gpu(const AmdGpu& gpu) {
  using namespace std::chrono_literals;
  const auto state = [&gpu] { return file_text(gpu.folder + "/power/runtime_status"); };
  const auto sleeps = [](const std::string& text) {
    return text == "suspended" || text == "suspending" || text == "resuming";
  };
  if (!sleeps(state())) return {};
  // The driver resumes the card for whoever opens it, and keeps it awake for some seconds.
  if (!gpu.render_device.empty()) {
    const int node = open(gpu.render_device.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (node >= 0) close(node);
  }
  for (const auto end = std::chrono::steady_clock::now() + 3s;
       std::chrono::steady_clock::now() < end; std::this_thread::sleep_for(20ms)) {
    if (!sleeps(state())) return {};
  }
  return fail(ErrorCode::device_error,
              fmt::format("the card sleeps (runtime_status '{}') and does not wake when {} is "
                          "opened; keep it awake: echo on | sudo tee {}/power/control",
                          state(), gpu.render_device.empty() ? "its device" : gpu.render_device,
                          gpu.folder),
              to_string(gpu.pci));
}

}  // namespace ww::measure
