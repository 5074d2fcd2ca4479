#include "machine/timing/memory_node.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace ww::sim::gpu::timing {
namespace {

constexpr std::size_t kRepliesAhead = 8;  // that the L2 makes while the output buffer is full

std::uint64_t half_lines(std::uint64_t bytes) {
  return ((bytes & 0xFFFFFFFFU) != 0 ? 1U : 0U) + ((bytes >> 32) != 0 ? 1U : 0U);
}

}  // namespace

MemoryNode::MemoryNode(MemorySide& side, net::NodeId node, std::uint16_t channel, std::size_t cores)
    : side_(side),
      node_(node),
      channel_(channel),
      reply_class_(side.config.network.classes > 1 ? std::uint8_t{1} : std::uint8_t{0}),
      flit_bytes_(flit_bytes(side.config, side.config.reply_flit_bits)),
      reply_data_(side.config.reply_data == "each"    ? ReplyData::each
                  : side.config.reply_data == "first" ? ReplyData::first
                                                      : ReplyData::line),
      dram_(side.config.dram),
      expected_(cores),
      bank_free_(static_cast<std::size_t>(side.config.l2_banks)) {}

void MemoryNode::begin_launch(bool clean) {
  if (clean) dram_.forget_commands();
  std::fill(expected_.begin(), expected_.end(), 0U);
  early_.clear();
  delayed_.clear();
  input_.clear();
  pipeline_.clear();
  returns_.clear();
  fills_.clear();
  replies_.clear();
  recalls_.clear();
  inside_ = 0;
  activity_ = {};
}

std::uint32_t MemoryNode::local_line(std::uint32_t line) const {
  const std::uint32_t block = line / side_.lines_per_block;
  return block / side_.channels * side_.lines_per_block + line % side_.lines_per_block;
}

void MemoryNode::arrived(std::uint32_t index, std::int64_t now) {
  ++inside_;
  if (side_.config.request_cycles > 0) {
    delayed_.push({now + side_.config.request_cycles, index});
  } else {
    enter(index);
  }
}

void MemoryNode::enter(std::uint32_t index) {
  const Flight& flight = side_.flights[index];
  // The line will be read or written some cycles later, and is hardly ever in the host's caches.
  __builtin_prefetch(side_.memory.host(exec::line_address(flight.line)));
  const std::uint32_t core = flight.core;
  if (flight.sequence != expected_[core]) {
    early_.push_back({core, index});
    return;
  }
  input_.push(index);
  ++expected_[core];
  for (std::size_t i = 0; i < early_.size();) {
    const std::uint32_t other = early_[i].flight;
    if (early_[i].core != core || side_.flights[other].sequence != expected_[core]) {
      ++i;
      continue;
    }
    input_.push(other);
    ++expected_[core];
    early_.erase(early_.begin() + static_cast<std::ptrdiff_t>(i));
    i = 0;
  }
}

// Fills whose data has come give their replies free.
void MemoryNode::take_from_memory(std::int64_t now) {
  const ClockRatio& clock = side_.network_to_dram;
  dram_.run(clock.forth(now + 1));
  for (const Dram::Done& done : dram_.done()) {
    const std::int64_t there = std::max(clock.back(done.cycle), now);
    returns_.push({there + side_.config.l2_cycles + side_.config.dram.return_cycles, done.tag});
  }
  dram_.done().clear();
}

