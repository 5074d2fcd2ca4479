// Counts the kernels of a CUDA context by CUPTI's range profiler: each kernel is a range, which the
// library repeats for each pass over the counters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "nvidia/cupti_interface.hpp"

namespace ww::collect::cupti {

// The library's functions, found in it when it was loaded.
struct Library {
  Status (*subscribe)(void**, Callback, void*){};
  Status (*enable_domain)(std::uint32_t, void*, int){};
  Status (*get_result_string)(Status, const char**){};
  Status (*get_device_id)(void*, std::uint32_t*){};
  Status (*initialize)(Initialize*){};
  Status (*chip_name)(ChipName*){};
  Status (*host_initialize)(HostInitialize*){};
  Status (*host_deinitialize)(HostEnd*){};
  Status (*host_add_metrics)(AddMetrics*){};
  Status (*host_config_size)(ConfigSize*){};
  Status (*host_config_image)(ConfigImage*){};
  Status (*host_passes)(Passes*){};
  Status (*host_evaluate)(Evaluate*){};
  Status (*enable)(Enable*){};
  Status (*disable)(OfProfiler*){};
  Status (*set_config)(SetConfig*){};
  Status (*start)(OfProfiler*){};
  Status (*stop)(Stop*){};
  Status (*decode)(Decode*){};
  Status (*data_size)(DataSize*){};
  Status (*data_image)(DataImage*){};
  Status (*data_info)(DataInfo*){};

  // "INSUFFICIENT_PRIVILEGES (35)", with what the user can do where that is known.
  [[nodiscard]] std::string text_of(Status status) const;
};
// Loads the library and finds its functions; else says what is missing.
[[nodiscard]] bool load(const std::string& file, Library& library, std::string& trouble);

// The counters of one kind of chip.
class Counters {
 public:
  // `trouble` is set where the chip has not one of them, or where it is not known.
  Counters(const Library& library, std::string chip, std::vector<std::string> names);
  ~Counters();
  Counters(const Counters&) = delete;
  Counters& operator=(const Counters&) = delete;

  [[nodiscard]] const std::string& trouble() const { return trouble_; }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] const std::vector<const char*>& pointers() const { return pointers_; }
  [[nodiscard]] const std::vector<std::uint8_t>& config() const { return config_; }
  [[nodiscard]] std::size_t passes() const { return passes_; }
  // Values of one range of a data image, in the order of the names; empty where it has none.
  [[nodiscard]] std::vector<double> evaluate(const std::vector<std::uint8_t>& data,
                                             std::size_t range) const;

 private:
  [[nodiscard]] void* open() const;
  void close(void* host) const;
  void name_the_missing();
  bool configure();

  const Library& library_;
  std::string chip_;
  std::vector<std::string> names_;
  std::vector<const char*> pointers_;
  void* host_{};
  std::vector<std::uint8_t> config_;
  std::size_t passes_{};
  std::string trouble_;
};

// Profiles the kernels of one context. Calls must come from one thread at a time.
class ContextProfiler {
 public:
  // Ranges that are counted before the kernels are read.
  static constexpr std::size_t kRanges = 512;

  ContextProfiler(const Library& library, const Counters& counters, void* context);
  ~ContextProfiler();
  ContextProfiler(const ContextProfiler&) = delete;
  ContextProfiler& operator=(const ContextProfiler&) = delete;

  [[nodiscard]] const std::string& trouble() const { return trouble_; }
  // Before a kernel is launched. Reads those before it where no more have a place.
  void before_launch(const std::string& kernel);
  // Before one is launched that is not counted: reads those before it, and counts none until the
  // next one that is.
  void before_other_launch() { read(); }
  // Ends counting and reads what was counted.
  void finish();

  // Called with each kernel's name and values.
  std::function<void(const std::string&, const std::vector<double>&)> on_kernel;

 private:
  void begin();
  void read();
  bool well(Status status, const char* doing);

  const Library& library_;
  const Counters& counters_;
  void* profiler_{};
  std::vector<std::uint8_t> data_;
  std::vector<std::string> kernels_;  // launched since the last reading
  bool counts_{};
  std::string trouble_;
};

}  // namespace ww::collect::cupti
