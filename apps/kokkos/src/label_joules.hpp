// Joules of the device and of its wires by the labels that a Kokkos program gives its kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wirewatt/wirewatt.h"

namespace ww::kokkos {

// A sum of joules of several stretches. What has no value is counted and not added.
struct Sum {
  double value{}, low{}, high{};
  std::uint64_t with{}, without{};
  std::string reason;  // why the last one had none

  void add(const wirewatt_joules& joules, const char* why);
};

struct Label {
  std::uint64_t launches{};
  std::uint64_t overlapping{};  // of these; unmeasured, since another one was measured then
  double seconds{};             // by the device's clock on a virtual chip, else the host's
  Sum device, wires;
  Sum segments[WIREWATT_SEGMENTS];
};

// A card: one stretch from the first kernel to the end, in which the program's launches are
// reported; the joules of each label, above the power at rest, come from their times. The wires
// have none, because nobody counts there. A virtual chip: a stretch for each kernel, of the whole
// chip and of its wires.
//
// Threading: any thread may call. Kokkos fences around each kernel, as its tools can ask.
class LabelJoules {
 public:
  LabelJoules() = default;
  ~LabelJoules() { wirewatt_close(session_); }
  LabelJoules(const LabelJoules&) = delete;
  LabelJoules& operator=(const LabelJoules&) = delete;

  void push_region(const char* name);
  void pop_region();
  // The number of this launch, for end().
  std::uint64_t begin(const char* label);
  void end(std::uint64_t launch);
  void finish();

  // "virtual:w9100"; empty where no kernel was seen or no session could be opened.
  [[nodiscard]] const std::string& device() const { return device_; }
  [[nodiscard]] bool is_virtual() const { return is_virtual_; }
  // Why nothing was measured, where nothing was.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }
  // By label, behind the regions that it ran in: "solve/axpy".
  [[nodiscard]] const std::map<std::string, Label>& labels() const { return labels_; }

 private:
  struct Launch {
    std::string label;
    std::int64_t start_ns{};
    bool measured{};
  };
  void open();
  void take(Label& label);
  void take_kernels();

  std::mutex mutex_;
  std::vector<std::string> regions_;
  std::map<std::uint64_t, Launch> running_;
  std::uint64_t next_{1};
  wirewatt_session* session_{};
  bool opened_{};
  bool is_virtual_{};
  bool in_stretch_{};
  std::string device_, trouble_;
  std::map<std::string, Label> labels_;
};

// WIREWATT_DEVICE and WIREWATT_MODEL, as wirewatt_open takes them; "" where they are not set.
[[nodiscard]] std::string environment(const char* name);

}  // namespace ww::kokkos
