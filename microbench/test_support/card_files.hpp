// A faked AMD card for stub drivers: the virtual chip's sensor in the files that the amdgpu driver
// shows of the card at 0000:03:00.0 (measure's fake_amd_tree.hpp), in the program's time
// (chip_clock.cpp). `Chip` is the virtual GPU, or what has these functions of it: now_ns,
// idle_until, samples_since, rails_since and rail_names.
#pragma once

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "testing/fake_amd_tree.hpp"
#include "ww/core/vgpu_abi.h"

namespace ww::microbench::testing {

// A kernel's file that the chip's sensor is written into.
class CardFile {
 public:
  explicit CardFile(const std::filesystem::path& path)
      : fd_(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644)) {}
  void show(std::int64_t value) {
    if (value == shown_) return;
    shown_ = value;
    const std::string text = std::to_string(value) + "\n";
    show(text.data(), text.size());
  }
  void show(const void* data, std::size_t size) const {
    if (pwrite(fd_, data, size, 0) == static_cast<ssize_t>(size)) {
      static_cast<void>(ftruncate(fd_, static_cast<off_t>(size)));
    }
  }

 private:
  int fd_;
  std::int64_t shown_{-1};
};

// The chip's sensor in a card's files.
template <class Chip>
class Card {
 public:
  Card(Chip& gpu, const std::filesystem::path& tree, std::int64_t clock_ns)
      : gpu_(gpu),
        ahead_ns_(clock_ns - gpu.now_ns()),
        device_(tree / "class/_pci/0000:03:00.0"),
        power_(device_ / "hwmon/hwmon0/power1_average"),
        temperature_(device_ / "hwmon/hwmon0/temp1_input"),
        voltage_(device_ / "hwmon/hwmon0/in0_input"),
        clock_(device_ / "hwmon/hwmon0/freq1_input"),
        metrics_(device_ / "gpu_metrics") {
    if (!gpu.rail_names().empty()) rails_.emplace(device_ / "pm_metrics");
  }
  [[nodiscard]] std::int64_t clock_ns() const { return gpu_.now_ns() + ahead_ns_; }
  // The chip idles until it has caught up with the program.
  void catch_up(std::int64_t clock_ns) {
    if (gpu_.now_ns() < clock_ns - ahead_ns_) gpu_.idle_until(clock_ns - ahead_ns_);
  }
  void show(std::int64_t clock_ns) {
    catch_up(clock_ns);
    std::array<ww_vgpu_sample, 256> chunk{};
    for (;;) {
      const std::uint64_t count = gpu_.samples_since(next_, chunk);
      for (std::uint64_t i = 0; i < count; ++i) samples_.push_back(chunk[i]);
      if (count > 0) next_ = samples_.back().index + 1;
      if (count < chunk.size()) break;
    }
    std::optional<ww_vgpu_sample> last;
    while (!samples_.empty() && samples_.front().time_ns <= clock_ns - ahead_ns_) {
      if ((samples_.front().flags & WW_VGPU_SAMPLE_VALID) != 0) last = samples_.front();
      samples_.pop_front();
    }
    if (!last) return;
    power_.show(last->power_uw);
    temperature_.show(last->temperature_mc);
    voltage_.show(last->voltage_uv / 1000);
    clock_.show(std::int64_t{last->clock_khz} * 1000);
    const auto table =
        measure::testing::gpu_metrics_v1(1, last->energy_ticks, last->temperature_mc / 1000);
    metrics_.show(table.data(), table.size());
    if (rails_) show_rails(clock_ns);
  }

 private:
  // In the order of rail_names(): socket, compute dies, I/O dies, stacks.
  void show_rails(std::int64_t clock_ns) {
    std::array<ww_vgpu_rail_sample, 64> chunk{};
    for (;;) {
      const std::uint64_t count = gpu_.rails_since(next_rails_, chunk);
      for (std::uint64_t i = 0; i < count; ++i) rail_samples_.push_back(chunk[i]);
      next_rails_ += count;
      if (count < chunk.size()) break;
    }
    std::optional<ww_vgpu_rail_sample> last;
    while (!rail_samples_.empty() && rail_samples_.front().time_ns <= clock_ns - ahead_ns_) {
      last = rail_samples_.front();
      rail_samples_.pop_front();
    }
    if (!last) return;
    const auto& ticks = last->energy_ticks;
    const auto table =
        measure::testing::pm_metrics_v0({last->time_ns, ticks[0], ticks[1], ticks[2], ticks[3]});
    rails_->show(table.data(), table.size());
  }

  Chip& gpu_;
  std::int64_t ahead_ns_;  // of the chip's clock
  std::filesystem::path device_;
  CardFile power_, temperature_, voltage_, clock_, metrics_;
  std::optional<CardFile> rails_;  // of a package: pm_metrics
  std::uint64_t next_{}, next_rails_{};
  std::deque<ww_vgpu_sample> samples_;
  std::deque<ww_vgpu_rail_sample> rail_samples_;
};

// The one card of a process. Without a clock before the C library's, or a tree, it does nothing and
// the chip keeps its time to itself.
template <class Chip>
class ProcessCard {
 public:
  // Once a process: puts the chip's time before the program's. `tree` may be null.
  static void attach(Chip& chip, const char* tree) {
    const auto attach = of_clock<std::int64_t (*)(void (*)(std::int64_t))>("ww_chip_clock_attach");
    if (tree == nullptr || attach == nullptr || card()) return;
    const std::int64_t now = attach([](std::int64_t clock_ns) { card()->show(clock_ns); });
    card() = std::make_unique<Card<Chip>>(chip, tree, now);
  }
  // A launch begins now or when the one before is done.
  static void begin_work() {
    static const auto now = of_clock<std::int64_t (*)()>("ww_chip_clock_now");
    if (card()) card()->catch_up(now());
  }
  // The program waits for the chip.
  static void wait() {
    static const auto advance = of_clock<void (*)(std::int64_t)>("ww_chip_clock_advance");
    if (card()) advance(card()->clock_ns());
  }

 private:
  template <class Function>
  static Function of_clock(const char* name) {
    return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
  }
  static std::unique_ptr<Card<Chip>>& card() {
    static auto& one = *new std::unique_ptr<Card<Chip>>;  // a driver lives as long as the process
    return one;
  }
};

}  // namespace ww::microbench::testing
