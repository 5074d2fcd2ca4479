// Caches on a device: the chains and streams behind the figures.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <span>

#include "caches/cache_figures.hpp"
#include "host/pinning.hpp"
#include "ww/core/interrupt.hpp"
#include "ww/kernels/sources.hpp"

namespace ww::microbench {
namespace {

// Kinds of loads as in chase.cl.
enum class Way : std::uint32_t { past_l1 = 0, l1 = 1, local = 2, scalar = 3 };
constexpr std::int64_t kMaxTimed = 2048;
constexpr std::int64_t kRingBytes = 1024;  // of local memory

constexpr std::int64_t kStep = 64;  // no cache that is known fetches less
constexpr std::int64_t kLatencyLoads = 512;
constexpr std::int64_t kFetchLoads = 512;
constexpr std::int64_t kFewL1Bytes = 8192;  // half the smallest L1 that is known
constexpr std::int64_t kMaxL1 = 256 << 10;
// OpenCL promises no larger constant buffer.
constexpr std::int64_t kMaxScalar = 64 << 10;
constexpr std::int64_t kFarApart = 256;  // no cache that is known has longer lines
constexpr double kMinMiss = 1.25;        // of a hit's time; else no load was seen to miss
constexpr std::int64_t kMemoryLoads = 2048;
constexpr std::int64_t kMemoryStep = 1024;
constexpr std::size_t kProbeGroupSize = kernels::kPtxGroupSize;
constexpr std::size_t kGroupsOfUnit = 8;

class CacheProbe {
 public:
  CacheProbe(ComputeHost& host, int compute_units, std::int64_t l2_bytes,
             const std::function<void(double)>& progress)
      : host_(host), progress_(progress), l2_bytes_(l2_bytes) {
    macros_.target = kernel_target(host.facts().target);
    macros_.group_size = kProbeGroupSize;
    groups_ = static_cast<std::size_t>(std::max(compute_units, 1)) * kGroupsOfUnit;
  }

  Status set_up() {
    // Loads of memory lie in the first half, so that a stream through the second one can drive
    // them out of the L2.
    const auto l2 = static_cast<std::size_t>(std::max<std::int64_t>(l2_bytes_, 1 << 20));
    bytes_ = std::bit_ceil(std::max<std::size_t>(8 * l2, std::size_t{8} << 20));
    words_.resize(bytes_ / 4);
    WW_ASSIGN(buffer, host_.create_buffer(bytes_));
    buffer_ = std::move(buffer);
    WW_ASSIGN(scalar, host_.create_buffer(kMaxScalar));
    scalar_ = std::move(scalar);
    WW_ASSIGN(ticks, host_.create_buffer(kMaxTimed * 4));
    ticks_ = std::move(ticks);
    WW_ASSIGN(output, host_.create_buffer(64));
    output_ = std::move(output);
    WW_ASSIGN(chase, kernel("chase"));
    chase_ = std::move(chase);
    WW_ASSIGN(stream, kernel("bandwidth"));
    stream_ = std::move(stream);
    WW_TRY(chase_->set(0, *buffer_));
    WW_TRY(chase_->set(1, *scalar_));
    WW_TRY(chase_->set(6, *ticks_));
    WW_TRY(chase_->set(7, *output_));
    WW_TRY(stream_->set(0, *buffer_));
    return stream_->set(6, *output_);
  }

  Result<Caches> find() {
    Caches caches;
    WW_TRY(latencies(caches));
    progress(0.3);
    WW_TRY(fetches(caches));
    progress(0.4);
    WW_TRY(sizes(caches));
    progress(0.8);
    WW_TRY(rates(caches));
    progress(1.0);
    return caches;
  }

 private:
  Result<std::unique_ptr<LoadedKernel>> kernel(const char* name) {
    WW_ASSIGN(source, kernels::find_source(name));
    WW_ASSIGN(text, kernels::program_text(source, macros_));
    WW_ASSIGN(built, host_.build(text, name));
    return host_.load(built, name);
  }
  void progress(double share) const {
    if (progress_) progress_(share);
  }

  // A closed chain through words at these offsets [bytes], in this order.
  Status write_chain(const std::vector<std::int64_t>& offsets) {
    const auto [low, high] = std::ranges::minmax(offsets);
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      words_[static_cast<std::size_t>(offsets[i] / 4)] =
          static_cast<std::uint32_t>(offsets[(i + 1) % offsets.size()] / 4);
    }
    const auto first = static_cast<std::size_t>(low / 4);
    const auto count = static_cast<std::size_t>((high - low) / 4 + 1);
    is_scalar_behind_ = true;
    return buffer_->write(first * 4, std::as_bytes(std::span(words_).subspan(first, count)));
  }
  Status write_chain(std::int64_t from, std::int64_t step, std::int64_t loads) {
    std::vector<std::int64_t> offsets(static_cast<std::size_t>(loads));
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      offsets[i] = from + step * static_cast<std::int64_t>(i) / 4 * 4;
    }
    return write_chain(offsets);
  }

