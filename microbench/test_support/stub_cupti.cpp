// A libcupti.so for tests: the range profiler over the stub of NVIDIA's driver. It uses none of
// wirewatt's declarations of CUPTI, so that a wrong one shows: members are read at the offsets that
// NVIDIA's reference gives.
//
// A counter of a launch is a number that follows from its name and the launch; the file that
// $WW_STUB_CUPTI_ORACLE names gets each as "kernel,counter,value". $WW_STUB_CUPTI_FAULTS has words:
// denied, virtual, taken, dropped, lacks:COUNTER, no_start, no_values.
#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>
#include <string>
#include <vector>

namespace {

using Listener = void (*)(void* context, const char* kernel, unsigned groups, unsigned items);

constexpr int kInvalidParameter = 1, kNoSuchCounter = 12, kVirtual = 33, kDenied = 35, kTaken = 39;

template <class Value>
Value& at(void* structure, std::size_t offset) {
  return *reinterpret_cast<Value*>(static_cast<char*>(structure) + offset);
}
// A user that knows fewer members than this function needs would be from before the first release.
bool has(void* structure, std::size_t size) {
  return at<std::size_t>(structure, 0) >= size && at<void*>(structure, 8) == nullptr;
}

bool faulty(const std::string& word) {
  const char* set = std::getenv("WW_STUB_CUPTI_FAULTS");
  return set != nullptr &&
         (" " + std::string(set) + " ").find(" " + word + " ") != std::string::npos;
}

struct Launch {
  std::string kernel;
  unsigned groups{}, items{};
};
struct Host {
  std::vector<std::string> counters;
};
struct Profiler {
  void* context{};
  std::uint8_t* data{};
  std::size_t ranges{};
  std::vector<Launch> launches;
  bool runs{};
};

struct Library {
  void (*callback)(void*, int, std::uint32_t, const void*){};
  void* user{};
  std::set<int> domains;
  std::vector<Profiler*> profilers;
  // Decoded launches by the data image that they are in.
  std::vector<std::pair<const std::uint8_t*, std::vector<Launch>>> images;
};
Library& library() {
  static auto* one = new Library;
  return *one;
}

double value_of(const std::string& counter, const Launch& launch) {
  if (counter == "gpu__time_duration.sum") return 1000.0 + launch.groups;
  unsigned mixed = 7;
  for (const char c : counter) mixed = mixed * 31 + static_cast<unsigned char>(c);
  return static_cast<double>(mixed % 1000) * launch.groups * launch.items;
}

struct CallData {
  int site;
  const char* function;
  const void* parameters;
  void* result;
  const char* symbol;
  void* context;
};

void hear(void* context, const char* kernel, unsigned groups, unsigned items) {
  Library& of = library();
  if (kernel == nullptr) {
    void* resource[3] = {context, nullptr, nullptr};
    if (of.domains.contains(3)) of.callback(of.user, 3, 1, resource);
    return;
  }
  for (const int site : {0, 1}) {
    const CallData data{site, "cuLaunchKernel", nullptr, nullptr, kernel, context};
    if (of.domains.contains(1)) of.callback(of.user, 1, 307, &data);
    if (site == 1) continue;
    for (Profiler* profiler : of.profilers) {
      if (profiler->runs && profiler->context == context) {
        profiler->launches.push_back({kernel, groups, items});
      }
    }
  }
}

}  // namespace

