// The electrical side: nodes, station queues, epochs, and the port of the network.
#include "network/photonic/photonic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "bits.hpp"
#include "network/photonic/keys.hpp"
#include "network/photonic/network.hpp"
#include "vc_router/keys.hpp"

namespace ww::sim::net {
namespace photonic {
Photonic::Photonic(const NetworkConfig& config)
    : ClockedNetwork(config),
      keys_(config_.own<PhotonicConfig>()),
      layout_(config_),
      prior_(config_.network == "prior-opt"),
      control_(config_.network == "ps-gpuopt" && keys_.predictor != "perfect"),
      data_first_(keys_.token_order == "data"),
      unsent_(static_cast<std::size_t>(node_count(config_) * config_.classes)),
      stations_(static_cast<std::size_t>(layout_.stations())),
      next_class_(static_cast<std::size_t>(node_count(config_))),
      laser_(keys_, layout_.llc_mask()) {
  for (int node = 0; node < node_count(config_); ++node) {
    position_of_node_.push_back(
        static_cast<std::uint8_t>(layout_.position_of_router(node / config_.concentration)));
  }
  const int stations = layout_.stations();
  const int loop = layout_.loop_cycles();
  for (int position = 0; position < stations; ++position) {
    stations_[static_cast<std::size_t>(position)].lanes.resize(static_cast<std::size_t>(stations) +
                                                               1);
    // A data token starts at the station that reads its link.
    Token token;
    token.phase = (loop - layout_.slot(position)) % loop;
    data_tokens_.push_back(token);
  }
  free_data_ = (std::uint64_t{1} << stations) - 1;
  listeners_.resize(static_cast<std::size_t>(stations));
  link_flits_.resize(static_cast<std::size_t>(stations * stations));
  if (!prior_) {
    // Power tokens start evenly spread.
    for (int token = 0; token < keys_.power_units; ++token) {
      power_tokens_.push_back(Token{-1, token * loop / keys_.power_units, 0});
    }
    units_ = control_ ? laser_.first() : keys_.power_units;
    next_units_ = units_;
    free_power_ = (std::uint64_t{1} << units_) - 1;
  }
  light_events_.present = true;
  light_events_.structure = structure();
  if (config_.count_toggles) {
    const auto bytes = static_cast<std::size_t>(config_.flit_bits / 8);
    wires_.resize(static_cast<std::size_t>(2 * node_count(config_)), std::vector<std::byte>(bytes));
  }
}

bool Photonic::on_swmr(int from, int to) const {
  return prior_ ? layout_.is_llc(from) : !layout_.is_llc(from) && !layout_.is_llc(to);
}

std::size_t Photonic::lane_of(std::uint32_t packet) const {
  const int from = position_of(store_[packet].source);
  const int to = position_of(store_[packet].destination);
  return on_swmr(from, to) ? 0 : static_cast<std::size_t>(to) + 1;
}

Status Photonic::inject(const Packet& packet) {
  WW_TRY(store_.check(packet, now_));
  const int from = position_of(packet.source);
  for (const NodeId destination : packet.destinations) {
    const int to = position_of(destination);
    if (prior_ && from != to && layout_.is_llc(from) == layout_.is_llc(to)) {
      return fail(ErrorCode::unsupported,
                  fmt::format("prior-opt has links between SM and LLC stations alone: none from "
                              "node {} to node {}",
                              packet.source, destination),
                  "packet.destinations");
    }
  }
  std::uint32_t leader = kNoPacket;
  std::uint32_t last = kNoPacket;
  const auto queue = [&](NodeId destination, bool broadcast) {
    const std::uint32_t index = store_.enqueue(packet, destination);
    if (index >= next_in_lane_.size()) {
      next_in_lane_.resize(index + 1);
      next_copy_.resize(index + 1);
      entered_.resize(index + 1);
    }
    next_copy_[index] = kNoPacket;
    if (position_of(destination) == from) {
      ++stations_[static_cast<std::size_t>(from)].local;
    }
    if (broadcast) {
      if (leader == kNoPacket) {
        leader = index;
      } else {
        next_copy_[last] = index;
      }
      last = index;
    }
    ++unsent_[packet.source * static_cast<std::uint32_t>(config_.classes) + packet.message_class];
  };
  // One broadcast first, so that its copies lie in a row; then a copy for each other destination.
  const auto broadcast = [&](NodeId destination) {
    const int to = position_of(destination);
    return packet.destinations.size() > 1 && to != from && on_swmr(from, to);
  };
  for (const NodeId destination : packet.destinations) {
    if (broadcast(destination)) {
      queue(destination, true);
    }
  }
  for (const NodeId destination : packet.destinations) {
    if (!broadcast(destination)) {
      queue(destination, false);
    }
  }
  reply_buffers_.count(packet);
  waiting_[packet.source / 64] |= std::uint64_t{1} << (packet.source % 64);
  waiting_stations_ |= std::uint64_t{1} << from;
  return {};
}

void Photonic::tick() {
  store_.begin_tick();
  deliveries_.clear();
  begin_cycle();
  admit();
  enter_stations();
  run_light(optical(now_ + 1));
  hand_out(arriving_);
  hand_out(local_);
  ++now_;
}

void Photonic::admit() {
  for (std::uint64_t left = waiting_stations_; left != 0; left &= left - 1) {
    const int position = lowest(left);
    Station& station = stations_[static_cast<std::size_t>(position)];
    if (station.local == 0 && station.queued >= keys_.station_queue) {
      station.next_node = next_of(station.next_node, config_.concentration);
      continue;  // nothing can enter
    }
    const int router = layout_.router_at(position);
    bool any = false;
    for (int i = 0; i < config_.concentration; ++i) {
      int local = station.next_node + i;
      local -= local >= config_.concentration ? config_.concentration : 0;
      const auto node = static_cast<NodeId>(router * config_.concentration + local);
      if ((waiting_[node / 64] >> (node % 64) & 1) != 0) {
        any = admit_from(position, node) || any;
      }
    }
    if (!any) {
      waiting_stations_ &= ~(std::uint64_t{1} << position);
    }
    station.next_node = next_of(station.next_node, config_.concentration);
  }
}

// One packet of a node; says whether the node has more.
bool Photonic::admit_from(int position, NodeId node) {
  Station& station = stations_[static_cast<std::size_t>(position)];
  const bool room = station.queued < keys_.station_queue;
  const auto is_local = [&](std::uint32_t index) {
    return position_of(store_[index].destination) == position;
  };
  int chosen = 0;
  std::uint32_t packet = kNoPacket;
  bool more = false;
  for (int i = 0, candidate = next_class_[node]; i < config_.classes;
       ++i, candidate = next_of(candidate, config_.classes)) {
    const std::uint32_t front = store_.front(node, candidate);
    if (front == kNoPacket) {
      continue;
    }
    if (packet == kNoPacket && (room || is_local(front))) {
      packet = front;
      chosen = candidate;
    } else {
      more = true;
    }
  }
  if (packet == kNoPacket) {
    return more;
  }
  const bool local = is_local(packet);
  next_class_[node] = static_cast<std::uint8_t>(next_of(chosen, config_.classes));
  last_progress_ = now_;
  if (config_.count_toggles) {
    count_toggles(packet, node, true);
  }
  net_events_.buffer_writes += store_[packet].flits;
  net_events_.link_flits += store_[packet].flits;
  for (std::uint32_t copy = packet; copy != kNoPacket; copy = next_copy_[copy]) {
    PacketRecord& record = store_[copy];
    store_.pop(node, chosen);
    record.injected = now_;
    record.hops = 1;
    net_events_.injected_flits += record.flits;
    net_events_.crossbar_flits += record.flits;
    net_events_.switch_grants += record.flits;
    net_events_.buffer_reads += record.flits;
  }
  if (local) {
    --station.local;
    --unsent_[node * static_cast<std::uint32_t>(config_.classes) +
              static_cast<std::uint32_t>(chosen)];
    ++light_events_.local_messages;
    local_.push({now_ + 2 * keys_.cluster_delay, packet});
  } else {
    ++station.queued;
    entering_.push({now_ + keys_.cluster_delay, packet});
  }
  for (int i = 0; i < config_.classes && !more; ++i) {
    more = store_.front(node, i) != kNoPacket;
  }
  if (!more) {
    waiting_[node / 64] &= ~(std::uint64_t{1} << (node % 64));
  }
  return more;
}

// Packets that have crossed the cluster join their lane.
void Photonic::enter_stations() {
  while (!entering_.empty() && entering_.front().at <= now_) {
    const std::uint32_t packet = entering_.front().packet;
    entering_.pop();
    const int position = position_of(store_[packet].source);
    const std::size_t index = lane_of(packet);
    Station& station = stations_[static_cast<std::size_t>(position)];
    Lane& lane = station.lanes[index];
    next_in_lane_[packet] = kNoPacket;
    if (lane.front == kNoPacket) {
      lane.front = packet;
    } else {
      next_in_lane_[lane.back] = packet;
    }
    lane.back = packet;
    entered_[packet] = light_;
    if (station.inside++ == 0) {
      light_events_.busy_station_optical_cycles -= static_cast<std::uint64_t>(light_);
      ++busy_stations_;
    }
    if (station.waiting++ == 0) {
      station.waiting_since = light_;
    }
    station.entered_sum += static_cast<std::uint64_t>(light_);
    if (lane.state == State::idle) {
      attempt(position, index);
    }
  }
}

void Photonic::hand_out(Ring<Due>& from) {
  while (!from.empty() && from.front().at <= now_) {
    const std::uint32_t packet = from.front().packet;
    from.pop();
    net_events_.ejected_flits += store_[packet].flits;
    net_events_.link_flits += store_[packet].flits;
    if (config_.count_toggles) {
      count_toggles(packet, store_[packet].destination, false);
    }
    last_progress_ = now_;
    store_.deliver(packet, now_, 1, deliveries_);
  }
}

void Photonic::count_toggles(std::uint32_t packet, NodeId node, bool up) {
  std::vector<std::byte>& wire = wires_[2 * node + (up ? 0 : 1)];
  const PacketRecord& record = store_[packet];
  for (int flit = 0; flit < record.flits; ++flit) {
    net_events_.link_toggles += store_.drive(record, flit, wire);
  }
}

// Counts halted cycles; an epoch's last prediction_lead cycles and its first ones contain them.
std::int64_t Photonic::halted_before(std::int64_t core_cycle) const {
  if (!control_) {
    return 0;
  }
  const std::int64_t epochs = core_cycle / keys_.epoch;
  const std::int64_t within = core_cycle % keys_.epoch;
  const auto passed = [&](std::int64_t first, std::int64_t count) {
    return std::clamp<std::int64_t>(within - first, 0, count);
  };
  return epochs * (keys_.halt_before + keys_.halt_after) + passed(1, keys_.halt_after) +
         passed(keys_.epoch - keys_.prediction_lead + 1, keys_.halt_before);
}

std::int64_t Photonic::optical(std::int64_t core_cycle) const {
  return (core_cycle - halted_before(core_cycle)) * keys_.optical_mhz / keys_.core_mhz;
}

void Photonic::begin_cycle() {
  if (!control_) {
    return;
  }
  const std::int64_t within = now_ % keys_.epoch;
  if (within == keys_.epoch - keys_.prediction_lead) {
    predict();
  } else if (within == 0 && now_ > 0) {
    count_epoch();
    set_units(next_units_);
  }
}

void Photonic::count_epoch() {
  const std::uint64_t held =
      light_events_.held_unit_optical_cycles +
      static_cast<std::uint64_t>(std::popcount(held_power_)) * static_cast<std::uint64_t>(light_);
  const auto length = static_cast<std::uint64_t>(std::max<std::int64_t>(light_ - epoch_began_, 1));
  const std::uint64_t used = (held - held_before_epoch_ + length - 1) / length;
  const auto count = [](auto& bins, std::uint64_t units) {
    ++bins[std::min<std::uint64_t>(units, bins.size() - 1)];
  };
  count(light_events_.epochs_by_lit, static_cast<std::uint64_t>(units_));
  count(light_events_.epochs_by_held, used);
  ++light_events_.epochs;
  held_before_epoch_ = held;
  epoch_began_ = light_;
}

// W, in core cycles. Of messages: the waits of those sent since the last prediction, and the age of
// those that wait now, however old: a lone message that power is refused to asks louder in every
// epoch, so that nothing starves. Of the station: the time with such messages, to the same end.
std::uint64_t Photonic::waited(const Station& station) const {
  const auto light = static_cast<std::uint64_t>(light_);
  if (keys_.wait_counts == "messages") {
    return in_core_cycles(station.waited + station.waiting * light - station.entered_sum);
  }
  const std::uint64_t now =
      station.waiting > 0 ? light - static_cast<std::uint64_t>(station.waiting_since) : 0;
  return in_core_cycles(station.waiting_time + now);
}

// Units that LLC stations held since the last prediction, over time, rounded up.
int Photonic::llc_units_held() {
  const auto length = static_cast<std::uint64_t>(std::max<std::int64_t>(light_ - predicted_at_, 1));
  const std::uint64_t now =
      static_cast<std::uint64_t>(llc_holds_) * static_cast<std::uint64_t>(light_);
  const std::uint64_t held = llc_held_ + now;
  llc_held_ = 0 - now;
  predicted_at_ = light_;
  return static_cast<int>((held + length - 1) / length);
}

// Counters run from prediction to prediction.
void Photonic::predict() {
  std::uint64_t bits = 0;
  for (int position = 0; position < layout_.stations(); ++position) {
    Station& station = stations_[static_cast<std::size_t>(position)];
    const StationCounts counts{station.received, station.sent, waited(station), station.waiting};
    const bool flexible =
        keys_.predictor == "flex" || (keys_.predictor == "hybrid" && layout_.is_llc(position));
    if (flexible ? flex_pred(counts, keys_) : restr_pred(counts, keys_)) {
      bits |= std::uint64_t{1} << position;
    }
    station.received = station.sent = station.waited = station.waiting_time = 0;
  }
  next_units_ =
      keys_.table_counts == "held" ? laser_.decide(bits, llc_units_held()) : laser_.decide(bits);
}

void Photonic::count_lit() {
  light_events_.lit_unit_cycles +=
      static_cast<std::uint64_t>(now_ - lit_since_) *
      (prior_ ? light_events_.structure.data_units
              : static_cast<std::uint64_t>(std::popcount(free_power_ | held_power_)));
  lit_since_ = now_;
}

void Photonic::set_units(int units) {
  count_lit();
  units_ = units;
  int lit = std::popcount(free_power_ | held_power_);
  // Dark from the top; a token that a station holds goes out when it is given back.
  while (lit > units_ && free_power_ != 0) {
    free_power_ &= ~(std::uint64_t{1} << (63 - std::countl_zero(free_power_)));
    --lit;
  }
  for (std::size_t token = 0; token < power_tokens_.size() && lit < units_; ++token) {
    const std::uint64_t one = std::uint64_t{1} << token;
    if (((free_power_ | held_power_) & one) == 0) {
      put_on_waveguide(power_tokens_[token], 0);
      free_power_ |= one;
      ++lit;
    }
  }
}

std::optional<Cycles> Photonic::next_event() const {
  if (store_.inside() == 0 && events_.empty()) {
    return std::nullopt;
  }
  return now();
}

void Photonic::skip(Cycles cycle) {
  const auto to = static_cast<std::int64_t>(cycle.value());
  if (control_) {
    for (; now_ < to; ++now_) {
      // The next cycle in which the controller has something to do.
      const std::int64_t within = now_ % keys_.epoch;
      const std::int64_t lead = keys_.epoch - keys_.prediction_lead;
      const std::int64_t wait =
          within == 0 || within == lead ? 0 : (within < lead ? lead : keys_.epoch) - within;
      if (now_ + wait >= to) {
        break;
      }
      now_ += wait;
      run_light(optical(now_));
      begin_cycle();
    }
  }
  now_ = to;
  run_light(optical(now_));
}

namespace {

std::unique_ptr<Network> make_photonic(const NetworkConfig& config) {
  return std::make_unique<Photonic>(config);
}

// The first node of each LLC station.
std::vector<NodeId> llc_nodes(const NetworkConfig& config) {
  std::vector<NodeId> nodes = nodes_of(config, true);
  std::erase_if(nodes,
                [&](NodeId node) { return node % static_cast<NodeId>(config.concentration) != 0; });
  return nodes;
}

std::vector<NodeId> sm_nodes(const NetworkConfig& config) {
  return nodes_of(config, false);
}

double core_clock(const NetworkConfig& config) {
  return config.own<PhotonicConfig>().core_mhz * 1e6;
}

void set_core_clock(NetworkConfig& config, double clock_hz) {
  config.own<PhotonicConfig>().core_mhz =
      std::max(1, static_cast<int>(std::lround(clock_hz * 1e-6)));
}

constexpr NetworkKind light(std::string_view name, bool only_to_memory) {
  return {.name = name,
          .make = make_photonic,
          .validate = validate,
          .keys = photonic_keys,
          .needs_classes = true,
          .router = mesh_router_size,
          .light = true,
          .only_to_memory = only_to_memory,
          .memory_nodes = llc_nodes,
          .core_nodes = sm_nodes,
          .clock_hz = core_clock,
          .set_clock_hz = set_core_clock};
}

}  // namespace
}  // namespace photonic

const NetworkKind kPriorOpt = photonic::light("prior-opt", true);
const NetworkKind kGpuopt = photonic::light("gpuopt", false);
const NetworkKind kPsGpuopt = photonic::light("ps-gpuopt", false);

}  // namespace ww::sim::net
