#include "card_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <sstream>

#include "ww/core/atomic_file.hpp"
#include "ww/measure/amd_gpu.hpp"

namespace ww::selftest {
namespace {

namespace fs = std::filesystem;

constexpr std::array kOfTheCard{"device",
                                "revision",
                                "subsystem_vendor",
                                "subsystem_device",
                                "vbios_version",
                                "current_compute_partition",
                                "current_memory_partition",
                                "available_compute_partition",
                                "current_link_speed",
                                "current_link_width",
                                "power_dpm_force_performance_level",
                                "pp_dpm_sclk",
                                "pp_dpm_mclk",
                                "pp_dpm_fclk",
                                "pp_dpm_socclk",
                                "mem_info_vram_total",
                                "mem_info_vram_vendor",
                                "gpu_busy_percent",
                                "power/runtime_status"};
// Begins of names in hwmon's folder.
constexpr std::array kOfItsSensors{"name", "power", "temp", "in", "freq", "energy"};
// Begins of lines in KFD's files that name one specimen.
constexpr std::array kOfOneSpecimen{"unique_id", "hive_id"};

constexpr std::size_t kMaxBytes = 16384;

void add_text(std::vector<CardFile>& files, const std::string& name, const fs::path& file) {
  auto text = read_file(file);
  if (!text || text->size() > kMaxBytes) return;
  while (!text->empty() && (text->back() == '\n' || text->back() == '\0')) text->pop_back();
  files.push_back({name, std::move(*text)});
}

// `from` to `to` [bytes] are written as zeros.
void add_table(std::vector<CardFile>& files, const std::string& name, const fs::path& file,
               std::size_t from, std::size_t to) {
  auto bytes = read_file(file);
  if (!bytes || bytes->empty() || bytes->size() > kMaxBytes) return;
  for (std::size_t at = from; at < std::min(to, bytes->size()); ++at) (*bytes)[at] = '\0';
  std::string digits;
  for (const char byte : *bytes) digits += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  files.push_back({name, std::move(digits)});
}

std::vector<fs::path> sorted_entries(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code ec;
  for (fs::directory_iterator entry(folder, ec), end; !ec && entry != end; entry.increment(ec)) {
    entries.push_back(entry->path());
  }
  std::ranges::sort(entries);
  return entries;
}

template <std::size_t N>
bool begins_with_any(const std::string& text, const std::array<const char*, N>& begins) {
  return std::ranges::any_of(begins, [&](const char* begin) { return text.starts_with(begin); });
}

void add_kfd_nodes(std::vector<CardFile>& files, const std::string& sysfs) {
  for (const fs::path& node : sorted_entries(sysfs + "/class/kfd/kfd/topology/nodes")) {
    const auto text = read_file(node / "properties");
    if (!text || text->size() > kMaxBytes) continue;
    std::string kept;
    std::istringstream lines(*text);
    for (std::string line; std::getline(lines, line);) {
      if (!begins_with_any(line, kOfOneSpecimen)) kept += line + "\n";
    }
    files.push_back({fmt::format("kfd/{}/properties", node.filename().string()), std::move(kept)});
  }
}

}  // namespace

std::vector<CardFile> card_files(const std::string& sysfs) {
  std::vector<CardFile> files;
  for (const measure::AmdGpu& gpu : measure::list_amd_gpus(sysfs)) {
    const fs::path folder = gpu.folder;
    const std::string card = to_string(gpu.pci) + "/";
    for (const char* name : kOfTheCard) add_text(files, card + name, folder / name);
    for (const fs::path& file : sorted_entries(folder / "fw_version")) {
      const std::string name = file.filename().string();
      add_text(files, fmt::format("{}fw_version/{}", card, name), file);
    }
    for (const fs::path& file : sorted_entries(folder / "ip_discovery/die/0/GC/0")) {
      const std::string name = file.filename().string();
      if (name != "base_addr") add_text(files, fmt::format("{}GC/{}", card, name), file);
    }
    for (const fs::path& file : sorted_entries(gpu.hwmon)) {
      const std::string name = file.filename().string();
      std::error_code ec;
      if (begins_with_any(name, kOfItsSensors) && fs::is_regular_file(file, ec)) {
        add_text(files, fmt::format("{}hwmon/{}", card, name), file);
      }
    }
    add_table(files, card + "gpu_metrics", folder / "gpu_metrics", 0, 0);
    // Serial numbers of the package and its parts: bytes 1404 to 1595 of MI300's table.
    add_table(files, card + "pm_metrics", folder / "pm_metrics", 1404, 1596);
  }
  add_kfd_nodes(files, sysfs);
  return files;
}

}  // namespace ww::selftest
