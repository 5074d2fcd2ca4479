#include "common/runtime/tool_loader.hpp"

#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "common/runtime/runtime.hpp"
#include "common/runtime/tool_table.h"
#include "common/runtime/vgpu_abi.hpp"

namespace ww::sim::driver {
namespace {

using SetApiTable = int (*)(const char* name, std::uint64_t version, std::uint64_t instance,
                            void** tables, std::uint64_t count);

ww_vgpu_tool_table table{sizeof(ww_vgpu_tool_table), &get_abi, nullptr};

std::string_view variable_text(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? std::string_view() : std::string_view(text);
}

bool wanted() {
  if (variable_text("ROCPROFILER_REGISTER_ENABLED") == "0") return false;
  return !variable_text("ROCP_TOOL_LIBRARIES").empty() ||
         !variable_text("ROCPROFILER_REGISTER_LIBRARY").empty() ||
         variable_text("ROCPROFILER_REGISTER_FORCE_LOAD") == "1" ||
         ::dlsym(RTLD_DEFAULT, "rocprofiler_configure") != nullptr;
}

void open_library() {
  std::string name(variable_text("ROCPROFILER_REGISTER_LIBRARY"));
  if (name.empty()) name = "librocprofiler-sdk.so";
  void* library = ::dlopen(name.c_str(), RTLD_GLOBAL | RTLD_LAZY);
  if (library == nullptr) {
    const char* why = ::dlerror();
    print_line(std::string("a profiler's tool is asked for, and ") + (why == nullptr ? name : why) +
               "; on a card the program would be ended here");
    return;
  }
  const auto set = reinterpret_cast<SetApiTable>(::dlsym(library, "rocprofiler_set_api_table"));
  if (set == nullptr) {
    print_line(name + " has no rocprofiler_set_api_table, so it counts nothing");
    return;
  }
  void* tables[] = {&table};
  set(WW_VGPU_TOOL_TABLE_NAME, WW_VGPU_TOOL_TABLE_VERSION, 0, tables, 1);
}

// Launches of other threads, and of a tool's own calls, wait until the library is loaded.
class Loader {
 public:
  void load() {
    const std::lock_guard lock(mutex_);
    if (state_ != State::unloaded) return;
    state_ = State::loading;
    open_library();
    state_ = State::loaded;
    report();
  }
  void add(const ww_vgpu_launch& launch) {
    load();
    const std::lock_guard lock(mutex_);
    waiting_.push_back(launch);
    report();
  }

 private:
  enum class State { unloaded, loading, loaded };
  void report() {
    if (state_ != State::loaded) return;
    const auto launches = std::exchange(waiting_, {});
    if (table.launched == nullptr) return;
    for (const ww_vgpu_launch& launch : launches) table.launched(&launch);
  }

  std::recursive_mutex mutex_;  // while a library is loaded, it may call the device
  State state_{State::unloaded};
  std::vector<ww_vgpu_launch> waiting_;
};

Loader& loader() {
  static auto& only = *new Loader;
  return only;
}

bool tools_wanted = false;         // under the driver's lock
std::uint64_t noted_launches = 0;  // likewise

}  // namespace

void want_tools() {
  static const bool asked = wanted();
  if (!asked || tools_wanted) return;
  tools_wanted = true;
  noted_launches = Runtime::get().powered_gpu().dispatch_count();
  Runtime::get().callbacks.emplace_back([] { loader().load(); });
}

void note_launches() {
  if (!tools_wanted) return;
  gpu::VirtualGpu& gpu = Runtime::get().powered_gpu();
  for (const std::uint64_t count = gpu.dispatch_count(); noted_launches < count; ++noted_launches) {
    const auto dispatch = gpu.dispatch(noted_launches);
    if (!dispatch) continue;
    const ww_vgpu_launch launch{noted_launches, dispatch->grid_size, dispatch->workgroup_size};
    Runtime::get().callbacks.emplace_back([launch] { loader().add(launch); });
  }
}

}  // namespace ww::sim::driver
