// The electrical side: nodes, station queues, epochs, and the port of the network.
#include "impl/photonic/photonic.hpp"

#include <fmt/format.h>

#include <bit>

#include "bits.hpp"
#include "impl/networks.hpp"

namespace ww::sim::net {
namespace photonic {
namespace {

// Everything that is lit, tuned and passed by, from the keys.
power::PhotonicStructure structure_of(const NetworkConfig& config, const Layout& layout,
                                      bool prior) {
  const PhotonicConfig& keys = config.photonic;
  const auto stations = static_cast<std::uint32_t>(layout.stations());
  const auto llc = static_cast<std::uint32_t>(std::popcount(layout.llc_mask()));
  const std::uint32_t sm = stations - llc;
  power::PhotonicStructure structure;
  structure.core_hz = keys.core_mhz * 1e6;
  structure.optical_hz = keys.optical_mhz * 1e6;
  structure.stations = stations;
  structure.waveguide_wavelengths = static_cast<std::uint32_t>(keys.waveguide_wavelengths);
  structure.pass_mm = layout.pass_mm();
  structure.pass_bends = static_cast<std::uint32_t>(keys.bends_per_pitch) * (stations - 1);
  if (prior) {
    // An SWMR and an MWSR link for each LLC station, each with light of its own; the token
    // waveguide. Rings: a writer's and the readers' banks, the writers' and a reader's.
    const auto wide = static_cast<std::uint32_t>(keys.prior_wavelengths);
    structure.data_units = 2 * llc;
    structure.overhead_units = 1;
    structure.unit_wavelengths = wide;
    structure.splitters = structure.data_units;
    structure.rings = 2 * llc * wide * (1 + sm) + 2 * sm * llc;
    return structure;
  }
  structure.data_units = static_cast<std::uint32_t>(keys.power_units);
  structure.overhead_units = static_cast<std::uint32_t>(keys.overhead_units);
  structure.unit_wavelengths = static_cast<std::uint32_t>(keys.nc_wavelengths);
  structure.splitters = structure.data_units;
  // NC: every station writes and one reads, or reads where it does not write; C: an SM station
  // writes, the others read; a modulator and a detector for every token; a prediction bit each way.
  structure.rings = stations * static_cast<std::uint32_t>(keys.nc_wavelengths) * stations +
                    sm * static_cast<std::uint32_t>(keys.c_wavelengths) * sm +
                    2 * stations * (stations + structure.data_units) + 2 * stations;
  return structure;
}

}  // namespace

Photonic::Photonic(const NetworkConfig& config)
    : config_(config),
      keys_(config_.photonic),
      layout_(config_),
      prior_(config_.network == "prior-opt"),
      control_(config_.network == "ps-gpuopt" && config_.photonic.predictor != "perfect"),
      store_(node_count(config_), config_.classes),
      waiting_(static_cast<std::size_t>(node_count(config_) + 63) / 64),
      unsent_(static_cast<std::size_t>(node_count(config_) * config_.classes)),
      stations_(static_cast<std::size_t>(layout_.stations())),
      next_class_(static_cast<std::size_t>(node_count(config_))),
      laser_(keys_, layout_.llc_mask()) {
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
  light_events_.structure = structure_of(config_, layout_, prior_);
  if (config_.count_toggles) {
    const auto bytes = static_cast<std::size_t>(config_.flit_bits / 8);
    wires_.resize(static_cast<std::size_t>(2 * node_count(config_)), std::vector<std::byte>(bytes));
    flit_.resize(bytes);
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
  std::uint8_t chosen = next_class_[node];
  std::uint32_t packet = kNoPacket;
  bool more = false;
  for (int i = 0; i < config_.classes; ++i) {
    const auto candidate = static_cast<std::uint8_t>((next_class_[node] + i) % config_.classes);
    const std::uint32_t front = store_.front(node, candidate);
    if (front == kNoPacket) {
      continue;
    }
    const bool local = position_of(store_[front].destination) == position;
    if (packet == kNoPacket && (local || station.queued < keys_.station_queue)) {
      packet = front;
      chosen = candidate;
    } else {
      more = true;
    }
  }
  if (packet == kNoPacket) {
    return more;
  }
  const bool local = position_of(store_[packet].destination) == position;
  next_class_[node] = static_cast<std::uint8_t>((chosen + 1) % config_.classes);
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
    --unsent_[node * static_cast<std::uint32_t>(config_.classes) + chosen];
    ++light_events_.local_messages;
    local_.push_back({now_ + 2 * keys_.cluster_delay, packet});
  } else {
    ++station.queued;
    entering_.push_back({now_ + keys_.cluster_delay, packet});
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
    entering_.pop_front();
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
    ++station.waiting;
    station.entered_sum += static_cast<std::uint64_t>(light_);
    if (lane.state == State::idle) {
      attempt(position, index);
    }
  }
}

void Photonic::hand_out(std::deque<Due>& from) {
  while (!from.empty() && from.front().at <= now_) {
    const std::uint32_t packet = from.front().packet;
    from.pop_front();
    net_events_.ejected_flits += store_[packet].flits;
    net_events_.link_flits += store_[packet].flits;
    if (config_.count_toggles) {
      count_toggles(packet, store_[packet].destination, false);
    }
    last_progress_ = now_;
    deliveries_.push_back(store_.deliver(packet, now_, 1));
  }
}

void Photonic::count_toggles(std::uint32_t packet, NodeId node, bool up) {
  std::vector<std::byte>& wire = wires_[2 * node + (up ? 0 : 1)];
  const PacketRecord& record = store_[packet];
  for (int flit = 0; flit < record.flits; ++flit) {
    store_.copy_flit(record, flit, flit_.size(), flit_.data());
    net_events_.link_toggles += transitions(wire.data(), flit_.data(), flit_.size());
    wire.swap(flit_);
  }
}

// Of an epoch, the last prediction_lead cycles and the first ones have cycles without traffic.
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
    set_units(next_units_);
    ++light_events_.epochs;
  }
}

