// Models the way from the L1s of a die to device memory over an ideal network (functional mode):
// crossbar, L2 channels, memory channels.
//
// Requests are committed at the end of each quantum, in the order in which they arrive at the L2
// (ties: CUs in rotating order). Memory changes here alone, so results do not depend on how many
// threads ran the CUs.
//
// One thread serves request after request. Several share a commit in two steps, and each keeps that
// order among its own requests: first each thread has some of the channels, looks their lines up
// and changes memory; then each has some of the engines and hands over the answers, with the bytes
// of loads and what crossed the engine's wires. No two channels have a line in common, and no two
// engines a wire.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "fast/commit_sharing/commit_parts.hpp"
#include "fast/commit_sharing/deferred_observer.hpp"
#include "fast/contents/content_version.hpp"
#include "fast/host/host_arena.hpp"
#include "fast/prefetch/l2_prefetch.hpp"
#include "machine/caches/behind_l2.hpp"
#include "machine/caches/cached_memory.hpp"
#include "machine/caches/gl1_caches.hpp"
#include "machine/caches/l2_tags.hpp"
#include "machine/compute_unit/compute_unit.hpp"
#include "machine/memory/i_hierarchy.hpp"
#include "machine/memory/l1_policies.hpp"
#include "ww/sim/gpu/activity.hpp"

namespace ww::sim::gpu::exec {

class MemorySystem final : public Hierarchy {
 public:
  // `arena` keeps its tags, and what arrives in a quantum. `behind` is null on a chip of one die,
  // whose channels lead to memory or to a slice of the Infinity Cache before it.
  MemorySystem(const Chip& chip, DeviceMemory& memory, DeferredObserver& observer, HostArena& arena,
               int die = 0, BehindL2* behind = nullptr);

  [[nodiscard]] const L1Policy& l1_policy() const override { return l1_of_chip(architecture_); }
  void begin_launch(const LaunchState&, std::vector<std::unique_ptr<ComputeUnit>>&) override;
  // Everything arrives in or after `start`.
  void commit(std::vector<std::unique_ptr<ComputeUnit>>& cus, std::span<const std::size_t> engaged,
              std::int64_t start, std::int64_t end, Workers& workers) override;
  // Several dies, or an engine's cache before the L2, leave no order that threads could share.
  [[nodiscard]] bool shares_commits() const override { return shares_commits_; }
  void gather(ComputeUnit& cu, std::size_t index, std::int64_t start, std::int64_t end) override;
  // Commits of `requests` requests or more are shared, if threads are awake; 0: all are.
  void parallel_commit_min_requests(std::size_t requests) {
    parallel_commit_min_requests_ = requests;
  }
  // Commits the compute units of this die alone, by the caller. `first`: the number that `engaged`
  // has for the first of them.
  void commit_die(std::span<std::unique_ptr<ComputeUnit>> cus, std::size_t first,
                  std::span<const std::size_t> engaged, std::int64_t start, std::int64_t end);
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
  [[nodiscard]] std::int64_t last_completion() const override;
  [[nodiscard]] std::int64_t smallest_latency() const override { return smallest_latency_; }
  [[nodiscard]] L2Tags& l2() override { return l2_; }
  [[nodiscard]] const std::vector<ChannelActivity>& channels() const override;
  [[nodiscard]] const MemoryCounters& counters() const override;
  [[nodiscard]] const IoDieActivity* io_dies() const override {
    return cached_ != nullptr ? &cached_->activity() : nullptr;
  }
  [[nodiscard]] std::uint64_t behind_hash() override {
    return cached_ != nullptr ? cached_->hash() : 0;
  }

