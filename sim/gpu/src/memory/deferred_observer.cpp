#include "memory/deferred_observer.hpp"

#include <cstring>

namespace ww::sim::gpu::exec {
namespace {

constexpr int kObserverSpins = 500;

// Returns the first value other than `old`.
int wait_for_change(const std::atomic<int>& state, int old) {
  for (int spins = 0; spins < kObserverSpins; ++spins) {
    if (const int value = state.load(std::memory_order_acquire); value != old) return value;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  state.wait(old, std::memory_order_acquire);
  return state.load(std::memory_order_acquire);
}

}  // namespace

DeferredObserver::DeferredObserver(ActivityObserver& target, bool deferred)
    : target_(target), deferred_(deferred) {
  if (deferred_) thread_ = std::thread([this] { serve(); });
}

DeferredObserver::~DeferredObserver() {
  if (!deferred_) return;
  settle();
  state_.store(kStop, std::memory_order_release);
  state_.notify_all();
  thread_.join();
}

DeferredObserver::Item& DeferredObserver::next_item() {
  Batch& batch = batches_[filling_];
  if (batch.size == batch.items.size()) batch.items.emplace_back();
  return batch.items[batch.size++];
}

void DeferredObserver::record(const CrossbarTransfer& transfer) {
  Item& item = next_item();
  item.transfer = transfer;
  item.to_memory = false;
  if (transfer.bytes == sizeof(Line)) {
    std::memcpy(item.payload.data(), transfer.payload, sizeof(Line));
  } else {
    std::memcpy(item.payload.data(), transfer.payload, transfer.bytes);
  }
  if (transfer.reply != nullptr) {
    Line& reply = batches_[filling_].replies.emplace_back();
    std::memcpy(reply.data(), transfer.reply, transfer.bytes);
  }
}

void DeferredObserver::record(const MemoryTransfer& transfer) {
  Item& item = next_item();
  item.transfer.cycle = transfer.cycle;
  item.transfer.channel = transfer.channel;
  item.to_memory = true;
  item.write = transfer.write;
  std::memcpy(item.payload.data(), transfer.payload, sizeof(Line));
}

LaunchActivity DeferredObserver::end_launch(std::int64_t cycles, std::span<const CuActivity> cus,
                                            std::span<const ChannelActivity> channels) {
  if (deferred_) {
    settle();
    deliver(batches_[filling_]);
  }
  return target_.end_launch(cycles, cus, channels);
}

void DeferredObserver::hand_over() {
  settle();
  filling_ = 1 - filling_;
  state_.store(kOffered, std::memory_order_release);
  state_.notify_all();
}

void DeferredObserver::settle() {
  int expected = kOffered;
  if (state_.compare_exchange_strong(expected, kIdle, std::memory_order_acq_rel)) {
    deliver(batches_[1 - filling_]);
    return;
  }
  while (state_.load(std::memory_order_acquire) == kTaken) wait_for_change(state_, kTaken);
}

void DeferredObserver::serve() {
  while (true) {
    int state = wait_for_change(state_, kIdle);
    if (state == kStop) return;
    if (state != kOffered ||
        !state_.compare_exchange_strong(state, kTaken, std::memory_order_acq_rel)) {
      continue;
    }
    deliver(batches_[1 - filling_]);
    state_.store(kIdle, std::memory_order_release);
    state_.notify_all();
  }
}

void DeferredObserver::deliver(Batch& batch) {
  std::size_t reply = 0;
  for (std::size_t i = 0; i < batch.size; ++i) {
    Item& item = batch.items[i];
    if (item.to_memory) {
      target_.memory({item.transfer.cycle, item.transfer.channel, item.write, item.payload.data()});
      continue;
    }
    item.transfer.payload = item.payload.data();
    if (item.transfer.reply != nullptr) item.transfer.reply = batch.replies[reply++].data();
    target_.crossbar(item.transfer);
  }
  batch.size = 0;
  batch.replies.clear();
}

}  // namespace ww::sim::gpu::exec
