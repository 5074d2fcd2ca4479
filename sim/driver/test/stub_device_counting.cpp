// The stub's counting of a whole device: sums since the start of what the virtual GPU counted for
// each launch of this process, which a caller samples.
#include <chrono>
#include <set>

#include "stub_rocprofiler_sdk.hpp"

namespace ww::stub {
namespace {

using SetConfig = Status (*)(Handle context, Handle config);
using StartCallback = void (*)(Handle context, Handle agent, SetConfig set_config, void* data);

struct Service {
  StartCallback on_start{};
  void* data{};
  bool counting{};
  Handle config{};
};

struct Device {
  std::mutex mutex;
  std::mutex sampling;  // one caller at a time
  std::map<Handle, Service> services;
  std::set<Handle> buffers;
  std::vector<double> sums;  // since the start, by the virtual GPU's list
  std::uint64_t samples{};
};

Device& device() {
  static auto& only = *new Device;
  return only;
}

Status set_config(Handle context, Handle config) {
  const std::lock_guard lock(device().mutex);
  if (!stub().configs.contains(config)) return kError;
  device().services[context].config = config;
  return kSuccess;
}

// Clocks and power are others while the device counts, as where the limiter of peaks is off.
void lift_the_limiter() {
  const ww_vgpu_abi& abi = *stub().abi;
  if (has_fault("ptl") && abi.dvfs_state_count() > 1) {
    abi.dvfs_select(abi.dvfs_current() == 0 ? 1 : abi.dvfs_current() - 1);
  }
}

}  // namespace

void device_launched(const std::vector<double>& values) {
  const std::lock_guard lock(device().mutex);
  auto& sums = device().sums;
  sums.resize(values.size());
  bool counts = false;
  for (auto& [context, service] : device().services) counts = counts || service.counting;
  if (!counts) return;
  for (std::size_t i = 0; i < values.size(); ++i) sums[i] += values[i];
}

Status start_device(Handle context) {
  Service* service = nullptr;
  {
    const std::lock_guard lock(device().mutex);
    const auto found = device().services.find(context);
    if (found == device().services.end()) {
      if (context == stub().dispatch_context) lift_the_limiter();
      return kSuccess;
    }
    service = &found->second;
  }
  if (stub().ending) return kFinalized;
  if (has_fault("busy_at_start")) return kError;
  service->on_start(context, kAgent, set_config, service->data);
  const std::lock_guard lock(device().mutex);
  if (service->config == 0) return kError;
  service->counting = true;
  device().sums.assign(device().sums.size(), 0);
  lift_the_limiter();
  // Armed: it counts from the moment at which HSA is up.
  return has_fault("hsa_not_loaded") ? kHsaNotLoaded : kSuccess;
}

void end_device_counting() {
  const std::lock_guard lock(device().mutex);
  for (auto& [context, service] : device().services) service.counting = false;
}

}  // namespace ww::stub

using namespace ww::stub;  // NOLINT(google-build-using-namespace): the entries below are its own

WW_STUB_EXPORT Status rocprofiler_create_buffer(Handle, std::size_t bytes, std::size_t watermark,
                                                int, void* callback, void*, Handle* buffer) {
  if (bytes == 0 || watermark > bytes || callback == nullptr) return kError;
  const std::lock_guard lock(device().mutex);
  *buffer = device().buffers.size() + 1;
  device().buffers.insert(*buffer);
  return kSuccess;
}

WW_STUB_EXPORT Status rocprofiler_configure_device_counting_service(Handle context, Handle buffer,
                                                                    Handle agent,
                                                                    StartCallback on_start,
                                                                    void* data) {
  if (stub().configured) return kConfigurationLocked;
  if (has_fault("conflict") || context == stub().dispatch_context) return kConflict;
  const std::lock_guard lock(device().mutex);
  // Optional since 0.6.
  const bool known = device().buffers.contains(buffer);
  if (!known && (buffer != 0 || release().version < 600)) return kError;
  if (agent != kAgent || on_start == nullptr) return kError;
  if (device().services.contains(context)) return kConflict;
  device().services[context] = {on_start, data, false, 0};
  return kSuccess;
}

WW_STUB_EXPORT Status rocprofiler_sample_device_counting_service(Handle context, std::uint64_t,
                                                                 int flags, void* records,
                                                                 std::size_t* count) {
  if (stub().ending) return kFinalized;
  if (has_fault("hang_on_sample")) std::this_thread::sleep_for(std::chrono::hours(1));
  const std::unique_lock alone(device().sampling, std::try_to_lock);
  if (!alone.owns_lock()) return kContextError;
  std::this_thread::sleep_for(std::chrono::milliseconds(3));  // as long as a card's takes
  const std::lock_guard lock(device().mutex);
  const auto service = device().services.find(context);
  if (service == device().services.end() || !service->second.counting || flags != 0) {
    return kContextNotStarted;
  }
  const std::uint64_t number = ++device().samples;
  if (has_fault("sample_denied")) return kPermissionDenied;
  if (has_fault("unset_samples")) return kSuccess;
  if (has_fault("reset") && number == 2) device().sums.assign(device().sums.size(), 0);
  if (device().sums.empty()) device().sums.resize(stub().abi->counter_count());
  std::vector<char> made;
  const std::size_t needed =
      append_records(made, stub().configs.at(service->second.config), device().sums, 0,
                     has_fault("lost_instance") && number % 2 == 0);
  const std::size_t room = *count;
  *count = needed;
  if (room < needed) return kOutOfResources;
  std::memcpy(records, made.data(), made.size());
  return kSuccess;
}
