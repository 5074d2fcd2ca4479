#include "memory/memory_system.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "compute_unit/line_update.hpp"
#include "compute_unit/memory_operation.hpp"
#include "host/host_cache.hpp"

namespace ww::sim::gpu::exec {
namespace {
constexpr std::int64_t kFraction = 1024;  // of a cycle, for the memory channels
// Distances of prefetch_behind(), in requests.
constexpr std::size_t kOperationAhead = 24;
constexpr std::size_t kDataAhead = 12;
constexpr std::size_t kChoiceAhead = 8;
constexpr std::size_t kVictimAhead = 5;

std::uint64_t halves_of(std::uint64_t bytes) {
  return ((bytes & 0xFFFFFFFFU) != 0 ? 1U : 0U) + ((bytes >> 32) != 0 ? 1U : 0U);
}
}  // namespace

MemorySystem::MemorySystem(const Chip& chip, DeviceMemory& memory, DeferredObserver& observer,
                           int die, BehindL2* behind)
    : architecture_(chip.architecture()),
      memory_(memory),
      observer_(observer),
      die_(die),
      cached_(behind == nullptr && architecture_.infinity_cache_bytes != 0
                  ? std::make_unique<CachedMemory>(architecture_)
                  : nullptr),
      behind_(cached_ != nullptr ? cached_.get() : behind),
      gl1_(architecture_),
      l2_(architecture_),
      channel_count_(static_cast<std::uint32_t>(architecture_.l2_channels)) {
  bytes_per_clock_ = architecture_.bytes_per_clock_per_channel;
  cycles_per_line_ = architecture_.line_bytes / bytes_per_clock_;
  pairs_of_lines_ = architecture_.l2_fetch_bytes > architecture_.line_bytes;
  asks_for_pairs_ = architecture_.l1_line_bytes > architecture_.line_bytes;
  tags_pairs_ = architecture_.l2_line_bytes > architecture_.line_bytes;
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
      cache->invalidate_all();
    }
  }
  channel_free_.assign(channel_count_, 0);
  memory_free_.assign(channel_count_, 0);
  channels_.assign(channel_count_, {});
  counters_ = {};
  last_completion_ = 0;
  rotation_ = 0;
  if (cached_ != nullptr) cached_->begin_launch();
  gl1_.begin_launch();
  l2_.begin_launch();
}

// A request passes four distances on its way to the front: its operation is asked for first, then
// what the operation points to, then the slots that its lines will get, then what those write back.
// `missed`: something did in the last commit, so victims are worth a search.
inline void MemorySystem::prefetch_behind(std::size_t n, bool missed) {
  const std::size_t arrived = sorted_.size();
  if (n + kOperationAhead < arrived) {
    prefetch_to_write(sorted_[n + kOperationAhead].request->operation);
  }
  if (n + kDataAhead < arrived) {
    prefetch_request(sorted_[n + kDataAhead]);
  }
  if (!missed) {
    return;
  }
  if (n + kChoiceAhead < arrived) {
    const Request& request = *sorted_[n + kChoiceAhead].request;
    if (request.kind != Request::Kind::merge) {
      l2_prefetch_.choose_victims(request.line, request.lines);
    }
  }
  if (n + kVictimAhead < arrived) {
    prefetch_victims(*sorted_[n + kVictimAhead].request);
  }
}

// The data are the one thing here that may be in no cache of the host.
void MemorySystem::prefetch_request(const Arrival& arrival) {
  const Request& request = *arrival.request;
  const std::byte* const data = memory_.host(line_address(request.line));
  for (unsigned i = 0; i < request.lines; ++i) prefetch(data + i * kLineBytes);
  const MemoryOperation& operation = *request.operation;
  if (operation.wave != nullptr) {
    const auto* wave = reinterpret_cast<const std::byte*>(operation.wave);
    prefetch_to_write(wave);
    prefetch(wave + 2 * kHostLine);
  }
  if (operation.contiguous) {
    // An address, not a pointer: the first line may begin before the first lane.
    const auto bytes =
        reinterpret_cast<std::uintptr_t>(operation.wave != nullptr && operation.into_registers
                                             ? operation.wave->vgpr(operation.destination)
                                             : operation.data());
    const std::uintptr_t target = bytes + (line_address(request.line) - operation.base);
    for (unsigned i = 0; i < request.lines; ++i) {
      // NOLINTNEXTLINE(performance-no-int-to-ptr): not every one of these is inside an object
      prefetch_to_write(reinterpret_cast<const void*>(target + i * kLineBytes));
    }
  }
  l2_prefetch_.bring_sets(request.line, arrival.first, request.lines);
}

