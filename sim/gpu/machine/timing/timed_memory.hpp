// The hierarchy of timing mode: requests leave the L1s' miss queues as packets, cross a network of
// sim/net cycle by cycle, are served by memory nodes, and what the network delivers is what the
// loads get.
//
// Device memory changes where a memory node serves a request, in the network's order; the requests
// of one core to one memory node are served in the order in which they left its L1.
#pragma once

#include <array>
#include <bit>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fast/commit_sharing/deferred_observer.hpp"
#include "machine/memory/i_hierarchy.hpp"
#include "machine/timing/memory_node.hpp"
#include "ww/sim/net/latency_histogram.hpp"

namespace ww::sim::gpu::timing {

// A validated system for a chip.
struct System {
  TimingConfig config;  // every list filled in
  power::EnergyConfig energy;
  std::unique_ptr<net::Network> network;
};
// Errors, by key: those of validate() and of the network; out_of_range when nodes and compute units
// or L2 channels do not match.
[[nodiscard]] Result<System> make_system(const Chip& chip, const TimingConfig& config);
// Returns the cores' clock at the chip's reference state, whatever is selected later.
[[nodiscard]] double core_clock_hz(const Architecture& architecture);

class TimedMemory final : public exec::Hierarchy {
 public:
  // `annotations` outlives it, and so does `arena`, which keeps the L2's tags.
  TimedMemory(const Chip& chip, exec::DeviceMemory& memory, exec::DeferredObserver& observer,
              exec::HostArena& arena, System system, Annotations& annotations);

  [[nodiscard]] const exec::L1Policy& l1_policy() const override;
  void begin_launch(const exec::LaunchState& launch,
                    std::vector<std::unique_ptr<exec::ComputeUnit>>& cus) override;
  void commit(std::vector<std::unique_ptr<exec::ComputeUnit>>& cus,
              std::span<const std::size_t> engaged, std::int64_t start, std::int64_t end,
              exec::Workers& workers) override;
  void end_launch(const std::vector<std::unique_ptr<exec::ComputeUnit>>& cus,
                  const exec::LaunchState& launch, std::int64_t cycles,
                  std::uint64_t instructions) override;
  [[nodiscard]] std::int64_t next_event() const override;
  [[nodiscard]] const std::optional<Error>& error() const override { return error_; }
  // Changes nothing: in timing mode no launch is replayed.
  void set_private_memory(std::uint64_t, std::uint64_t) override {}
  [[nodiscard]] std::int64_t last_completion() const override { return last_completion_; }
  [[nodiscard]] std::int64_t smallest_latency() const override { return config_.fill_cycles; }
  [[nodiscard]] exec::L2Tags& l2() override { return l2_; }
  [[nodiscard]] const std::vector<ChannelActivity>& channels() const override { return channels_; }
  [[nodiscard]] const exec::MemoryCounters& counters() const override { return counters_; }

  [[nodiscard]] TimingReport& report() { return report_; }

