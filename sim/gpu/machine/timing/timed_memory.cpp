#include "machine/timing/timed_memory.hpp"

#include <algorithm>
#include <cstring>

#include "machine/memory/l1_policies.hpp"
#include "ww/sim/net/factory.hpp"

namespace ww::sim::gpu::timing {
namespace {
constexpr std::int64_t kWatchPeriod = 1 << 16;     // network cycles between looks for a deadlock
constexpr std::uint64_t kPatience = 200'000;       // without any movement
constexpr std::int64_t kMaxDraining = 10'000'000;  // network cycles, after a launch that failed

// The places of the compute units that work, in the engine's order.
std::vector<std::size_t> working_units(const Architecture& architecture) {
  std::vector<std::size_t> units;
  std::size_t place = 0;
  for (int engine = 0; engine < architecture.engines_of_all_dies(); ++engine) {
    for (int cu = 0; cu < architecture.cus_per_engine; ++cu, ++place) {
      if (cu < architecture.cus_of_engine(engine)) units.push_back(place);
    }
  }
  return units;
}
}  // namespace

TimedMemory::TimedMemory(const Chip& chip, exec::DeviceMemory& memory,
                         exec::DeferredObserver& observer, exec::HostArena& arena, System system,
                         Annotations& annotations)
    : architecture_(chip.architecture()),
      memory_(memory),
      config_(std::move(system.config)),
      energy_(std::move(system.energy)),
      network_(std::move(system.network)),
      annotations_(annotations),
      l2_(architecture_, arena),
      side_{.config = config_,
            .memory = memory,
            .observer = observer,
            .l2 = l2_,
            .flights = flights_,
            .network = *network_,
            .annotations = annotations,
            .core_nodes = config_.core_nodes,
            .stats = stats_,
            .counters = counters_,
            .lines_per_block = static_cast<std::uint32_t>(architecture_.channel_interleave_bytes /
                                                          architecture_.line_bytes),
            .channels = static_cast<std::uint32_t>(architecture_.l2_channels),
            .network_to_dram = ClockRatio(config_.network_clock_hz, config_.dram.clock_hz)},
      channels_(config_.network.memory_nodes.size()),
      clock_(core_clock_hz(architecture_), config_.network_clock_hz) {
  const auto network_nodes = static_cast<std::size_t>(net::node_count(config_.network));
  core_at_.assign(network_nodes, kNone);
  memory_at_.assign(network_nodes, kNone);
  nodes_.reserve(config_.network.memory_nodes.size());
  for (const net::NodeId node : config_.network.memory_nodes) {
    memory_at_[node] = static_cast<std::uint32_t>(nodes_.size());
    nodes_.emplace_back(side_, node, static_cast<std::uint16_t>(nodes_.size()),
                        config_.core_nodes.size());
  }
  const std::vector<std::size_t> units = working_units(architecture_);
  for (const net::NodeId node : config_.core_nodes) {
    core_at_[node] = static_cast<std::uint32_t>(cores_.size());
    Core& core = cores_.emplace_back();
    core.node = node;
    core.unit = units[cores_.size() - 1];
    core.sequence.resize(nodes_.size());
  }
  queued_.resize((cores_.size() + 63) / 64);
  report_.config = config_;
  if (config_.l1_policy == "coherent") {
    side_.directory = &directory_;
    const net::NetworkKind* kind = net::find_network(config_.network.network);
    side_.slices_invalidate = kind != nullptr && kind->only_to_memory;
  }
}

const exec::L1Policy& TimedMemory::l1_policy() const {
  if (side_.directory != nullptr) return exec::coherent_l1();
  return config_.line_bytes > static_cast<int>(exec::kLineBytes) ? exec::l1_of_wide_lines()
                                                                 : exec::l1_of_lines();
}

void TimedMemory::begin_launch(const exec::LaunchState& launch, Cus& cus) {
  error_.reset();
  const bool clean = network_->packets_inside() != 0 || under_way_ != 0;
  if (clean) {
    if (auto drained = drain(cus); !drained) error_ = drained.error();
  }
  flights_.clear();
  joined_.clear();
  under_way_ = 0;
  std::ranges::fill(queued_, 0U);
  mshr_waits_ = 0;
  stats_ = {};
  counters_ = {};
  for (MemoryNode& node : nodes_) node.begin_launch(clean);
  for (Core& core : cores_) {
    exec::ComputeUnit& cu = *cus[core.unit];
    core.queue.clear();
    core.reads = core.writes = 0;
    std::fill(core.sequence.begin(), core.sequence.end(), 0U);
    core.flight_of_slot.assign(cu.l1.slots(), kNone);
    if (config_.scalar_cache_bytes > 0) {
      if (!cu.scalar_cache) {
        cu.scalar_cache = std::make_unique<exec::L1Cache>(config_.scalar_cache_bytes,
                                                          exec::ComputeUnit::kScalarWays,
                                                          static_cast<int>(exec::kLineBytes));
      }
      cu.scalar_cache->invalidate_all();
      core.flight_of_scalar_slot.assign(cu.scalar_cache->slots(), kNone);
    }
    if (!annotations_.empty() && !cu.l1_data) {
      cu.l1_data = std::make_unique<exec::L1Data>(cu.l1.slots());
    }
  }
  l2_.begin_launch();
  base_ = static_cast<std::int64_t>(network_->now().value());
  next_watch_ = base_ + kWatchPeriod;
  last_completion_ = 0;
  approximable_loads_.assign(launch.code_dwords, false);
  begin_stats();
}

// Drops what a launch left in the network, except for packets that make copies invalid.
Status TimedMemory::drain(Cus& cus) {
  const auto until = static_cast<std::int64_t>(network_->now().value()) + kMaxDraining;
  while (network_->packets_inside() != 0) {
    if (static_cast<std::int64_t>(network_->now().value()) > until) {
      return fail(ErrorCode::device_error, "the network does not come to rest",
                  config_.network.network);
    }
    network_->tick();
    for (const net::Delivery& delivery : network_->deliveries()) {
      if (delivery.kind == net::PacketKind::coherence && (delivery.tag & kInvalidate) != 0) {
        WW_TRY(between_caches(cus, delivery));
      }
    }
  }
  return {};
}

void TimedMemory::commit(Cus& cus, std::span<const std::size_t>, std::int64_t, std::int64_t end,
                         exec::Workers&) {
  if (error_) return;
  for (std::uint32_t i = 0; i < cores_.size(); ++i) {
    exec::ComputeUnit& cu = *cus[cores_[i].unit];
    if (!cu.requests.empty()) take_requests(cu, i);
  }
  if (auto done = run_until(cus, end); !done) error_ = done.error();
  for (const Core& core : cores_) {
    // A miss that has waited long holds up the L1 until those behind it can have left.
    const auto& queue = core.queue;
    if (!queue.empty() && flights_[queue.front().flight].departure + config_.request_buffer < end) {
      const auto waiting = static_cast<std::int64_t>(queue.size());
      std::int64_t& l1_free = cus[core.unit]->l1_free;
      l1_free = std::max(l1_free, end + std::min<std::int64_t>(waiting, config_.fill_cycles));
    }
  }
  for (const auto& cu : cus) {
    stats_.l1_stores += std::exchange(cu->l1_stores, 0);
  }
  if (side_.changed || stats_.l1_stores > 0) {
    memory_.touch();
    side_.changed = false;
  }
}

// Takes requests that have yet to depart, too: what joins them must find them under way.
void TimedMemory::take_requests(exec::ComputeUnit& cu, std::uint32_t core) {
  for (exec::Request& request : cu.requests) {
    if (request.kind == exec::Request::Kind::merge ||
        request.kind == exec::Request::Kind::scalar_merge) {
      join(request, core);
    } else {
      take(request, core);
    }
  }
  cu.requests.clear();
}

void TimedMemory::join(const exec::Request& request, std::uint32_t core) {
  const bool scalar = request.kind == exec::Request::Kind::scalar_merge;
  stats_.l1_merged += scalar ? 0 : 1;
  const auto& filled_by = scalar ? cores_[core].flight_of_scalar_slot : cores_[core].flight_of_slot;
  Flight& flight = flights_[filled_by[request.l1_slot[0]]];
  const std::uint32_t index = joined_.take();
  joined_[index] = {request.operation, request.lanes, request.departure, request.line,
                    flight.joined};
  flight.joined = index;
}

void TimedMemory::take(exec::Request& request, std::uint32_t core_index) {
  Core& core = cores_[core_index];
  if (request.operation != nullptr) request.operation->unresolved += request.lines - 1U;
  std::uint64_t lanes_left = request.lanes;
  for (unsigned i = 0; i < request.lines; ++i) {
    // In a run of lines by scattered lanes each line has four, in order (L1Pass::covers_line).
    const std::uint64_t lanes = request.lines > 1 && lanes_left != 0
                                    ? std::uint64_t{15} << std::countr_zero(lanes_left)
                                    : lanes_left;
    if (request.lines > 1) lanes_left &= ~lanes;
    const std::uint32_t index = flights_.take();
    Flight& flight = flights_[index];
    flight.operation = request.operation;
    flight.lanes = lanes;
    flight.departure = request.departure + i;
    flight.line = request.line + i;
    flight.core = static_cast<std::uint16_t>(core_index);
    flight.memory = static_cast<std::uint16_t>(l2_.channel(flight.line));
    flight.l1_slot[0] = request.l1_slot[i];
    flight.l1_slot[1] = request.pair ? request.l1_slot[1] : kNone;
    flight.joined = kNone;
    flight.waits = 0;
    flight.brings_line = false;
    flight.wanted_data = 0;
    flight.kind = request.kind;
    flight.pair = request.pair;
    flight.fills = request.fills_l1;
    if (flight.fills) {
      auto& filled_by = flight.kind == exec::Request::Kind::scalar ? core.flight_of_scalar_slot
                                                                   : core.flight_of_slot;
      for (const std::uint32_t slot : flight.l1_slot) {
        if (slot != kNone) filled_by[slot] = index;
      }
    }
    core.queue.push({base_ + clock_.forth(flight.departure), index, flight.kind});
    queued_[core_index / 64] |= std::uint64_t{1} << (core_index % 64);
    ++under_way_;
  }
}

Status TimedMemory::run_until(Cus& cus, std::int64_t end) {
  const std::int64_t network_end = base_ + clock_.forth(end);
  auto now = static_cast<std::int64_t>(network_->now().value());
  while (now < network_end) {
    side_.observer_cycle = clock_.back(now - base_);
    WW_ASSIGN(any, send(now));
    for (MemoryNode& node : nodes_) {
      WW_ASSIGN(did, node.step(now));
      any = any || did;
    }
    under_way_ -= std::exchange(side_.finished, 0);
    std::int64_t until = now + 1;
    if (!any) {
      const auto event = network_->next_event();
      until = event ? static_cast<std::int64_t>(event->value()) : network_end;
      until = std::min({until, earliest(now), network_end});
    }
    if (!any && until > now) {
      network_->skip_to(Cycles{static_cast<std::uint64_t>(until)});
    } else {
      network_->tick();
      for (const net::Delivery& delivery : network_->deliveries()) {
        WW_TRY(deliver(cus, delivery));
      }
    }
    const auto then = static_cast<std::int64_t>(network_->now().value());
    count_cycles(static_cast<std::uint64_t>(then - now));
    now = then;
    if (now >= next_watch_) WW_TRY(watch());
  }
  return {};
}

void TimedMemory::count_cycles(std::uint64_t cycles) {
  stats_.mshr_full_cycles += cycles * mshr_waits_;
  for (const MemoryNode& node : nodes_) {
    sums_.occupancy += cycles * node.buffered();
    if (node.output_full()) stats_.output_full_cycles += cycles;
  }
}

Status TimedMemory::watch() {
  next_watch_ = static_cast<std::int64_t>(network_->now().value()) + kWatchPeriod;
  const auto why = network_->stuck(Cycles{kPatience});
  if (!why || why->kind == net::Stuck::Kind::starvation) return {};
  return fail(ErrorCode::device_error, why->text, "network " + config_.network.network);
}

// Each core may send one request a cycle.
Result<bool> TimedMemory::send(std::int64_t now) {
  bool any = false;
  Status failure;
  mshr_waits_ = 0;
  for_each_queued([&](std::size_t number) {
    Core& core = cores_[number];
    const Unsent first = core.queue.front();
    if (first.ready > now || !failure) return;
    if (!has_mshr(core, first)) {
      ++mshr_waits_;
      return;
    }
    if (!has_room(core)) return;
    failure = send_request(core, first.flight);
    if (first.kind != exec::Request::Kind::write_back) {
      ++(first.is_read() ? core.reads : core.writes);
    }
    core.queue.pop();
    if (core.queue.empty()) {
      queued_[number / 64] &= ~(std::uint64_t{1} << (number % 64));
    } else {
      __builtin_prefetch(&flights_[core.queue.front().flight], 1);
    }
    any = true;
  });
  WW_TRY(failure);
  return any;
}

bool TimedMemory::has_mshr(const Core& core, const Unsent& first) const {
  if (first.kind == exec::Request::Kind::write_back) return true;  // nobody waits for it
  return first.is_read() ? core.reads < config_.mshrs : core.writes < config_.writes;
}

bool TimedMemory::has_room(const Core& core) const {
  return static_cast<int>(network_->source_queue(core.node, 0)) < config_.request_buffer;
}

Status TimedMemory::send_request(Core& core, std::uint32_t index) {
  Flight& flight = flights_[index];
  flight.sequence = core.sequence[flight.memory]++;
  const bool is_read = flight.is_read();
  const bool is_write = flight.kind == exec::Request::Kind::write;
  if (flight.kind == exec::Request::Kind::write_back) {
    return send_coherence(side_, core.node, config_.network.memory_nodes[flight.memory], 0,
                          flight.line, index, true, stats_.write_backs);
  }
  const auto header = static_cast<std::size_t>(config_.header_bytes);
  net::Packet packet;
  packet.kind = is_read    ? net::PacketKind::read_request
                : is_write ? net::PacketKind::write_request
                           : net::PacketKind::atomic_request;
  payload_.resize(header + exec::kMaxAtomicBytes);
  write_header(payload_.data(), header, exec::line_address(flight.line), packet.kind);
  std::size_t size = header;
  if (is_write) {
    size += exec::stored_bytes(*flight.operation, flight.line, flight.lanes, memory_,
                               payload_.data() + header);
  } else if (!is_read) {
    size += exec::atomic_operands(*flight.operation, flight.lanes, payload_.data() + header);
  }
  const net::NodeId to = config_.network.memory_nodes[flight.memory];
  const std::size_t flit = flit_bytes(config_, config_.request_flit_bits);
  packet.source = core.node;
  packet.destinations = {&to, 1};
  packet.flits = static_cast<std::uint16_t>((size + flit - 1) / flit);
  packet.tag = index;
  packet.created = network_->now();
  packet.payload = {payload_.data(), size};
  packet.approximable.first_byte = static_cast<std::uint16_t>(header);
  PacketCount& count = is_read    ? stats_.read_requests
                       : is_write ? stats_.write_requests
                                  : stats_.atomic_requests;
  ++count.packets;
  count.flits += packet.flits;
  return network_->inject(packet);
}

Status TimedMemory::deliver(Cus& cus, const net::Delivery& delivery) {
  const auto index = static_cast<std::uint32_t>(delivery.tag);
  const std::uint64_t latency = delivery.arrived.value() - delivery.created.value();
  const std::uint64_t transit = delivery.arrived.value() - delivery.injected.value();
  switch (delivery.kind) {
    case net::PacketKind::read_request:
    case net::PacketKind::write_request:
    case net::PacketKind::atomic_request:
      sums_.requests.add(latency);
      sums_.request_transit += transit;
      nodes_[memory_at_[delivery.destination]].arrived(
          index, static_cast<std::int64_t>(network_->now().value()));
      return {};
    case net::PacketKind::coherence: return between_caches(cus, delivery);
    default: break;
  }
  sums_.replies.add(latency);
  sums_.reply_transit += transit;
  return reply(unit_at(cus, delivery.destination), cores_[core_at_[delivery.destination]], index,
               delivery);
}

// Loads that joined a flight get their bytes from `bytes_of(line)`; null: they have them.
template <class BytesOf>
void TimedMemory::answer_joined(exec::ComputeUnit& cu, Flight& flight, std::int64_t completion,
                                const BytesOf& bytes_of) {
  for (std::uint32_t at = flight.joined; at != kNone;) {
    const Joined joined = joined_[at];
    std::int64_t then = completion;
    if (const std::byte* const bytes = bytes_of(joined.line)) {
      if (flight.approximable) approximable_loads_[joined.operation->instruction] = true;
      exec::load_delivered(*joined.operation, joined.line, joined.lanes, memory_, bytes);
      then = std::max(completion, joined.departure + architecture_.l1_hit_cycles);
    }
    last_completion_ = std::max(last_completion_, then);
    cu.answered(*joined.operation, then);
    joined_.give_back(at);
    at = joined.next;
  }
}

// A line written back, asked for or given back, or a copy that is no longer valid.
Status TimedMemory::between_caches(Cus& cus, const net::Delivery& delivery) {
  const auto low = static_cast<std::uint32_t>(delivery.tag);
  if ((delivery.tag & kInvalidate) != 0) {
    unit_at(cus, delivery.destination).l1.invalidate(low);
    return {};
  }
  if ((delivery.tag & kRecall) != 0) {
    const Flight& flight = flights_[low];
    unit_at(cus, delivery.destination).l1.share(flight.line);
    return send_coherence(side_, delivery.destination, delivery.source, 0, flight.line,
                          kRecalled | low, true, stats_.recalls);
  }
  MemoryNode& node = nodes_[memory_at_[delivery.destination]];
  if ((delivery.tag & kRecalled) != 0) {
    node.recalled(low);
  } else {
    node.arrived(low, static_cast<std::int64_t>(network_->now().value()));
  }
  return {};
}

Status TimedMemory::reply(exec::ComputeUnit& cu, Core& core, std::uint32_t index,
                          const net::Delivery& delivery) {
  Flight& flight = flights_[index];
  if (flight.in_data()) {
    WW_ASSIGN(complete, take_datum(flight, delivery));
    if (!complete) return {};
  }
  const std::int64_t completion =
      clock_.back(static_cast<std::int64_t>(network_->now().value()) - base_) + config_.fill_cycles;
  last_completion_ = std::max(last_completion_, completion);
  if (flight.is_read()) {
    --core.reads;
    sums_.round_trip += static_cast<std::uint64_t>(completion - flight.departure);
    ++sums_.round_trips;
    WW_TRY(read_reply(cu, core, index, flight, delivery, completion));
  } else {
    --core.writes;
    cu.answered(*flight.operation, completion);
    if (flight.fills) {
      fill_l1(cu, core, index, flight.l1_slot[0], flight.line, nullptr, true, completion);
      if (cu.l1.holds(flight.l1_slot[0], flight.line) &&
          directory_.owns(flight.line, flight.core)) {
        cu.l1.own(flight.l1_slot[0]);
      }
      answer_joined(cu, flight, completion,
                    [&](std::uint32_t line) { return memory_.host(exec::line_address(line)); });
    }
    if (!side_.slices_invalidate) WW_TRY(invalidate_others(side_, core.node, 0, flight));
  }
  flights_.give_back(index);
  --under_way_;
  return {};
}

// One datum of a reply. True when the reply is complete.
Result<bool> TimedMemory::take_datum(Flight& flight, const net::Delivery& delivery) {
  const auto header = static_cast<std::size_t>(config_.header_bytes);
  const auto datum = static_cast<std::size_t>(delivery.tag >> 32);
  if (delivery.payload.size() < header + kDatumBytes) {
    return fail(ErrorCode::device_error, "the network delivered a reply without its datum",
                config_.network.network);
  }
  Cargo& cargo = flights_.cargo(flight);
  if (cargo.arrived_data == 0) {
    std::memcpy(cargo.delivered.data(), cargo.data.data(), cargo.delivered.size());
  }
  const std::byte* const bytes = delivery.payload.data() + header;
  std::byte* const place = cargo.delivered.data() + datum * kDatumBytes;
  if (std::memcmp(place, bytes, kDatumBytes) != 0) ++stats_.changed_replies;
  std::memcpy(place, bytes, kDatumBytes);
  cargo.arrived_data = static_cast<std::uint8_t>(cargo.arrived_data | 1U << datum);
  return cargo.arrived_data == flight.wanted_data;
}

Status TimedMemory::read_reply(exec::ComputeUnit& cu, Core& core, std::uint32_t index,
                               Flight& flight, const net::Delivery& delivery,
                               std::int64_t completion) {
  const auto header = static_cast<std::size_t>(config_.header_bytes);
  if (!flight.in_data() && delivery.payload.size() < header + flight.bytes()) {
    return fail(ErrorCode::device_error, "the network delivered a reply without its line",
                config_.network.network);
  }
  const bool scalar = flight.kind == exec::Request::Kind::scalar;
  const Cargo& cargo = flights_.cargo(flight);
  const std::byte* const data =
      flight.in_data() ? cargo.delivered.data() : delivery.payload.data() + header;
  const auto bytes_of = [&](std::uint32_t line) {
    return data + (line - flight.first_line()) * exec::kLineBytes;
  };
  if (scalar) {  // its registers have memory's bytes
    fill_scalar(cu, core, index, flight, completion);
  } else {
    bool all_exact = true;
    for (std::uint32_t i = 0; i < flight.lines(); ++i) {
      const std::uint32_t line = flight.line ^ i;
      const std::size_t at = (line - flight.first_line()) * exec::kLineBytes;
      const bool exact = std::memcmp(data + at, &cargo.data[at], exec::kLineBytes) == 0;
      all_exact = all_exact && exact;
      if (flight.fills) {
        fill_l1(cu, core, index, flight.l1_slot[i], line, data + at, exact, completion);
      }
    }
    if (!all_exact && !flight.in_data()) ++stats_.changed_replies;
    if (flight.approximable) approximable_loads_[flight.operation->instruction] = true;
    exec::load_delivered(*flight.operation, flight.line, flight.lanes, memory_,
                         bytes_of(flight.line));
  }
  cu.answered(*flight.operation, completion);
  if (scalar) {
    answer_joined(cu, flight, completion,
                  [](std::uint32_t) -> const std::byte* { return nullptr; });
  } else {
    answer_joined(cu, flight, completion, bytes_of);
  }
  return {};
}

void TimedMemory::fill_l1(exec::ComputeUnit& cu, Core& core, std::uint32_t index,
                          std::uint32_t slot, std::uint32_t line, const std::byte* data, bool exact,
                          std::int64_t completion) {
  // The slot may wait for another line by now, or for this one anew.
  if (slot == kNone || core.flight_of_slot[slot] != index) return;
  core.flight_of_slot[slot] = kNone;
  if (!cu.l1.holds(slot, line)) return;
  cu.l1.filled(slot, line, flights_[index].departure, completion);
  if (!exact) {
    if (!cu.l1_data) cu.l1_data = std::make_unique<exec::L1Data>(cu.l1.slots());
    cu.l1_data->keep(slot, data);
  } else if (cu.l1_data) {
    cu.l1_data->as_memory(slot);
  }
}

void TimedMemory::fill_scalar(exec::ComputeUnit& cu, Core& core, std::uint32_t index,
                              const Flight& flight, std::int64_t completion) {
  const std::uint32_t slot = flight.l1_slot[0];
  if (core.flight_of_scalar_slot[slot] != index) return;
  core.flight_of_scalar_slot[slot] = kNone;
  cu.scalar_cache->filled(slot, flight.line, flight.departure, completion);
}

std::int64_t TimedMemory::earliest(std::int64_t now) const {
  std::int64_t next = exec::kNever;
  for_each_queued([&](std::size_t number) {
    const Core& core = cores_[number];
    const Unsent& first = core.queue.front();
    // Looks at what has arrived since the last look: this may be the end of a quantum.
    if (!has_mshr(core, first)) return;
    if (first.ready > now || has_room(core)) next = std::min(next, std::max(first.ready, now));
  });
  for (const MemoryNode& node : nodes_) {
    if (!node.idle()) next = std::min(next, node.next_event(now));
  }
  return next;
}

std::int64_t TimedMemory::next_event() const {
  if (under_way_ == 0) return exec::kNever;
  const auto now = static_cast<std::int64_t>(network_->now().value());
  std::int64_t next = earliest(now);
  if (const auto event = network_->next_event()) {
    next = std::min(next, static_cast<std::int64_t>(event->value()));
  }
  return next == exec::kNever ? next : clock_.back(std::max(next, now) - base_);
}

}  // namespace ww::sim::gpu::timing
