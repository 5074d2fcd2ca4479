#include "machine/memory/memory_system.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

#include "fast/host/host_cache.hpp"
#include "machine/compute_unit/line_update.hpp"
#include "machine/compute_unit/memory_operation.hpp"
#include "machine/isa/lane_table.hpp"

namespace ww::sim::gpu::exec {
namespace {
constexpr std::int64_t kFraction = 1024;  // of a cycle, for the memory channels

std::uint64_t halves_of(std::uint64_t bytes) {
  return ((bytes & 0xFFFFFFFFU) != 0 ? 1U : 0U) + ((bytes >> 32) != 0 ? 1U : 0U);
}
}  // namespace

MemorySystem::MemorySystem(const Chip& chip, DeviceMemory& memory, DeferredObserver& observer,
                           HostArena& arena, int die, BehindL2* behind)
    : architecture_(chip.architecture()),
      memory_(memory),
      observer_(observer),
      die_(die),
      cached_(behind == nullptr && architecture_.infinity_cache_bytes != 0
                  ? std::make_unique<CachedMemory>(architecture_)
                  : nullptr),
      behind_(cached_ != nullptr ? cached_.get() : behind),
      gl1_(architecture_),
      l2_(architecture_, arena),
      channel_count_(static_cast<std::uint32_t>(architecture_.l2_channels)),
      arrivals_(ArenaAllocator<Arrival>(arena)),
      sorted_(ArenaAllocator<Arrival>(arena)),
      bucket_(Bucket(arena)) {
  const std::int64_t channel_bytes = architecture_.bytes_per_clock_per_channel;
  cycles_per_line_ = architecture_.line_bytes / channel_bytes;
  for (std::size_t lines = 0; lines < busy_.size(); ++lines) {
    busy_[lines] =
        std::max<std::int64_t>(1, static_cast<std::int64_t>(lines) * kLine / channel_bytes);
  }
  pairs_of_lines_ = architecture_.l2_fetch_bytes > architecture_.line_bytes;
  asks_for_pairs_ = architecture_.l1_line_bytes > architecture_.line_bytes;
  tags_pairs_ = architecture_.l2_line_bytes > architecture_.line_bytes;
  reads_plainly_ = !asks_for_pairs_ && !gl1_.any();
  std::int64_t nearest = 0;
  bool first = true;
  for (int engine = 0; engine < architecture_.shader_engines; ++engine) {
    for (int cu = 0; cu < architecture_.cus_per_engine; ++cu) {
      place_.push_back({static_cast<std::uint16_t>(die * architecture_.shader_engines + engine),
                        static_cast<std::uint16_t>(cu)});
      for (int channel = 0; channel < architecture_.l2_channels; ++channel) {
        const std::int64_t cycles = chip.crossbar_cycles(engine, cu, channel);
        flight_.push_back(cycles);
        nearest = first ? cycles : std::min(nearest, cycles);
        first = false;
      }
    }
  }
  const int soonest = architecture_.scalar_cache_bytes == 0
                          ? architecture_.l2_hit_cycles
                          : std::min(architecture_.l2_hit_cycles, architecture_.scalar_miss_cycles);
  smallest_latency_ = std::max<std::int64_t>(1, nearest + soonest);
  if (gl1_.any()) {
    smallest_latency_ = std::min<std::int64_t>(smallest_latency_, architecture_.gl1_hit_cycles);
  }
  // Behind a die's L2 stands the port to its I/O die, as wide as a slice of the Infinity Cache, or
  // such a slice; or memory.
  const double bytes_per_clock = behind_ != nullptr && architecture_.xgmi_links == 0
                                     ? architecture_.infinity_cache_bytes_per_clock_per_slice
                                     : architecture_.memory_bytes_per_clock_per_channel;
  memory_line_time_ = std::llround(architecture_.line_bytes / bytes_per_clock * kFraction);
  most_waiting_ = architecture_.write_back_lines * memory_line_time_;
  shares_commits_ = behind_ == nullptr && !gl1_.any() && l2_.channels_are_apart() &&
                    channel_count_ > 1 && architecture_.shader_engines > 1;
  const std::uint32_t groups = shares_commits_ ? std::min(kMaxGroups, channel_count_) : 1;
  for (std::uint32_t channel = 0; channel < channel_count_; ++channel) {
    group_of_channel_.push_back(static_cast<std::uint8_t>(channel * groups / channel_count_));
  }
  const int engines = shares_commits_ ? architecture_.shader_engines : 1;
  for (std::uint32_t i = 0; i < groups; ++i) {
    lookups_.push_back(std::make_unique<Lookups>(l2_, arena));
  }
  for (int i = 0; i < engines; ++i) deliveries_.push_back(std::make_unique<Deliveries>(arena));
  if (shares_commits_) {
    counts_.resize(place_.size());
    gathered_.resize(place_.size());
  }
}

void MemorySystem::begin_launch(const LaunchState&,
                                std::vector<std::unique_ptr<ComputeUnit>>& cus) {
  if (architecture_.scalar_cache_bytes != 0) {
    const std::size_t first = static_cast<std::size_t>(die_) * place_.size();
    for (std::size_t i = first; i < first + place_.size(); ++i) {
      std::unique_ptr<L1Cache>& cache = cus[i]->scalar_cache;
      if (!cache) {
        cache = std::make_unique<L1Cache>(architecture_.scalar_cache_bytes,
                                          ComputeUnit::kScalarWays, architecture_.line_bytes);
      }
    }
  }
  channels_.assign(channel_count_, {});
  for (auto& part : lookups_) part->counters = {};
  for (auto& part : deliveries_) part->last_completion = 0;
  for (GatheredCount& count : counts_) count.until = 0;
  rotation_ = 0;
  if (cached_ != nullptr) cached_->begin_launch();
  gl1_.begin_launch();
  l2_.begin_launch();
}

template <unsigned kLines>
bool MemorySystem::serve_read(ComputeUnit& cu, const Arrival& arrival, std::int64_t cycle) {
  constexpr bool kIsRow = kLines == L1Cache::kRow;
  Channel& channel = channels_[arrival.channel];
  Lookups& part = *lookups_.front();
  Answer answer;
  answer.slot = std::max(cycle, channel.free);
  L2Tags::ReplacedRow row;
  bool hit = false;
  if constexpr (kIsRow) {
    hit = l2_.hits_row(arrival.line, arrival.first, arrival.channel, answer.ready, answer.slot,
                       cycles_per_line_);
    if (!hit && (pairs_of_lines_ ||
                 !l2_.read_new_row(arrival.line, arrival.first, arrival.channel, kLines, row))) {
      return false;
    }
  } else {
    static_assert(kLines == 1);
    hit = l2_.hits(arrival.line, arrival.first, arrival.channel, 1, answer.ready, answer.slot,
                   cycles_per_line_) == 1;
    if (!hit) return false;
  }
  memory_.use_line(arrival.line);  // and with it all of a row, which lies on one page
  channel.free = answer.slot + busy(kLines);
  channel.activity.accesses += kLines;
  part.counters.reads += kLines;
  if (hit) {
    channel.activity.hits += kLines;
    part.counters.hits += kLines;
  } else {
    replace_row(row, arrival, answer.slot, answer.ready, part);
  }
  if (kLines == 1 && tags_pairs_) {
    use_partners(arrival, kLines, answer.slot, arrival.channel, part);
  }
  const Request& request = *arrival.request;
  load_lines(*request.operation, request.line, kLines, request.lanes, memory_);
  CrossbarTransfer transfer = transfer_of(arrival, answer.slot);
  transfer.kind = TransferKind::read;
  transfer.bytes = kLineBytes;
  transfer.payload = memory_.host(transfer.address);
  observer_.crossbar_lines(transfer, kLines, cycles_per_line_);
  const std::int64_t completion =
      bring_lines(cu, request, answer, kLines, way_back(arrival) + architecture_.l2_hit_cycles);
  send_transfers(part);
  resolve(cu, request, completion, *deliveries_.front());
  return true;
}

bool MemorySystem::serve_read(ComputeUnit& cu, const Arrival& arrival, std::int64_t cycle) {
  if (arrival.kind != Request::Kind::read || !reads_plainly_) return false;
  switch (arrival.lines) {
    case L1Cache::kRow: return serve_read<L1Cache::kRow>(cu, arrival, cycle);
    case 1: return !arrival.pair && serve_read<1>(cu, arrival, cycle);
    default: return false;
  }
}

[[gnu::flatten]] void MemorySystem::serve(ComputeUnit& cu, const Arrival& arrival,
                                          std::int64_t cycle) {
  const Request& request = *arrival.request;
  Deliveries& part = *deliveries_.front();
  for (unsigned i = 0; i < request.lines; ++i) memory_.use_line(request.line + i);
  if (arrival.is_merge()) {
    resolve(cu, request, deliver_merged(cu, request, false), part);
    return;
  }
  if (gl1_.any() && request.kind == Request::Kind::read && read_from_gl1(cu, arrival)) return;
  Answer answer;
  lookups_.front()->payloads.clear();
  look_up(arrival, cycle, answer, *lookups_.front());
  const std::int64_t completion = deliver(cu, arrival, answer, part);
  send_transfers(*lookups_.front());
  if (gl1_.any()) update_gl1(request, place_[arrival.cu].engine, completion);
  resolve(cu, request, completion, part);
}

bool MemorySystem::enters_gl1(const Request& request) const {
  return !request.past_gl1 || architecture_.gl1_ignores_bits != 0;
}

bool MemorySystem::read_from_gl1(ComputeUnit& cu, const Arrival& arrival) {
  const Request& request = *arrival.request;
  if (!enters_gl1(request)) return false;
  const std::uint32_t first = request.line & ~1U;
  const unsigned lines = request.pair ? 2 : request.lines;
  const Place& place = place_[arrival.cu];
  const auto there = gl1_.read(place.engine, first / 2, lines / 2, request.departure);
  if (!there) return false;
  for (std::uint32_t line = request.line; line < request.line + request.lines; ++line) {
    load_delivered(*request.operation, line, request.lanes, memory_, gl1_.data(place.engine, line));
  }
  for (std::uint32_t line = first; line < first + lines; ++line) fill_l1(cu, request, line, *there);
  lookups_.front()->counters.gl1_hits += lines / 2;
  cu.activity.gl1_hits += lines;
  CrossbarTransfer transfer;
  transfer.cycle = *there;
  transfer.address = line_address(first);
  transfer.engine = place.engine;
  transfer.cu = place.cu;
  transfer.channel = arrival.channel;
  transfer.kind = TransferKind::read;
  transfer.bytes = kLineBytes;
  transfer.payload = memory_.host(transfer.address);
  transfer.from_gl1 = true;
  observer_.crossbar_lines(transfer, lines, cycles_per_line_);
  resolve(cu, *arrival.request, *there, *deliveries_.front());
  return true;
}

void MemorySystem::update_gl1(const Request& request, std::uint32_t array,
                              std::int64_t completion) {
  const std::uint32_t pair = request.line / 2;
  const unsigned pairs = (request.line + request.lines - 1) / 2 - pair + 1;
  if (request.kind == Request::Kind::read && enters_gl1(request)) {
    gl1_.keep(array, pair, pairs, request.departure, completion, memory_);
  } else {
    gl1_.evict(array, pair, pairs);
  }
}

void MemorySystem::fill_l1(ComputeUnit& cu, const Request& request, std::uint32_t line,
                           std::int64_t time) {
  const std::uint32_t to =
      !request.fills_l1 ? L1Cache::kNone : request.l1_slot[line == request.line ? 0 : 1];
  if (to != L1Cache::kNone) cu.l1.filled(to, line, request.departure, time);
}

void MemorySystem::look_up(const Arrival& arrival, std::int64_t cycle, Answer& answer,
                           Lookups& part) {
  Channel& channel = channels_[arrival.channel];
  const unsigned lines = arrival.pair ? 2 : arrival.lines;
  answer.slot = std::max(cycle, channel.free);
  answer.payload = answer.reply = nullptr;
  answer.bytes = kLineBytes;
  answer.loaded = false;
  channel.free = answer.slot + busy(lines);
  channel.activity.accesses += lines;
  switch (arrival.kind) {
    case Request::Kind::read: read(arrival, answer, part); break;
    case Request::Kind::scalar:
      ++part.counters.reads;
      answer.ready[0] =
          fetch(l2_.read(arrival.line), arrival.line, answer.slot, arrival.channel, part);
      break;
    case Request::Kind::write: write(arrival, answer, part); break;
    default: atomic(arrival, answer, part); break;
  }
  if (tags_pairs_) use_partners(arrival, lines, answer.slot, arrival.channel, part);
  if (behind_ == nullptr) return;
  if (arrival.kind == Request::Kind::read || arrival.kind == Request::Kind::scalar) return;
  for (unsigned i = 0; i < arrival.lines; ++i) behind_->wrote(die_, arrival.line + i, answer.slot);
}

void MemorySystem::count(bool hit, std::uint32_t channel, Lookups& part) {
  ChannelActivity& activity = channels_[channel].activity;
  if (hit) {
    ++activity.hits;
    ++part.counters.hits;
  } else {
    ++activity.misses;
    ++part.counters.misses;
  }
}

std::int64_t MemorySystem::fetch(const L2Tags::Access& access, std::uint32_t line,
                                 std::int64_t slot, std::uint32_t channel, Lookups& part) {
  // A tag stands for both halves where requests are for both.
  count(access.hit || (asks_for_pairs_ && l2_.holds(line ^ 1U)), channel, part);
  if (access.writeback) write_back(access, slot, channel, part);
  if (!access.fill) return std::max(slot, *access.ready);
  const std::int64_t ready = bring(line, slot, channel, part);
  *access.ready = ready;
  if (pairs_of_lines_) [[unlikely]] {
    if (fetch_partner(line ^ 1U, slot, channel, part)) ++part.counters.memory_read_pairs;
  }
  return ready;
}

void MemorySystem::write_back(const L2Tags::Access& access, std::int64_t slot,
                              std::uint32_t channel, Lookups& part) {
  send_transfers(part);
  observer_.memory(send_line(access.victim, access.victim_dirty, slot, channel, part));
}

// The loop of replace_row() calls send_line() and fetch_line() most: both are inlined there.
[[gnu::always_inline]] inline MemoryTransfer MemorySystem::send_line(std::uint32_t line,
                                                                     std::uint64_t dirty,
                                                                     std::int64_t slot,
                                                                     std::uint32_t channel,
                                                                     Lookups& part) {
  Channel& own = channels_[channel];
  ++own.activity.writebacks;
  part.counters.memory_write_halves += halves_of(dirty);
  ++part.counters.memory_writes;
  const std::int64_t begin = std::max(own.memory_free, slot * kFraction);
  own.memory_free = begin + memory_line_time_;
  if (most_waiting_ != 0) {
    own.free = std::max(own.free, (own.memory_free - most_waiting_) / kFraction);
  }
  if (sharing_ && memory_.used_pages().following()) {
    const std::lock_guard lock(pages_in_use_);
    memory_.use_line(line);
  } else {
    memory_.use_line(line);
  }
  if (behind_ != nullptr) behind_->write(die_, line, begin / kFraction);
  return {begin / kFraction, channel_of_chip(channel), true, memory_.host(line_address(line))};
}

std::int64_t MemorySystem::bring(std::uint32_t line, std::int64_t slot, std::uint32_t channel,
                                 Lookups& part) {
  std::int64_t ready = 0;
  send_transfers(part);
  observer_.memory(fetch_line(line, slot, channel, ready, part));
  return ready;
}

[[gnu::always_inline]] inline MemoryTransfer MemorySystem::fetch_line(std::uint32_t line,
                                                                      std::int64_t slot,
                                                                      std::uint32_t channel,
                                                                      std::int64_t& ready,
                                                                      Lookups& part) {
  Channel& own = channels_[channel];
  const std::int64_t begin = std::max(own.memory_free, slot * kFraction);
  own.memory_free = begin + memory_line_time_;
  part.counters.memory_read_halves += 2;
  const std::int64_t cycle = begin / kFraction;
  ready = behind_ != nullptr ? behind_->read(die_, line, cycle)
                             : cycle + memory_latency(architecture_, line, cycle);
  return {cycle, channel_of_chip(channel), false, memory_.host(line_address(line))};
}

void MemorySystem::replace_row(const L2Tags::ReplacedRow& row, const Arrival& arrival,
                               std::int64_t slot, std::int64_t* leaves, Lookups& part) {
  constexpr unsigned kLines = L2Tags::ReplacedRow::kLines;
  const std::uint32_t channel = arrival.channel;
  part.counters.misses += kLines;
  channels_[channel].activity.misses += kLines;
  send_transfers(part);
  MemoryTransfer* transfer = part.transfers.data();
  for (unsigned i = 0; i < kLines; ++i, slot += cycles_per_line_) {
    if (row.dirty[i] != 0) {
      prefetch(memory_.host(line_address(row.victim[i])));
      *transfer++ = send_line(row.victim[i], row.dirty[i], slot, channel, part);
    }
    if (leaves == nullptr) continue;
    *transfer++ = fetch_line(arrival.line + i, slot, channel, leaves[i], part);
    row.ready[i] = leaves[i];
  }
  part.transferred = static_cast<std::size_t>(transfer - part.transfers.data());
}

void MemorySystem::send_transfers(Lookups& part) {
  const std::size_t count = std::exchange(part.transferred, std::size_t{0});
  if (count != 0) observer_.memory_transfers(std::span(part.transfers).first(count));
}

bool MemorySystem::fetch_partner(std::uint32_t line, std::int64_t slot, std::uint32_t channel,
                                 Lookups& part) {
  const L2Tags::Access access = l2_.read(line);
  if (access.writeback) write_back(access, slot, channel, part);
  if (access.fill) *access.ready = bring(line, slot, channel, part);
  return access.fill;
}

void MemorySystem::read(const Arrival& arrival, Answer& answer, Lookups& part) {
  if (asks_for_pairs_) [[unlikely]] {
    read_pairs(arrival, answer, part);
    return;
  }
  const unsigned lines = arrival.lines;
  part.counters.reads += lines;
  const unsigned hits = l2_.hits(arrival.line, arrival.first, arrival.channel, lines, answer.ready,
                                 answer.slot, cycles_per_line_);
  part.counters.hits += hits;
  channels_[arrival.channel].activity.hits += hits;
  if (hits == lines) return;
  L2Tags::Access accesses[Request::kMaxLines];
  L2Tags::ReplacedRow row;
  const std::uint32_t line = arrival.line + hits;
  const std::uint32_t first = hits == 0 ? arrival.first : l2_.first_of(line, arrival.channel);
  if (l2_.read_run(line, first, arrival.channel, lines - hits, accesses,
                   pairs_of_lines_ ? nullptr : &row)) {
    replace_row(row, arrival, answer.slot, answer.ready, part);
    return;
  }
  for (unsigned i = hits; i < lines; ++i) {
    answer.ready[i] = fetch(accesses[i - hits], arrival.line + i,
                            answer.slot + i * cycles_per_line_, arrival.channel, part);
  }
}

void MemorySystem::read_pairs(const Arrival& arrival, Answer& answer, Lookups& part) {
  const std::uint32_t first = arrival.line & ~1U;
  const unsigned lines = arrival.pair ? 2 : arrival.lines;
  for (unsigned i = 0; i < lines; i += 2) {
    ++part.counters.reads;
    const L2Tags::Access halves[] = {l2_.read(first + i), l2_.read(first + i + 1)};
    count(halves[0].hit && halves[1].hit, arrival.channel, part);
    if (halves[0].fill && halves[1].fill) ++part.counters.memory_read_pairs;
    for (unsigned half = 0; half < 2; ++half) {
      const L2Tags::Access& access = halves[half];
      const std::uint32_t line = first + i + half;
      const std::int64_t slot = answer.slot + (i + half) * cycles_per_line_;
      if (access.writeback) write_back(access, slot, arrival.channel, part);
      if (access.fill) *access.ready = bring(line, slot, arrival.channel, part);
      answer.ready[i + half] = std::max(slot, *access.ready);
    }
  }
}

void MemorySystem::use_partners(const Arrival& arrival, unsigned lines, std::int64_t slot,
                                std::uint32_t channel, Lookups& part) {
  const auto use = [&](std::uint32_t line) {
    const L2Tags::Access access = l2_.write(line, 0);  // not a byte of it
    if (access.writeback) write_back(access, slot, channel, part);
  };
  const std::uint32_t first = arrival.pair ? arrival.line & ~1U : arrival.line;
  const std::uint32_t last = first + lines - 1;
  if (first % 2 == 1) use(first - 1);
  if (last % 2 == 0) use(last + 1);
}

void MemorySystem::write(const Arrival& arrival, Answer& answer, Lookups& part) {
  Request& request = *arrival.request;
  part.counters.writes += arrival.lines;
  std::byte* const place = memory_.host(line_address(arrival.line));
  std::byte before[kLineBytes];
  if (const std::byte* bytes = whole_line(*request.operation, arrival.line, request.lanes)) {
    answer.payload = bytes;
    if (part.changes.follows()) {
      for (unsigned i = 0; i < arrival.lines; ++i) {
        std::memcpy(before, place + i * kLineBytes, kLineBytes);
        if (replace_line(place + i * kLineBytes, bytes + i * kLineBytes)) {
          changed(arrival.line + i, before, part);
        }
      }
    } else {
      lanes().copy_lines(place, bytes, arrival.lines);
    }
    write_lines(arrival, answer.slot, part);
    return;
  }
  std::memcpy(before, place, kLineBytes);
  const auto [written, changes] =
      store_line(*request.operation, arrival.line, request.lanes, memory_);
  if (changes) changed(arrival.line, before, part);
  std::byte* const kept = part.payloads.take(1)->bytes;
  if (written != kWholeLine) {
    answer.bytes = static_cast<std::uint8_t>(pack_line(place, written, kept));
  } else {
    std::memcpy(kept, place, kLineBytes);
  }
  answer.payload = kept;
  fetch(l2_.write(arrival.line, written), arrival.line, answer.slot, arrival.channel, part);
}

void MemorySystem::write_lines(const Arrival& arrival, std::int64_t slot, Lookups& part) {
  const unsigned lines = arrival.lines;
  if (!asks_for_pairs_ && l2_.overwrite_row(arrival.line, arrival.first, arrival.channel, lines)) {
    part.counters.hits += lines;
    channels_[arrival.channel].activity.hits += lines;
    return;
  }
  if (L2Tags::ReplacedRow row; !asks_for_pairs_ && l2_.write_new_row(arrival.line, arrival.first,
                                                                     arrival.channel, lines, row)) {
    replace_row(row, arrival, slot, nullptr, part);
    return;
  }
  for (unsigned i = 0; i < lines; ++i) {
    fetch(l2_.write(arrival.line + i, kWholeLine), arrival.line + i, slot + i * cycles_per_line_,
          arrival.channel, part);
  }
}

void MemorySystem::atomic(const Arrival& arrival, Answer& answer, Lookups& part) {
  const Request& request = *arrival.request;
  ++part.counters.atomics;
  MemoryOperation& operation = *request.operation;
  // The line is read before it is changed; the operands of up to 64 lanes share the slot's payload,
  // of which one line's worth is shown.
  const L2Tags::Access access = l2_.read(arrival.line);
  fetch(access, arrival.line, answer.slot, arrival.channel, part);
  std::byte before[kLineBytes];
  std::memcpy(before, memory_.host(line_address(arrival.line)), kLineBytes);
  const AtomicUpdate update = update_line(operation, request.lanes, memory_);
  if (update.line.changed) changed(arrival.line, before, part);
  l2_.write(arrival.line, update.line.written);
  // The channel's atomic unit takes 16 lanes a cycle.
  channels_[arrival.channel].free += (update.served - 1) / 16;
  answer.bytes = static_cast<std::uint8_t>(update.words * 4);
  Payloads::Line* const kept = part.payloads.take(2);
  std::memcpy(kept[0].bytes, update.operands, answer.bytes);
  answer.payload = kept[0].bytes;
  if (operation.kind == MemoryKind::atomic_return) {
    std::memcpy(kept[1].bytes, update.old_values, answer.bytes);
    answer.reply = kept[1].bytes;
  }
}

void MemorySystem::clean(std::uint32_t line, std::int64_t cycle) {
  if (const std::uint64_t dirty = l2_.clean_line(line); dirty != 0) {
    write_back({.writeback = true, .victim = line, .victim_dirty = dirty}, cycle, l2_.channel(line),
               *lookups_.front());
  }
}

void MemorySystem::give_up(std::uint32_t line, std::int64_t cycle) {
  if (!l2_.holds(line)) return;
  const std::uint32_t channel = l2_.channel(line);
  if (const std::uint64_t dirty = l2_.drop(line); dirty != 0) {
    write_back({.writeback = true, .victim = line, .victim_dirty = dirty}, cycle, channel,
               *lookups_.front());
  }
}

std::int64_t MemorySystem::finish(std::int64_t cycles) {
  if (architecture_.writes_back_at_end == 0) return cycles;
  std::int64_t end = cycles;
  l2_.clean([&](std::uint32_t line, std::uint64_t dirty) {
    const std::uint32_t channel = l2_.channel(line);
    write_back({.writeback = true, .victim = line, .victim_dirty = dirty}, cycles, channel,
               *lookups_.front());
    end = std::max(end, channels_[channel].memory_free / kFraction + 1);
  });
  return end;
}

void MemorySystem::changed(std::uint32_t line, const std::byte* before, Lookups& part) const {
  const std::uint64_t address = line_address(line);
  if (address >= private_begin_ && address < private_end_) return;
  part.changes.replace(address, before, memory_.host(address));
}

inline std::int64_t MemorySystem::way_back(const Arrival& arrival) const {
  const std::int64_t there_and_back = flight(arrival.cu, arrival.channel);
  return there_and_back - there_and_back / 2;
}

inline CrossbarTransfer MemorySystem::transfer_of(const Arrival& arrival, std::int64_t slot) const {
  CrossbarTransfer transfer;
  transfer.cycle = slot;
  transfer.address = line_address(arrival.line);
  transfer.engine = place_[arrival.cu].engine;
  transfer.cu = place_[arrival.cu].cu;
  transfer.channel = arrival.channel;
  return transfer;
}

inline std::int64_t MemorySystem::bring_lines(ComputeUnit& cu, const Request& request,
                                              const Answer& answer, unsigned lines,
                                              std::int64_t latency) {
  std::int64_t times[Request::kMaxLines];
  std::int64_t last = 0;
  for (unsigned i = 0; i < lines; ++i) {
    times[i] = answer.ready[i] + latency;
    last = std::max(last, times[i]);
  }
  if (request.fills_l1 && lines == L1Cache::kRow && cu.l1.has_rows()) {
    cu.l1.row_filled(request.l1_slot, request.line, request.departure, times);
  } else if (request.fills_l1) {
    for (unsigned i = 0; i < lines; ++i) {
      cu.l1.filled(request.l1_slot[i], request.line + i, request.departure + i, times[i]);
    }
  }
  return last;
}

std::int64_t MemorySystem::deliver(ComputeUnit& cu, const Arrival& arrival, const Answer& answer,
                                   Deliveries& part) {
  const Request& request = *arrival.request;
  const std::int64_t back = way_back(arrival);
  CrossbarTransfer transfer = transfer_of(arrival, answer.slot);
  transfer.bytes = answer.bytes;
  transfer.payload = answer.payload != nullptr ? answer.payload : memory_.host(transfer.address);
  transfer.reply = answer.reply;
  switch (request.kind) {
    case Request::Kind::read:
      transfer.kind = TransferKind::read;
      return deliver_read(cu, request, answer, transfer, back);
    case Request::Kind::scalar:
      transfer.kind = TransferKind::read;
      return deliver_scalar(cu, arrival, answer, transfer, back, part);
    case Request::Kind::write:
      transfer.kind = TransferKind::write;
      observer_.crossbar_lines(transfer, request.lines, cycles_per_line_);
      break;
    default:
      transfer.kind = TransferKind::atomic;
      observer_.crossbar(transfer);
      break;
  }
  return answer.slot + busy(request.lines) - busy(1) + architecture_.l2_hit_cycles + back;
}

std::int64_t MemorySystem::deliver_read(ComputeUnit& cu, const Request& request,
                                        const Answer& answer, CrossbarTransfer& transfer,
                                        std::int64_t back) {
  if (!answer.loaded) {
    load_lines(*request.operation, request.line, request.lines, request.lanes, memory_);
  }
  if (asks_for_pairs_) [[unlikely]]
    return deliver_pairs(cu, request, answer, transfer, back);
  observer_.crossbar_lines(transfer, request.lines, cycles_per_line_);
  return bring_lines(cu, request, answer, request.lines, architecture_.l2_hit_cycles + back);
}

std::int64_t MemorySystem::deliver_pairs(ComputeUnit& cu, const Request& request,
                                         const Answer& answer, CrossbarTransfer& transfer,
                                         std::int64_t back) {
  const std::int64_t latency = architecture_.l2_hit_cycles + back;
  const std::uint32_t first = request.line & ~1U;
  const unsigned lines = request.pair ? 2 : request.lines;
  transfer.address = line_address(first);
  if (answer.payload == nullptr) transfer.payload = memory_.host(transfer.address);
  std::int64_t last = 0;
  for (unsigned i = 0; i < lines; ++i) {
    const std::int64_t time = answer.ready[i] + latency;
    last = std::max(last, time);
    fill_l1(cu, request, first + i, time);
  }
  observer_.crossbar_lines(transfer, lines, cycles_per_line_);
  return last;
}

std::int64_t MemorySystem::deliver_scalar(ComputeUnit& cu, const Arrival& arrival,
                                          const Answer& answer, CrossbarTransfer& transfer,
                                          std::int64_t back, Deliveries& part) {
  const Request& request = *arrival.request;
  observer_.crossbar_lines(transfer, 1, cycles_per_line_);
  const std::int64_t time = answer.ready[0] + architecture_.scalar_miss_cycles + back;
  cu.scalar_cache->filled(request.l1_slot[0], request.line, request.departure, time);
  if (architecture_.scalar_cache_cus > 1) {
    part.scalar_fills.push_back({arrival.cu, request.line, time});
  }
  return time;
}

std::int64_t MemorySystem::deliver_merged(ComputeUnit& cu, const Request& request,
                                          bool loaded) const {
  if (request.kind == Request::Kind::scalar_merge) {
    return std::max(cu.scalar_cache->fill_time(request.l1_slot[0]),
                    request.departure + architecture_.scalar_load_cycles);
  }
  if (!loaded) load_lines(*request.operation, request.line, 1, request.lanes, memory_);
  return std::max(cu.l1.fill_time(request.l1_slot[0]),
                  request.departure + architecture_.l1_hit_cycles);
}

void MemorySystem::resolve(ComputeUnit& cu, const Request& request, std::int64_t completion,
                           Deliveries& part) {
  part.last_completion = std::max(part.last_completion, completion);
  cu.answered(*request.operation, completion);
}

std::int64_t MemorySystem::last_completion() const {
  std::int64_t last = 0;
  for (const auto& part : deliveries_) last = std::max(last, part->last_completion);
  return last;
}

const std::vector<ChannelActivity>& MemorySystem::channels() const {
  activities_.clear();
  for (const Channel& channel : channels_) activities_.push_back(channel.activity);
  return activities_;
}

const MemoryCounters& MemorySystem::counters() const {
  counters_ = {};
  for (const auto& part : lookups_) counters_ += part->counters;
  return counters_;
}

}  // namespace ww::sim::gpu::exec
