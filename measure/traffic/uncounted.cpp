// Launches of which a profiler counted nothing, though it wrote their rows.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "counter_forms.hpp"

namespace ww::measure {
namespace {

// Counters that run while a launch does nothing: cycles, times and averages of them.
bool counts_events(std::string_view name) {
  if (name.find("__") != std::string_view::npos) {  // ncu's
    return name.ends_with(".sum") && name.find("cycles") == std::string_view::npos &&
           name.find("time") == std::string_view::npos;
  }
  return !name.starts_with("GRBM_") && name.find("CYCLE") == std::string_view::npos &&
         name.find("BUSY") == std::string_view::npos && name.find(' ') == std::string_view::npos;
}

constexpr std::string_view kEveryZero = "every counter is 0";

// Why the launch seems not to have been counted; empty where it was.
std::string why_uncounted(const CounterDispatch& dispatch, bool radeon) {
  std::size_t events = 0, moved = 0, in_l2 = 0;
  bool lookups = false;
  for (const auto& [name, value] : dispatch.counters) {
    if (name.starts_with("WW_")) return {};  // the virtual GPU counts all that it does
    if (!counts_events(name)) continue;
    ++events;
    moved += value != 0;
    in_l2 += name.starts_with("GL2C_") && value != 0;
    lookups = lookups || name.starts_with("GL2C_HIT") || name.starts_with("GL2C_MISS");
  }
  const std::string clocks =
      radeon ? "; fix the clocks while profiling: echo profile_standard | sudo tee "
               "/sys/class/drm/cardN/device/power_dpm_force_performance_level"
             : "";
  // A kernel's instructions come through the L2, whatever it does.
  if (radeon && lookups && in_l2 == 0) {
    return "all counters of the L2 (GL2C) are 0 for a kernel that ran, so nothing was counted" +
           clocks;
  }
  if (events == 0 || moved > 0) return {};
  return std::string(kEveryZero) +
         ", so nothing was counted, or the kernel did nothing that they count" + clocks;
}

}  // namespace

void refuse_uncounted(CounterFile& file, std::string_view architecture) {
  const bool radeon = architecture.starts_with("gfx1");
  for (CounterDispatch& dispatch : file.dispatches) {
    if (dispatch.counters.empty()) continue;
    dispatch.uncounted = why_uncounted(dispatch, radeon);
    if (dispatch.uncounted.empty()) continue;
    for (const auto& [name, value] : dispatch.counters) dispatch.missing[name] = dispatch.uncounted;
    dispatch.counters.clear();
  }
}

void restore_uncounted(CounterFile& file) {
  for (CounterDispatch& dispatch : file.dispatches) {
    if (!dispatch.uncounted.starts_with(kEveryZero)) continue;
    std::erase_if(dispatch.missing, [&dispatch](const auto& counter) {
      if (counter.second != dispatch.uncounted) return false;
      dispatch.counters[counter.first] = 0;
      return true;
    });
    dispatch.uncounted.clear();
  }
}

}  // namespace ww::measure