void MemorySystem::prefetch_victims(const Request& request) const {
  for (unsigned i = 0; i < request.lines; ++i) {
    const std::uint32_t slot = l2_prefetch_.chosen_victim(request.line + i);
    if (slot == L2Tags::kNone) continue;
    const std::uint32_t line = l2_prefetch_.written_back(slot);
    if (line != L2Tags::kNone) prefetch(memory_.host(line_address(line)));
  }
}

void MemorySystem::commit_die(std::span<std::unique_ptr<ComputeUnit>> cus, std::int64_t start,
                              std::int64_t end) {
  // Sort by arrival: counting sort, which keeps each CU's order for one channel.
  arrivals_.clear();
  std::uint32_t latest = 0;
  std::size_t wave_bytes = 0;
  const auto count = static_cast<std::uint32_t>(cus.size());
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t index = i + rotation_ < count ? i + rotation_ : i + rotation_ - count;
    ComputeUnit& cu = *cus[index];
    if (std::exchange(cu.empties_gl1, false) && gl1_.any()) gl1_.empty(place_[index].engine);
    wave_bytes += cu.wave_bytes();
    std::size_t next = cu.requests_done;
    for (; next < cu.requests.size() && cu.requests[next].departure < end; ++next) {
      Request& request = cu.requests[next];
      const auto channel = l2_.channel(request.line);
      const std::int64_t there = flight(index, channel) / 2;
      // A request that stood behind a later one of its CU can be late: it then arrives at once.
      const auto delay =
          static_cast<std::uint32_t>(std::max<std::int64_t>(0, request.departure + there - start));
      latest = std::max(latest, delay);
      arrivals_.push_back({&request, delay, static_cast<std::uint16_t>(index),
                           static_cast<std::uint16_t>(channel), l2_.first_of(request.line)});
    }
    cu.requests_done = next;
  }
  rotation_ = rotation_ + 1 < count ? rotation_ + 1 : 0;
  if (arrivals_.empty()) return;

  bucket_.assign(latest + 2, 0);
  for (const Arrival& arrival : arrivals_) ++bucket_[arrival.delay + 1];
  for (std::size_t i = 1; i < bucket_.size(); ++i) bucket_[i] += bucket_[i - 1];
  const std::size_t arrived = arrivals_.size();
  sorted_.resize(arrived);
  for (const Arrival& arrival : arrivals_) sorted_[bucket_[arrival.delay]++] = arrival;
  const std::uint64_t misses = counters_.misses;
  const bool missed = missed_;
  const bool ahead = missed || wave_bytes > kHostCacheBytes;
  for (std::size_t n = 0; n < arrived; ++n) {
    if (ahead) prefetch_behind(n, missed);
    const Arrival& arrival = sorted_[n];
    serve(*cus[arrival.cu], arrival, start + arrival.delay);
  }
  missed_ = counters_.misses != misses;
  if (!scalar_fills_.empty()) share_scalar_lines(cus);
  for (auto& cu : cus) cu->drop_done_requests();
}

