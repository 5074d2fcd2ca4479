// A tree of kernel files as amdgpu makes it, for tests: in a folder, or over /sys/class in a mount
// namespace so that the real ROCm SMI library reads it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "ww/core/result.hpp"

namespace ww::measure::testing {

struct FakeAmdOptions {
  std::string name{"AMD Instinct MI210"};
  std::int64_t power_uw{100'000'000};
  std::int64_t energy_ticks{1'000'000};
  bool with_metrics{true};
  std::uint8_t metrics_content{3};  // layout v1.N
  bool with_package{};              // pm_metrics, all of whose energies are 0
};

// Fields of pm_metrics. Energies count 2^-16 J.
struct FakePackageEnergies {
  std::int64_t time_ns{};  // of the firmware
  std::int64_t socket_ticks{}, xcd_ticks{}, aid_ticks{}, hbm_ticks{};
};

// Files under `sysfs`/class: one card at 0000:03:00.0. Everything that rocm_smi64 5.2.3 asks for.
class FakeAmdTree {
 public:
  explicit FakeAmdTree(const std::filesystem::path& sysfs, const FakeAmdOptions& options = {});
  [[nodiscard]] const std::filesystem::path& device() const { return device_; }
  [[nodiscard]] const std::filesystem::path& hwmon() const { return hwmon_; }
  // Change values in place, as a driver does: readers keep the file open.
  void set_power(std::int64_t power_uw) const;
  void set_energy(std::int64_t ticks) const;
  void set_package(const FakePackageEnergies& energies) const;  // pm_metrics
  void write(const std::filesystem::path& file, const std::string& text) const;
  [[nodiscard]] std::string read(const std::filesystem::path& file) const;

 private:
  std::filesystem::path device_, hwmon_;
  FakeAmdOptions options_;
};

// gpu_metrics of layout v1.0 to v1.3: `edge_c`, 51 C junction, 44 C memory, 100 W, 1000 MHz core,
// 1600 MHz memory, 881 mV where the layout has it, limited by power where it says so.
[[nodiscard]] std::vector<std::byte> gpu_metrics_v1(std::uint8_t content, std::int64_t energy_ticks,
                                                    std::int64_t edge_c = 46);

// pm_metrics of MI300X (table V0 behind its head), as the driver gives it.
[[nodiscard]] std::vector<std::byte> pm_metrics_v0(const FakePackageEnergies& energies);

// Runs `body` in a child whose /sys/class and /dev/shm are empty and writable, and gives what it
// returns. Error unsupported where mount namespaces are not permitted.
[[nodiscard]] Result<std::string> with_own_sysfs(const std::function<std::string()>& body);

}  // namespace ww::measure::testing
