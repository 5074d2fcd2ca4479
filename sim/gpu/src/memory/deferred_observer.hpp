// Hands transfers to another observer on a thread of its own, in order, some microseconds later:
// the energy accounting then runs beside the next quanta.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

#include "ww/sim/gpu/activity.hpp"

namespace ww::sim::gpu::exec {

class DeferredObserver final : public ActivityObserver {
 public:
  // With `deferred` false it calls the target at once.
  DeferredObserver(ActivityObserver& target, bool deferred);
  ~DeferredObserver() override;

  void begin_launch() override { target_.begin_launch(); }
  void crossbar(const CrossbarTransfer& transfer) override {
    if (deferred_) {
      record(transfer);
    } else {
      target_.crossbar(transfer);
    }
  }
  void crossbar_lines(const CrossbarTransfer& first, unsigned lines, std::int64_t cycles) override {
    if (deferred_) {
      ActivityObserver::crossbar_lines(first, lines, cycles);
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
  void io_dies(const IoDieActivity& activity) override { target_.io_dies(activity); }
  LaunchActivity end_launch(std::int64_t cycles, std::span<const CuActivity> cus,
                            std::span<const ChannelActivity> channels) override;

  // Passes on what was recorded, if there is enough of it to be worth a hand-over.
  void pass_on() {
    if (batches_[filling_].size >= kWorthwhile) hand_over();
  }

 private:
  static constexpr std::size_t kWorthwhile = 4096;
  using Line = std::array<std::byte, 64>;
  struct Item {
    CrossbarTransfer transfer;
    bool to_memory;
    bool write;
    Line payload;  // memory may change before the target sees it
  };
  struct Batch {
    std::vector<Item> items;  // the first `size` count; the rest is kept for its memory
    std::size_t size{};
    std::vector<Line> replies;  // of atomics, in order
  };
  Item& next_item();
  void record(const CrossbarTransfer& transfer);
  void record(const MemoryTransfer& transfer);
  void hand_over();
  // Sees the other batch through: does it here if the thread has not begun (cores may be short).
  void settle();
  void serve();
  void deliver(Batch& batch);

  ActivityObserver& target_;
  bool deferred_;
  std::array<Batch, 2> batches_;
  std::size_t filling_{};
  enum State : int { kIdle, kOffered, kTaken, kStop };
  std::atomic<int> state_{kIdle};  // of the batch that is not being filled
  std::thread thread_;
};

}  // namespace ww::sim::gpu::exec
