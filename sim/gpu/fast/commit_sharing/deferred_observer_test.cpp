#include "fast/commit_sharing/deferred_observer.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <thread>

#include "fast/host/workers.hpp"

namespace ww::sim::gpu::exec {
namespace {

// A figure of all that came, in its order and with its data.
class Digest final : public ActivityObserver {
 public:
  void begin_launch() override {}
  void crossbar(const CrossbarTransfer& transfer) override {
    ++transfers;
    mix(static_cast<std::uint64_t>(transfer.cycle));
    mix(transfer.address);
    for (unsigned i = 0; i < transfer.bytes; ++i) {
      mix(std::to_integer<unsigned>(transfer.payload[i]));
      if (transfer.reply != nullptr) mix(std::to_integer<unsigned>(transfer.reply[i]) + 7);
    }
  }
  void memory(const MemoryTransfer& transfer) override {
    ++transfers;
    mix(static_cast<std::uint64_t>(transfer.cycle) + (transfer.write ? 3 : 0));
    for (unsigned i = 0; i < kHostLine; ++i) mix(std::to_integer<unsigned>(transfer.payload[i]));
  }
  LaunchActivity end_launch(std::int64_t /*cycles*/, std::span<const CuActivity> /*cus*/,
                            std::span<const ChannelActivity> /*channels*/) override {
    return {};
  }

  std::uint64_t value{1};
  std::uint64_t transfers{};

 private:
  void mix(std::uint64_t of) {
    value = (value ^ of) * 0x9E3779B97F4A7C15ULL;
    value ^= value >> 29;
  }
};

// Quanta on threads and the transfers of their commits, as an engine has them.
class Launches {
 public:
  explicit Launches(unsigned threads)
      : workers_(threads, [this] { return observer_.help(); }), items_(64) {}

  void run() {
    constexpr int kLaunches = 20;
    constexpr unsigned kMaxQuanta = 200;
    for (int launch = 0; launch < kLaunches; ++launch) {
      observer_.begin_launch();
      const unsigned quanta = below(kMaxQuanta);
      for (unsigned quantum = 0; quantum < quanta; ++quantum) run(quantum);
      observer_.end_launch(0, {}, {});
    }
  }

  Digest digest;
  std::uint64_t sum{};  // of what the quanta computed

 private:
  unsigned below(std::size_t most) { return static_cast<unsigned>(random_() % most); }
  void run(unsigned quantum) {
    constexpr unsigned kWorthWaking = 5;
    const bool worth_it = quantum > kWorthWaking;
    if (!workers_.alone()) {
      if (worth_it && !workers_.awake()) workers_.wake();
      observer_.defer(workers_.awake());
    }
    const Workers::Task task = [&](std::size_t begin, std::size_t end) {
      for (; begin < end; ++begin) items_[begin] += begin * quantum + 1;
    };
    workers_.run(below(64), task, worth_it);
    for (const std::uint64_t item : items_) sum = sum * 3 + item;
    const unsigned transfers = below(80);
    for (unsigned i = 0; i < transfers; ++i) transfer(quantum);
    observer_.pass_on();
    // Long enough that a worker sleeps.
    if (below(300) == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  void transfer(unsigned quantum) {
    constexpr unsigned kMaxLines = 8;
    std::byte payload[kMaxLines * kHostLine];
    std::byte reply[kHostLine];
    for (std::byte& byte : payload) byte = std::byte(random_());
    for (std::byte& byte : reply) byte = std::byte(random_());
    CrossbarTransfer transfer{};
    transfer.cycle = quantum;
    transfer.address = random_();
    transfer.bytes = kHostLine;
    transfer.payload = payload;
    switch (below(4)) {
      case 0: observer_.crossbar_lines(transfer, 1 + below(kMaxLines), 4); break;
      case 1:
        transfer.bytes = static_cast<std::uint8_t>(1 + below(kHostLine));
        transfer.reply = reply;
        observer_.crossbar(transfer);
        break;
      case 2: observer_.memory({quantum, 4, true, payload}); break;
      default:
        transfer.bytes = static_cast<std::uint8_t>(1 + below(kHostLine));
        observer_.crossbar_lines(transfer, 1, 4);
    }
  }

  std::mt19937 random_{5};
  DeferredObserver observer_{digest};
  Workers workers_;
  std::vector<std::uint64_t> items_;
};

TEST(DeferredObserver, PassesOnTheSameInTheSameOrderOnAnyNumberOfThreads) {
  Launches alone(1);
  alone.run();
  ASSERT_GT(alone.digest.transfers, 50000U);
  for (const unsigned threads : {2U, 3U, 4U}) {
    Launches shared(threads);
    shared.run();
    EXPECT_EQ(shared.digest.transfers, alone.digest.transfers) << threads;
    EXPECT_EQ(shared.digest.value, alone.digest.value) << threads;
    EXPECT_EQ(shared.sum, alone.sum) << threads;
  }
}

}  // namespace
}  // namespace ww::sim::gpu::exec