 private:
  using Bucket = ArenaAllocator<std::uint32_t>;
  // State that a group of channels, or an engine, has for itself.
  struct alignas(kHostLine) Lookups {
    Lookups(L2Tags& tags, HostArena& arena)
        : prefetch(tags), pending(ArenaAllocator<Pending>(arena)), bucket(Bucket(arena)) {}
    MemoryCounters counters;
    L2Prefetch prefetch;
    ContentVersion::Part changes;
    Payloads payloads;
    WrittenRows written;
    bool missed{};  // something, in the last commit
    // Transfers that replace_row() adds, until send_transfers() reports them to the observer.
    std::array<MemoryTransfer, std::size_t{2} * L2Tags::ReplacedRow::kLines> transfers;
    std::size_t transferred{};
    ArenaVector<Pending> pending;
    ArenaVector<std::uint32_t> bucket;
  };
  struct ScalarFill {
    std::uint32_t cu{};
    std::uint32_t line{};
    std::int64_t time{};
  };
  struct alignas(kHostLine) Deliveries {
    explicit Deliveries(HostArena& arena)
        : pending(ArenaAllocator<Pending>(arena)), bucket(Bucket(arena)) {}
    std::int64_t last_completion{};
    std::vector<ScalarFill> scalar_fills;  // of this commit, where caches are shared
    ArenaVector<Pending> pending;
    ArenaVector<std::uint32_t> bucket;
  };
  // Calls each(arrival) for what left the L1 before `end`; returns the largest delay.
  template <class F>
  std::uint32_t collect(ComputeUnit& cu, std::uint32_t index, std::int64_t start, std::int64_t end,
                        F&& each);
  [[nodiscard]] std::size_t group_of(const Arrival& arrival) const {
    return group_of_channel_[arrival.channel];
  }
  // Serves all of arrivals_, none of which has a larger delay.
  void serve_in_turn(std::span<std::unique_ptr<ComputeUnit>> cus, std::int64_t start,
                     std::uint32_t latest, bool ahead);
  void share(std::span<std::unique_ptr<ComputeUnit>> cus, std::int64_t start, std::uint32_t latest,
             Workers& workers);
  // The two steps of a shared commit: a group of channels, and an engine.
  void look_up_group(std::size_t group, std::int64_t start, std::uint32_t latest);
  void look_up_pending(std::int64_t start, Lookups& own);
  void deliver_engine(std::size_t engine, std::span<std::unique_ptr<ComputeUnit>> cus,
                      std::uint32_t latest);
  // Sorts the arrivals for which `for_each_of(cu, each)` calls each(arrival, answer), of these
  // compute units.
  template <class F>
  void sort_pending(std::size_t first_cu, std::size_t end_cu, std::uint32_t latest,
                    ArenaVector<Pending>& pending, ArenaVector<std::uint32_t>& bucket,
                    F&& for_each_of);
  template <class F>
  void for_gathered(std::size_t cu, F&& each);
  // Hints for the host's caches about the requests behind the nth, which is served next.
  void prefetch_behind(std::size_t n);
  void prefetch_request(const Arrival& arrival);
  void prefetch_lines(std::uint32_t line, unsigned lines) const;
  void prefetch_bytes(const Arrival& arrival) const;
  // The bytes of a store, and the lines that it goes to.
  void prefetch_store(const Arrival& arrival) const;
  void serve(ComputeUnit& cu, const Arrival& arrival, std::int64_t cycle);
  // Serves the most common reads: of one line that the L2 has, and of four that it has side by
  // side, or none of them. False, and nothing is done, where it is none of these or the chip reads
  // in another way.
  bool serve_read(ComputeUnit& cu, const Arrival& arrival, std::int64_t cycle);
  template <unsigned kLines>
  bool serve_read(ComputeUnit& cu, const Arrival& arrival, std::int64_t cycle);
  // The cache of the compute unit's shader array: whether it answered the read; and what the L2's
  // answer to the request leaves in it.
  [[nodiscard]] bool enters_gl1(const Request& request) const;
  bool read_from_gl1(ComputeUnit& cu, const Arrival& arrival);
  void update_gl1(const Request& request, std::uint32_t array, std::int64_t completion);
  // Enters a request's answer into the L1.
  static void fill_l1(ComputeUnit& cu, const Request& request, std::uint32_t line,
                      std::int64_t time);
  // Does the channel's part, as far as others can see it; fills in the answer.
  void look_up(const Arrival& arrival, std::int64_t cycle, Answer& answer, Lookups& part);
  void read(const Arrival& arrival, Answer& answer, Lookups& part);
  // A read whose requests are for aligned pairs of lines: each counts once.
  void read_pairs(const Arrival& arrival, Answer& answer, Lookups& part);
  void write(const Arrival& arrival, Answer& answer, Lookups& part);
  // The tags' part of a write to whole lines.
  void write_lines(const Arrival& arrival, std::int64_t slot, Lookups& part);
  void atomic(const Arrival& arrival, Answer& answer, Lookups& part);
  // Takes what a load will be given before something else is written there.
  void load_early(const Arrival& arrival, Answer& answer, Lookups& part);
  // Does the engine's part: bytes of loads, transitions of its wires, lines of the L1 and of the
  // scalar cache. Returns when the answer is there.
  std::int64_t deliver(ComputeUnit& cu, const Arrival& arrival, const Answer& answer,
                       Deliveries& part);
  [[nodiscard]] std::int64_t way_back(const Arrival& arrival) const;
  // All but its kind and its bytes.
  [[nodiscard]] CrossbarTransfer transfer_of(const Arrival& arrival, std::int64_t slot) const;
  // Lines that the L2 answers with, into the L1; each comes so long after it leaves the L2.
  static std::int64_t bring_lines(ComputeUnit& cu, const Request& request, const Answer& answer,
                                  unsigned lines, std::int64_t latency);
  std::int64_t deliver_read(ComputeUnit& cu, const Request& request, const Answer& answer,
                            CrossbarTransfer& transfer, std::int64_t back);
  std::int64_t deliver_pairs(ComputeUnit& cu, const Request& request, const Answer& answer,
                             CrossbarTransfer& transfer, std::int64_t back);
  // Delivers to the scalar cache, whose line it fills.
  std::int64_t deliver_scalar(ComputeUnit& cu, const Arrival& arrival, const Answer& answer,
                              CrossbarTransfer& transfer, std::int64_t back, Deliveries& part);
  // Delivers a request that joined another one on its way.
  std::int64_t deliver_merged(ComputeUnit& cu, const Request& request, bool loaded) const;
  // Gives the lines that a shared scalar cache got for one CU to the others.
  void share_scalar_lines(std::span<std::unique_ptr<ComputeUnit>> cus, Deliveries& part) const;
  // Uses the tags of the lines' other halves with them; these come only when they are read.
  void use_partners(const Arrival& arrival, unsigned lines, std::int64_t slot,
                    std::uint32_t channel, Lookups& part);
  void count(bool hit, std::uint32_t channel, Lookups& part);
  // The cycle at which a line's data is in the L2, given its tag lookup.
  std::int64_t fetch(const L2Tags::Access& access, std::uint32_t line, std::int64_t slot,
                     std::uint32_t channel, Lookups& part);
  // Fetches the other line of an aligned pair if it is absent; whether it came from memory.
  bool fetch_partner(std::uint32_t line, std::int64_t slot, std::uint32_t channel, Lookups& part);
  std::int64_t bring(std::uint32_t line, std::int64_t slot, std::uint32_t channel, Lookups& part);
  void write_back(const L2Tags::Access& access, std::int64_t slot, std::uint32_t channel,
                  Lookups& part);
  // Writes back and fills for four lines that took the place of others side by side, each a slot
  // after the one before it. `leaves`: when each line's data is in the L2; null where nothing has
  // to come from memory, because all of their bytes were written. send_transfers() comes after
  // something else: by then the host may have fetched the bytes of the lines that went.
  void replace_row(const L2Tags::ReplacedRow& row, const Arrival& arrival, std::int64_t slot,
                   std::int64_t* leaves, Lookups& part);
  void send_transfers(Lookups& part);
  // A line goes to memory, or is asked for: all but the observer's part. Return what that is.
  MemoryTransfer send_line(std::uint32_t line, std::uint64_t dirty, std::int64_t slot,
                           std::uint32_t channel, Lookups& part);
  MemoryTransfer fetch_line(std::uint32_t line, std::int64_t slot, std::uint32_t channel,
                            std::int64_t& ready, Lookups& part);
  // Cycles that a channel is busy with `lines` lines, up to kMaxLines.
  [[nodiscard]] std::int64_t busy(unsigned lines) const { return busy_[lines]; }
  [[nodiscard]] std::uint16_t channel_of_chip(std::uint32_t channel) const {
    return static_cast<std::uint16_t>(static_cast<std::uint32_t>(die_) * channel_count_ + channel);
  }
  static void resolve(ComputeUnit& cu, const Request& request, std::int64_t completion,
                      Deliveries& part);
  // Notes that the line was `before`.
  void changed(std::uint32_t line, const std::byte* before, Lookups& part) const;
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
  std::uint32_t channel_count_;
  struct Place {
    std::uint16_t engine, cu;  // the engine of all dies
  };
  std::vector<Place> place_;          // of each CU
  std::vector<std::int64_t> flight_;  // [cu][channel] there and back
  // Neighbours may be looked up on different cores.
  struct alignas(kHostLine) Channel {
    std::int64_t free{};         // its next slot
    std::int64_t memory_free{};  // in 1/1024 cycles
    ChannelActivity activity;
  };
  std::vector<Channel> channels_;
  mutable std::vector<ChannelActivity> activities_;  // of all channels
  std::int64_t memory_line_time_{};                  // in 1/1024 cycles
  std::int64_t most_waiting_{};  // of a channel's memory, in 1/1024 cycles; 0: any time
  std::array<std::int64_t, Request::kMaxLines + 1> busy_{};  // by lines: cycles of a channel
  std::int64_t cycles_per_line_{1};  // between lines of a run; 0: two of them leave in one cycle
  bool pairs_of_lines_{};            // a miss brings both
  bool asks_for_pairs_{};            // so does every read request
  bool tags_pairs_{};                // a tag of the L2 stands for both
  bool reads_plainly_{};             // not by pairs of lines, and without a cache beside the L2
  std::int64_t smallest_latency_{};
  std::uint32_t rotation_{};
  std::optional<Error> error_;  // never
  std::uint64_t private_begin_{};
  std::uint64_t private_end_{};
  bool shares_commits_{};
  std::size_t parallel_commit_min_requests_{};
  bool sharing_{};           // a commit, now
  bool missed_{};            // something, in the last commit of one thread
  std::mutex pages_in_use_;  // while several threads note the pages of victims
  std::vector<std::uint8_t> group_of_channel_;
  // Parts by group of channels, and by engine; one thread alone uses the first ones.
  std::vector<std::unique_ptr<Lookups>> lookups_;
  std::vector<std::unique_ptr<Deliveries>> deliveries_;
  std::vector<GatheredCount> counts_;  // by CU, where commits are shared
  std::vector<Gathered> gathered_;     // by CU, where commits are shared
  mutable MemoryCounters counters_;    // of all parts
  ArenaVector<Arrival> arrivals_;      // by CU
  ArenaVector<Arrival> sorted_;        // by arrival
  ArenaVector<std::uint32_t> bucket_;
};

}  // namespace ww::sim::gpu::exec
