#include "ww/microbench/segments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>

#include "bench/stream_arguments.hpp"
#include "device/device.hpp"
#include "host/pinning.hpp"
#include "ww/core/device_name.hpp"
#include "ww/core/hash.hpp"
#include "ww/core/interrupt.hpp"
#include "ww/kernels/patterns.hpp"
#include "ww/kernels/sources.hpp"
#include "ww/measure/recorder.hpp"

namespace ww::microbench {
namespace {

using model::SegmentPoint;
using nlohmann::json;

constexpr int four = 4;               // CUs of a group
constexpr unsigned group_field = 10;  // HW_ID of GCN and CDNA: engine, SH and CU / 4 from here on
constexpr std::size_t segment_group_size = 256;
constexpr std::size_t wave_size = 64;
constexpr std::size_t groups_per_cu = 4;
constexpr unsigned unroll = 4;
constexpr unsigned held_stripes = 128;    // a channel's share of the L2 holds them
constexpr unsigned large_stripes = 2048;  // eight times a channel's share at 256 B and 64 KiB
constexpr std::size_t register_groups_per_cu = 8;  // eight waves a SIMD hide the latency
constexpr unsigned register_stripes = 32;          // the L2 holds random data and ones side by side
constexpr double legs_launch_s = 3e-4;
constexpr double l2_launch_s = 1e-3;         // a sweep goes before each
constexpr double registers_launch_s = 1e-4;  // the whole chip works
constexpr std::int64_t segment_batch = 100;
constexpr double legs_share = 0.65;  // of the full rate, at most, when slow
constexpr double l2_share = 0.40;

// Eight bits each; a single channel takes the place of all of a quadrant's.
std::uint64_t packed(const std::vector<int>& channels) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    word |= static_cast<std::uint64_t>(channels[i % channels.size()] & 255) << (8 * i);
  }
  return word;
}

// One program for each kind of point; they share their buffers.
struct Program {
  std::unique_ptr<LoadedKernel> kernel;
  std::string hash;
};

class SegmentRunner {
 public:
  SegmentRunner(const SegmentsRequest& request, Device& device, const Pinning& pinning,
                std::vector<SegmentPoint> points)
      : request_(request),
        device_(device),
        pinning_(pinning),
        points_(std::move(points)),
        recorder_(*device.sensor) {}

  Status prepare();
  Status run(CampaignStore& store, const ProgressFunction& progress);

 private:
  enum Kind { legs, held, large, registers };
  [[nodiscard]] static Kind kind_of(const SegmentPoint& point) {
    if (point.segment == "registers_l1") return registers;
    return point.segment == "legs" ? legs : point.from_memory ? large : held;
  }
  [[nodiscard]] static bool is_behind_l2(Kind kind) { return kind == held || kind == large; }
  Result<Program> build(Kind kind);
  Status build_sweep();
  Status build_registers();
  [[nodiscard]] static double launch_s(const SegmentPoint& point) {
    const Kind kind = kind_of(point);
    if (kind == registers) return registers_launch_s;
    return is_behind_l2(kind) ? l2_launch_s : legs_launch_s;
  }
  // One launch of what is selected. Before one that moves lines behind the L2 a sweep puts the L2
  // into one and the same state, so that launches repeat exactly.
  Status launch(const SegmentPoint& point) {
    const Kind kind = kind_of(point);
    if (kind == registers) {
      return programs_[kind].kernel->launch(groups_ / groups_per_cu * register_groups_per_cu,
                                            segment_group_size);
    }
    if (is_behind_l2(kind)) WW_TRY(sweep_->launch(1, wave_size));
    return programs_[kind].kernel->launch(groups_, segment_group_size);
  }
  Status select(const SegmentPoint& point, std::uint32_t loops);
  Result<std::int64_t> time_launch(const SegmentPoint& point, std::uint32_t loops);
  Status find_throttle(const SegmentPoint& point, std::uint32_t& throttle, double share);
  Status check_pinned(const SegmentPoint& point);
  [[nodiscard]] json plan() const;
  Result<StoredRun> perform(std::size_t point);
  Result<StoredRun> idle();
  [[nodiscard]] std::uint32_t place_of(const SegmentPoint& point) const {
    const auto engine = static_cast<std::uint32_t>(point.engine);
    if (point.group < 0) return engine;
    const unsigned shift = pinning_.target().engine_shift - group_field;
    return engine << shift | static_cast<std::uint32_t>(point.group);
  }
  // Each point has a log of its own: launches that repeat then change nothing in memory, and a
  // simulated chip need not execute them again.
  [[nodiscard]] std::size_t log_index(const SegmentPoint& point) const {
    const auto at = std::ranges::find(points_, point);
    return static_cast<std::size_t>(at - points_.begin()) * waves();
  }
  [[nodiscard]] std::size_t waves() const { return groups_ * (segment_group_size / wave_size); }

