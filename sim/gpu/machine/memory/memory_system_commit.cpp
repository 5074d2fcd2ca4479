// How a commit orders its requests, and how threads share it.
#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "fast/host/host_cache.hpp"
#include "machine/compute_unit/line_update.hpp"
#include "machine/compute_unit/memory_operation.hpp"
#include "machine/memory/memory_system.hpp"

namespace ww::sim::gpu::exec {
namespace {
// Distances of hints, in requests: each needs what the one before it brought.
constexpr std::size_t kRequestAhead = 36;
constexpr std::size_t kOperationAhead = 24;
constexpr std::size_t kDataAhead = 12;

std::uint32_t delay_of(const Arrival& arrival) {
  return arrival.delay;
}
std::uint32_t delay_of(const Pending& pending) {
  return pending.arrival.delay;
}

// Sorts by delay, none larger than `latest`, what `for_all(each)` calls each() with, which it does
// twice. A counting sort: equal delays keep their order, and so does each CU's for one channel.
template <class T, class F>
void sort_by_delay(ArenaVector<T>& sorted, ArenaVector<std::uint32_t>& bucket, std::uint32_t latest,
                   F&& for_all) {
  bucket.assign(latest + 2, 0);
  for_all([&](const T& one) { ++bucket[delay_of(one) + 1]; });
  for (std::size_t i = 1; i < bucket.size(); ++i) bucket[i] += bucket[i - 1];
  sorted.resize(bucket.back());
  for_all([&](const T& one) { sorted[bucket[delay_of(one)]++] = one; });
}
}  // namespace

Payloads::Line* Payloads::take(std::size_t lines) {
  if (used_ + lines > kLinesOfBlock) {
    ++block_;
    used_ = 0;
  }
  if (block_ == blocks_.size()) {
    blocks_.push_back(std::make_unique_for_overwrite<Line[]>(kLinesOfBlock));
  }
  Line* const taken = &blocks_[block_][used_];
  used_ += lines;
  return taken;
}

void WrittenRows::clear() {
  if (!any_) return;
  any_ = false;
  bits_.fill(0);
}

// A request passes two distances on its way to the front: its operation is asked for first, then
// what the operation points to, and the tags that its lines will meet.
inline void MemorySystem::prefetch_behind(std::size_t n) {
  const std::size_t arrived = sorted_.size();
  if (n + kOperationAhead < arrived) {
    prefetch_to_write(sorted_[n + kOperationAhead].request->operation);
  }
  if (n + kDataAhead < arrived) {
    prefetch_request(sorted_[n + kDataAhead]);
  }
}

// The data are the one thing here that may be in no cache of the host.
void MemorySystem::prefetch_request(const Arrival& arrival) {
  prefetch_bytes(arrival);
  lookups_.front()->prefetch.bring_sets(arrival.line, arrival.first, arrival.lines);
}

void MemorySystem::prefetch_lines(std::uint32_t line, unsigned lines) const {
  const std::byte* const data = memory_.host(line_address(line));
  for (unsigned i = 0; i < lines; ++i) prefetch(data + i * kLineBytes);
}

void MemorySystem::prefetch_bytes(const Arrival& arrival) const {
  const Request& request = *arrival.request;
  prefetch_lines(request.line, request.lines);
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
}

void MemorySystem::prefetch_store(const Arrival& arrival) const {
  const std::byte* const data = memory_.host(line_address(arrival.line));
  const MemoryOperation& operation = *arrival.request->operation;
  const std::byte* const source = whole_line(operation, arrival.line, arrival.request->lanes);
  for (unsigned i = 0; i < arrival.lines; ++i) {
    prefetch_to_write(data + i * kLineBytes);
    if (source != nullptr) prefetch(source + i * kLineBytes);
  }
}

template <class F>
std::uint32_t MemorySystem::collect(ComputeUnit& cu, std::uint32_t index, std::int64_t start,
                                    std::int64_t end, F&& each) {
  std::uint32_t latest = 0;
  std::size_t next = cu.requests_done;
  for (; next < cu.requests.size() && cu.requests[next].departure < end; ++next) {
    Request& request = cu.requests[next];
    const auto channel = l2_.channel(request.line);
    const std::int64_t there = flight(index, channel) / 2;
    // A request that stood behind a later one of its CU can be late: it then arrives at once.
    const auto delay =
        static_cast<std::uint32_t>(std::max<std::int64_t>(0, request.departure + there - start));
    latest = std::max(latest, delay);
    each(Arrival{&request, delay, request.line, l2_.first_of(request.line, channel),
                 static_cast<std::uint16_t>(index), static_cast<std::uint16_t>(channel),
                 request.kind, request.lines, request.pair});
  }
  cu.requests_done = next;
  return latest;
}

void MemorySystem::commit_die(std::span<std::unique_ptr<ComputeUnit>> cus, std::size_t first,
                              std::span<const std::size_t> engaged, std::int64_t start,
                              std::int64_t end) {
  arrivals_.clear();
  std::uint32_t latest = 0;
  std::size_t wave_bytes = 0;
  const auto take = [&](std::size_t place) {
    const auto index = static_cast<std::uint32_t>(place - first);
    ComputeUnit& cu = *cus[index];
    if (std::exchange(cu.empties_gl1, false) && gl1_.any()) gl1_.empty(place_[index].engine);
    wave_bytes += cu.wave_bytes();
    latest = std::max(latest, collect(cu, index, start, end, [this](const Arrival& arrival) {
                        arrivals_.push_back(arrival);
                      }));
  };
  const auto turn = std::ranges::lower_bound(engaged, first + rotation_);
  std::for_each(turn, engaged.end(), take);
  std::for_each(engaged.begin(), turn, take);
  rotation_ = rotation_ + 1 < cus.size() ? rotation_ + 1 : 0;
  if (arrivals_.empty()) return;
  serve_in_turn(cus, start, latest, wave_bytes > kHostCacheBytes);
  for (const std::size_t place : engaged) cus[place - first]->drop_done_requests();
}

void MemorySystem::serve_in_turn(std::span<std::unique_ptr<ComputeUnit>> cus, std::int64_t start,
                                 std::uint32_t latest, bool ahead) {
  sort_by_delay(sorted_, bucket_, latest, [this](auto&& each) {
    for (const Arrival& arrival : arrivals_) each(arrival);
  });
  const std::size_t arrived = sorted_.size();
  Lookups& part = *lookups_.front();
  part.changes.begin(memory_.version());
  const std::uint64_t misses = part.counters.misses;
  ahead = ahead || missed_;
  for (std::size_t n = 0; n < arrived; ++n) {
    if (ahead) prefetch_behind(n);
    const Arrival& arrival = sorted_[n];
    ComputeUnit& cu = *cus[arrival.cu];
    const std::int64_t cycle = start + arrival.delay;
    if (!serve_read(cu, arrival, cycle)) serve(cu, arrival, cycle);
  }
  missed_ = part.counters.misses != misses;
  memory_.version().absorb(part.changes);
  if (!deliveries_.front()->scalar_fills.empty()) share_scalar_lines(cus, *deliveries_.front());
}

void MemorySystem::share_scalar_lines(std::span<std::unique_ptr<ComputeUnit>> cus,
                                      Deliveries& part) const {
  const auto of_engine = static_cast<std::uint32_t>(architecture_.cus_per_engine);
  const auto sharing = static_cast<std::uint32_t>(architecture_.scalar_cache_cus);
  for (const ScalarFill& fill : part.scalar_fills) {
    const std::uint32_t engine = fill.cu / of_engine * of_engine;
    const std::uint32_t first = (fill.cu - engine) / sharing * sharing;
    for (std::uint32_t i = first; i < std::min(first + sharing, of_engine); ++i) {
      if (engine + i != fill.cu) cus[engine + i]->scalar_cache->put(fill.line, fill.time);
    }
  }
  part.scalar_fills.clear();
}

void MemorySystem::gather(ComputeUnit& cu, std::size_t index, std::int64_t start,
                          std::int64_t end) {
  GatheredCount count = counts_[index];
  if (count.until == end) return;
  Gathered& gathered = gathered_[index];
  if (const std::size_t most = cu.requests.size() - cu.requests_done; most > gathered.room) {
    gathered.room = 2 * most;
    gathered.arrivals = std::make_unique_for_overwrite<Arrival[]>(gathered.room);
    gathered.answers = std::make_unique_for_overwrite<Answer[]>(gathered.room);
    gathered.places = std::make_unique_for_overwrite<std::uint32_t[]>(gathered.room);
  }
  count = {.until = end};
  count.latest =
      collect(cu, static_cast<std::uint32_t>(index), start, end, [&](const Arrival& arrival) {
        gathered.arrivals[count.arrivals++] = arrival;
        ++count.of_group[group_of(arrival)];
      });
  counts_[index] = count;
  std::array<std::uint32_t, kMaxGroups> next{};
  for (std::size_t group = 1; group < kMaxGroups; ++group) {
    next[group] = next[group - 1] + count.of_group[group - 1];
  }
  for (std::uint32_t i = 0; i < count.arrivals; ++i) {
    gathered.places[next[group_of(gathered.arrivals[i])]++] = i;
  }
}

void MemorySystem::commit(std::vector<std::unique_ptr<ComputeUnit>>& cus,
                          std::span<const std::size_t> engaged, std::int64_t start,
                          std::int64_t end, Workers& workers) {
  if (!shares_commits_ || workers.alone()) {
    commit_die(cus, 0, engaged, start, end);
    return;
  }
  std::size_t arrived = 0;
  std::uint32_t latest = 0;
  for (std::size_t i = 0; i < cus.size(); ++i) {
    gather(*cus[i], i, start, end);
    arrived += counts_[i].arrivals;
    latest = std::max(latest, counts_[i].latest);
  }
  if (parallel_commit_min_requests_ == 0 ||
      (arrived >= parallel_commit_min_requests_ && workers.awake())) {
    share(cus, start, latest, workers);
  } else if (arrived != 0) {
    arrivals_.clear();
    for (std::size_t i = 0; i < cus.size(); ++i) {
      for_gathered((i + rotation_) % cus.size(),
                   [this](const Arrival& arrival, Answer&) { arrivals_.push_back(arrival); });
    }
    serve_in_turn(cus, start, latest, true);
    for (const std::size_t place : engaged) cus[place]->drop_done_requests();
  }
  rotation_ = rotation_ + 1 < cus.size() ? rotation_ + 1 : 0;
}

template <class F>
void MemorySystem::for_gathered(std::size_t cu, F&& each) {
  const std::uint32_t count = counts_[cu].arrivals;
  if (count == 0) return;
  Gathered& gathered = gathered_[cu];
  for (std::uint32_t i = 0; i < count; ++i) each(gathered.arrivals[i], gathered.answers[i]);
}

void MemorySystem::share(std::span<std::unique_ptr<ComputeUnit>> cus, std::int64_t start,
                         std::uint32_t latest, Workers& workers) {
  if (memory_.used_pages().following()) {
    for (std::size_t cu = 0; cu < cus.size(); ++cu) {
      for_gathered(cu, [this](const Arrival& arrival, Answer&) {
        for (unsigned i = 0; i < arrival.lines; ++i) memory_.use_line(arrival.line + i);
      });
    }
  }
  sharing_ = true;
  for (auto& group : lookups_) group->changes.begin(memory_.version());
  workers.run(
      lookups_.size(),
      [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) look_up_group(i, start, latest);
      },
      false);
  for (auto& group : lookups_) memory_.version().absorb(group->changes);
  workers.run(
      deliveries_.size(),
      [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) deliver_engine(i, cus, latest);
      },
      false);
  sharing_ = false;
}

