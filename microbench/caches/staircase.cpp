// The staircase on a device: chains of loads through sets of growing size.
#include <algorithm>
#include <numeric>
#include <span>

#include "caches/memory_levels.hpp"
#include "host/pinning.hpp"
#include "ww/core/interrupt.hpp"
#include "ww/core/split_mix.hpp"
#include "ww/core/statistics.hpp"
#include "ww/kernels/sources.hpp"

namespace ww::microbench {
namespace {

constexpr std::int64_t kSmallestStair = 4096;
constexpr std::int64_t kStairPlaceBytes = 256;  // apart: no line that is known is longer
constexpr std::int64_t kMaxStairPlaces = 2048;  // of a chain, and what its kernel times
constexpr std::int64_t kStairLoads = 512;
// Lines of loads past the L1 lie all over so many bytes. One place of 4 KiB is of one side of an L2
// that has two, and far from or near to where the chain runs.
constexpr std::int64_t kPastL1Bytes = 1 << 20;
constexpr std::size_t kStairGroup = kernels::kPtxGroupSize;
constexpr std::size_t kStairGroupsOfUnit = 4;
// Share of a set's loads that take the latency that is reported, or less. In a package of four dies
// half of the loads go one die further, and a quarter two: a share at 1/4, 1/2 or 3/4 would be now
// the one and now the other. Of a set twice as large as a level, half of the loads may still hit.
constexpr std::size_t kStairShareOf8 = 5;
// A chain lies in the first part of the set that is read before it: where the set exceeds a level,
// what was read first is the first to go.
constexpr std::int64_t kStairFirstPart = 4;
constexpr double kRateLaunchS = 133e-6;  // that the longer of two timed launches lasts
constexpr std::uint32_t kRateShare = 4;  // times as many loops as the shorter
constexpr std::uint32_t kMaxRateLoops = 1U << 20U;
constexpr int kRateRepeats = 3;
constexpr std::uint32_t kStairPastL1 = 0, kStairThroughL1 = 1;  // ways of chase.cl

class Stairs {
 public:
  Stairs(ComputeHost& host, int compute_units, std::int64_t most_bytes)
      : host_(host), most_(most_bytes) {
    macros_.target = kernel_target(host.facts().target);
    macros_.group_size = kStairGroup;
    groups_ = static_cast<std::size_t>(std::max(compute_units, 1)) * kStairGroupsOfUnit;
  }

  Status set_up() {
    WW_ASSIGN(buffer, host_.create_buffer(static_cast<std::size_t>(most_)));
    buffer_ = std::move(buffer);
    WW_ASSIGN(scalar, host_.create_buffer(1024));
    scalar_ = std::move(scalar);
    WW_ASSIGN(ticks, host_.create_buffer(kMaxStairPlaces * sizeof(std::uint32_t)));
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
    WW_TRY(stream_->set(1, std::uint32_t{0}));
    WW_TRY(stream_->set(5, std::uint32_t{0}));
    return stream_->set(6, *output_);
  }

  // Time that five of eight loads from a set of `bytes` take at most.
  Result<double> ticks_of(std::int64_t bytes, std::uint32_t way) {
    const std::int64_t all = bytes / kStairPlaceBytes;
    // A chain through the whole set reads it itself.
    if (all <= kMaxStairPlaces) return ticks_of_chain(all, all, true, way);
    const std::int64_t part = all / kStairFirstPart;
    return ticks_of_chain(part, std::min(part, kMaxStairPlaces), false, way, bytes);
  }

  // Time of loads from few places, one in each equal part of the set, after a round through them.
  Result<double> ticks_of_few(std::int64_t bytes, std::uint32_t way) {
    const std::int64_t all = bytes / kStairPlaceBytes;
    return ticks_of_chain(all, std::min(all, kStairLoads), true, way);
  }

  // Bytes a second from a set of so many bytes: by the median of how much longer more loops take,
  // so that what a launch takes by itself is not in it.
  Result<double> rate_of(std::int64_t bytes) {
    const std::size_t items = groups_ * kStairGroup;
    WW_TRY(stream_->set(2, static_cast<std::uint32_t>(bytes / 16 - 1)));
    WW_TRY(stream_->set(3, static_cast<std::uint32_t>(items)));
    std::uint32_t few = 1;
    for (double seconds = 0; seconds < kRateLaunchS / kRateShare && few < kMaxRateLoops;) {
      few *= 2;
      WW_ASSIGN(taken, time_loops(few));
      seconds = taken;
    }
    const std::uint32_t many = kRateShare * few;
    std::vector<double> longer;
    for (int repeat = 0; repeat < kRateRepeats; ++repeat) {
      WW_ASSIGN(once, time_loops(few));
      WW_ASSIGN(more, time_loops(many));
      longer.push_back(more - once);
    }
    const double seconds = median(std::move(longer));
    if (!(seconds > 0)) {
      return fail(ErrorCode::unsupported, "launches do not take longer with more loads",
                  host_.facts().device);
    }
    constexpr double kBytesOfLoop = 4 * 16;
    return static_cast<double>(items) * (many - few) * kBytesOfLoop / seconds;
  }

