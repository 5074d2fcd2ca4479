// Passes transfers on to another observer, at once or some microseconds later on another thread, in
// order: the energy accounting then runs beside the commits.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

#include "fast/host/host_cache.hpp"
#include "ww/sim/gpu/activity.hpp"

namespace ww::sim::gpu::exec {

class DeferredObserver final : public ActivityObserver {
 public:
  explicit DeferredObserver(ActivityObserver& target) : target_(target) {}

  // From now on keeps what comes for help() on another thread, or calls the target at once.
  void defer(bool deferred);
  // Called by any other thread, at any time: passes on some of what was handed over. Returns false
  // where there was nothing.
  bool help();

  void begin_launch() override { target_.begin_launch(); }
  void crossbar(const CrossbarTransfer& transfer) override {
    if (deferred_) {
      record(transfer, 1, 0, true);
    } else {
      target_.crossbar(transfer);
    }
  }
  void crossbar_lines(const CrossbarTransfer& first, unsigned lines, std::int64_t cycles) override {
    if (deferred_) {
      record(first, lines, cycles, false);
    } else {
      target_.crossbar_lines(first, lines, cycles);
    }
  }
  void memory(const MemoryTransfer& transfer) override {
    if (deferred_) {
      record(transfer);
    } else {
      target_.memory(transfer);
    }
  }
  void memory_transfers(std::span<const MemoryTransfer> transfers) override {
    if (deferred_) {
      for (const MemoryTransfer& transfer : transfers) record(transfer);
    } else {
      target_.memory_transfers(transfers);
    }
  }
  void io_dies(const IoDieActivity& activity) override { target_.io_dies(activity); }
  LaunchActivity end_launch(std::int64_t cycles, std::span<const CuActivity> cus,
                            std::span<const ChannelActivity> channels) override;

  // Hands over what was recorded, if there is enough of it and whoever helps is free.
  void pass_on() {
    if (deferred_ && batches_[filling_].lines >= kWorthwhile &&
        state_.load(std::memory_order_acquire) == kIdle) {
      hand_over();
    }
  }

 private:
  // Small enough that both batches stay in a core's own cache.
  static constexpr std::size_t kCapacity = 2048;
  static constexpr std::size_t kWorthwhile = 128;
  static constexpr std::size_t kAtOnce = 128;  // items that help() passes on
  struct Item {
    CrossbarTransfer transfer;
    std::int64_t apart;
    std::uint32_t lines;
    enum Kind : std::uint8_t { kLines, kOne, kRead, kWrite } kind;
  };
  struct alignas(kHostLine) Line {
    std::byte bytes[kHostLine];
  };
  // Every item has a line or more, so there are at most as many items.
  struct Batch {
    std::unique_ptr<Item[]> items;
    std::unique_ptr<Line[]> payloads;  // memory may change before the target sees it
    std::size_t size{};
    std::size_t lines{};
    std::size_t passed_on{};  // items
  };
  // Makes room for `lines` lines.
  Batch& batch_with_room(std::size_t lines);
  void record(const CrossbarTransfer& transfer, unsigned lines, std::int64_t cycles, bool one);
  void record(const MemoryTransfer& transfer);
  void hand_over();
  // Sees the batch that was handed over through, here as far as nobody else has begun.
  void settle();
  void pass_on(Batch& batch, std::size_t most);

  ActivityObserver& target_;
  bool deferred_{};
  Batch batches_[2];
  std::size_t filling_{};
  enum State : int { kIdle, kOffered, kTaken };
  alignas(kHostLine) std::atomic<int> state_{kIdle};  // of the batch that is not being filled
};

}  // namespace ww::sim::gpu::exec
