// The control of an AMD GPU's core clock by the driver's files.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "sysfs_file.hpp"
#include "ww/measure/amd_gpu.hpp"

namespace ww::measure {
namespace {

// The performance level that fixes a state, for each; none where "manual" and a number do.
using Levels = std::vector<std::string>;

class AmdClocks final : public ClockControl {
 public:
  AmdClocks(const AmdGpu& gpu, std::vector<DvfsState> states, Levels levels, std::string before,
            std::unique_ptr<ClockGuardian> guardian)
      : level_file_(gpu.folder + "/power_dpm_force_performance_level"),
        clock_file_(gpu.folder + "/pp_dpm_sclk"),
        states_(std::move(states)),
        levels_(std::move(levels)),
        before_(std::move(before)),
        guardian_(std::move(guardian)) {}
  ~AmdClocks() override { static_cast<void>(restore()); }

  const std::vector<DvfsState>& states() const override { return states_; }
  int current() const override { return selected_; }
  Status select(int state) override {
    if (state < 0 || static_cast<std::size_t>(state) >= states_.size()) {
      return fail(ErrorCode::out_of_range, fmt::format("no clock state {}", state), clock_file_);
    }
    const auto at = static_cast<std::size_t>(state);
    if (selected_ < 0) {
      WW_TRY(guardian_->arm({RestoreAction::Kind::write_file, level_file_, before_}));
    }
    if (selected_ < 0 || !levels_.empty()) {
      if (auto done = write_file(level_file_, levels_.empty() ? "manual" : levels_[at]); !done) {
        if (selected_ < 0) guardian_->disarm();
        return done;
      }
    }
    if (!levels_.empty()) {
      selected_ = state;
      return {};
    }
    if (auto done = write_file(clock_file_, std::to_string(state)); !done) {
      if (selected_ < 0) {
        selected_ = 0;  // the level was changed
        static_cast<void>(restore());
      }
      return done;
    }
    selected_ = state;
    return {};
  }
  Status restore() override {
    if (selected_ < 0) return {};
    WW_TRY(write_file(level_file_, before_));
    selected_ = -1;
    guardian_->disarm();
    return {};
  }

 private:
  std::string level_file_, clock_file_;
  std::vector<DvfsState> states_;
  Levels levels_;
  std::string before_;
  std::unique_ptr<ClockGuardian> guardian_;
  int selected_{-1};
};

// "0: 500Mhz", "1: 1700Mhz *", one a line.
std::vector<DvfsState> clock_levels(std::string_view text) {
  std::vector<DvfsState> states;
  while (!text.empty()) {
    auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const auto colon = line.find(':');
    if (colon == std::string_view::npos || line.starts_with('S')) continue;  // "S:" is asleep
    line.remove_prefix(colon + 1);
    while (line.starts_with(' ')) line.remove_prefix(1);
    double mhz = 0;
    if (std::from_chars(line.data(), line.data() + line.size(), mhz).ec != std::errc{}) continue;
    states.push_back({0.0, mhz * 1e6});
  }
  return states;
}

// RDNA by the version of its graphics core, which the driver publishes for parts with a discovery
// table: Navi and later have one, and versions of 10 and above are RDNA's.
bool is_rdna(const AmdGpu& gpu) {
  const std::string major = file_text(gpu.folder + "/ip_discovery/die/0/GC/0/major");
  int version = 0;
  const char* const end = major.data() + major.size();
  return std::from_chars(major.data(), end, version).ec == std::errc{} && version >= 10;
}

// Whether the driver has two levels and lists the present clock between them, as it does for MI200,
// MI300 and MI350; it refuses a third one (aldebaran_ppt.c, smu_v13_0_6_ppt.c).
bool lists_present_clock(const AmdGpu& gpu) {
  constexpr std::array<std::string_view, 5> ids = {"0x740", "0x741", "0x74a", "0x74b", "0x75a"};
  return std::ranges::any_of(ids,
                             [&](std::string_view id) { return gpu.device_id.starts_with(id); });
}

}  // namespace

Result<std::unique_ptr<ClockControl>> open_amd_clock_control(
    const AmdGpu& gpu, std::unique_ptr<ClockGuardian> guardian) {
  const auto level_file = gpu.folder + "/power_dpm_force_performance_level";
  const auto before = file_text(level_file);
  if (before.empty()) {
    return fail(ErrorCode::unsupported, "the driver offers no control of clocks", level_file);
  }
  if (before == "manual") {
    return fail(ErrorCode::unsupported,
                "somebody fixed the clocks by hand, and how cannot be read back; give them free "
                "first: echo auto | sudo tee " +
                    level_file,
                level_file);
  }
  auto states = clock_levels(file_text(gpu.folder + "/pp_dpm_sclk"));
  if (states.empty()) {
    return fail(ErrorCode::unsupported, "the driver lists no core clocks",
                gpu.folder + "/pp_dpm_sclk");
  }
  if (access(level_file.c_str(), W_OK) != 0) {
    return fail(ErrorCode::permission_denied,
                "this user may not fix clocks; run as root (sudo), or measure with the clocks as "
                "they are",
                level_file);
  }
  if (states.size() == 3 && lists_present_clock(gpu)) states.erase(states.begin() + 1);
  Levels levels;
  if (is_rdna(gpu)) {
    // Its list is the lowest clock, the present one and the highest: the middle is no level. Under
    // a profile, clocks are not gated either, without which counters read 0 (kernel documentation,
    // "power_dpm_force_performance_level").
    states = {states.front(), states.back()};
    levels = {"profile_min_sclk", "profile_peak"};
  }
  return std::make_unique<AmdClocks>(gpu, std::move(states), std::move(levels), before,
                                     std::move(guardian));
}

}  // namespace ww::measure