  // Ticks of `count` loads after `warm` untimed ones.
  Result<std::vector<double>> walk(std::int64_t from, std::int64_t warm, std::int64_t count,
                                   Way way) {
    if (interrupted()) return fail(ErrorCode::cancelled, "interrupted");
    count = std::min(count, kMaxTimed);
    if (way == Way::scalar && is_scalar_behind_) {
      is_scalar_behind_ = false;
      WW_TRY(scalar_->write(0, std::as_bytes(std::span(words_).first(kMaxScalar / 4))));
    }
    WW_TRY(chase_->set(2, static_cast<std::uint32_t>(from / 4)));
    WW_TRY(chase_->set(3, static_cast<std::uint32_t>(warm)));
    WW_TRY(chase_->set(4, static_cast<std::uint32_t>(count)));
    WW_TRY(chase_->set(5, static_cast<std::uint32_t>(way)));
    WW_TRY(chase_->launch(1, macros_.target.wave_size));
    WW_TRY(host_.finish());
    std::vector<std::uint32_t> taken(static_cast<std::size_t>(count));
    WW_TRY(ticks_->read(0, std::as_writable_bytes(std::span(taken))));
    std::uint32_t last = 0;
    WW_TRY(output_->read(0, std::as_writable_bytes(std::span(&last, 1))));
    auto at = static_cast<std::uint32_t>(from / 4);
    for (std::int64_t i = 0; i < warm + count; ++i) at = words_[at];
    if (at != last) {
      return fail(ErrorCode::bad_data, "a chain of loads did not end where it leads to",
                  host_.facts().device);
    }
    return std::vector<double>(taken.begin(), taken.end());
  }

  // Sets up streams through `bytes` from byte `from` on.
  Status aim(std::size_t from, std::size_t bytes, bool write) {
    WW_TRY(stream_->set(1, static_cast<std::uint32_t>(from / 16)));
    WW_TRY(stream_->set(2, static_cast<std::uint32_t>(bytes / 16 - 1)));
    WW_TRY(stream_->set(3, static_cast<std::uint32_t>(groups_ * kProbeGroupSize)));
    return stream_->set(5, std::uint32_t{write ? 1U : 0U});
  }
  // The second half is four times as large as the L2.
  Status drive_out() {
    WW_TRY(aim(bytes_ / 2, bytes_ / 2, false));
    const std::size_t round = groups_ * kProbeGroupSize * 16 * 4;
    WW_TRY(stream_->set(4, static_cast<std::uint32_t>((bytes_ / 2 + round - 1) / round)));
    WW_TRY(stream_->launch(groups_, kProbeGroupSize));
    return host_.finish();
  }

  Status latencies(Caches& caches) {
    WW_TRY(write_chain(0, 4, kRingBytes / 4));
    WW_ASSIGN(shared, walk(0, kRingBytes / 4, kLatencyLoads, Way::local));
    caches.shared.latency = latency_of(shared);
    WW_ASSIGN(scalar, walk(0, kRingBytes / 4, kLatencyLoads, Way::scalar));
    caches.scalar_l1.latency = latency_of(scalar);
    constexpr std::int64_t kFew = kFewL1Bytes / kStep;
    WW_TRY(write_chain(0, kStep, kFew));
    WW_ASSIGN(l1, walk(0, kFew, kLatencyLoads, Way::l1));
    caches.l1.latency = latency_of(l1);
    // Puts as many lines on each channel, whatever the interleave.
    WW_TRY(write_chain(0, kStep, kLatencyLoads));
    WW_ASSIGN(l2, walk(0, kLatencyLoads, kLatencyLoads, Way::past_l1));
    caches.l2.latency = latency_of(l2);
    // Every 1 KiB at random, once.
    const auto places = static_cast<std::int64_t>(bytes_ / 2) / kMemoryStep;
    std::vector<std::int64_t> order(static_cast<std::size_t>(places));
    std::iota(order.begin(), order.end(), std::int64_t{0});
    std::uint32_t random = 20417;
    for (std::size_t i = order.size(); i-- > 1;) {
      random = random * 1664525U + 1013904223U;
      std::swap(order[i], order[(random >> 8) % (i + 1)]);
    }
    order.resize(static_cast<std::size_t>(std::min(places, kMemoryLoads)));
    // Other lines of each place than those that fetches() reads.
    for (std::int64_t& place : order) place = place * kMemoryStep + kMemoryStep / 2;
    WW_TRY(write_chain(order));
    WW_TRY(drive_out());
    WW_ASSIGN(memory,
              walk(order.front(), 0, static_cast<std::int64_t>(order.size()), Way::past_l1));
    caches.memory.latency = latency_of(memory);
    return {};
  }