// Counters run from prediction to prediction. W: the waits of the messages sent since the last one,
// and the age of those that wait now, however old: a lone message that power is refused to asks
// louder in every epoch, so that nothing starves.
void Photonic::predict() {
  std::uint64_t bits = 0;
  for (int position = 0; position < layout_.stations(); ++position) {
    Station& station = stations_[static_cast<std::size_t>(position)];
    const std::uint64_t ages =
        station.waiting * static_cast<std::uint64_t>(light_) - station.entered_sum;
    const StationCounts counts{station.received, station.sent,
                               in_core_cycles(station.waited + ages), station.waiting};
    const bool flexible =
        keys_.predictor == "flex" || (keys_.predictor == "hybrid" && layout_.is_llc(position));
    if (flexible ? flex_pred(counts, keys_) : restr_pred(counts, keys_)) {
      bits |= std::uint64_t{1} << position;
    }
    station.received = station.sent = station.waited = 0;
  }
  next_units_ = laser_.decide(bits);
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

void Photonic::skip_to(Cycles cycle) {
  const auto to = static_cast<std::int64_t>(cycle.value());
  if (next_event() || to <= now_) {
    return;
  }
  deliveries_.clear();
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

power::NetworkEvents Photonic::events() const {
  power::NetworkEvents events = net_events_;
  events.cycles = static_cast<std::uint64_t>(now_);
  events.routers = static_cast<std::uint64_t>(layout_.stations());
  events.links = 2 * static_cast<std::uint64_t>(node_count(config_));
  events.toggles_counted = config_.count_toggles;
  events.photonic = light_events_;
  power::PhotonicEvents& light = events.photonic;
  light.core_cycles = events.cycles;
  light.halted_cycles = static_cast<std::uint64_t>(halted_before(now_));
  light.held_unit_optical_cycles +=
      static_cast<std::uint64_t>(std::popcount(held_power_)) * static_cast<std::uint64_t>(light_);
  const std::uint64_t lit =
      prior_ ? light.structure.data_units
             : static_cast<std::uint64_t>(std::popcount(free_power_ | held_power_));
  light.lit_unit_cycles += lit * static_cast<std::uint64_t>(now_ - lit_since_);
  if (config_.network == "ps-gpuopt" && keys_.predictor == "perfect") {
    light.lit_unit_cycles = in_core_cycles(light.held_unit_optical_cycles);
  }
  return events;
}

// Every writer and reader; where a link has many writers or readers, each pair counts for itself.
std::vector<LinkUse> Photonic::link_use() const {
  std::vector<LinkUse> all;
  const int stations = layout_.stations();
  for (int from = 0; from < stations; ++from) {
    for (int to = 0; to < stations; ++to) {
      if (from != to) {
        all.push_back({static_cast<std::uint32_t>(layout_.router_at(from)),
                       static_cast<std::uint32_t>(layout_.router_at(to)),
                       link_flits_[static_cast<std::size_t>(from * stations + to)], 0});
      }
    }
  }
  return all;
}

Status Photonic::check_conservation() const {
  std::uint64_t found = entering_.size() + arriving_.size() + local_.size();
  const auto copies = [&](std::uint32_t packet) {
    std::uint64_t count = 0;
    for (; packet != kNoPacket; packet = next_copy_[packet]) {
      ++count;
    }
    return count;
  };
  for (const Due& due : entering_) {
    found += copies(due.packet) - 1;
  }
  for (int node = 0; node < node_count(config_); ++node) {
    for (int message_class = 0; message_class < config_.classes; ++message_class) {
      found += store_.length(static_cast<std::uint32_t>(node), message_class);
    }
  }
  std::uint64_t holds_data = 0;
  int holds_power = 0;
  for (int position = 0; position < layout_.stations(); ++position) {
    const Station& station = stations_[static_cast<std::size_t>(position)];
    for (std::size_t lane = 0; lane < station.lanes.size(); ++lane) {
      for (std::uint32_t packet = station.lanes[lane].front; packet != kNoPacket;
           packet = next_in_lane_[packet]) {
        found += copies(packet);
      }
      if (station.lanes[lane].state == State::sends && lane > 0) {
        const std::uint64_t link = std::uint64_t{1} << (lane - 1);
        if (((holds_data | free_data_) & link) != 0) {
          return fail(ErrorCode::bad_data,
                      fmt::format("two stations hold data token {}", lane - 1));
        }
        holds_data |= link;
      }
    }
    holds_power += station.held;
  }
  for (const Event& event : events_) {
    found += event.kind == Kind::arrived ? 1 : 0;
  }
  if (found != store_.inside()) {
    return fail(ErrorCode::bad_data,
                fmt::format("{} packets are inside, {} are somewhere", store_.inside(), found));
  }
  if ((holds_data | free_data_) != (std::uint64_t{1} << layout_.stations()) - 1) {
    return fail(ErrorCode::bad_data, "a data token is lost");
  }
  if (holds_power != std::popcount(held_power_) || (free_power_ & held_power_) != 0) {
    return fail(ErrorCode::bad_data, "a power token is lost, or two stations hold it");
  }
  if (!prior_ && std::popcount(free_power_ | held_power_) < units_) {
    return fail(ErrorCode::bad_data, "fewer power tokens than lasers are lit");
  }
  return {};
}

std::optional<Stuck> Photonic::stuck(Cycles patience) const {
  if (store_.inside() == 0 ||
      now_ - last_progress_ <= static_cast<std::int64_t>(patience.value())) {
    return std::nullopt;
  }
  return Stuck{Stuck::Kind::deadlock,
               fmt::format("no message has moved since cycle {}: {} packets are inside, {} lasers "
                           "are lit",
                           last_progress_, store_.inside(), units_)};
}

}  // namespace photonic

std::unique_ptr<Network> make_photonic(const NetworkConfig& config) {
  return std::make_unique<photonic::Photonic>(config);
}

}  // namespace ww::sim::net
