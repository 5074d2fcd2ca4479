// The library that NVIDIA's driver loads into a program (CUDA_INJECTION64_PATH) when it begins, to
// count each of its kernels. It exports InitializeInjection alone.
//
// Kernels run one at a time and are repeated for each pass, as under ncu. A program is never ended
// for what goes wrong here: the reason stands in the file PROCESS.txt beside the counts.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "nvidia/range_profiler.hpp"
#include "ww/rocprofiler/counting_files.hpp"

namespace ww::collect::cupti {
namespace {

std::string text_of_variable(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? "" : text;
}

// "9.0", as ncu writes it; empty where the driver does not say.
std::string compute_capability(int device) {
  constexpr int kMajor = 75, kMinor = 76;
  using Get = int (*)(int*, int, int);
  void* driver = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (driver == nullptr) return {};
  const auto get = reinterpret_cast<Get>(::dlsym(driver, "cuDeviceGetAttribute"));
  int major = 0, minor = 0;
  const bool has =
      get != nullptr && get(&major, kMajor, device) == 0 && get(&minor, kMinor, device) == 0;
  return has ? std::to_string(major) + "." + std::to_string(minor) : "";
}

// A field of a table as RFC 4180 has it.
std::string quoted(const std::string& text) {
  std::string field = "\"";
  for (const char c : text) field += c == '"' ? std::string("\"\"") : std::string(1, c);
  return field + "\"";
}

class Injection {
 public:
  // `kernels` is a regular expression of the names that are counted; empty: all.
  Injection(std::string folder, std::vector<std::string> counters, std::string kernels)
      : stem_(std::move(folder) + "/" + std::to_string(::getpid())),
        process_(std::to_string(::getpid())),
        counters_(std::move(counters)),
        expression_(std::move(kernels)) {
    if (!expression_.empty()) {
      wanted_.emplace(expression_, std::regex::ECMAScript | std::regex::optimize);
    }
  }

  bool attach(const std::string& library) {
    std::string trouble;
    if (!load(library, library_, trouble)) return say(trouble);
    Initialize initialize{};
    initialize.head.size = sizeof initialize;
    if (const Status status = library_.initialize(&initialize); status != kSuccess) {
      return say("CUPTI does not begin: " + library_.text_of(status));
    }
    void* subscriber = nullptr;
    if (const Status status = library_.subscribe(&subscriber, &on_event, this);
        status != kSuccess) {
      return say("CUPTI does not report launches: " + library_.text_of(status));
    }
    for (const int domain : {kResources, kDriverApi}) {
      if (const Status status = library_.enable_domain(1, subscriber, domain); status != kSuccess) {
        return say("CUPTI does not report launches: " + library_.text_of(status));
      }
    }
    append(".csv", "");  // there it is: the program was reached
    return true;
  }
  void finish() {
    const std::lock_guard lock(mutex_);
    if (abandoned_) return;
    while (!contexts_.empty()) end(contexts_.begin()->first);
    if (launches_ > 0 || left_out_.empty()) return;
    std::string names;
    for (const std::string& name : left_out_) names += (names.empty() ? "" : ", ") + name;
    say(rocprofiler::kNoKernelMatches + (" '" + expression_) + "'; there are " + names);
  }
  // In a child of fork(): it has no device, and the files are its parent's.
  void abandon() { abandoned_ = true; }

 private:
  struct Context {
    std::unique_ptr<ContextProfiler> profiler;
    std::string device, capability;
  };

  static void on_event(void* user, int domain, std::uint32_t id, const void* data) {
    auto& self = *static_cast<Injection*>(user);
    if (self.abandoned_) return;
    thread_local bool inside = false;  // CUPTI may call the driver in turn
    if (inside) return;
    inside = true;
    try {
      const std::lock_guard lock(self.mutex_);
      if (domain == kResources) self.on_resource(id, *static_cast<const ResourceData*>(data));
      if (domain == kDriverApi) self.on_call(*static_cast<const CallData*>(data));
    } catch (...) {  // no memory: what was counted so far stays
    }
    inside = false;
  }

  void on_resource(std::uint32_t id, const ResourceData& data) {
    if (id == kContextCreated) begin(data.context);
    if (id == kContextEnds) end(data.context);
  }
  void on_call(const CallData& call) {
    const bool launches = call.function != nullptr &&
                          std::strncmp(call.function, "cuLaunch", 8) == 0 &&
                          std::strstr(call.function, "HostFunc") == nullptr;
    if (call.site != kEnters || !launches) return;
    const auto found = contexts_.find(call.context);
    if (found == contexts_.end() || found->second.profiler == nullptr) return;
    ContextProfiler& profiler = *found->second.profiler;
    const std::string kernel = call.symbol != nullptr ? call.symbol : "?";
    if (is_wanted(kernel)) {
      profiler.before_launch(kernel);
    } else {
      profiler.before_other_launch();
    }
    if (!profiler.trouble().empty()) say(profiler.trouble());
  }