  const SegmentsRequest& request_;
  Device& device_;
  const Pinning& pinning_;
  std::vector<SegmentPoint> points_;
  measure::Recorder recorder_;
  std::size_t groups_{};
  std::uint32_t legs_throttle_{}, l2_throttle_{};
  std::vector<std::uint32_t> loops_;  // of each point
  // Kernels are destroyed before the buffers that their arguments name.
  std::unique_ptr<DeviceBuffer> data_, ones_, log_, output_, sweep_data_;
  std::unique_ptr<LoadedKernel> sweep_;
  std::array<Program, 4> programs_;
};

Result<Program> SegmentRunner::build(Kind kind) {
  kernels::Macros macros;
  macros.target = pinning_.target();
  if (kind == legs) {
    const unsigned shift = macros.target.engine_shift;
    macros.target.engine_mask =
        macros.target.engine_mask << (shift - group_field) | ((1U << (shift - group_field)) - 1);
    macros.target.engine_shift = group_field;
  }
  macros.group_size = segment_group_size;
  macros.interleave_bytes = static_cast<unsigned>(device_.chip.interleave_bytes);
  macros.channels = static_cast<unsigned>(device_.chip.channels);
  macros.quadrant_channels = static_cast<unsigned>(device_.quadrants.front().size());
  macros.stripes = kind == large ? large_stripes : held_stripes;
  macros.unroll = unroll;
  WW_ASSIGN(source, kernels::find_source("l2_stream"));
  WW_ASSIGN(text, kernels::program_text(source, macros));
  WW_ASSIGN(binary, device_.host->build(text, "l2_stream"));
  WW_ASSIGN(patched, pinning_.patch(binary, "l2_stream"));
  Program program;
  program.hash = hash_text(patched);
  WW_ASSIGN(kernel, device_.host->load(patched, "l2_stream"));
  program.kernel = std::move(kernel);
  WW_TRY(program.kernel->set(buffer_argument, *data_));
  WW_TRY(program.kernel->set(log_argument, *log_));
  WW_TRY(program.kernel->set(output_argument, *output_));
  return program;
}

Status SegmentRunner::build_sweep() {
  constexpr std::size_t piece = wave_size * 16;  // one load of the wavefront
  const auto pieces = (static_cast<std::size_t>(device_.chip.l2_bytes) + piece - 1) / piece;
  WW_ASSIGN(data, device_.host->create_buffer(pieces * piece));
  sweep_data_ = std::move(data);
  WW_TRY(sweep_data_->write(0, std::vector<std::byte>(pieces * piece)));
  kernels::Macros macros;
  macros.target = pinning_.target();
  WW_ASSIGN(source, kernels::find_source("l2_sweep"));
  WW_ASSIGN(text, kernels::program_text(source, macros));
  WW_ASSIGN(binary, device_.host->build(text, "l2_sweep"));
  WW_ASSIGN(kernel, device_.host->load(binary, "l2_sweep"));
  sweep_ = std::move(kernel);
  WW_TRY(sweep_->set(0, *sweep_data_));
  WW_TRY(sweep_->set(1, static_cast<std::uint32_t>(pieces)));
  return sweep_->set(2, *output_);
}