 private:
  // Loads from a closed chain through `count` of so many places: after a round through all of it,
  // or after the set of so many bytes was read.
  Result<double> ticks_of_chain(std::int64_t all, std::int64_t count, bool round, std::uint32_t way,
                                std::int64_t set_bytes = 0) {
    if (interrupted()) return fail(ErrorCode::cancelled, "interrupted");
    WW_ASSIGN(first, write_chain(all, count));
    if (!round) WW_TRY(read_whole(set_bytes));
    const std::int64_t timed = round ? kStairLoads : std::min(count, kStairLoads);
    WW_TRY(chase_->set(2, first));
    WW_TRY(chase_->set(3, static_cast<std::uint32_t>(round ? count : 0)));
    WW_TRY(chase_->set(4, static_cast<std::uint32_t>(timed)));
    WW_TRY(chase_->set(5, way));
    WW_TRY(chase_->launch(1, macros_.target.wave_size));
    WW_TRY(host_.finish());
    std::vector<std::uint32_t> taken(static_cast<std::size_t>(timed));
    WW_TRY(ticks_->read(0, std::as_writable_bytes(std::span(taken))));
    std::ranges::sort(taken);
    return static_cast<double>(taken[taken.size() * kStairShareOf8 / 8]);
  }

  Result<double> time_loops(std::uint32_t loops) {
    if (interrupted()) return fail(ErrorCode::cancelled, "interrupted");
    WW_TRY(stream_->set(4, loops));
    return stream_->time_launch(groups_, kStairGroup);
  }

  Result<std::unique_ptr<LoadedKernel>> kernel(const char* name) {
    WW_ASSIGN(source, kernels::find_source(name));
    WW_ASSIGN(text, kernels::program_text(source, macros_));
    WW_ASSIGN(built, host_.build(text, name));
    return host_.load(built, name);
  }

  // A closed chain through `count` of the set's places, in random order. Returns its first word.
  Result<std::uint32_t> write_chain(std::int64_t all, std::int64_t count) {
    std::vector<std::uint32_t> words(static_cast<std::size_t>(count));
    SplitMix random(static_cast<std::uint64_t>(all));
    constexpr std::int64_t kWords = kStairPlaceBytes / 4;
    // One place of each of `count` equal parts of the set.
    const std::int64_t part = all / count;
    for (std::int64_t i = 0; i < count; ++i) {
      const auto within =
          static_cast<std::int64_t>(random.next() % static_cast<std::uint64_t>(part));
      words[static_cast<std::size_t>(i)] = static_cast<std::uint32_t>((i * part + within) * kWords);
    }
    for (std::size_t i = words.size(); i > 1; --i) {
      std::swap(words[i - 1], words[static_cast<std::size_t>(random.next() % i)]);
    }
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::uint32_t next = words[(i + 1) % words.size()];
      WW_TRY(buffer_->write(std::size_t{words[i]} * 4, std::as_bytes(std::span(&next, 1))));
    }
    return words.front();
  }

  // By one group: it runs where the chain does, so that it fills the L2 of that die, of several.
  Status read_whole(std::int64_t bytes) {
    const auto pieces = static_cast<std::uint32_t>(bytes / 16);
    const auto items = static_cast<std::uint32_t>(kStairGroup);
    WW_TRY(stream_->set(2, pieces - 1));
    WW_TRY(stream_->set(3, items));
    WW_TRY(stream_->set(4, (pieces + 4 * items - 1) / (4 * items)));
    return stream_->launch(1, kStairGroup);
  }

  ComputeHost& host_;
  kernels::Macros macros_;
  std::int64_t most_{};
  std::size_t groups_{};
  // Kernels are destroyed before the buffers that their arguments name.
  std::unique_ptr<DeviceBuffer> buffer_, scalar_, ticks_, output_;
  std::unique_ptr<LoadedKernel> chase_, stream_;
};

}  // namespace

Result<Staircase> measure_staircase(ComputeHost& host, int compute_units, std::int64_t most_bytes,
                                    const std::function<void(double)>& progress) {
  Stairs stairs(host, compute_units, most_bytes);
  WW_TRY(stairs.set_up());
  Staircase result;
  WW_ASSIGN(past, stairs.ticks_of_few(std::min(kPastL1Bytes, most_bytes), kStairPastL1));
  result.past_l1_ticks = past;
  if (!(past > 0)) {
    return fail(ErrorCode::unsupported,
                "its kernels have no clock, so no latency shows where its levels end",
                host.facts().device);
  }
  for (std::int64_t bytes = kSmallestStair; bytes <= most_bytes; bytes *= 2) {
    WW_ASSIGN(ticks, stairs.ticks_of(bytes, kStairThroughL1));
    result.points.push_back({bytes, ticks});
    if (progress) progress(static_cast<double>(bytes) / static_cast<double>(most_bytes));
  }
  return result;
}

Result<double> measure_few_lines(ComputeHost& host, std::int64_t bytes) {
  Stairs stairs(host, host.facts().compute_units, bytes);
  WW_TRY(stairs.set_up());
  return stairs.ticks_of_few(bytes, kStairThroughL1);
}

Result<std::vector<StairPoint>> measure_stairs(ComputeHost& host,
                                               std::span<const std::int64_t> sizes, bool past_l1) {
  Stairs stairs(host, host.facts().compute_units, sizes.back());
  WW_TRY(stairs.set_up());
  std::vector<StairPoint> points;
  for (const std::int64_t bytes : sizes) {
    WW_ASSIGN(ticks, stairs.ticks_of(bytes, past_l1 ? kStairPastL1 : kStairThroughL1));
    if (!(ticks > 0)) {
      return fail(ErrorCode::unsupported, "its kernels have no clock, so no latency can be had",
                  host.facts().device);
    }
    points.push_back({bytes, ticks});
  }
  return points;
}

Result<ListRates> measure_list_rates(ComputeHost& host, int compute_units, std::int64_t short_bytes,
                                     std::int64_t long_bytes) {
  Stairs stairs(host, compute_units, long_bytes);
  WW_TRY(stairs.set_up());
  WW_ASSIGN(of_short, stairs.rate_of(short_bytes));
  WW_ASSIGN(of_long, stairs.rate_of(long_bytes));
  return ListRates{of_short, of_long};
}

}  // namespace ww::microbench