Result<bool> MemoryNode::step(std::int64_t now) {
  output_full_ = false;
  if (idle()) return false;
  take_from_memory(now);
  bool any = false;
  for (; !delayed_.empty() && delayed_.front().cycle <= now; delayed_.pop()) {
    enter(delayed_.front().index);
    any = true;
  }
  for (; !returns_.empty() && returns_.front().cycle <= now; returns_.pop()) {
    const std::uint32_t fill = returns_.front().index;
    for (std::uint32_t waiter = fills_[fill].first; waiter != kNone;) {
      Flight& flight = side_.flights[waiter / 2];
      if (--flight.waits == 0) {
        replies_.push(waiter / 2);
        side_.flights.expect_cargo(flight);
      }
      waiter = flight.next[waiter % 2];
    }
    fills_.erase(fill);
    any = true;
  }
  for (const auto& [owner, index] : recalls_) {
    WW_TRY(send_coherence(side_, node_, side_.core_nodes[owner], reply_class_,
                          side_.flights[index].line, kRecall | index, false, side_.stats.recalls));
    any = true;
  }
  recalls_.clear();
  for (; !pipeline_.empty() && pipeline_.front().cycle <= now; pipeline_.pop()) {
    replies_.push(pipeline_.front().index);
    any = true;
  }
  if (!replies_.empty()) {
    if (static_cast<int>(buffered()) < side_.config.output_buffer) {
      WW_TRY(send(replies_.front()));
      const Flight& sent = side_.flights[replies_.front()];
      if (!sent.in_data() || side_.flights.cargo(sent).sent_data == sent.wanted_data) {
        replies_.pop();
        if (!replies_.empty()) __builtin_prefetch(&side_.flights[replies_.front()], 1);
        --inside_;
      }
      any = true;
    } else {
      output_full_ = true;
    }
  }
  return serve(now) || any;
}

std::int64_t MemoryNode::next_event(std::int64_t now) const {
  std::int64_t next = exec::kNever;
  if (!recalls_.empty()) next = now;
  if (!delayed_.empty()) next = std::min(next, delayed_.front().cycle);
  if (!pipeline_.empty()) next = std::min(next, pipeline_.front().cycle);
  if (!returns_.empty()) next = std::min(next, returns_.front().cycle);
  const std::int64_t memory = dram_.next_event();
  if (memory != exec::kNever) next = std::min(next, side_.network_to_dram.back(memory));
  if (!replies_.empty() && static_cast<int>(buffered()) < side_.config.output_buffer) next = now;
  if (!input_.empty() && replies_.size() < kRepliesAhead && memory_has_room()) {
    next = std::min(next, bank_free_[bank_of(side_.flights[input_.front()].line)]);
  }
  return next == exec::kNever ? next : std::max(next, now);
}

bool MemoryNode::serve(std::int64_t now) {
  if (input_.empty() || replies_.size() >= kRepliesAhead || !memory_has_room()) return false;
  const std::uint32_t index = input_.front();
  Flight& flight = side_.flights[index];
  std::int64_t& bank = bank_free_[bank_of(flight.line)];
  if (bank > now) return false;
  bank = now + side_.config.l2_bank_cycles;
  input_.pop();
  activity_.accesses += flight.lines();
  side_.stats.l2_accesses += flight.lines();
  switch (flight.kind) {
    case exec::Request::Kind::read:
    case exec::Request::Kind::scalar: read(flight, index, now); break;
    case exec::Request::Kind::write: write(flight, index, now); break;
    case exec::Request::Kind::write_back: write_back(flight, index); break;
    default: atomic(flight, index, now); break;
  }
  return true;
}

void MemoryNode::read(Flight& flight, std::uint32_t index, std::int64_t now) {
  side_.counters.reads += flight.lines();
  const std::uint32_t first = flight.first_line();
  std::memcpy(side_.flights.load(flight).data.data(), side_.memory.host(exec::line_address(first)),
              flight.bytes());
  if (flight.kind == exec::Request::Kind::read && reply_data_ != ReplyData::line) {
    flight.wanted_data = reply_data_ == ReplyData::each ? std::uint8_t{0xFF} : first_datum(flight);
  }
  // The lines of a pair lie in two banks; where there is one, it takes them one after the other.
  for (std::uint32_t line = first; line < first + flight.lines(); ++line) {
    if (line != flight.line) {
      std::int64_t& bank = bank_free_[bank_of(line)];
      bank = std::max(bank, now) + side_.config.l2_bank_cycles;
    }
    look_up(side_.l2.read(line), line, index);
  }
  if (side_.directory != nullptr && flight.fills && flight.kind == exec::Request::Kind::read) {
    const std::uint32_t owner = side_.directory->read(flight.line, flight.core);
    if (owner != Directory::kNobody) {
      recalls_.emplace_back(owner, index);
      ++flight.waits;
    }
  }
  reply_to(index, now);
}