Status SegmentRunner::build_registers() {
  const std::size_t span = static_cast<std::size_t>(register_stripes) *
                           static_cast<std::size_t>(device_.chip.interleave_bytes) *
                           static_cast<std::size_t>(device_.chip.channels);
  WW_ASSIGN(ones, device_.host->create_buffer(2 * span));
  ones_ = std::move(ones);
  std::vector<std::byte> content(2 * span);
  kernels::fill(content, kernels::Pattern::ones, 0);
  WW_TRY(ones_->write(0, content));
  kernels::Macros macros;
  macros.target = pinning_.target();
  macros.group_size = segment_group_size;
  macros.interleave_bytes = static_cast<unsigned>(device_.chip.interleave_bytes);
  macros.channels = static_cast<unsigned>(device_.chip.channels);
  macros.quadrant_channels = static_cast<unsigned>(device_.quadrants.front().size());
  macros.stripes = register_stripes;
  macros.unroll = unroll;
  WW_ASSIGN(source, kernels::find_source("register_stream"));
  WW_ASSIGN(text, kernels::program_text(source, macros));
  WW_ASSIGN(binary, device_.host->build(text, "register_stream"));
  WW_ASSIGN(kernel, device_.host->load(binary, "register_stream"));
  programs_[registers] = {std::move(kernel), hash_text(binary)};
  return programs_[registers].kernel->set(3, *output_);
}

Status SegmentRunner::prepare() {
  const ChipFacts& chip = device_.chip;
  const auto target = pinning_.target();
  if (target.dialect != kernels::Dialect::amd || target.cu_shift != 8 ||
      target.engine_shift != 13 || target.wave_size != wave_size) {
    return fail(ErrorCode::unsupported,
                "its hardware id is not laid out as GCN's, whose CUs are told by fours",
                chip.target);
  }
  groups_ = static_cast<std::size_t>(chip.engines * chip.cus_per_engine) * groups_per_cu;
  const std::size_t span = static_cast<std::size_t>(large_stripes) *
                           static_cast<std::size_t>(chip.interleave_bytes * chip.channels);
  WW_ASSIGN(data, device_.host->create_buffer(2 * span));
  data_ = std::move(data);
  std::vector<std::byte> content(2 * span);
  kernels::fill(content, kernels::Pattern::random, request_.seed ^ 0x5E6D5E6D77AA00FFu);
  WW_TRY(data_->write(0, content));
  WW_ASSIGN(log, device_.host->create_buffer(points_.size() * waves() * sizeof(std::uint32_t)));
  log_ = std::move(log);
  WW_ASSIGN(output, device_.host->create_buffer(256));
  output_ = std::move(output);
  WW_TRY(build_sweep());
  for (const Kind kind : {legs, held, large}) {
    WW_ASSIGN(program, build(kind));
    programs_[kind] = std::move(program);
  }
  WW_TRY(build_registers());
  for (const auto& point : points_) {
    if (!point.slow || point.from_memory) continue;
    auto& throttle = kind_of(point) == legs ? legs_throttle_ : l2_throttle_;
    if (throttle == 0) {
      WW_TRY(find_throttle(point, throttle, kind_of(point) == legs ? legs_share : l2_share));
    }
  }
  for (const auto& point : points_) {
    constexpr std::uint32_t few = 16;
    WW_ASSIGN(length_ns, time_launch(point, few));
    loops_.push_back(static_cast<std::uint32_t>(std::clamp(
        few * launch_s(point) * 1e9 / static_cast<double>(std::max<std::int64_t>(length_ns, 1)),
        4.0, 1e6)));
    if (kind_of(point) == legs && !point.slow) WW_TRY(check_pinned(point));
  }
  return {};
}

Status SegmentRunner::select(const SegmentPoint& point, std::uint32_t loops) {
  LoadedKernel& kernel = *programs_[kind_of(point)].kernel;
  if (kind_of(point) == registers) {
    WW_TRY(kernel.set(0, point.ones ? *ones_ : *data_));
    WW_TRY(kernel.set(1, static_cast<std::uint32_t>(point.lanes)));
    return kernel.set(2, loops);
  }
  WW_TRY(kernel.set(log_first_argument, static_cast<std::uint32_t>(log_index(point))));
  WW_TRY(kernel.set(channels_argument, packed(point.channels)));
  WW_TRY(kernel.set(loops_argument, loops));
  const auto slow = kind_of(point) == legs ? legs_throttle_ : l2_throttle_;
  WW_TRY(kernel.set(throttle_argument, point.slow ? slow : std::uint32_t{0}));
  return kernel.set(engine_argument, place_of(point));
}