// Sorts pending requests by arrival, in the order of serve_in_turn().
template <class F>
void MemorySystem::sort_pending(std::size_t first_cu, std::size_t end_cu, std::uint32_t latest,
                                ArenaVector<Pending>& pending, ArenaVector<std::uint32_t>& bucket,
                                F&& for_each_of) {
  const std::size_t turn = std::clamp(static_cast<std::size_t>(rotation_), first_cu, end_cu);
  sort_by_delay(pending, bucket, latest, [&](auto&& each) {
    const auto as_pending = [&](const Arrival& arrival, Answer& answer) {
      each(Pending{arrival, &answer});
    };
    for (std::size_t cu = turn; cu < end_cu; ++cu) for_each_of(cu, as_pending);
    for (std::size_t cu = first_cu; cu < turn; ++cu) for_each_of(cu, as_pending);
  });
}

void MemorySystem::look_up_group(std::size_t group, std::int64_t start, std::uint32_t latest) {
  Lookups& own = *lookups_[group];
  sort_pending(0, gathered_.size(), latest, own.pending, own.bucket,
               [&](std::size_t cu, auto&& each) {
                 const auto& of_group = counts_[cu].of_group;
                 if (of_group[group] == 0) return;
                 Gathered& gathered = gathered_[cu];
                 const std::uint32_t* place = gathered.places.get();
                 for (std::size_t i = 0; i < group; ++i) place += of_group[i];
                 for (std::uint32_t left = of_group[group]; left != 0; --left, ++place) {
                   each(gathered.arrivals[*place], gathered.answers[*place]);
                 }
               });
  look_up_pending(start, own);
}

