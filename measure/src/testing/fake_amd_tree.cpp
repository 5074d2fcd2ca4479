#include "fake_amd_tree.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "ww/measure/child.hpp"

namespace ww::measure::testing {
namespace {

namespace fs = std::filesystem;

void put(std::vector<std::byte>& data, std::size_t at, std::uint64_t value, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) data[at + i] = static_cast<std::byte>(value >> (8 * i));
}

// Over what is there, without a moment in which the file is empty.
void overwrite(const fs::path& file, const void* data, std::size_t bytes) {
  const int fd = open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) return;
  if (pwrite(fd, data, bytes, 0) == static_cast<ssize_t>(bytes)) {
    static_cast<void>(ftruncate(fd, static_cast<off_t>(bytes)));
  }
  close(fd);
}

}  // namespace

std::vector<std::byte> gpu_metrics_v1(std::uint8_t content, std::int64_t energy_ticks,
                                      std::int64_t edge_c) {
  const std::size_t sizes[] = {80, 96, 104, 120};
  std::vector<std::byte> data(sizes[content]);
  put(data, 0, data.size(), 2);
  put(data, 2, 1, 1);
  put(data, 3, content, 1);
  const std::size_t temperatures = content == 0 ? 16 : 4;
  put(data, temperatures, static_cast<std::uint64_t>(edge_c), 2);
  put(data, temperatures + 2, 51, 2);
  put(data, temperatures + 4, 44, 2);
  put(data, content == 0 ? 34 : 22, 100, 2);
  put(data, content == 0 ? 36 : 24, static_cast<std::uint64_t>(energy_ticks), content == 0 ? 4 : 8);
  put(data, content == 0 ? 8 : 32, 123456789, 8);
  put(data, 54, 1000, 2);
  put(data, 58, 1600, 2);
  if (content >= 2) put(data, 96, 5000, 8);
  if (content == 3) {
    put(data, 106, 881, 2);
    put(data, 112, 1, 8);
  }
  return data;
}

std::vector<std::byte> pm_metrics_v0(const FakePackageEnergies& energies) {
  constexpr std::size_t kHead = 16;
  std::vector<std::byte> data(2092);
  put(data, 0, data.size(), 2);
  put(data, 4, 0x0D000600, 4);
  put(data, 8, 0x00557000, 4);
  put(data, 12, 0xF, 4);
  const auto ticks = [&](std::size_t at, std::int64_t value) {
    put(data, kHead + at, static_cast<std::uint64_t>(value), 8);
  };
  ticks(52, energies.time_ns / 10);
  ticks(60, energies.socket_ticks);
  ticks(76, energies.xcd_ticks);
  ticks(84, energies.aid_ticks);
  ticks(92, energies.hbm_ticks);
  return data;
}

FakeAmdTree::FakeAmdTree(const fs::path& sysfs, const FakeAmdOptions& options) : options_(options) {
  const auto top = sysfs / "class";
  device_ = top / "_pci/0000:03:00.0";
  hwmon_ = device_ / "hwmon/hwmon0";
  fs::create_directories(hwmon_);
  fs::create_directories(device_ / "drm/card0");
  fs::create_directories(device_ / "drm/renderD128");
  fs::create_directories(top / "drm");
  fs::create_directory_symlink("../_pci/0000:03:00.0/drm/card0", top / "drm/card0");
  fs::create_directory_symlink("../..", device_ / "drm/card0/device");
  const auto node = top / "kfd/kfd/topology/nodes/1";
  fs::create_directories(node / "io_links");
  fs::create_directories(top / "kfd/kfd/proc");
  write(node / "gpu_id", "54321");
  write(node / "name", "aldebaran");
  write(node / "properties",
        "simd_arrays_per_engine 1\narray_count 8\ncu_per_simd_array 14\nhive_id 0\ndomain 0\n"
        "location_id 768");
  write(device_ / "vendor", "0x1002");
  write(device_ / "device", "0x738c");
  write(device_ / "vbios_version", "113-D67301-059");
  write(device_ / "product_name", options.name);
  write(device_ / "power_dpm_force_performance_level", "auto");
  write(device_ / "pp_dpm_sclk", "0: 500Mhz\n1: 1000Mhz *\n2: 1700Mhz");
  write(device_ / "pp_dpm_mclk", "0: 400Mhz\n1: 1600Mhz *");
  write(device_ / "pp_dpm_socclk", "0: 666Mhz\n1: 1000Mhz *");
  write(device_ / "gpu_busy_percent", "0");
  write(hwmon_ / "name", "amdgpu");
  write(hwmon_ / "in0_label", "vddgfx");
  write(hwmon_ / "in0_input", "881");
  const char* labels[] = {"edge", "junction", "mem"};
  const char* values[] = {"41000", "46000", "44000"};
  for (int i = 0; i < 3; ++i) {
    write(hwmon_ / ("temp" + std::to_string(i + 1) + "_label"), labels[i]);
    write(hwmon_ / ("temp" + std::to_string(i + 1) + "_input"), values[i]);
  }
  write(hwmon_ / "power1_cap", "300000000");
  write(hwmon_ / "power1_cap_min", "0");
  write(hwmon_ / "power1_cap_max", "300000000");
  write(hwmon_ / "power1_cap_default", "300000000");
  set_power(options.power_uw);
  set_energy(options.energy_ticks);
  if (!options.with_package) return;
  set_package({});
}

void FakeAmdTree::set_package(const FakePackageEnergies& energies) const {
  const auto data = pm_metrics_v0(energies);
  overwrite(device_ / "pm_metrics", data.data(), data.size());
}

void FakeAmdTree::write(const fs::path& file, const std::string& text) const {
  const auto line = text + "\n";
  overwrite(file, line.data(), line.size());
}

std::string FakeAmdTree::read(const fs::path& file) const {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

void FakeAmdTree::set_power(std::int64_t power_uw) const {
  write(hwmon_ / "power1_average", std::to_string(power_uw));
}

void FakeAmdTree::set_energy(std::int64_t ticks) const {
  if (!options_.with_metrics) return;
  const auto data = gpu_metrics_v1(options_.metrics_content, ticks);
  overwrite(device_ / "gpu_metrics", data.data(), data.size());
}

Result<std::string> with_own_sysfs(const std::function<std::string()>& body) {
  auto answer = run_in_child(
      [&body]() -> std::string {
        const bool alone = unshare(CLONE_NEWNS) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0;
        if (!alone) return std::string("!unshare: ") + std::strerror(errno);
        // Keeps mounts of this process private.
        if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
          return std::string("!mount: ") + std::strerror(errno);
        }
        for (const char* folder : {"/sys/class", "/dev/shm"}) {
          if (mount("tmpfs", folder, "tmpfs", 0, nullptr) != 0) {
            return std::string("!mount ") + folder + ": " + std::strerror(errno);
          }
        }
        return body();
      },
      std::chrono::seconds(120));
  if (!answer) return answer;
  if (answer->starts_with('!')) {
    return fail(ErrorCode::unsupported, "mount namespaces are not permitted: " + answer->substr(1));
  }
  return answer;
}

}  // namespace ww::measure::testing