  // Times plain loads that the L1 does not answer, whatever does: on RDNA a cache of the shader
  // array lies before the L2. The smallest chain that is slower than the L1 shows it; the L2 where
  // none is.
  Result<double> l1_miss_ticks(const Caches& caches) {
    for (std::int64_t bytes = kFewL1Bytes * 2; bytes <= kMaxL1; bytes *= 2) {
      const std::int64_t loads = bytes / kFarApart;
      WW_TRY(write_chain(0, kFarApart, loads));
      WW_ASSIGN(ticks, walk(0, loads, loads, Way::l1));
      const double middle = latency_of(ticks).p50_cycles;
      if (middle > kMinMiss * caches.l1.latency.p50_cycles) {
        return std::min(middle, caches.l2.latency.p50_cycles);
      }
    }
    return caches.l2.latency.p50_cycles;
  }

  // Times loads that the L2 does not answer: memory, or a cache on its side where there is one.
  Result<double> l2_miss_ticks(const Caches& caches) {
    const double memory = caches.memory.latency.p50_cycles;
    if (l2_bytes_ <= 0) return memory;
    const std::int64_t loads = 2 * l2_bytes_ / kFarApart;
    WW_TRY(write_chain(0, kFarApart, loads));
    WW_ASSIGN(ticks, walk(0, loads, loads, Way::past_l1));
    const double middle = latency_of(ticks).p50_cycles;
    return middle > caches.l2.latency.p95_cycles ? std::min(middle, memory) : memory;
  }

  // Times scalar loads from the L2, which can take far less than vector loads from there: each line
  // is read once, and the second launch finds all in the L2 and none in the scalar cache.
  Result<double> scalar_miss_ticks() {
    WW_TRY(write_chain(0, kFarApart, kMaxScalar / kFarApart));
    WW_TRY(walk(0, 0, kMaxScalar / kFarApart, Way::scalar));
    WW_ASSIGN(ticks, walk(0, 0, kMaxScalar / kFarApart, Way::scalar));
    return latency_of(ticks).p50_cycles;
  }

  Status fetches(Caches& caches) {
    const std::int64_t from = std::int64_t{1} << 20;
    WW_ASSIGN(l1_miss, l1_miss_ticks(caches));
    l1_bound_ = (caches.l1.latency.p50_cycles + l1_miss) / 2;
    WW_ASSIGN(l2_miss, l2_miss_ticks(caches));
    l2_bound_ = (caches.l2.latency.p95_cycles + l2_miss) / 2;
    WW_ASSIGN(scalar_miss, scalar_miss_ticks());
    const double scalar_hit = caches.scalar_l1.latency.p50_cycles;
    const bool misses = scalar_miss > kMinMiss * scalar_hit;
    scalar_bound_ = (scalar_hit + (misses ? scalar_miss : caches.l2.latency.p50_cycles)) / 2;
    WW_TRY(write_chain(from, 4, kFetchLoads));
    WW_TRY(drive_out());
    WW_ASSIGN(cold, walk(from, 0, kFetchLoads, Way::past_l1));
    caches.l2.fetch_bytes = find_fetch(cold, l2_bound_, caches.l2.miss_penalty_cycles);
    // Reads these words again: now they are in the L2, and in no cache before it.
    WW_ASSIGN(l1, walk(from, 0, kFetchLoads, Way::l1));
    caches.l1.fetch_bytes = find_fetch(l1, l1_bound_, caches.l1.miss_penalty_cycles);
    // Reads twice as well: a launch finds nothing in the scalar cache.
    WW_TRY(write_chain(0, 4, kFetchLoads));
    WW_TRY(walk(0, 0, kFetchLoads, Way::scalar));
    WW_ASSIGN(scalar, walk(0, 0, kFetchLoads, Way::scalar));
    caches.scalar_l1.fetch_bytes =
        find_fetch(scalar, scalar_bound_, caches.scalar_l1.miss_penalty_cycles);
    return {};
  }