void MemorySystem::load_early(const Arrival& arrival, Answer& answer, Lookups& part) {
  answer.loaded = true;
  const std::uint32_t first = asks_for_pairs_ ? arrival.line & ~1U : arrival.line;
  const std::size_t lines = arrival.pair && asks_for_pairs_ ? 2 : arrival.lines;
  Payloads::Line* const kept = part.payloads.take(lines);
  std::memcpy(kept, memory_.host(line_address(first)), lines * kLineBytes);
  answer.payload = kept->bytes;
  if (arrival.kind == Request::Kind::scalar || arrival.kind == Request::Kind::scalar_merge) return;
  const Request& request = *arrival.request;
  load_lines(*request.operation, request.line, request.lines, request.lanes, memory_);
}

void MemorySystem::look_up_pending(std::int64_t start, Lookups& own) {
  own.written.clear();
  own.payloads.clear();
  const std::size_t arrived = own.pending.size();
  for (const Pending& pending : own.pending) {
    if (pending.arrival.is_store()) own.written.add(pending.arrival);
  }
  const std::uint64_t misses = own.counters.misses;
  const auto bring_request = [&](std::size_t n) {
    if (n >= arrived) return;
    const auto& [arrival, answer] = own.pending[n];
    prefetch_to_write(answer);
    if (arrival.is_store()) prefetch(arrival.request);
  };
  const auto bring_operation = [&](std::size_t n) {
    if (n >= arrived) return;
    const Arrival& arrival = own.pending[n].arrival;
    if (arrival.is_store()) prefetch(arrival.request->operation);
  };
  const auto bring_data = [&](std::size_t n) {
    if (n >= arrived) return;
    const Arrival& arrival = own.pending[n].arrival;
    own.prefetch.bring_sets(arrival.line, arrival.first, arrival.lines);
    if (arrival.is_store()) {
      prefetch_store(arrival);
    } else if (own.missed) {
      prefetch_lines(arrival.line, arrival.lines);
    }
  };
  // In most commits a group has fewer requests than these distances.
  for (std::size_t n = 0; n < kRequestAhead; ++n) bring_request(n);
  for (std::size_t n = 0; n < kOperationAhead; ++n) bring_operation(n);
  for (std::size_t n = 0; n < kDataAhead; ++n) bring_data(n);
  for (std::size_t n = 0; n < arrived; ++n) {
    bring_request(n + kRequestAhead);
    bring_operation(n + kOperationAhead);
    bring_data(n + kDataAhead);
    const auto& [arrival, answer] = own.pending[n];
    answer->loaded = false;
    if (!arrival.is_merge()) look_up(arrival, start + arrival.delay, *answer, own);
    if (!arrival.is_store() && own.written.has(arrival)) load_early(arrival, *answer, own);
    send_transfers(own);
  }
  own.missed = own.counters.misses != misses;
}

