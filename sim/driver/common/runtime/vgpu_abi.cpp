// Clock, sensors, counters and clock states, each under the driver's lock.
#include "common/runtime/vgpu_abi.hpp"

#include <algorithm>
#include <unordered_set>

#include "common/runtime/runtime.hpp"

namespace ww::sim::driver {
namespace {

constexpr int kFailed = -1;

gpu::VirtualGpu& powered() {
  return Runtime::get().powered_gpu();
}

// Runs `body` under the driver's lock; `otherwise` on an exception, of which none may leave.
template <class Value, class Body>
Value locked(Value otherwise, Body&& body) noexcept {
  try {
    Entry entry;
    return body();
  } catch (...) {
    return otherwise;
  }
}

// A C string that lives as long as the driver.
const char* kept(const std::string& text) {
  static auto& strings = *new std::unordered_set<std::string>;
  return strings.insert(text).first->c_str();
}

std::int32_t thousandths(double value) {
  return static_cast<std::int32_t>(std::min(value, 2147483647.0));
}

std::int64_t now_ns() {
  return locked<std::int64_t>(0, [] { return powered().now_ns(); });
}

void sleep_until_ns(std::int64_t time_ns) {
  locked(0, [&] {
    powered().idle_until(time_ns);
    return 0;
  });
}

const ww_vgpu_chip_info* chip_info() {
  static ww_vgpu_chip_info info;
  return locked<const ww_vgpu_chip_info*>(nullptr, [] {
    const auto& chip = powered().chip();
    const auto& arch = chip.architecture();
    info.name = kept(arch.name);
    info.target = kept(arch.gfx_target);
    info.seed = chip.request().is_drawn() ? chip.request().seed : 0;
    info.shader_engines = arch.shader_engines / arch.arrays_per_engine();
    info.cus_per_engine = arch.cus_per_engine * arch.arrays_per_engine();
    info.l2_channels = arch.l2_channels;
    info.channel_interleave_bytes = arch.channel_map.plain() ? arch.channel_interleave_bytes : 0;
    info.bytes_per_clock_per_channel = arch.bytes_per_clock_per_channel;
    info.l1_bytes = arch.l1_bytes;
    info.l2_bytes = arch.l2_bytes;
    return &info;
  });
}

const ww_vgpu_sensor_info* sensor_info() {
  static ww_vgpu_sensor_info info;
  return locked<const ww_vgpu_sensor_info*>(nullptr, [] {
    info = powered().sensor_info();
    return &info;
  });
}

const char* public_floorplan_toml() {
  return locked<const char*>("", [] { return powered().chip().public_floorplan_toml().c_str(); });
}

std::uint64_t samples_since(std::uint64_t first, ww_vgpu_sample* out, std::uint64_t capacity) {
  if (out == nullptr) return 0;
  return locked<std::uint64_t>(
      0, [&] { return powered().samples_since(first, std::span(out, capacity)); });
}

std::int32_t dvfs_state_count() {
  return locked(0, [] { return static_cast<int>(powered().chip().architecture().dvfs.size()); });
}

int dvfs_state(std::int32_t index, ww_vgpu_dvfs_state* out) {
  return locked(kFailed, [&] {
    const auto& states = powered().chip().architecture().dvfs;
    if (out == nullptr || index < 0 || static_cast<std::size_t>(index) >= states.size()) {
      return kFailed;
    }
    const auto& state = states[static_cast<std::size_t>(index)];
    out->voltage_uv = thousandths(state.voltage_v * 1e6 + 0.5);
    out->clock_khz = thousandths(state.clock_hz / 1e3 + 0.5);
    return 0;
  });
}

std::int32_t dvfs_current() {
  return locked(kFailed, [] { return powered().dvfs_state(); });
}

int dvfs_select(std::int32_t index) {
  return locked(kFailed, [&] {
    const auto count = powered().chip().architecture().dvfs.size();
    if (index < 0 || static_cast<std::size_t>(index) >= count) return kFailed;
    powered().select_dvfs(index);
    return 0;
  });
}

std::uint64_t dispatch_count() {
  return locked<std::uint64_t>(0, [] { return powered().dispatch_count(); });
}

int dispatch(std::uint64_t id, ww_vgpu_dispatch* out) {
  return locked(kFailed, [&] {
    if (out == nullptr) return kFailed;
    const auto found = powered().dispatch(id);
    if (!found) return kFailed;
    *out = {id, kept(found->kernel), found->start_ns, found->end_ns, found->replayed ? 1u : 0u};
    return 0;
  });
}

std::uint32_t counters_of_chip() {
  return static_cast<std::uint32_t>(powered().counter_names().size());
}

std::uint32_t counter_count() {
  return locked(0U, [] { return counters_of_chip(); });
}

const char* counter_name(std::uint32_t counter) {
  return locked(static_cast<const char*>(nullptr), [&] {
    const auto& names = powered().counter_names();
    return counter < names.size() ? names[counter].c_str() : nullptr;
  });
}

int dispatch_counters(std::uint64_t id, double* values, std::uint32_t capacity) {
  return locked(kFailed, [&] {
    if (values == nullptr || capacity < counters_of_chip()) return kFailed;
    return powered().counters(id, std::span(values, counters_of_chip())) ? 0 : kFailed;
  });
}

const char* timing_report() {
  static std::string text;
  return locked(static_cast<const char*>(nullptr), []() -> const char* {
    const gpu::TimingReport* report = powered().timing_report();
    if (report == nullptr) return nullptr;
    text = gpu::to_json_text(*report);
    return text.c_str();
  });
}

std::uint32_t rail_count() {
  return locked(0U, [] { return static_cast<std::uint32_t>(powered().rail_names().size()); });
}

const char* rail_name(std::uint32_t rail) {
  return locked(static_cast<const char*>(nullptr), [&] {
    const auto names = powered().rail_names();
    return rail < names.size() ? names[rail] : nullptr;
  });
}

std::uint64_t rails_since(std::uint64_t first, ww_vgpu_rail_sample* out, std::uint64_t capacity) {
  if (out == nullptr) return 0;
  return locked<std::uint64_t>(
      0, [&] { return powered().rails_since(first, std::span(out, capacity)); });
}

constexpr ww_vgpu_abi kAbi{
    .version = WW_VGPU_ABI_VERSION,
    .now_ns = now_ns,
    .sleep_until_ns = sleep_until_ns,
    .chip_info = chip_info,
    .sensor_info = sensor_info,
    .public_floorplan_toml = public_floorplan_toml,
    .samples_since = samples_since,
    .dvfs_state_count = dvfs_state_count,
    .dvfs_state = dvfs_state,
    .dvfs_current = dvfs_current,
    .dvfs_select = dvfs_select,
    .dispatch_count = dispatch_count,
    .dispatch = dispatch,
    .counter_count = counter_count,
    .counter_name = counter_name,
    .dispatch_counters = dispatch_counters,
    .timing_report = timing_report,
    .rail_count = rail_count,
    .rail_name = rail_name,
    .rails_since = rails_since,
};

}  // namespace

const ww_vgpu_abi* get_abi(std::uint32_t version) {
  if (version != WW_VGPU_ABI_VERSION) return nullptr;
  const bool powered_on = locked(false, [] { return Runtime::get().gpu() != nullptr; });
  return powered_on ? &kAbi : nullptr;
}

}  // namespace ww::sim::driver