void MemorySystem::serve(ComputeUnit& cu, const Arrival& arrival, std::int64_t cycle) {
  Request& request = *arrival.request;
  for (unsigned i = 0; i < request.lines; ++i) memory_.use_line(request.line + i);
  if (request.kind == Request::Kind::merge) {
    load_lines(*request.operation, request.line, 1, request.lanes, memory_);
    resolve(cu, request,
            std::max(cu.l1.fill_time(request.l1_slot[0]),
                     request.departure + architecture_.l1_hit_cycles));
    return;
  }
  if (request.kind == Request::Kind::scalar_merge) {
    resolve(cu, request,
            std::max(cu.scalar_cache->fill_time(request.l1_slot[0]),
                     request.departure + architecture_.scalar_load_cycles));
    return;
  }
  if (gl1_.any() && request.kind == Request::Kind::read && read_from_gl1(cu, arrival)) return;
  const std::uint32_t cu_index = arrival.cu;
  const std::uint32_t channel = arrival.channel;
  const std::int64_t slot = std::max(cycle, channel_free_[channel]);
  const std::int64_t there_and_back = flight(cu_index, channel);
  const std::int64_t back = there_and_back - there_and_back / 2;
  const unsigned lines = request.pair ? 2 : request.lines;
  channel_free_[channel] = slot + busy(lines);
  channels_[channel].accesses += lines;
  CrossbarTransfer transfer;
  transfer.cycle = slot;
  transfer.address = line_address(request.line);
  transfer.engine = place_[cu_index].engine;
  transfer.cu = place_[cu_index].cu;
  transfer.channel = static_cast<std::uint16_t>(channel);
  std::int64_t completion = slot;
  switch (request.kind) {
    case Request::Kind::read: completion = read(cu, arrival, transfer, back); break;
    case Request::Kind::scalar: completion = read_scalar(cu, arrival, transfer, back); break;
    case Request::Kind::write: write(request, transfer); break;
    default: atomic(request, transfer); break;
  }
  if (tags_pairs_) use_partners(request, lines, slot, channel);
  if (request.kind != Request::Kind::read && request.kind != Request::Kind::scalar) {
    if (behind_ != nullptr) {
      for (unsigned i = 0; i < request.lines; ++i) behind_->wrote(die_, request.line + i, slot);
    }
    completion += busy(request.lines) - busy(1) + architecture_.l2_hit_cycles + back;
  }
  if (gl1_.any()) update_gl1(request, transfer.engine, completion);
  resolve(cu, request, completion);
}

bool MemorySystem::read_from_gl1(ComputeUnit& cu, const Arrival& arrival) {
  const Request& request = *arrival.request;
  if (request.past_gl1) return false;
  const std::uint32_t first = request.line & ~1U;
  const unsigned lines = request.pair ? 2 : request.lines;
  const Place& place = place_[arrival.cu];
  const auto there = gl1_.read(place.engine, first / 2, lines / 2, request.departure);
  if (!there) return false;
  load_lines(*request.operation, request.line, request.lines, request.lanes, memory_);
  for (std::uint32_t line = first; line < first + lines; ++line) fill_l1(cu, request, line, *there);
  counters_.gl1_hits += lines / 2;
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
  resolve(cu, *arrival.request, *there);
  return true;
}