// The datum of the lowest byte of the line that the load asks for, by bit.
std::uint8_t MemoryNode::first_datum(const Flight& flight) const {
  const std::byte* const line = side_.memory.host(exec::line_address(flight.line));
  std::ptrdiff_t lowest = static_cast<std::ptrdiff_t>(exec::kLineBytes) - 1;
  exec::for_bytes_in_lines(*flight.operation, flight.line, 1, flight.lanes, side_.memory,
                           [&](const std::byte*, const std::byte* host, std::uint64_t) {
                             lowest = std::min(lowest, host - line);
                           });
  return static_cast<std::uint8_t>(1U << (static_cast<std::size_t>(lowest) / kDatumBytes));
}

// Notes whose copies the flight makes invalid.
void MemoryNode::note_others(Flight& flight, bool keeps) {
  Directory::Cores others = side_.directory->write(flight.line, flight.core, keeps);
  if (!others.empty()) side_.flights.load(flight).others = std::move(others);
}

void MemoryNode::write(Flight& flight, std::uint32_t index, std::int64_t now) {
  ++side_.counters.writes;
  const exec::LineUpdate update =
      exec::store_line(*flight.operation, flight.line, flight.lanes, side_.memory);
  side_.changed |= update.changed;
  if (side_.directory != nullptr) {
    note_others(flight, flight.fills);
    flight.brings_line = flight.fills && update.written != exec::kWholeLine;
  }
  if (flight.brings_line) {  // the rest of the line has to be there for the L1
    std::memcpy(side_.flights.load(flight).data.data(),
                side_.memory.host(exec::line_address(flight.line)), exec::kLineBytes);
    look_up(side_.l2.read(flight.line), flight.line, index);
    side_.l2.write(flight.line, update.written);
    reply_to(index, now);
    return;
  }
  const exec::L2Tags::Access access = side_.l2.write(flight.line, update.written);
  // A write needs no data from memory, and what it finds on its way it need not wait for.
  account(access);
  pipeline_.push({now + side_.config.l2_cycles, index});
}

// Memory has the bytes already: stores that stay in an L1 change it at once, and only their time
// and their packets come later.
void MemoryNode::write_back(Flight& flight, std::uint32_t index) {
  side_.directory->written_back(flight.line, flight.core);
  account(side_.l2.write(flight.line, exec::kWholeLine));
  side_.flights.give_back(index);
  ++side_.finished;
  --inside_;
}

void MemoryNode::recalled(std::uint32_t index) {
  Flight& flight = side_.flights[index];
  account(side_.l2.write(flight.line, exec::kWholeLine));
  if (--flight.waits == 0) replies_.push(index);
}

void MemoryNode::atomic(Flight& flight, std::uint32_t index, std::int64_t now) {
  ++side_.counters.atomics;
  look_up(side_.l2.read(flight.line), flight.line, index);
  const exec::AtomicUpdate update =
      exec::update_line(*flight.operation, flight.lanes, side_.memory);
  side_.changed |= update.line.changed;
  side_.l2.write(flight.line, update.line.written);
  if (side_.directory != nullptr) note_others(flight, false);
  // The slice's atomic unit takes 16 lanes a cycle.
  bank_free_[bank_of(flight.line)] += (update.served - 1) / 16;
  reply_to(index, now);
}

