// From the L1s of a die to device memory over an ideal network (functional mode): crossbar, L2
// channels, memory channels.
//
// Requests are committed at the end of each quantum, in the order in which they arrive at the L2
// (ties: CUs in rotating order), by one thread: memory changes here alone, so results do not depend
// on how many threads ran the CUs.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "caches/behind_l2.hpp"
#include "caches/cached_memory.hpp"
#include "caches/l2_prefetch.hpp"
#include "caches/l2_tags.hpp"
#include "compute_unit/compute_unit.hpp"
#include "memory/deferred_observer.hpp"
#include "memory/gl1_caches.hpp"
#include "memory/i_hierarchy.hpp"
#include "ww/sim/gpu/activity.hpp"

namespace ww::sim::gpu::exec {

class MemorySystem final : public Hierarchy {
 public:
  // `behind` is null on a chip of one die, whose channels lead to memory or to a slice of the
  // Infinity Cache before it.
  MemorySystem(const Chip& chip, DeviceMemory& memory, DeferredObserver& observer, int die = 0,
               BehindL2* behind = nullptr);

  void begin_launch(const LaunchState&, std::vector<std::unique_ptr<ComputeUnit>>&) override;
  // Everything arrives in or after `start`.
  void commit(std::vector<std::unique_ptr<ComputeUnit>>& cus, std::int64_t start,
              std::int64_t end) override {
    commit_die(cus, start, end);
  }
  // The same, of the compute units of this die alone.
  void commit_die(std::span<std::unique_ptr<ComputeUnit>> cus, std::int64_t start,
                  std::int64_t end);
  // The L2 writes a line back where it is dirty; give_up() also forgets it.
  void clean(std::uint32_t line, std::int64_t cycle);
  void give_up(std::uint32_t line, std::int64_t cycle);
  std::int64_t finish(std::int64_t cycles) override;
  void end_launch(const std::vector<std::unique_ptr<ComputeUnit>>&, const LaunchState&,
                  std::int64_t, std::uint64_t) override {}
  // A commit leaves nothing under way.
  [[nodiscard]] std::int64_t next_event() const override { return kNever; }
  [[nodiscard]] const std::optional<Error>& error() const override { return error_; }
  void set_private_memory(std::uint64_t begin, std::uint64_t end) override {
    private_begin_ = begin;
    private_end_ = end;
  }
  [[nodiscard]] std::int64_t last_completion() const override { return last_completion_; }
  [[nodiscard]] std::int64_t smallest_latency() const override { return smallest_latency_; }
  [[nodiscard]] L2Tags& l2() override { return l2_; }
  [[nodiscard]] const std::vector<ChannelActivity>& channels() const override { return channels_; }
  [[nodiscard]] const MemoryCounters& counters() const override { return counters_; }
  [[nodiscard]] const IoDieActivity* io_dies() const override {
    return cached_ != nullptr ? &cached_->activity() : nullptr;
  }
  [[nodiscard]] std::uint64_t behind_hash() override {
    return cached_ != nullptr ? cached_->hash() : 0;
  }

