#include "nvidia/range_profiler.hpp"

#include <dlfcn.h>

#include <utility>

namespace ww::collect::cupti {
namespace {

// A structure with its size up to its last member.
#define WW_SIZED(name, type, last) \
  type name{};                     \
  name.head.size = offsetof(type, last) + sizeof(name.last)

template <class Function>
void find(void* library, Function*& function, const char* name, std::string& missing) {
  function = reinterpret_cast<Function*>(::dlsym(library, name));
  if (function == nullptr) missing += std::string(missing.empty() ? "" : ", ") + name;
}

}  // namespace

std::string Library::text_of(Status status) const {
  const char* words = nullptr;
  if (get_result_string(status, &words) != kSuccess || words == nullptr) words = "CUPTI error";
  std::string text = std::string(words) + " (" + std::to_string(status) + ")";
  switch (status) {
    // The name by which ncu reports it, and for which the reader has a remedy.
    case kNoPrivileges:
    case kVirtualizedNoPrivileges: return text + ": ERR_NVGPUCTRPERM";
    case kVirtualized: return text + ": a virtual GPU shows no counters here";
    case kOtherSubscriber: return text + ": another profiler is in the program";
    default: return text;
  }
}

bool load(const std::string& file, Library& library, std::string& trouble) {
  void* handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (handle == nullptr) {
    trouble = std::string("CUPTI cannot be loaded: ") + ::dlerror();
    return false;
  }
  std::string missing;
  const auto get = [&](auto& function, const char* name) { find(handle, function, name, missing); };
  get(library.subscribe, "cuptiSubscribe");
  get(library.enable_domain, "cuptiEnableDomain");
  get(library.get_result_string, "cuptiGetResultString");
  get(library.get_device_id, "cuptiGetDeviceId");
  get(library.initialize, "cuptiProfilerInitialize");
  get(library.chip_name, "cuptiDeviceGetChipName");
  get(library.host_initialize, "cuptiProfilerHostInitialize");
  get(library.host_deinitialize, "cuptiProfilerHostDeinitialize");
  get(library.host_add_metrics, "cuptiProfilerHostConfigAddMetrics");
  get(library.host_config_size, "cuptiProfilerHostGetConfigImageSize");
  get(library.host_config_image, "cuptiProfilerHostGetConfigImage");
  get(library.host_passes, "cuptiProfilerHostGetNumOfPasses");
  get(library.host_evaluate, "cuptiProfilerHostEvaluateToGpuValues");
  get(library.enable, "cuptiRangeProfilerEnable");
  get(library.disable, "cuptiRangeProfilerDisable");
  get(library.set_config, "cuptiRangeProfilerSetConfig");
  get(library.start, "cuptiRangeProfilerStart");
  get(library.stop, "cuptiRangeProfilerStop");
  get(library.decode, "cuptiRangeProfilerDecodeData");
  get(library.data_size, "cuptiRangeProfilerGetCounterDataSize");
  get(library.data_image, "cuptiRangeProfilerCounterDataImageInitialize");
  get(library.data_info, "cuptiRangeProfilerGetCounterDataInfo");
  if (missing.empty()) return true;
  trouble = "CUPTI lacks the range profiler, which came with CUDA 12.8: " + missing;
  return false;
}

// --- counters of a chip ---

Counters::Counters(const Library& library, std::string chip, std::vector<std::string> names)
    : library_(library), chip_(std::move(chip)), names_(std::move(names)) {
  for (const std::string& name : names_) pointers_.push_back(name.c_str());
  host_ = open();
  if (host_ == nullptr) {
    trouble_ = "CUPTI does not know the chip " + chip_;
    return;
  }
  WW_SIZED(add, AddMetrics, count);
  add.host = host_;
  add.names = pointers_.data();
  add.count = pointers_.size();
  if (library_.host_add_metrics(&add) != kSuccess) {
    name_the_missing();
  } else if (!configure()) {
    trouble_ = "CUPTI plans no passes over the counters on " + chip_;
  }
}

Counters::~Counters() {
  close(host_);
}

void* Counters::open() const {
  WW_SIZED(initialize, HostInitialize, host);
  initialize.type = kRangeProfiler;
  initialize.chip = chip_.c_str();
  return library_.host_initialize(&initialize) == kSuccess ? initialize.host : nullptr;
}

void Counters::close(void* host) const {
  if (host == nullptr) return;
  WW_SIZED(end, HostEnd, host);
  end.host = host;
  library_.host_deinitialize(&end);
}

// Asks for each one alone. The words are ncu's, which the reader understands.
void Counters::name_the_missing() {
  for (std::size_t i = 0; i < names_.size(); ++i) {
    void* host = open();
    WW_SIZED(add, AddMetrics, count);
    add.host = host;
    add.names = &pointers_[i];
    add.count = 1;
    const bool has = host != nullptr && library_.host_add_metrics(&add) == kSuccess;
    close(host);
    if (has) continue;
    trouble_ = "Failed to find metric " + names_[i];
    return;
  }
  trouble_ = "CUPTI does not count these together on " + chip_;
}

bool Counters::configure() {
  WW_SIZED(size, ConfigSize, bytes);
  size.host = host_;
  if (library_.host_config_size(&size) != kSuccess) return false;
  config_.resize(size.bytes);
  WW_SIZED(image, ConfigImage, image);
  image.host = host_;
  image.bytes = config_.size();
  image.image = config_.data();
  if (library_.host_config_image(&image) != kSuccess) return false;
  WW_SIZED(passes, Passes, passes);
  passes.bytes = config_.size();
  passes.image = config_.data();
  if (library_.host_passes(&passes) != kSuccess) return false;
  passes_ = passes.passes;
  return true;
}

std::vector<double> Counters::evaluate(const std::vector<std::uint8_t>& data,
                                       std::size_t range) const {
  std::vector<double> values(names_.size());
  std::vector<const char*> names = pointers_;
  WW_SIZED(evaluate, Evaluate, values);
  evaluate.host = host_;
  evaluate.data = data.data();
  evaluate.bytes = data.size();
  evaluate.range = range;
  evaluate.names = names.data();
  evaluate.count = names.size();
  evaluate.values = values.data();
  if (library_.host_evaluate(&evaluate) != kSuccess) values.clear();
  return values;
}

// --- kernels of a context ---

ContextProfiler::ContextProfiler(const Library& library, const Counters& counters, void* context)
    : library_(library), counters_(counters) {
  WW_SIZED(enable, Enable, profiler);
  enable.context = context;
  if (!well(library_.enable(&enable), "gives no counters")) return;
  profiler_ = enable.profiler;
  begin();
}

ContextProfiler::~ContextProfiler() {
  finish();
}

bool ContextProfiler::well(Status status, const char* doing) {
  if (status == kSuccess) return true;
  if (trouble_.empty()) trouble_ = std::string("CUPTI ") + doing + ": " + library_.text_of(status);
  return false;
}

void ContextProfiler::begin() {
  std::vector<const char*> names = counters_.pointers();
  WW_SIZED(size, DataSize, bytes);
  size.profiler = profiler_;
  size.names = names.data();
  size.count = names.size();
  size.ranges = kRanges;
  size.nodes = kRanges;
  if (!well(library_.data_size(&size), "has no place for counts")) return;
  data_.assign(size.bytes, 0);
  WW_SIZED(image, DataImage, data);
  image.profiler = profiler_;
  image.bytes = data_.size();
  image.data = data_.data();
  if (!well(library_.data_image(&image), "has no place for counts")) return;
  WW_SIZED(config, SetConfig, nesting);
  config.profiler = profiler_;
  config.config_bytes = counters_.config().size();
  config.config = counters_.config().data();
  config.data_bytes = data_.size();
  config.data = data_.data();
  config.range = kAutoRange;
  config.replay = kKernelReplay;
  config.ranges = kRanges;
  config.nestings = config.first_nesting = 1;
  if (!well(library_.set_config(&config), "does not take the counters")) return;
  WW_SIZED(start, OfProfiler, profiler);
  start.profiler = profiler_;
  counts_ = well(library_.start(&start), "does not start");
}

void ContextProfiler::before_launch(const std::string& kernel) {
  if (kernels_.size() == kRanges) read();
  if (!counts_ && trouble_.empty()) begin();
  if (counts_) kernels_.push_back(kernel);
}

void ContextProfiler::read() {
  if (!std::exchange(counts_, false)) return;
  WW_SIZED(stop, Stop, all_passes);
  stop.profiler = profiler_;
  if (!well(library_.stop(&stop), "does not stop")) return;
  WW_SIZED(decode, Decode, dropped);
  decode.profiler = profiler_;
  if (!well(library_.decode(&decode), "does not decode its counts")) return;
  WW_SIZED(info, DataInfo, ranges);
  info.data = data_.data();
  info.bytes = data_.size();
  if (!well(library_.data_info(&info), "does not tell its ranges")) return;
  if (decode.dropped > 0 || info.ranges != kernels_.size()) {
    trouble_ = "CUPTI counted " + std::to_string(info.ranges) + " of " +
               std::to_string(kernels_.size()) + " launches, so which is which is not known";
    return;
  }
  for (std::size_t range = 0; range < info.ranges; ++range) {
    on_kernel(kernels_[range], counters_.evaluate(data_, range));
  }
  kernels_.clear();
}

void ContextProfiler::finish() {
  if (profiler_ == nullptr) return;
  read();
  WW_SIZED(disable, OfProfiler, profiler);
  disable.profiler = std::exchange(profiler_, nullptr);
  library_.disable(&disable);
}

}  // namespace ww::collect::cupti