 private:
  using Cus = std::vector<std::unique_ptr<exec::ComputeUnit>>;
  // A flight that has not been sent, and what decides whether it can be.
  struct Unsent {
    std::int64_t ready{};  // network cycle
    std::uint32_t flight{};
    exec::Request::Kind kind{};
    [[nodiscard]] bool is_read() const {
      return kind == exec::Request::Kind::read || kind == exec::Request::Kind::scalar;
    }
  };
  struct Core {
    net::NodeId node{};
    std::size_t unit{};  // of the compute units, some of which may be switched off
    Fifo<Unsent> queue;
    int reads{};                                // under way
    int writes{};                               // and atomics
    std::vector<std::uint32_t> sequence;        // next, by memory node
    std::vector<std::uint32_t> flight_of_slot;  // that fills an L1 slot
    std::vector<std::uint32_t> flight_of_scalar_slot;
  };
  // Samples from which means and percentiles are made.
  struct Sums {
    net::LatencyHistogram requests, replies;
    std::uint64_t request_transit{}, reply_transit{};
    std::uint64_t round_trip{}, round_trips{}, occupancy{};
  };
  // The compute unit at a node of the network.
  [[nodiscard]] exec::ComputeUnit& unit_at(Cus& cus, net::NodeId node) const {
    return *cus[cores_[core_at_[node]].unit];
  }
  void take_requests(exec::ComputeUnit& cu, std::uint32_t core);
  void take(exec::Request& request, std::uint32_t core);
  void join(const exec::Request& request, std::uint32_t core);
  Status run_until(Cus& cus, std::int64_t end);
  Result<bool> send(std::int64_t now);
  // Calls visit(core) for each core with flights in its queue.
  template <class Visit>
  void for_each_queued(const Visit& visit) const {
    for (std::size_t word = 0; word < queued_.size(); ++word) {
      for (std::uint64_t left = queued_[word]; left != 0; left &= left - 1) {
        visit(64 * word + static_cast<std::size_t>(std::countr_zero(left)));
      }
    }
  }
  // Whether the core may have one more such request under way, and put one into the network.
  [[nodiscard]] bool has_mshr(const Core& core, const Unsent& first) const;
  [[nodiscard]] bool has_room(const Core& core) const;
  Status send_request(Core& core, std::uint32_t index);
  Status deliver(Cus& cus, const net::Delivery& delivery);
  Status reply(exec::ComputeUnit& cu, Core& core, std::uint32_t index,
               const net::Delivery& delivery);
  Status between_caches(Cus& cus, const net::Delivery& delivery);
  template <class BytesOf>
  void answer_joined(exec::ComputeUnit& cu, Flight& flight, std::int64_t completion,
                     const BytesOf& bytes_of);
  Result<bool> take_datum(Flight& flight, const net::Delivery& delivery);
  Status read_reply(exec::ComputeUnit& cu, Core& core, std::uint32_t index, Flight& flight,
                    const net::Delivery& delivery, std::int64_t completion);
  void fill_l1(exec::ComputeUnit& cu, Core& core, std::uint32_t index, std::uint32_t slot,
               std::uint32_t line, const std::byte* data, bool exact, std::int64_t completion);
  void fill_scalar(exec::ComputeUnit& cu, Core& core, std::uint32_t index, const Flight& flight,
                   std::int64_t completion);
  // Earliest cycle from `now` on at which a core or a memory node does something by itself.
  [[nodiscard]] std::int64_t earliest(std::int64_t now) const;
  void count_cycles(std::uint64_t cycles);
  Status watch();
  Status drain(Cus& cus);
  // Says so where approximable data decide where the kernel reads or writes.
  void look_for_addresses(const exec::LaunchState& launch);
  void begin_stats();
  [[nodiscard]] std::array<std::uint64_t, 3> dram_counts() const;
  // Means, percentiles and joules of what was counted.
  void derive(TimingStats& stats, Sums& sums) const;

  const Architecture& architecture_;
  exec::DeviceMemory& memory_;
  TimingConfig config_;
  power::EnergyConfig energy_;
  std::unique_ptr<net::Network> network_;
  Annotations& annotations_;
  exec::L2Tags l2_;
  Flights flights_;
  Pool<Joined> joined_;
  TimingStats stats_;  // of this launch
  exec::MemoryCounters counters_;
  Directory directory_;  // of coherent L1s; it outlives launches as they do
  MemorySide side_;
  std::vector<MemoryNode> nodes_;
  std::vector<Core> cores_;
  std::vector<std::uint64_t> queued_;     // mask over cores with flights in their queue
  std::uint64_t mshr_waits_{};            // cores that had no miss slot at the last look
  std::vector<std::uint32_t> core_at_;    // [network node]
  std::vector<std::uint32_t> memory_at_;  // [network node]
  std::vector<ChannelActivity> channels_;
  ClockRatio clock_;     // core to network
  std::int64_t base_{};  // network cycle at which the launch began
  std::size_t under_way_{};
  std::int64_t last_completion_{};
  std::int64_t next_watch_{};
  std::optional<Error> error_;
  std::vector<std::byte> payload_;
  std::vector<bool> approximable_loads_;  // of this launch, by dword of the program
  std::set<std::string> warned_;          // kernels
  Sums sums_;                             // of this launch
  Sums all_sums_;                         // of all launches
  power::NetworkEvents events_before_;
  std::array<std::uint64_t, 3> dram_before_{};
  double cpu_before_{};
  TimingReport report_;
};

}  // namespace ww::sim::gpu::timing