extern "C" {

int cuptiGetResultString(int status, const char** text) {
  *text = status == 0         ? "CUPTI_SUCCESS"
          : status == kDenied ? "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"
                              : "CUPTI_ERROR_OF_THE_STUB";
  return 0;
}
int cuptiSubscribe(void** subscriber, void (*callback)(void*, int, std::uint32_t, const void*),
                   void* user) {
  if (faulty("taken")) return kTaken;
  library().callback = callback;
  library().user = user;
  *subscriber = &library();
  void* driver = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (driver == nullptr) return kInvalidParameter;
  const auto listen = reinterpret_cast<void (*)(Listener)>(::dlsym(driver, "ww_stub_cuda_listen"));
  if (listen == nullptr) return kInvalidParameter;
  listen(&hear);
  return 0;
}
int cuptiEnableDomain(std::uint32_t enable, void* subscriber, int domain) {
  if (enable != 1 || subscriber != &library()) return kInvalidParameter;
  library().domains.insert(domain);
  return 0;
}
int cuptiGetDeviceId(void*, std::uint32_t* device) {
  *device = 0;
  return 0;
}
int cuptiProfilerInitialize(void* parameters) {
  return has(parameters, 16) ? 0 : kInvalidParameter;
}
int cuptiDeviceGetChipName(void* parameters) {
  if (!has(parameters, 32)) return kInvalidParameter;
  at<const char*>(parameters, 24) = "GH100";
  return 0;
}

int cuptiProfilerHostInitialize(void* parameters) {
  if (!has(parameters, 48) || at<int>(parameters, 16) != 0 ||
      std::strcmp(at<const char*>(parameters, 24), "GH100") != 0) {
    return kInvalidParameter;
  }
  at<void*>(parameters, 40) = new Host;
  return 0;
}
int cuptiProfilerHostDeinitialize(void* parameters) {
  if (!has(parameters, 24)) return kInvalidParameter;
  delete at<Host*>(parameters, 16);
  return 0;
}
int cuptiProfilerHostConfigAddMetrics(void* parameters) {
  if (!has(parameters, 40)) return kInvalidParameter;
  const char** names = at<const char**>(parameters, 24);
  for (std::size_t i = 0; i < at<std::size_t>(parameters, 32); ++i) {
    if (faulty(std::string("lacks:") + names[i])) return kNoSuchCounter;
    at<Host*>(parameters, 16)->counters.emplace_back(names[i]);
  }
  return 0;
}
int cuptiProfilerHostGetConfigImageSize(void* parameters) {
  if (!has(parameters, 32)) return kInvalidParameter;
  at<std::size_t>(parameters, 24) = 100;
  return 0;
}
int cuptiProfilerHostGetConfigImage(void* parameters) {
  if (!has(parameters, 40) || at<std::size_t>(parameters, 24) != 100) return kInvalidParameter;
  std::memset(at<void*>(parameters, 32), 42, 100);
  return 0;
}
int cuptiProfilerHostGetNumOfPasses(void* parameters) {
  if (!has(parameters, 40) || *at<std::uint8_t*>(parameters, 24) != 42) return kInvalidParameter;
  at<std::size_t>(parameters, 32) = 1;
  return 0;
}
int cuptiProfilerHostEvaluateToGpuValues(void* parameters) {
  if (!has(parameters, 72) || faulty("no_values")) return kInvalidParameter;
  const auto* data = at<const std::uint8_t*>(parameters, 24);
  const std::size_t range = at<std::size_t>(parameters, 40);
  const char** names = at<const char**>(parameters, 48);
  double* values = at<double*>(parameters, 64);
  for (const auto& [image, launches] : library().images) {
    if (image != data || range >= launches.size()) continue;
    const char* file = std::getenv("WW_STUB_CUPTI_ORACLE");
    std::ofstream oracle(file == nullptr ? "/dev/null" : file, std::ios::app);
    oracle.precision(17);
    for (std::size_t i = 0; i < at<std::size_t>(parameters, 56); ++i) {
      values[i] = value_of(names[i], launches[range]);
      oracle << launches[range].kernel << ',' << names[i] << ',' << values[i] << '\n';
    }
    return 0;
  }
  return kInvalidParameter;
}

int cuptiRangeProfilerEnable(void* parameters) {
  if (faulty("denied")) return kDenied;
  if (faulty("virtual")) return kVirtual;
  if (!has(parameters, 32)) return kInvalidParameter;
  auto* profiler = new Profiler{at<void*>(parameters, 16), nullptr, 0, {}, false};
  library().profilers.push_back(profiler);
  at<void*>(parameters, 24) = profiler;
  return 0;
}
int cuptiRangeProfilerDisable(void* parameters) {
  if (!has(parameters, 24)) return kInvalidParameter;
  at<Profiler*>(parameters, 16)->runs = false;
  return 0;
}
int cuptiRangeProfilerGetCounterDataSize(void* parameters) {
  if (!has(parameters, 64) || at<std::uint32_t>(parameters, 48) == 0) return kInvalidParameter;
  at<std::size_t>(parameters, 56) = 64 * at<std::size_t>(parameters, 40);
  return 0;
}
int cuptiRangeProfilerCounterDataImageInitialize(void* parameters) {
  return has(parameters, 40) && at<void*>(parameters, 32) != nullptr ? 0 : kInvalidParameter;
}
int cuptiRangeProfilerSetConfig(void* parameters) {
  const bool kernels_by_replay = has(parameters, 90) && at<int>(parameters, 56) == 1 &&
                                 at<int>(parameters, 60) == 2 &&
                                 at<std::uint16_t>(parameters, 72) == 1;
  if (!kernels_by_replay || at<std::size_t>(parameters, 24) != 100) return kInvalidParameter;
  auto* profiler = at<Profiler*>(parameters, 16);
  profiler->data = at<std::uint8_t*>(parameters, 48);
  profiler->ranges = at<std::size_t>(parameters, 64);
  return 0;
}
int cuptiRangeProfilerStart(void* parameters) {
  if (!has(parameters, 24) || faulty("no_start")) return kInvalidParameter;
  at<Profiler*>(parameters, 16)->runs = true;
  return 0;
}
int cuptiRangeProfilerStop(void* parameters) {
  if (!has(parameters, 41)) return kInvalidParameter;
  at<Profiler*>(parameters, 16)->runs = false;
  at<std::uint8_t>(parameters, 40) = 1;
  return 0;
}
int cuptiRangeProfilerDecodeData(void* parameters) {
  if (!has(parameters, 32)) return kInvalidParameter;
  auto* profiler = at<Profiler*>(parameters, 16);
  if (faulty("dropped") && !profiler->launches.empty()) profiler->launches.pop_back();
  auto& images = library().images;
  std::erase_if(images, [&](const auto& image) { return image.first == profiler->data; });
  images.emplace_back(profiler->data, std::move(profiler->launches));
  profiler->launches.clear();
  at<std::size_t>(parameters, 24) = 0;
  return 0;
}
int cuptiRangeProfilerGetCounterDataInfo(void* parameters) {
  if (!has(parameters, 40)) return kInvalidParameter;
  at<std::size_t>(parameters, 32) = 0;
  for (const auto& [image, launches] : library().images) {
    if (image == at<const std::uint8_t*>(parameters, 16)) {
      at<std::size_t>(parameters, 32) = launches.size();
    }
  }
  return 0;
}

}  // extern "C"
