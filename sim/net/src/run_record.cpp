#include "run_record.hpp"

#include <time.h>

#include <algorithm>

namespace ww::sim::net {
namespace {

double thread_cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

RunRecord::RunRecord(const Network& network)
    : network_(network),
      cpu_start_s_(thread_cpu_seconds()),
      first_(network.now().value()),
      events_before_(network.events()),
      links_before_(network.link_use()) {}

void RunRecord::add(const Delivery& delivery) {
  latencies_.add(delivery.arrived.value() - delivery.created.value());
  network_latency_ += delivery.arrived.value() - delivery.injected.value();
  hops_ += delivery.hops;
}

void RunRecord::begin_window() {
  events_before_ = network_.events();
  links_before_ = network_.link_use();
}

void RunRecord::end_window(RunResult& result) const {
  result.window = network_.events() - events_before_;
  result.links = network_.link_use();
  for (std::size_t i = 0; i < result.links.size(); ++i) {
    result.links[i].flits -= links_before_[i].flits;
    result.links[i].toggles -= links_before_[i].toggles;
  }
}

void RunRecord::finish(RunResult& result) {
  const auto count = static_cast<double>(std::max<std::uint64_t>(latencies_.count(), 1));
  result.avg_packet_latency = latencies_.mean();
  result.p99_packet_latency = latencies_.quantile(0.99);
  result.max_packet_latency = latencies_.max();
  result.avg_network_latency = static_cast<double>(network_latency_) / count;
  result.avg_hops = static_cast<double>(hops_) / count;
  result.packets = latencies_.count();
  result.cycles = Cycles{network_.now().value() - first_};
  result.cpu_s = thread_cpu_seconds() - cpu_start_s_;
  result.wall_s =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - wall_start_).count();
}

RunResult RunRecord::finish_whole(bool has_values) {
  RunResult result;
  end_window(result);
  finish(result);
  result.window.toggles_counted &= has_values;
  result.flit_hops = power::flit_hops(result.window);
  const double node_cycles =
      static_cast<double>(std::max<std::uint64_t>(result.cycles.value(), 1)) *
      node_count(network_.config());
  result.accepted_flits_per_node_cycle =
      static_cast<double>(result.window.ejected_flits) / node_cycles;
  result.offered_flits_per_node_cycle =
      static_cast<double>(result.window.injected_flits) / node_cycles;
  result.stable = true;  // it has come to its end
  return result;
}

}  // namespace ww::sim::net