 private:
  struct Arrival {
    Request* request{};
    std::uint32_t delay{};  // since the quantum began
    std::uint16_t cu{};
    std::uint16_t channel{};
    std::uint32_t first{};  // slot of the first line's set in the L2
  };
  // Hints for the host's caches about the requests behind the nth, which is served next.
  void prefetch_behind(std::size_t n, bool missed);
  void prefetch_request(const Arrival& arrival);
  void prefetch_victims(const Request& request) const;
  void serve(ComputeUnit& cu, const Arrival& arrival, std::int64_t cycle);
  // The cache of the compute unit's shader array: whether it answered the read; and what the L2's
  // answer to the request leaves in it.
  bool read_from_gl1(ComputeUnit& cu, const Arrival& arrival);
  void update_gl1(const Request& request, std::uint32_t array, std::int64_t completion);
  // Its answer as far as the L1 goes.
  static void fill_l1(ComputeUnit& cu, const Request& request, std::uint32_t line,
                      std::int64_t time);
  // Each fills in the transfer, which knows place and slot; a read gives its completion.
  std::int64_t read(ComputeUnit& cu, const Arrival& arrival, CrossbarTransfer& transfer,
                    std::int64_t back);
  // A read whose requests are for aligned pairs of lines: each counts once.
  std::int64_t read_pairs(ComputeUnit& cu, const Request& request, CrossbarTransfer& transfer,
                          std::int64_t latency);
  // For the scalar cache, whose line it fills.
  std::int64_t read_scalar(ComputeUnit& cu, const Arrival& arrival, CrossbarTransfer& transfer,
                           std::int64_t back);
  // What a shared scalar cache got for one CU is there for the others.
  void share_scalar_lines(std::span<std::unique_ptr<ComputeUnit>> cus);
  // The other halves of the lines' tags are used with them; they come only when they are read.
  void use_partners(const Request& request, unsigned lines, std::int64_t slot,
                    std::uint32_t channel);
  void write(Request& request, CrossbarTransfer& transfer);
  void atomic(Request& request, CrossbarTransfer& transfer);
  void count(bool hit, std::uint32_t channel);
  // The cycle at which a line's data is in the L2, given its tag lookup.
  std::int64_t fetch(const L2Tags::Access& access, std::uint32_t line, std::int64_t slot,
                     std::uint32_t channel);
  // The other line of an aligned pair of which one was not there; whether it came from memory.
  bool fetch_partner(std::uint32_t line, std::int64_t slot, std::uint32_t channel);
  std::int64_t bring(std::uint32_t line, std::int64_t slot, std::uint32_t channel);
  void write_back(const L2Tags::Access& access, std::int64_t slot, std::uint32_t channel);
  // Cycles that a channel is busy with so many lines.
  [[nodiscard]] std::int64_t busy(unsigned lines) const {
    return std::max<std::int64_t>(1, std::int64_t{lines} * kLine / bytes_per_clock_);
  }
  [[nodiscard]] std::uint16_t channel_of_chip(std::uint32_t channel) const {
    return static_cast<std::uint16_t>(static_cast<std::uint32_t>(die_) * channel_count_ + channel);
  }
  void resolve(ComputeUnit& cu, Request& request, std::int64_t completion);
  // Notes that the line was `before`.
  void changed(std::uint32_t line, const std::byte* before);
  [[nodiscard]] std::int64_t flight(std::uint32_t cu, std::uint32_t channel) const {
    return flight_[cu * channel_count_ + channel];
  }

  static constexpr std::int64_t kLine = 64;  // bytes of a request
  const Architecture& architecture_;
  DeviceMemory& memory_;
  DeferredObserver& observer_;
  int die_;
  std::unique_ptr<CachedMemory> cached_;  // of a chip of one die with an Infinity Cache
  BehindL2* behind_;
  Gl1Caches gl1_;
  L2Tags l2_;
  L2Prefetch l2_prefetch_{l2_};
  std::uint32_t channel_count_;
  struct Place {
    std::uint16_t engine, cu;  // the engine of all dies
  };
  std::vector<Place> place_;                // of each CU
  std::vector<std::int64_t> flight_;        // [cu][channel] there and back
  std::vector<std::int64_t> channel_free_;  // next slot of each channel
  std::vector<std::int64_t> memory_free_;   // in 1/1024 cycles
  std::int64_t memory_line_time_{};         // in 1/1024 cycles
  std::int64_t most_waiting_{};             // of a channel's memory, in 1/1024 cycles; 0: any time
  std::int64_t bytes_per_clock_{};
  std::int64_t cycles_per_line_{1};  // between lines of a run; 0: two of them leave in one cycle
  bool pairs_of_lines_{};            // a miss brings both
  bool asks_for_pairs_{};            // so does every read request
  bool tags_pairs_{};                // a tag of the L2 stands for both
  std::int64_t smallest_latency_{};
  std::int64_t last_completion_{};
  std::uint32_t rotation_{};
  bool missed_{};               // something, in the last commit that had requests
  std::optional<Error> error_;  // never
  std::uint64_t private_begin_{};
  std::uint64_t private_end_{};
  std::vector<ChannelActivity> channels_;
  MemoryCounters counters_;
  struct ScalarFill {
    std::uint32_t cu{};
    std::uint32_t line{};
    std::int64_t time{};
  };
  std::vector<ScalarFill> scalar_fills_;  // of this commit, where caches are shared
  std::vector<Arrival> arrivals_;         // by CU
  std::vector<Arrival> sorted_;           // by arrival
  std::vector<std::uint32_t> bucket_;
};

}  // namespace ww::sim::gpu::exec
