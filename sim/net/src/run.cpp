#include "ww/sim/net/run.hpp"

#include <algorithm>
#include <array>

#include "run_record.hpp"
#include "ww/core/interrupt.hpp"

namespace ww::sim::net {
namespace {

constexpr std::uint64_t kRunPatience = 20000;  // cycles without any movement that count as deadlock
constexpr std::uint64_t kRunWatchPeriod = 4096;
constexpr std::size_t kBatches = 20;  // of a run's measured cycles

// Latencies by the part of the measured cycles in which a packet was created.
class LatencyBatches {
 public:
  LatencyBatches(std::uint64_t begin, std::uint64_t cycles) : begin_(begin), cycles_(cycles) {
    find_bounds();
  }
  void add(std::uint64_t created, std::uint64_t latency) {
    // A node that has fallen behind creates packets of earlier cycles.
    if (created < from_ || created >= to_) {
      const std::uint64_t since = std::max(created, begin_) - begin_;
      batch_ = std::min<std::uint64_t>(since * kBatches / cycles_, kBatches - 1);
      find_bounds();
    }
    sums_[batch_] += latency;
    ++packets_[batch_];
  }
  [[nodiscard]] std::vector<double> means() const {
    std::vector<double> means;
    for (std::size_t batch = 0; batch < kBatches; ++batch) {
      if (packets_[batch] > 0) {
        means.push_back(static_cast<double>(sums_[batch]) / static_cast<double>(packets_[batch]));
      }
    }
    return means;
  }

 private:
  // Cycles of the current batch: packets mostly belong to the same one as those before them, and a
  // division takes long.
  void find_bounds() {
    const auto start_of = [this](std::uint64_t batch) {
      return begin_ + (batch * cycles_ + kBatches - 1) / kBatches;
    };
    from_ = batch_ == 0 ? 0 : start_of(batch_);
    to_ = batch_ == kBatches - 1 ? ~std::uint64_t{0} : start_of(batch_ + 1);
  }

  std::uint64_t begin_;
  std::uint64_t cycles_;
  std::size_t batch_{};
  std::uint64_t from_{};
  std::uint64_t to_{};
  std::array<std::uint64_t, kBatches> sums_{};
  std::array<std::uint64_t, kBatches> packets_{};
};

}  // namespace

Result<RunResult> run(Network& network, const RunConfig& config) {
  WW_TRY(validate(config.traffic, network.config()));
  if (config.cycles.value() == 0) {
    return fail(ErrorCode::out_of_range, "cycles must be at least 1", "cycles");
  }
  RunRecord record(network);
  TrafficSource source(config.traffic, network.config());
  network.draw_from(source.draws());
  source.measure(network.now() + config.warmup, network.now() + config.warmup + config.cycles);
  const std::uint64_t first = record.first_cycle();
  const std::uint64_t begin = first + config.warmup.value();
  const std::uint64_t end = begin + config.cycles.value();
  LatencyBatches batches(begin, config.cycles.value());
  const std::uint64_t last = end + 10 * (config.warmup.value() + config.cycles.value());
  double offered_before = 0;
  double offered = 0;
  RunResult result;

  const auto count_delivery = [&](const Delivery& delivery) {
    source.on_delivery(delivery);
    if (delivery.tag == 1) {
      record.add(delivery);
      batches.add(delivery.created.value(), delivery.arrived.value() - delivery.created.value());
    }
  };
  // The next cycle that needs more than its traffic: the ends of the warm-up and of the
  // measurement, every cycle of the drain, and the watch.
  std::uint64_t next_look = first;
  std::vector<Delivery> delivered;
  for (std::uint64_t now = first;; ++now) {
    const bool looks = now >= next_look;
    if (looks && now == begin) {
      record.begin_window();
      offered_before = source.offered_flits(network.now());
    }
    if (looks && now == end) {
      record.end_window(result);
      offered = source.offered_flits(network.now()) - offered_before;
    }
    if (source.plans()) {
      const Plan plan = source.plan(Cycles{now}, Cycles{looks ? now + 1 : next_look});
      delivered.clear();
      WW_TRY(network.advance(plan, delivered));
      now = plan.end.value() - 1;
    } else {
      WW_TRY(source.generate(network));
      network.tick();
    }
    for (const Delivery& delivery : source.plans() ? delivered : network.deliveries()) {
      count_delivery(delivery);
    }
    if (!looks) {
      continue;
    }
    if (now >= end &&
        ((record.latencies().count() == source.measured_packets() && source.caught_up()) ||
         now >= last)) {
      break;
    }
    if (now % kRunWatchPeriod == 0) {
      if (interrupted()) {
        return fail(ErrorCode::cancelled, "interrupted", network.config().network);
      }
      if (config.on_progress && now < end) {
        config.on_progress(Cycles{now - first}, Cycles{end - first});
      }
      const auto why = network.stuck(Cycles{kRunPatience});
      if (why && why->kind != Stuck::Kind::starvation) {
        return fail(ErrorCode::bad_data, why->text, network.config().network);
      }
      if (why && now >= end) {
        break;  // a node that is kept out will not be let in while traffic goes on
      }
    }
    if (now >= end) {
      next_look = now + 1;
    } else {
      const std::uint64_t watch = (now / kRunWatchPeriod + 1) * kRunWatchPeriod;
      next_look = std::min(watch, now < begin ? begin : end);
    }
  }

  const auto nodes = static_cast<double>(node_count(network.config()));
  const auto cycles = static_cast<double>(config.cycles.value());
  record.finish(result);
  result.batch_latency = batches.means();
  result.undelivered = source.measured_packets() - result.packets;
  result.offered_flits_per_node_cycle = offered / cycles / nodes;
  result.accepted_flits_per_node_cycle =
      static_cast<double>(result.window.ejected_flits) / cycles / nodes;
  result.flit_hops = power::flit_hops(network.events());
  // Above saturation the backlog grows in proportion to time; below it stays a few packets a node.
  const double backlog = offered - static_cast<double>(result.window.ejected_flits);
  const double tolerated = std::max(0.02 * offered, 8.0 * nodes * config.traffic.packet_size);
  result.stable = result.undelivered == 0 && backlog <= tolerated;
  return result;
}

}  // namespace ww::sim::net