void MemoryNode::look_up(const exec::L2Tags::Access& access, std::uint32_t line,
                         std::uint32_t index) {
  Flight& flight = side_.flights[index];
  const std::uint32_t half = flight.pair ? line & 1U : 0U;
  const std::uint32_t waiter = 2 * index + half;
  flight.next[half] = kNone;
  Fill* const fill = fills_.find(line);
  account(access);
  if (fill != nullptr) {  // joins what is on its way
    ++side_.stats.l2_merged;
    side_.flights[fill->last / 2].next[fill->last % 2] = waiter;
    fill->last = waiter;
    ++flight.waits;
    return;
  }
  if (!access.fill) return;
  side_.counters.memory_read_halves += 2;
  side_.observer.memory(
      {side_.observer_cycle, channel_, false, side_.memory.host(exec::line_address(line))});
  dram_.push({local_line(line), fills_.add(line, waiter), false});
  ++flight.waits;
}

void MemoryNode::reply_to(std::uint32_t index, std::int64_t now) {
  if (side_.flights[index].waits == 0) pipeline_.push({now + side_.config.l2_cycles, index});
}

void MemoryNode::account(const exec::L2Tags::Access& access) {
  if (access.hit) {
    ++activity_.hits;
    ++side_.counters.hits;
    ++side_.stats.l2_hits;
  } else {
    ++activity_.misses;
    ++side_.counters.misses;
  }
  if (!access.writeback) return;
  ++activity_.writebacks;
  side_.counters.memory_write_halves += half_lines(access.victim_dirty);
  ++side_.counters.memory_writes;
  side_.observer.memory(
      {side_.observer_cycle, channel_, true, side_.memory.host(exec::line_address(access.victim))});
  dram_.push({local_line(access.victim), kNone, true});
}

// Returns the declaration that covers all of a read's reply; null where there is none.
const Annotation* MemoryNode::annotation_of(const Flight& flight) const {
  const Annotation* first = side_.annotations.find(exec::line_address(flight.first_line()));
  if (first == nullptr || !flight.pair) return first;
  const Annotation* second = side_.annotations.find(exec::line_address(flight.first_line() + 1));
  return second != nullptr && second->type == first->type && second->threshold == first->threshold
             ? first
             : nullptr;
}

Status MemoryNode::send(std::uint32_t index) {
  Flight& flight = side_.flights[index];
  const bool is_read = flight.is_read();
  const bool is_write = flight.kind == exec::Request::Kind::write;
  const net::NodeId to = side_.core_nodes[flight.core];
  const auto header = static_cast<std::size_t>(side_.config.header_bytes);
  const auto kind = is_read    ? net::PacketKind::read_reply
                    : is_write ? net::PacketKind::write_reply
                               : net::PacketKind::atomic_reply;
  payload_.resize(header + exec::kMaxAtomicBytes);
  write_header(payload_.data(), header, exec::line_address(flight.line), kind);
  std::size_t size = header;
  std::uint64_t tag = index;
  Cargo* const cargo = flight.cargo != kNone ? &side_.flights.cargo(flight) : nullptr;
  if (flight.in_data()) {
    const auto datum = static_cast<std::size_t>(
        std::countr_zero(static_cast<unsigned>(flight.wanted_data & ~cargo->sent_data)));
    const std::size_t at = datum * kDatumBytes;
    write_header(payload_.data(), header, exec::line_address(flight.line) + at, kind);
    std::memcpy(payload_.data() + header, &cargo->data[at], kDatumBytes);
    size += kDatumBytes;
    tag |= std::uint64_t{datum} << 32;
    cargo->sent_data = static_cast<std::uint8_t>(cargo->sent_data | 1U << datum);
  } else if (is_read) {
    std::memcpy(payload_.data() + header, cargo->data.data(), flight.bytes());
    size += flight.bytes();
  } else if (flight.brings_line) {
    std::memcpy(payload_.data() + header, cargo->data.data(), exec::kLineBytes);
    size += exec::kLineBytes;
  } else if (flight.operation->kind == exec::MemoryKind::atomic_return) {
    size += exec::old_values(*flight.operation, flight.lanes, payload_.data() + header);
  }
  net::Packet packet;
  packet.source = node_;
  packet.destinations = {&to, 1};
  packet.flits = static_cast<std::uint16_t>((size + flit_bytes_ - 1) / flit_bytes_);
  packet.message_class = reply_class_;
  packet.kind = kind;
  packet.tag = tag;
  packet.created = side_.network.now();
  packet.payload = {payload_.data(), size};
  packet.approximable.first_byte = static_cast<std::uint16_t>(header);
  flight.approximable = false;
  if (flight.kind == exec::Request::Kind::read) {
    if (const Annotation* annotation = annotation_of(flight)) {
      flight.approximable = true;
      packet.approximable.type = annotation->type;
      packet.approximable.threshold = annotation->threshold >= 0
                                          ? static_cast<double>(annotation->threshold)
                                          : side_.config.default_threshold;
      ++side_.stats.approximable_replies;
    }
  }
  PacketCount& count = is_read    ? side_.stats.read_replies
                       : is_write ? side_.stats.write_replies
                                  : side_.stats.atomic_replies;
  ++count.packets;
  count.flits += packet.flits;
  WW_TRY(side_.network.inject(packet));
  if (side_.slices_invalidate) WW_TRY(invalidate_others(side_, node_, reply_class_, flight));
  return {};
}