void MemorySystem::deliver_engine(std::size_t engine, std::span<std::unique_ptr<ComputeUnit>> cus,
                                  std::uint32_t latest) {
  Deliveries& own = *deliveries_[engine];
  const auto of_engine = static_cast<std::size_t>(architecture_.cus_per_engine);
  const std::size_t first = engine * of_engine;
  const std::size_t end = first + of_engine;
  sort_pending(first, end, latest, own.pending, own.bucket,
               [&](std::size_t cu, auto&& each) { for_gathered(cu, each); });
  const std::size_t arrived = own.pending.size();
  const auto bring_operation = [&](std::size_t n) {
    if (n >= arrived) return;
    prefetch_to_write(own.pending[n].arrival.request->operation);
    prefetch(own.pending[n].answer);
  };
  const auto bring_data = [&](std::size_t n) {
    if (n < arrived) prefetch_bytes(own.pending[n].arrival);
  };
  for (std::size_t n = 0; n < kOperationAhead; ++n) bring_operation(n);
  for (std::size_t n = 0; n < kDataAhead; ++n) bring_data(n);
  for (std::size_t n = 0; n < arrived; ++n) {
    bring_operation(n + kOperationAhead);
    bring_data(n + kDataAhead);
    const auto& [arrival, answer] = own.pending[n];
    const Request& request = *arrival.request;
    ComputeUnit& cu = *cus[arrival.cu];
    resolve(cu, request,
            arrival.is_merge() ? deliver_merged(cu, request, answer->loaded)
                               : deliver(cu, arrival, *answer, own),
            own);
  }
  if (!own.scalar_fills.empty()) share_scalar_lines(cus, own);
  for (std::size_t i = first; i < end; ++i) cus[i]->drop_done_requests();
}

}  // namespace ww::sim::gpu::exec