  bool is_wanted(const std::string& kernel) {
    if (!wanted_ || std::regex_search(kernel, *wanted_)) return true;
    constexpr std::size_t kMaxNamed = 5;
    if (left_out_.size() < kMaxNamed) left_out_.insert(kernel);
    return false;
  }

  void begin(void* context) {
    if (contexts_.contains(context)) return;
    std::uint32_t device = 0;
    if (library_.get_device_id(context, &device) != kSuccess) device = 0;
    Context& made = contexts_[context];
    made.device = std::to_string(device);
    made.capability = compute_capability(static_cast<int>(device));
    ChipName chip{};
    chip.head.size = sizeof chip;
    chip.device = device;
    if (const Status status = library_.chip_name(&chip); status != kSuccess) {
      say("CUPTI does not name the chip: " + library_.text_of(status));
      return;
    }
    const auto [counters, is_new] = of_chip_.try_emplace(chip.name, nullptr);
    if (is_new) {
      counters->second = std::make_unique<Counters>(library_, chip.name, counters_);
    }
    if (!counters->second->trouble().empty()) {
      say(counters->second->trouble());
      return;
    }
    made.profiler = std::make_unique<ContextProfiler>(library_, *counters->second, context);
    made.profiler->on_kernel = [this, context](const std::string& kernel,
                                               const std::vector<double>& values) {
      write(contexts_.at(context), kernel, values);
    };
    if (!made.profiler->trouble().empty()) say(made.profiler->trouble());
  }
  void end(void* context) {
    const auto found = contexts_.find(context);
    if (found == contexts_.end()) return;
    if (auto& profiler = found->second.profiler; profiler != nullptr) {
      profiler->finish();
      if (!profiler->trouble().empty()) say(profiler->trouble());
    }
    contexts_.erase(found);
  }

  void write(const Context& context, const std::string& kernel, const std::vector<double>& values) {
    std::string lines;
    for (std::size_t i = 0; i < counters_.size(); ++i) {
      char value[40] = "n/a";
      if (i < values.size()) std::snprintf(value, sizeof value, "%.17g", values[i]);
      lines += quoted(std::to_string(launches_)) + "," + quoted(process_) + "," + quoted(kernel) +
               "," + quoted(context.device) + "," + quoted(context.capability) + "," +
               quoted(counters_[i]) + ",\"\"," + quoted(value) + "\n";
    }
    ++launches_;
    append(".csv", lines);
  }

  bool say(const std::string& trouble) {
    if (trouble != said_) append(".txt", trouble + "\n");
    said_ = trouble;
    return false;
  }
  // Whole lines, so that a program that is killed leaves them.
  void append(const char* ending, const std::string& lines) const {
    const int file =
        ::open((stem_ + ending).c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (file < 0) return;
    const char* at = lines.data();
    for (std::size_t left = lines.size(); left > 0;) {
      const ssize_t done = ::write(file, at, left);
      if (done <= 0) break;
      at += done;
      left -= static_cast<std::size_t>(done);
    }
    ::close(file);
  }

  std::string stem_, process_;
  std::vector<std::string> counters_;
  std::string expression_;
  std::optional<std::regex> wanted_;
  std::set<std::string> left_out_;  // some kernels that are not counted
  Library library_;
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<Counters>> of_chip_;
  std::map<void*, Context> contexts_;
  std::uint64_t launches_{};
  std::string said_;
  bool abandoned_{};
};

// Lives until the process ends: threads of the driver may call at any time.
Injection* the_injection = nullptr;

int begin() {
  const std::string folder = text_of_variable(rocprofiler::kFolderVariable);
  const std::string library = text_of_variable(rocprofiler::kCuptiVariable);
  if (folder.empty() || library.empty() || the_injection != nullptr) return 0;
  std::vector<std::string> counters;
  std::istringstream words(text_of_variable(rocprofiler::kCountersVariable));
  for (std::string word; words >> word;) counters.push_back(word);
  the_injection =
      new Injection(folder, std::move(counters), text_of_variable(rocprofiler::kKernelsVariable));
  ::pthread_atfork(nullptr, nullptr, [] { the_injection->abandon(); });
  if (!the_injection->attach(library)) return 0;
  // Before the driver's own end.
  std::atexit([] {
    try {
      the_injection->finish();
    } catch (...) {  // no memory: what was written so far stays
    }
  });
  return 1;
}

}  // namespace
}  // namespace ww::collect::cupti

extern "C" __attribute__((visibility("default"))) int InitializeInjection(void) {
  try {
    return ww::collect::cupti::begin();
  } catch (...) {
    return 0;
  }
}
