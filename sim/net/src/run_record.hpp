// Record of a run on a network: its packets' latencies, the links' use and the seconds that it
// took.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "ww/sim/net/i_network.hpp"
#include "ww/sim/net/latency_histogram.hpp"
#include "ww/sim/net/run.hpp"

namespace ww::sim::net {

class RunRecord {
 public:
  // Begins now. The network must outlive the record.
  explicit RunRecord(const Network& network);

  void add(const Delivery& delivery);
  [[nodiscard]] const LatencyHistogram& latencies() const { return latencies_; }
  [[nodiscard]] std::uint64_t first_cycle() const { return first_; }

  // Begins again to count events and links: what came before was warm-up.
  void begin_window();
  // Ends the window: its events and its links' use.
  void end_window(RunResult& result) const;
  // Latencies, hops, packets, cycles since the beginning and seconds.
  void finish(RunResult& result);
  // Finishes a run whose window is all of it, up to its last packet, with the rates of its flits.
  // Where `has_values` is false, toggles were assumed.
  [[nodiscard]] RunResult finish_whole(bool has_values);

 private:
  const Network& network_;
  std::chrono::steady_clock::time_point wall_start_{std::chrono::steady_clock::now()};
  double cpu_start_s_;
  std::uint64_t first_;
  power::NetworkEvents events_before_;
  std::vector<LinkUse> links_before_;
  LatencyHistogram latencies_;
  std::uint64_t network_latency_{};
  std::uint64_t hops_{};
};

}  // namespace ww::sim::net
