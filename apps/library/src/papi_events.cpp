#include "papi_events.hpp"

#include <dlfcn.h>

#include <array>
#include <atomic>
#include <cmath>
#include <mutex>
#include <string>

namespace ww::papi {
namespace {

// sde_lib.h of PAPI 7, version 1.0 of its interface.
using Handle = void*;
constexpr int kReadOnlyDelta = 0x00;
constexpr int kReadOnlyInstant = 0x10;
constexpr int kLongLong = 0;
struct Functions {
  Handle (*init)(const char* library);
  int (*shutdown)(Handle handle);
  int (*register_counter)(Handle handle, const char* event, int mode, int type, void* counter);
  int (*register_counter_cb)(Handle handle, const char* event, int mode, int type,
                             long long (*callback)(void*), void* parameter);
  int (*unregister_counter)(Handle handle, const char* event);
  int (*describe_counter)(Handle handle, const char* event, const char* description);
  // Others follow, which are not used.
};

struct Quantity {
  const char* name;
  const char* unit;  // in words, for the description
  int mode;
};
enum Kind : std::size_t { energy, lower, upper, power, missing, kKinds };
constexpr std::array<Quantity, kKinds> kQuantities{
    {{"ENERGY_NJ", "energy [nJ]", kReadOnlyDelta},
     {"ENERGY_LOWER_NJ", "lower end of the energy's 95% interval [nJ]", kReadOnlyDelta},
     {"ENERGY_UPPER_NJ", "upper end of the energy's 95% interval [nJ]", kReadOnlyDelta},
     {"POWER_UW", "mean power of the last stretch [uW]", kReadOnlyInstant},
     {"MISSING", "stretches without a figure, whose energy is in no sum", kReadOnlyDelta}}};

struct Figure {
  const char* name;
  const char* words;
};
constexpr std::array<Figure, 2 + WIREWATT_SEGMENTS> kFigures{
    {{"DEVICE", "device"},
     {"WIRES", "all on-chip wires that have a figure"},
     {"REGISTERS_L1", "wires between registers and L1"},
     {"L1_L2", "wires between L1 and L2"},
     {"L2_MEMORY", "wires between L2 and memory"}}};

// PAPI reads these values by their addresses as long as the process lives.
struct Values {
  std::array<std::array<long long, kKinds>, kFigures.size()> of{};
};
std::array<Values, 2> all_values;  // of cards, of virtual chips

Values& values_of(bool is_virtual) {
  return all_values.at(is_virtual ? 1 : 0);
}

void register_events(const Functions& papi, bool is_virtual, Handle handle) {
  Values& values = values_of(is_virtual);
  for (std::size_t f = 0; f < kFigures.size(); ++f) {
    for (std::size_t k = 0; k < kKinds; ++k) {
      const std::string event = std::string(kFigures[f].name) + "_" + kQuantities[k].name;
      const std::string description =
          std::string(is_virtual ? "virtual, not a measurement: " : "") + kFigures[f].words + ": " +
          kQuantities[k].unit;
      papi.register_counter(handle, event.c_str(), kQuantities[k].mode, kLongLong,
                            &values.of[f][k]);
      papi.describe_counter(handle, event.c_str(), description.c_str());
    }
  }
}

Handle begin(const Functions& papi, bool is_virtual) {
  const Handle handle = papi.init(is_virtual ? "wirewatt_virtual" : "wirewatt");
  if (handle != nullptr) register_events(papi, is_virtual, handle);
  return handle;
}

template <class Function>
bool find(Function& function, const char* name) {
  function = reinterpret_cast<Function>(::dlsym(RTLD_DEFAULT, name));
  return function != nullptr;
}

bool load_events_library() {
  if (::dlsym(RTLD_DEFAULT, "papi_sde_init") != nullptr) return true;
  if (::dlsym(RTLD_DEFAULT, "PAPI_library_init") == nullptr) return false;  // PAPI is not here
  return ::dlopen("libsde.so.1", RTLD_NOW | RTLD_GLOBAL) != nullptr ||
         ::dlopen("libsde.so", RTLD_NOW | RTLD_GLOBAL) != nullptr;
}

long long rounded(double value) {
  return std::isfinite(value) ? std::llround(value) : 0;
}

void add_to(long long& value, long long more) {
  std::atomic_ref(value).fetch_add(more, std::memory_order_relaxed);
}

}  // namespace

void publish(bool is_virtual) {
  static std::array<std::once_flag, 2> once;
  std::call_once(once.at(is_virtual ? 1 : 0), [is_virtual] {
    Functions papi{};
    if (load_events_library() && find(papi.init, "papi_sde_init") &&
        find(papi.register_counter, "papi_sde_register_counter") &&
        find(papi.describe_counter, "papi_sde_describe_counter")) {
      begin(papi, is_virtual);
    }
  });
}

void add(const wirewatt_reading& reading) {
  Values& values = values_of(reading.is_virtual != 0);
  const auto add_figure = [&](std::size_t figure, const wirewatt_joules& joules) {
    auto& of = values.of[figure];
    if (std::isnan(joules.value)) {
      add_to(of[missing], 1);
      return;
    }
    constexpr double kNano = 1e9, kMicro = 1e6;
    add_to(of[energy], rounded(joules.value * kNano));
    add_to(of[lower], rounded(joules.low * kNano));
    add_to(of[upper], rounded(joules.high * kNano));
    if (reading.seconds > 0) {
      std::atomic_ref(of[power]).store(rounded(joules.value / reading.seconds * kMicro),
                                       std::memory_order_relaxed);
    }
  };
  add_figure(0, reading.device);
  add_figure(1, reading.interconnect);
  for (std::size_t s = 0; s < WIREWATT_SEGMENTS; ++s) add_figure(2 + s, reading.segment[s]);
}

}  // namespace ww::papi

// PAPI's tools call it to list the events of a library that no program has started.
extern "C" __attribute__((visibility("default"))) void* papi_sde_hook_list_events(
    const void* functions) {
  const auto& papi = *static_cast<const ww::papi::Functions*>(functions);
  ww::papi::begin(papi, true);
  return ww::papi::begin(papi, false);
}