void MemorySystem::update_gl1(const Request& request, std::uint32_t array,
                              std::int64_t completion) {
  const std::uint32_t pair = request.line / 2;
  const unsigned pairs = (request.line + request.lines - 1) / 2 - pair + 1;
  if (request.kind == Request::Kind::read && !request.past_gl1) {
    gl1_.keep(array, pair, pairs, request.departure, completion);
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

void MemorySystem::count(bool hit, std::uint32_t channel) {
  ChannelActivity& activity = channels_[channel];
  if (hit) {
    ++activity.hits;
    ++counters_.hits;
  } else {
    ++activity.misses;
    ++counters_.misses;
  }
}

std::int64_t MemorySystem::fetch(const L2Tags::Access& access, std::uint32_t line,
                                 std::int64_t slot, std::uint32_t channel) {
  // A tag stands for both halves where requests are for both.
  count(access.hit || (asks_for_pairs_ && l2_.holds(line ^ 1U)), channel);
  if (access.writeback) write_back(access, slot, channel);
  if (!access.fill) return std::max(slot, *access.ready);
  const std::int64_t ready = bring(line, slot, channel);
  *access.ready = ready;
  if (pairs_of_lines_) [[unlikely]] {
    if (fetch_partner(line ^ 1U, slot, channel)) ++counters_.memory_read_pairs;
  }
  return ready;
}

void MemorySystem::write_back(const L2Tags::Access& access, std::int64_t slot,
                              std::uint32_t channel) {
  ++channels_[channel].writebacks;
  counters_.memory_write_halves += halves_of(access.victim_dirty);
  ++counters_.memory_writes;
  const std::int64_t begin = std::max(memory_free_[channel], slot * kFraction);
  memory_free_[channel] = begin + memory_line_time_;
  if (most_waiting_ != 0) {
    channel_free_[channel] =
        std::max(channel_free_[channel], (memory_free_[channel] - most_waiting_) / kFraction);
  }
  observer_.memory({begin / kFraction, channel_of_chip(channel), true,
                    memory_.host(line_address(access.victim))});
  memory_.use_line(access.victim);
  if (behind_ != nullptr) behind_->write(die_, access.victim, begin / kFraction);
}

std::int64_t MemorySystem::bring(std::uint32_t line, std::int64_t slot, std::uint32_t channel) {
  const std::int64_t begin = std::max(memory_free_[channel], slot * kFraction);
  memory_free_[channel] = begin + memory_line_time_;
  counters_.memory_read_halves += 2;
  observer_.memory(
      {begin / kFraction, channel_of_chip(channel), false, memory_.host(line_address(line))});
  if (behind_ != nullptr) return behind_->read(die_, line, begin / kFraction);
  return begin / kFraction + architecture_.memory_cycles;
}

bool MemorySystem::fetch_partner(std::uint32_t line, std::int64_t slot, std::uint32_t channel) {
  const L2Tags::Access access = l2_.read(line);
  if (access.writeback) write_back(access, slot, channel);
  if (access.fill) *access.ready = bring(line, slot, channel);
  return access.fill;
}

std::int64_t MemorySystem::read(ComputeUnit& cu, const Arrival& arrival, CrossbarTransfer& transfer,
                                std::int64_t back) {
  const Request& request = *arrival.request;
  transfer.kind = TransferKind::read;
  transfer.bytes = kLineBytes;
  const std::int64_t latency = architecture_.l2_hit_cycles + back;
  if (asks_for_pairs_) [[unlikely]]
    return read_pairs(cu, request, transfer, latency);
  const unsigned lines = request.lines;
  counters_.reads += lines;
  transfer.payload = memory_.host(transfer.address);
  load_lines(*request.operation, request.line, lines, request.lanes, memory_);
  std::int64_t there[Request::kMostLines];
  const unsigned hits =
      l2_.hits(request.line, arrival.first, lines, there, transfer.cycle, cycles_per_line_);
  counters_.hits += hits;
  channels_[transfer.channel].hits += hits;
  std::int64_t last = 0;
  for (unsigned i = 0; i < hits; ++i) last = std::max(last, there[i]);
  if (hits < lines) {
    L2Tags::Access accesses[Request::kMostLines];
    l2_.read_run(request.line + hits, lines - hits, accesses);
    for (unsigned i = hits; i < lines; ++i) {
      there[i] = fetch(accesses[i - hits], request.line + i, transfer.cycle + i * cycles_per_line_,
                       transfer.channel);
      last = std::max(last, there[i]);
    }
  }
  observer_.crossbar_lines(transfer, lines, cycles_per_line_);
  if (request.fills_l1 && lines == L1Cache::kRow && cu.l1.has_rows()) {
    for (std::int64_t& time : there) time += latency;
    cu.l1.row_filled(request.l1_slot, request.line, request.departure, there);
  } else if (request.fills_l1) {
    for (unsigned i = 0; i < lines; ++i) {
      cu.l1.filled(request.l1_slot[i], request.line + i, request.departure + i, there[i] + latency);
    }
  }
  return last + latency;
}

std::int64_t MemorySystem::read_pairs(ComputeUnit& cu, const Request& request,
                                      CrossbarTransfer& transfer, std::int64_t latency) {
  const std::uint32_t first = request.line & ~1U;
  const unsigned lines = request.pair ? 2 : request.lines;
  transfer.address = line_address(first);
  transfer.payload = memory_.host(transfer.address);
  load_lines(*request.operation, request.line, request.lines, request.lanes, memory_);
  std::int64_t last = 0;
  for (unsigned i = 0; i < lines; i += 2) {
    ++counters_.reads;
    const L2Tags::Access halves[] = {l2_.read(first + i), l2_.read(first + i + 1)};
    count(halves[0].hit && halves[1].hit, transfer.channel);
    if (halves[0].fill && halves[1].fill) ++counters_.memory_read_pairs;
    for (unsigned half = 0; half < 2; ++half) {
      const L2Tags::Access& access = halves[half];
      const std::uint32_t line = first + i + half;
      const std::int64_t slot = transfer.cycle + (i + half) * cycles_per_line_;
      if (access.writeback) write_back(access, slot, transfer.channel);
      if (access.fill) *access.ready = bring(line, slot, transfer.channel);
      const std::int64_t there = std::max(slot, *access.ready);
      last = std::max(last, there);
      fill_l1(cu, request, line, there + latency);
    }
  }
  observer_.crossbar_lines(transfer, lines, cycles_per_line_);
  return last + latency;
}

std::int64_t MemorySystem::read_scalar(ComputeUnit& cu, const Arrival& arrival,
                                       CrossbarTransfer& transfer, std::int64_t back) {
  const Request& request = *arrival.request;
  transfer.kind = TransferKind::read;
  transfer.bytes = kLineBytes;
  transfer.payload = memory_.host(transfer.address);
  ++counters_.reads;
  const std::int64_t there =
      fetch(l2_.read(request.line), request.line, transfer.cycle, transfer.channel);
  observer_.crossbar_lines(transfer, 1, cycles_per_line_);
  const std::int64_t time = there + architecture_.scalar_miss_cycles + back;
  cu.scalar_cache->filled(request.l1_slot[0], request.line, request.departure, time);
  if (architecture_.scalar_cache_cus > 1) {
    scalar_fills_.push_back({arrival.cu, request.line, time});
  }
  return time;
}

void MemorySystem::use_partners(const Request& request, unsigned lines, std::int64_t slot,
                                std::uint32_t channel) {
  const auto use = [&](std::uint32_t line) {
    const L2Tags::Access access = l2_.write(line, 0);  // not a byte of it
    if (access.writeback) write_back(access, slot, channel);
  };
  const std::uint32_t first = request.pair ? request.line & ~1U : request.line;
  const std::uint32_t last = first + lines - 1;
  if (first % 2 == 1) use(first - 1);
  if (last % 2 == 0) use(last + 1);
}

void MemorySystem::share_scalar_lines(std::span<std::unique_ptr<ComputeUnit>> cus) {
  const auto of_engine = static_cast<std::uint32_t>(architecture_.cus_per_engine);
  const auto sharing = static_cast<std::uint32_t>(architecture_.scalar_cache_cus);
  for (const ScalarFill& fill : scalar_fills_) {
    const std::uint32_t engine = fill.cu / of_engine * of_engine;
    const std::uint32_t first = (fill.cu - engine) / sharing * sharing;
    for (std::uint32_t i = first; i < std::min(first + sharing, of_engine); ++i) {
      if (engine + i != fill.cu) cus[engine + i]->scalar_cache->put(fill.line, fill.time);
    }
  }
  scalar_fills_.clear();
}

std::int64_t MemorySystem::finish(std::int64_t cycles) {
  if (architecture_.writes_back_at_end == 0) return cycles;
  std::int64_t end = cycles;
  l2_.clean([&](std::uint32_t line, std::uint64_t dirty) {
    const std::uint32_t channel = l2_.channel(line);
    write_back({.writeback = true, .victim = line, .victim_dirty = dirty}, cycles, channel);
    end = std::max(end, memory_free_[channel] / kFraction + 1);
  });
  return end;
}

void MemorySystem::write(Request& request, CrossbarTransfer& transfer) {
  counters_.writes += request.lines;
  transfer.kind = TransferKind::write;
  transfer.bytes = kLineBytes;
  transfer.payload = memory_.host(transfer.address);
  std::byte packed[kLineBytes];
  std::byte before[kLineBytes];
  if (const std::byte* bytes = whole_line(*request.operation, request.line, request.lanes)) {
    std::byte* const place = memory_.host(transfer.address);
    for (unsigned i = 0; i < request.lines; ++i) {
      std::memcpy(before, place + i * kLineBytes, kLineBytes);
      if (replace_line(place + i * kLineBytes, bytes + i * kLineBytes)) {
        changed(request.line + i, before);
      }
      fetch(l2_.write(request.line + i, kWholeLine), request.line + i,
            transfer.cycle + i * cycles_per_line_, transfer.channel);
    }
  } else {
    std::memcpy(before, transfer.payload, kLineBytes);
    const auto [written, changes] =
        store_line(*request.operation, request.line, request.lanes, memory_);
    if (changes) changed(request.line, before);
    if (written != kWholeLine) {
      transfer.bytes = static_cast<std::uint8_t>(pack_line(transfer.payload, written, packed));
      transfer.payload = packed;
    }
    fetch(l2_.write(request.line, written), request.line, transfer.cycle, transfer.channel);
  }
  observer_.crossbar_lines(transfer, request.lines, cycles_per_line_);
}

void MemorySystem::atomic(Request& request, CrossbarTransfer& transfer) {
  ++counters_.atomics;
  MemoryOperation& operation = *request.operation;
  // The line is read before it is changed; the operands of up to 64 lanes share the slot's payload,
  // of which one line's worth is shown.
  const L2Tags::Access access = l2_.read(request.line);
  fetch(access, request.line, transfer.cycle, transfer.channel);
  std::byte before[kLineBytes];
  std::memcpy(before, memory_.host(line_address(request.line)), kLineBytes);
  const AtomicUpdate update = update_line(operation, request.lanes, memory_);
  if (update.line.changed) changed(request.line, before);
  l2_.write(request.line, update.line.written);
  // The channel's atomic unit takes 16 lanes a cycle.
  channel_free_[transfer.channel] += (update.served - 1) / 16;
  transfer.kind = TransferKind::atomic;
  transfer.bytes = static_cast<std::uint8_t>(update.words * 4);
  transfer.payload = reinterpret_cast<const std::byte*>(update.operands);
  transfer.reply = operation.kind == MemoryKind::atomic_return
                       ? reinterpret_cast<const std::byte*>(update.old_values)
                       : nullptr;
  observer_.crossbar(transfer);
  transfer.payload = transfer.reply = nullptr;  // `update` ends here
}

void MemorySystem::clean(std::uint32_t line, std::int64_t cycle) {
  if (const std::uint64_t dirty = l2_.clean_line(line); dirty != 0) {
    write_back({.writeback = true, .victim = line, .victim_dirty = dirty}, cycle,
               l2_.channel(line));
  }
}

void MemorySystem::give_up(std::uint32_t line, std::int64_t cycle) {
  if (!l2_.holds(line)) return;
  const std::uint32_t channel = l2_.channel(line);
  if (const std::uint64_t dirty = l2_.drop(line); dirty != 0) {
    write_back({.writeback = true, .victim = line, .victim_dirty = dirty}, cycle, channel);
  }
}

void MemorySystem::changed(std::uint32_t line, const std::byte* before) {
  const std::uint64_t address = line_address(line);
  if (address >= private_begin_ && address < private_end_) return;
  memory_.version().replace_in_launch(address, before, memory_.host(address));
}

void MemorySystem::resolve(ComputeUnit& cu, Request& request, std::int64_t completion) {
  last_completion_ = std::max(last_completion_, completion);
  cu.answered(*request.operation, completion);
}

}  // namespace ww::sim::gpu::exec
