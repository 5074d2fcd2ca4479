#include "ww/measure/counted/nvidia_traffic.hpp"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <string>

#include "nvml_api.hpp"

namespace ww::measure {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kShortest{100};
// With 535, calls about memory fail for good after the first sample (reported by users of an H100).
constexpr int kFirstDriver = 550;

// "550.54.15"
int major_of(const NvmlApi& api) {
  std::array<char, 81> version{};
  if (api.driver_version(version.data(), version.size()) != nvml::success) return 0;
  return std::atoi(version.data());
}

// Double data rate: two transfers in a cycle of the memory's clock.
std::optional<double> peak_bytes_per_s(const NvmlApi& api, NvmlDevice device) {
  unsigned mhz = 0, bits = 0;
  if (api.max_clock == nullptr || api.bus_width == nullptr ||
      api.max_clock(device, nvml::kClockMemory, &mhz) != nvml::success ||
      api.bus_width(device, &bits) != nvml::success || mhz == 0 || bits == 0) {
    return {};
  }
  constexpr double kTransfers = 2, kHertz = 1e6, kBits = 8;
  return kTransfers * kHertz * mhz * bits / kBits;
}

class Gpm final : public NvidiaTrafficMeter {
 public:
  Gpm(const NvmlApi& api, NvmlDevice device) : api_(api), device_(device) {
    peak_ = peak_bytes_per_s(api, device);
  }
  ~Gpm() override {
    for (const NvmlGpmSample sample : samples_) {
      if (sample != nullptr) api_.gpm_sample_free(sample);
    }
  }
  Gpm(const Gpm&) = delete;
  Gpm& operator=(const Gpm&) = delete;

  Status begin() {
    for (NvmlGpmSample& sample : samples_) {
      WW_TRY(check(api_.gpm_sample_alloc(&sample), "its samples have no place"));
    }
    WW_TRY(check(api_.gpm_sample_get(device_, samples_[0]), "it gives no sample"));
    since_ = SteadyClock::now();
    return {};
  }

  Result<std::optional<NvidiaTraffic>> take() override {
    const auto now = SteadyClock::now();
    if (now - since_ < kShortest) return std::optional<NvidiaTraffic>{};
    WW_TRY(check(api_.gpm_sample_get(device_, samples_[1]), "it gives no sample"));
    NvmlGpmMetrics request;
    request.count = static_cast<unsigned>(kWanted.size());
    request.earlier = samples_[0];
    request.later = samples_[1];
    for (std::size_t i = 0; i < kWanted.size(); ++i) request.metrics[i].id = kWanted[i];
    WW_TRY(check(api_.gpm_metrics_get(&request), "its samples cannot be compared"));
    std::swap(samples_[0], samples_[1]);
    NvidiaTraffic traffic;
    traffic.seconds = std::chrono::duration<double>(now - since_).count();
    since_ = now;
    constexpr double kPercent = 0.01, kMebi = 1048576;
    const auto value = [&request](std::size_t i) -> std::optional<double> {
      const NvmlGpmMetric& metric = request.metrics[i];
      if (metric.result != nvml::success || !(metric.value >= 0)) return {};
      return metric.value;
    };
    if (const auto share = value(0); share && peak_) {
      traffic.memory_at_most = *share * kPercent * *peak_;
    }
    const std::array<std::optional<double>*, 4> rates{
        &traffic.nvlink_sent, &traffic.nvlink_received, &traffic.pcie_sent, &traffic.pcie_received};
    for (std::size_t i = 0; i < rates.size(); ++i) {
      if (const auto rate = value(i + 1)) *rates.at(i) = *rate * kMebi;
    }
    return std::optional(traffic);
  }

 private:
  [[nodiscard]] Status check(int code, const char* what) const {
    if (code == nvml::success) return {};
    return fail(code == nvml::kNoPermission   ? ErrorCode::permission_denied
                : code == nvml::not_supported ? ErrorCode::unsupported
                                              : ErrorCode::device_error,
                fmt::format("performance monitoring: {} ({})", what, nvml_error(api_, code)),
                "NVML");
  }
  static constexpr std::array<unsigned, 5> kWanted{nvml::kGpmMemoryShare, nvml::kGpmNvlinkSent,
                                                   nvml::kGpmNvlinkReceived, nvml::kGpmPcieSent,
                                                   nvml::kGpmPcieReceived};

  const NvmlApi& api_;
  NvmlDevice device_;
  std::optional<double> peak_;
  std::array<NvmlGpmSample, 2> samples_{};
  SteadyClock::time_point since_;
};

}  // namespace

Result<std::unique_ptr<NvidiaTrafficMeter>> NvidiaTrafficMeter::open(const PciAddress& pci) {
  WW_ASSIGN(api, load_nvml());
  NvmlDevice device{};
  if (const int code = api->by_pci(to_string(pci).c_str(), &device); code != nvml::success) {
    return fail(ErrorCode::not_found, nvml_error(*api, code), to_string(pci));
  }
  NvmlGpmSupport support;
  const bool has_functions = api->gpm_query_support != nullptr &&
                             api->gpm_sample_alloc != nullptr && api->gpm_sample_free != nullptr &&
                             api->gpm_sample_get != nullptr && api->gpm_metrics_get != nullptr;
  if (!has_functions || api->gpm_query_support(device, &support) != nvml::success ||
      support.is_supported == 0) {
    return fail(ErrorCode::unsupported,
                "counts no traffic that the driver shows: that begins with Hopper", to_string(pci));
  }
  if (const int major = major_of(*api); major < kFirstDriver) {
    return fail(ErrorCode::unsupported,
                fmt::format("the driver {} is older than {}, in which other calls fail after its "
                            "performance monitoring was used",
                            major, kFirstDriver),
                to_string(pci));
  }
  auto meter = std::make_unique<Gpm>(*api, device);
  WW_TRY(meter->begin());
  return meter;
}

}  // namespace ww::measure