// Of the third launch: the first ones fill the caches.
Result<std::int64_t> SegmentRunner::time_launch(const SegmentPoint& point, std::uint32_t loops) {
  WW_TRY(select(point, loops));
  for (int i = 0; i < 3; ++i) WW_TRY(launch(point));
  WW_TRY(device_.host->finish());
  WW_ASSIGN(dispatch, device_.counters->dispatch(device_.counters->dispatch_count() - 1));
  return dispatch.end_ns - dispatch.start_ns;
}

Status SegmentRunner::find_throttle(const SegmentPoint& point, std::uint32_t& throttle,
                                    double share) {
  constexpr std::uint32_t loops = 32;
  SegmentPoint full = point;
  full.slow = false;
  WW_ASSIGN(full_ns, time_launch(full, loops));
  for (throttle = 8; throttle < 100'000; throttle += throttle / 2) {
    WW_ASSIGN(slow_ns, time_launch(point, loops));
    if (static_cast<double>(full_ns) <= share * static_cast<double>(slow_ns)) return {};
  }
  return fail(ErrorCode::bad_data, "no throttle lowers the rate of the stream", device_.name);
}

Status SegmentRunner::check_pinned(const SegmentPoint& point) {
  std::vector<std::uint32_t> ids(waves());
  WW_TRY(
      log_->read(log_index(point) * sizeof(std::uint32_t), std::as_writable_bytes(std::span(ids))));
  const unsigned mask = pinning_.target().engine_mask << 3 | 7U;
  const auto working = std::ranges::count_if(
      ids, [&](std::uint32_t id) { return (id >> group_field & mask) == place_of(point); });
  if (working > 0) return {};
  return fail(ErrorCode::bad_data,
              fmt::format("no wavefront found itself on CUs {} to {} of engine {}",
                          four * point.group, four * point.group + four - 1, point.engine),
              device_.name);
}

Result<StoredRun> SegmentRunner::perform(std::size_t point) {
  const SegmentPoint& wanted = points_[point];
  StoredRun stored;
  stored.kind = RunKind::stream;
  stored.engine = wanted.engine;
  stored.pattern =
      kernels::to_string(wanted.ones ? kernels::Pattern::ones : kernels::Pattern::random);
  stored.kernel_hash = programs_[kind_of(wanted)].hash;
  WW_TRY(select(wanted, loops_[point]));
  const auto length_ns = std::llround(request_.plateau_s * 1e9);
  const std::uint64_t first = device_.counters->dispatch_count();
  std::uint64_t end = first;
  while (stored.end_ns - stored.start_ns < length_ns) {
    const double left_s = static_cast<double>(length_ns - (stored.end_ns - stored.start_ns)) * 1e-9;
    const auto count =
        std::clamp<std::int64_t>(std::llround(left_s / launch_s(wanted)), 1, segment_batch);
    for (std::int64_t i = 0; i < count; ++i) WW_TRY(launch(wanted));
    WW_TRY(device_.host->finish());
    end = device_.counters->dispatch_count();
    WW_ASSIGN(tail, device_.counters->dispatch(end - 1));
    if (stored.launches == 0) {
      WW_ASSIGN(head, device_.counters->dispatch(first));
      stored.start_ns = head.start_ns;
    }
    stored.end_ns = tail.end_ns;
    stored.launches += count;
  }
  WW_ASSIGN(counters, device_.counters->sum(first, end));
  stored.counters = std::move(counters);
  WW_ASSIGN(bytes, measure::l1_l2_bytes(device_.chip.target, stored.counters));
  stored.payload_bits = 8 * bytes;
  WW_ASSIGN(samples, recorder_.take());
  stored.samples = std::move(samples);
  return stored;
}

Result<StoredRun> SegmentRunner::idle() {
  StoredRun stored;
  stored.kind = RunKind::idle;
  stored.start_ns = device_.sensor->now_ns();
  device_.sensor->sleep_until(stored.start_ns + std::llround(request_.plateau_s * 1e9));
  stored.end_ns = device_.sensor->now_ns();
  WW_ASSIGN(samples, recorder_.take());
  stored.samples = std::move(samples);
  return stored;
}

