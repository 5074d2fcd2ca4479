#include "fast/commit_sharing/deferred_observer.hpp"

#include <algorithm>
#include <cstring>
#include <thread>

namespace ww::sim::gpu::exec {
namespace {
constexpr int kObserverSpins = 500;  // before the caller lets others have its core
}  // namespace

void DeferredObserver::defer(bool deferred) {
  if (deferred == deferred_) return;
  deferred_ = deferred;
  if (!deferred) {
    settle();
    pass_on(batches_[filling_], kCapacity);
    return;
  }
  for (Batch& batch : batches_) {
    if (batch.items != nullptr) continue;
    batch.items = std::make_unique_for_overwrite<Item[]>(kCapacity);
    batch.payloads = std::make_unique_for_overwrite<Line[]>(kCapacity);
  }
}

DeferredObserver::Batch& DeferredObserver::batch_with_room(std::size_t lines) {
  if (batches_[filling_].lines + lines > kCapacity) hand_over();
  return batches_[filling_];
}

void DeferredObserver::record(const CrossbarTransfer& transfer, unsigned lines, std::int64_t cycles,
                              bool one) {
  const bool replied = transfer.reply != nullptr;
  Batch& batch = batch_with_room(lines + (replied ? 1 : 0));
  Item& item = batch.items[batch.size++];
  item = {.transfer = transfer,
          .apart = cycles,
          .lines = lines,
          .kind = one ? Item::kOne : Item::kLines};
  // Whole lines, or one of any size.
  const std::size_t bytes = lines == 1 ? transfer.bytes : lines * kHostLine;
  std::memcpy(batch.payloads[batch.lines].bytes, transfer.payload, bytes);
  item.transfer.payload = batch.payloads[batch.lines].bytes;
  batch.lines += lines;
  if (replied) {
    std::memcpy(batch.payloads[batch.lines].bytes, transfer.reply, transfer.bytes);
    item.transfer.reply = batch.payloads[batch.lines].bytes;
    ++batch.lines;
  }
}

void DeferredObserver::record(const MemoryTransfer& transfer) {
  Batch& batch = batch_with_room(1);
  Item& item = batch.items[batch.size++];
  item.transfer.cycle = transfer.cycle;
  item.transfer.channel = transfer.channel;
  item.transfer.payload = batch.payloads[batch.lines].bytes;
  item.lines = 1;
  item.kind = transfer.write ? Item::kWrite : Item::kRead;
  std::memcpy(batch.payloads[batch.lines].bytes, transfer.payload, kHostLine);
  ++batch.lines;
}

LaunchActivity DeferredObserver::end_launch(std::int64_t cycles, std::span<const CuActivity> cus,
                                            std::span<const ChannelActivity> channels) {
  defer(false);
  return target_.end_launch(cycles, cus, channels);
}

void DeferredObserver::hand_over() {
  settle();
  filling_ = 1 - filling_;
  state_.store(kOffered, std::memory_order_release);
}

void DeferredObserver::settle() {
  for (int spins = 0;; ++spins) {
    int expected = kOffered;
    if (state_.compare_exchange_strong(expected, kTaken, std::memory_order_acq_rel)) {
      pass_on(batches_[1 - filling_], kCapacity);
      state_.store(kIdle, std::memory_order_release);
      return;
    }
    if (expected == kIdle) return;
    if (spins >= kObserverSpins) {
      std::this_thread::yield();
      continue;
    }
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
}

bool DeferredObserver::help() {
  int expected = kOffered;
  if (state_.load(std::memory_order_relaxed) != kOffered ||
      !state_.compare_exchange_strong(expected, kTaken, std::memory_order_acq_rel)) {
    return false;
  }
  Batch& batch = batches_[1 - filling_];
  pass_on(batch, kAtOnce);
  state_.store(batch.size == 0 ? kIdle : kOffered, std::memory_order_release);
  return true;
}

void DeferredObserver::pass_on(Batch& batch, std::size_t most) {
  const std::size_t end = std::min(batch.size, batch.passed_on + most);
  for (; batch.passed_on != end; ++batch.passed_on) {
    const Item& item = batch.items[batch.passed_on];
    const CrossbarTransfer& transfer = item.transfer;
    switch (item.kind) {
      case Item::kLines: target_.crossbar_lines(transfer, item.lines, item.apart); break;
      case Item::kOne: target_.crossbar(transfer); break;
      case Item::kRead:
      case Item::kWrite:
        target_.memory(
            {transfer.cycle, transfer.channel, item.kind == Item::kWrite, transfer.payload});
        break;
    }
  }
  if (end == batch.size) {
    batch.size = 0;
    batch.lines = 0;
    batch.passed_on = 0;
  }
}

}  // namespace ww::sim::gpu::exec