Status send_coherence(MemorySide& side, net::NodeId from, net::NodeId to,
                      std::uint8_t message_class, std::uint32_t line, std::uint64_t tag,
                      bool with_line, PacketCount& count) {
  const auto header = static_cast<std::size_t>(side.config.header_bytes);
  std::vector<std::byte> payload(header + (with_line ? exec::kLineBytes : 0));
  write_header(payload.data(), header, exec::line_address(line), net::PacketKind::coherence);
  if (with_line) {
    std::memcpy(payload.data() + header, side.memory.host(exec::line_address(line)),
                exec::kLineBytes);
  }
  const std::size_t flit = flit_bytes(side.config, 0);
  net::Packet packet;
  packet.source = from;
  packet.destinations = {&to, 1};
  packet.flits = static_cast<std::uint16_t>((payload.size() + flit - 1) / flit);
  packet.message_class = message_class;
  packet.kind = net::PacketKind::coherence;
  packet.tag = tag;
  packet.created = side.network.now();
  packet.payload = payload;
  packet.approximable.first_byte = static_cast<std::uint16_t>(header);
  ++count.packets;
  count.flits += packet.flits;
  return side.network.inject(packet);
}

Status invalidate_others(MemorySide& side, net::NodeId from, std::uint8_t message_class,
                         const Flight& flight) {
  if (flight.cargo == kNone) return {};
  std::vector<std::uint32_t>& others = side.flights.cargo(flight).others;
  if (others.empty()) return {};
  std::vector<net::NodeId> to;
  to.reserve(others.size());
  for (const std::uint32_t core : others) to.push_back(side.core_nodes[core]);
  others.clear();
  const auto header = static_cast<std::size_t>(side.config.header_bytes);
  std::vector<std::byte> payload(header);
  write_header(payload.data(), header, exec::line_address(flight.line), net::PacketKind::coherence);
  net::Packet packet;
  packet.source = from;
  packet.destinations = to;
  packet.flits = static_cast<std::uint16_t>((header + flit_bytes(side.config, 0) - 1) /
                                            flit_bytes(side.config, 0));
  packet.message_class = message_class;
  packet.kind = net::PacketKind::coherence;
  packet.tag = kInvalidate | flight.line;
  packet.created = side.network.now();
  packet.payload = payload;
  packet.approximable.first_byte = static_cast<std::uint16_t>(header);
  side.stats.invalidations.packets += to.size();
  side.stats.invalidations.flits += to.size() * packet.flits;
  return side.network.inject(packet);
}

}  // namespace ww::sim::gpu::timing
