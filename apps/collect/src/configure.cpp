// Exports rocprofiler_configure, which rocprofiler-sdk looks for in a tool library, and nothing
// else. No other library may export it: rocprofiler-register ends a program that does where no SDK
// is installed. libwirewatt calls the same entry, to have a stretch's ends sampled.
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "collector.hpp"
#include "device_collector.hpp"
#include "launch_collector.hpp"

namespace ww::collect {
namespace {

// Lives until the process ends: threads of the SDK may call at any time.
Collector* the_collector = nullptr;
std::atomic<DeviceCollector*> the_device = nullptr;  // the same, where it counts a device

std::vector<std::string> words_of(const char* text) {
  std::istringstream stream(text == nullptr ? "" : text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

// A name that no file has yet: one process may become another program.
std::filesystem::path free_stem(const std::filesystem::path& folder) {
  std::string name = std::to_string(::getpid());
  const std::string process = name;
  const auto taken = [&] {
    std::error_code ignored;
    return std::filesystem::exists(folder / (name + rocprofiler::kNote), ignored);
  };
  for (int more = 2; taken(); ++more) name = process + "-" + std::to_string(more);
  return folder / name;
}

std::chrono::milliseconds interval() {
  constexpr int kUsual_ms = 1000;
  int ms = kUsual_ms;
  if (const char* text = std::getenv(rocprofiler::kIntervalVariable)) {
    std::from_chars(text, text + std::strlen(text), ms);
  }
  constexpr int kMin_ms = 50;  // a sample takes 3 ms
  return std::chrono::milliseconds(std::max(ms, kMin_ms));
}

// The collector that the environment asks for.
Collector* make_collector(const char* folder) {
  auto stem = free_stem(folder);
  auto counters = words_of(std::getenv(rocprofiler::kCountersVariable));
  const char* mode = std::getenv(rocprofiler::kModeVariable);
  if (mode != nullptr && std::strcmp(mode, rocprofiler::kDeviceMode) == 0) {
    auto* device = new DeviceCollector(std::move(stem), std::move(counters), interval());
    the_device = device;
    return device;
  }
  const char* kernels = std::getenv(rocprofiler::kKernelsVariable);
  return new LaunchCollector(std::move(stem), std::move(counters),
                             kernels == nullptr ? "" : kernels);
}

rocprofiler::ToolResult* begin(std::uint32_t version, const void* caller, void* client_id) {
  const char* folder = std::getenv(rocprofiler::kFolderVariable);
  if (folder == nullptr || *folder == '\0' || the_collector != nullptr) return nullptr;
  // The copy of the SDK that calls: others may be loaded, as a wheel brings its own.
  Dl_info library{};
  if (::dladdr(caller, &library) == 0 || library.dli_fname == nullptr) return nullptr;
  void* handle = ::dlopen(library.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return nullptr;
  Collector* made = make_collector(folder);
  the_collector = made;
  if (!made->accept(version, library.dli_fname, handle)) return nullptr;
  rocprofiler::set_client_name(client_id, version, "wirewatt");
  ::pthread_atfork(nullptr, nullptr, [] { the_collector->abandon(); });
  // Runs before the SDK's own, which ends its threads.
  std::atexit([] {
    try {
      the_collector->finish();
    } catch (...) {  // no memory: the rows so far keep their first name
    }
  });
  static rocprofiler::ToolResult result{sizeof(rocprofiler::ToolResult),
                                        [](void*, void*) {
                                          try {
                                            the_collector->initialize();
                                          } catch (...) {  // no memory: nothing is counted
                                          }
                                          return 0;
                                        },
                                        [](void*) {}, nullptr};
  return &result;
}

// The answer to libwirewatt: null where there is no sample.
rocprofiler::ToolResult* sample() {
  static rocprofiler::ToolResult sampled{};
  DeviceCollector* device = the_device;
  return device != nullptr && device->sample_now() ? &sampled : nullptr;
}

}  // namespace
}  // namespace ww::collect

extern "C" __attribute__((visibility("default"))) ww::rocprofiler::ToolResult*
rocprofiler_configure(std::uint32_t version, const char* release, std::uint32_t /*priority*/,
                      void* client_id) {
  try {
    if (release != nullptr && std::strcmp(release, ww::rocprofiler::kSampleRequest) == 0) {
      return ww::collect::sample();
    }
    return ww::collect::begin(version, __builtin_return_address(0), client_id);
  } catch (...) {
    return nullptr;
  }
}