  HitShare hits(Way way, double bound) {
    return [this, way, bound](std::int64_t step, std::int64_t loads) -> Result<double> {
      WW_TRY(write_chain(0, step, loads));
      WW_ASSIGN(ticks, walk(0, loads, loads, way));
      return share_below(ticks, bound);
    };
  }
  Status size_of(CacheLevel& level, Way way, double bound, std::int64_t most) {
    WW_ASSIGN(size, find_size(hits(way, bound), kStep, most));
    level.size_bytes = std::move(size);
    if (!level.size_bytes.value || !level.fetch_bytes.value) {
      level.line_bytes.reason = "size or fetched bytes were not found";
      return {};
    }
    WW_ASSIGN(line, find_line(hits(way, bound), static_cast<std::int64_t>(*level.size_bytes.value),
                              static_cast<std::int64_t>(*level.fetch_bytes.value)));
    level.line_bytes = std::move(line);
    return {};
  }
  Status sizes(Caches& caches) {
    WW_TRY(size_of(caches.l1, Way::l1, l1_bound_, kMaxL1));
    WW_TRY(size_of(caches.scalar_l1, Way::scalar, scalar_bound_, kMaxScalar));
    CacheLevel& l2 = caches.l2;
    if (l2_bytes_ <= 0) {
      l2.size_bytes.reason = "the driver does not report it, and no chain is that long";
      l2.line_bytes.reason = "the L2's size is not known";
      return {};
    }
    l2.size_bytes.value = static_cast<double>(l2_bytes_);
    if (!l2.fetch_bytes.value) {
      l2.line_bytes.reason = "fetched bytes were not found";
      return {};
    }
    WW_ASSIGN(line, find_line(hits(Way::past_l1, l2_bound_), l2_bytes_,
                              static_cast<std::int64_t>(*l2.fetch_bytes.value)));
    l2.line_bytes = std::move(line);
    return {};
  }

  // GiB/s of all compute units on a working set: two launches of different length, so that the
  // launch itself drops out.
  Result<CacheFigure> rate(std::size_t working_set, bool write) {
    constexpr std::uint32_t kShort = 2;
    constexpr std::uint32_t kLong = 8;
    CacheFigure figure;
    WW_TRY(aim(0, working_set, write));
    WW_TRY(stream_->set(4, kShort));
    WW_TRY(stream_->launch(groups_, kProbeGroupSize));  // fills the L2
    WW_ASSIGN(brief, stream_->time_launch(groups_, kProbeGroupSize));
    WW_TRY(stream_->set(4, kLong));
    WW_ASSIGN(longer, stream_->time_launch(groups_, kProbeGroupSize));
    const double bytes = static_cast<double>(groups_ * kProbeGroupSize) * 16 * 4 * (kLong - kShort);
    if (!(longer > 1.5 * brief)) {
      figure.reason = "a stream of four times the length takes hardly longer";
      return figure;
    }
    figure.value = bytes / (longer - brief) / static_cast<double>(1 << 30);
    return figure;
  }
  Status rates(Caches& caches) {
    const std::size_t small = std::bit_floor(static_cast<std::size_t>(l2_bytes_)) / 2;
    const auto into = [&](CacheFigure& figure, std::size_t set, bool write) -> Status {
      if (set == 0) {
        figure.reason = "the L2's size is not known";
        return {};
      }
      WW_ASSIGN(found, rate(set, write));
      figure = std::move(found);
      return {};
    };
    WW_TRY(into(caches.l2.read_gib_s, small, false));
    WW_TRY(into(caches.l2.write_gib_s, small, true));
    WW_TRY(into(caches.memory.read_gib_s, bytes_, false));
    return into(caches.memory.write_gib_s, bytes_, true);
  }

  ComputeHost& host_;
  std::function<void(double)> progress_;
  kernels::Macros macros_;
  std::size_t groups_{};
  std::int64_t l2_bytes_{};
  std::size_t bytes_{};
  std::vector<std::uint32_t> words_;  // what the buffer holds
  bool is_scalar_behind_{true};       // the constant buffer, which has the first of them
  std::unique_ptr<DeviceBuffer> buffer_, scalar_, ticks_, output_;
  std::unique_ptr<LoadedKernel> chase_, stream_;
  double l1_bound_{}, l2_bound_{}, scalar_bound_{};
};

}  // namespace

Result<Caches> discover_caches(ComputeHost& host, int compute_units, std::int64_t l2_bytes,
                               const std::function<void(double)>& progress) {
  CacheProbe probe(host, compute_units, l2_bytes, progress);
  WW_TRY(probe.set_up());
  return probe.find();
}

}  // namespace ww::microbench