json SegmentRunner::plan() const {
  json list = json::array();
  for (const auto& point : points_) {
    list.push_back({{"segment", point.segment},
                    {"engine", point.engine},
                    {"group", point.group},
                    {"channels", point.channels},
                    {"from_memory", point.from_memory},
                    {"slow", point.slow},
                    {"mm", point.mm},
                    {"lanes", point.lanes},
                    {"ones", point.ones}});
  }
  const auto states = device_.sensor->dvfs_states();
  const auto state = static_cast<std::size_t>(device_.sensor->dvfs_current());
  const double nominal_v = state < states.size() ? states[state].voltage_v : 0.0;
  return {{"method", "segments"},
          {"nominal_v", nominal_v},
          {"settle_s", request_.settle_s},
          {"seed", request_.seed},
          {"target", device_.chip.target},
          {"points", std::move(list)},
          {"legs_throttle", legs_throttle_},
          {"l2_throttle", l2_throttle_}};
}

Status SegmentRunner::run(CampaignStore& store, const ProgressFunction& progress) {
  WW_TRY(store.put(campaign_keys::device, device_.name));
  WW_TRY(store.put(campaign_keys::is_virtual, device_.is_virtual ? "true" : "false"));
  WW_TRY(store.put(campaign_keys::chip_seed, std::to_string(request_.device.chip_seed)));
  WW_TRY(store.put(campaign_keys::chip_class, request_.device.chip_class));
  WW_TRY(store.put(campaign_keys::floorplan, device_.floorplan_toml));
  WW_TRY(store.put(campaign_keys::plan, plan().dump()));
  WW_ASSIGN(session, store.begin_session());
  std::vector<std::size_t> order(points_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937_64 generator(request_.seed);
  const auto total = static_cast<double>(order.size()) * 2 * request_.blocks;
  double done = 0;
  for (std::int64_t block = 1; block <= request_.blocks; ++block) {
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[generator() % i]);
    WW_ASSIGN(still, idle());
    still.session = session;
    still.block = block;
    still.position = static_cast<std::int64_t>(2 * points_.size());
    WW_TRY(store.add(still));
    for (int pass = 0; pass < 2; ++pass) {
      for (const std::size_t point : order) {
        if (interrupted()) return fail(ErrorCode::cancelled, "interrupted");
        if (progress) progress({done++, total, points_[point].segment});
        WW_ASSIGN(stored, perform(point));
        stored.session = session;
        stored.block = block;
        // The position tells the point: fits find it in the plan.
        stored.position =
            static_cast<std::int64_t>(static_cast<std::size_t>(pass) * points_.size() + point);
        WW_TRY(store.add(stored));
      }
      std::ranges::reverse(order);
    }
  }
  return {};
}

}  // namespace

Status run_segments(const SegmentsRequest& request, const ProgressFunction& progress) {
  if (request.blocks < 2 || !(request.plateau_s > request.settle_s)) {
    return fail(ErrorCode::invalid_argument,
                "needs two blocks or more, and plateaus longer than what is cut off");
  }
  WW_ASSIGN(name, resolve_device_name(request.device));
  if (!DeviceName(name).is_virtual()) {
    return fail(ErrorCode::unsupported,
                "segments are told apart by counters of single launches, which real devices do not "
                "give; use a virtual device",
                name);
  }
  WW_ASSIGN(device, open_device(request.device, name));
  WW_ASSIGN(pinning, make_pinning(device.chip.target));
  WW_ASSIGN(points, model::segment_points(device.floorplan_toml));
  std::erase_if(points, [&](const SegmentPoint& point) {
    return !request.only.empty() && point.segment != request.only;
  });
  if (points.empty()) {
    return fail(ErrorCode::invalid_argument, "no segment to measure", request.only);
  }
  SegmentRunner runner(request, device, *pinning, std::move(points));
  WW_TRY(runner.prepare());
  std::error_code ec;
  std::filesystem::create_directories(request.folder, ec);
  WW_ASSIGN(store, CampaignStore::create(request.folder / "segments.db"));
  return runner.run(store, progress);
}

}  // namespace ww::microbench
