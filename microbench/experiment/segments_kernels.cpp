#include "experiment/segments_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "experiment/stream_arguments.hpp"
#include "ww/core/hash.hpp"
#include "ww/kernels/patterns.hpp"
#include "ww/kernels/sources.hpp"

namespace ww::microbench {
namespace {

using model::SegmentPoint;

constexpr int kFour = 4;              // CUs of a group
constexpr unsigned kGroupField = 10;  // HW_ID of GCN and CDNA: engine, SH and CU / 4 from here on
constexpr std::size_t kSegmentGroupSize = 256;
constexpr std::size_t kSegmentWaveSize = 64;
constexpr std::size_t kSegmentGroupsPerCu = 4;
constexpr unsigned kSegmentUnroll = 4;
constexpr unsigned kHeldStripes = 128;    // a channel's share of the L2 holds them
constexpr unsigned kLargeStripes = 2048;  // eight times a channel's share at 256 B and 64 KiB
constexpr std::size_t kRegisterGroupsPerCu = 8;  // eight waves a SIMD hide the latency
constexpr unsigned kRegisterStripes = 32;        // the L2 holds random data and ones side by side
constexpr double kLegsLaunchS = 3e-4;
constexpr double kL2LaunchS = 1e-3;         // a sweep goes before each
constexpr double kRegistersLaunchS = 1e-4;  // the whole chip works

// Eight bits each; a single channel takes the place of all of a quadrant's.
std::uint64_t packed(const std::vector<int>& channels) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    word |= static_cast<std::uint64_t>(channels[i % channels.size()] & 255) << (8 * i);
  }
  return word;
}

}  // namespace

double SegmentKernels::launch_s(const SegmentPoint& point) {
  const Kind kind = kind_of(point);
  if (kind == registers) return kRegistersLaunchS;
  return is_behind_l2(kind) ? kL2LaunchS : kLegsLaunchS;
}

std::size_t SegmentKernels::waves() const {
  return groups_ * (kSegmentGroupSize / kSegmentWaveSize);
}

std::size_t SegmentKernels::log_index(const SegmentPoint& point) const {
  const auto at = std::ranges::find(points_, point);
  return static_cast<std::size_t>(at - points_.begin()) * waves();
}

std::uint32_t SegmentKernels::place_of(const SegmentPoint& point) const {
  const auto engine = static_cast<std::uint32_t>(point.engine);
  if (point.group < 0) return engine;
  const unsigned shift = pinning_.target().engine_shift - kGroupField;
  return engine << shift | static_cast<std::uint32_t>(point.group);
}

Result<std::unique_ptr<SegmentKernels>> SegmentKernels::create(Device& device,
                                                               const Pinning& pinning,
                                                               std::vector<SegmentPoint> points,
                                                               std::uint64_t seed) {
  const ChipFacts& chip = device.chip;
  const auto target = pinning.target();
  if (target.dialect != kernels::Dialect::amd || target.cu_shift != 8 ||
      target.engine_shift != 13 || target.wave_size != kSegmentWaveSize) {
    return fail(ErrorCode::unsupported,
                "its hardware id is not laid out as GCN's, which numbers CUs "
                "in groups of four",
                chip.target);
  }
  std::unique_ptr<SegmentKernels> made(new SegmentKernels(device, pinning, std::move(points)));
  made->groups_ =
      static_cast<std::size_t>(chip.engines * chip.cus_per_engine) * kSegmentGroupsPerCu;
  const std::size_t span = static_cast<std::size_t>(kLargeStripes) *
                           static_cast<std::size_t>(chip.interleave_bytes * chip.channels);
  WW_ASSIGN(data, device.host->create_buffer(2 * span));
  made->data_ = std::move(data);
  std::vector<std::byte> content(2 * span);
  kernels::fill(content, kernels::Pattern::random, seed ^ 0x5E6D5E6D77AA00FFu);
  WW_TRY(made->data_->write(0, content));
  WW_ASSIGN(log, device.host->create_buffer(made->points_.size() * made->waves() *
                                            sizeof(std::uint32_t)));
  made->log_ = std::move(log);
  WW_ASSIGN(output, device.host->create_buffer(256));
  made->output_ = std::move(output);
  WW_TRY(made->build_sweep());
  for (const Kind kind : {legs, held, large}) {
    WW_ASSIGN(program, made->build(kind));
    made->programs_[kind] = std::move(program);
  }
  WW_TRY(made->build_registers());
  return made;
}

Result<SegmentKernels::Program> SegmentKernels::build(Kind kind) {
  kernels::Macros macros;
  macros.target = pinning_.target();
  if (kind == legs) {
    const unsigned shift = macros.target.engine_shift;
    macros.target.engine_mask =
        macros.target.engine_mask << (shift - kGroupField) | ((1U << (shift - kGroupField)) - 1);
    macros.target.engine_shift = kGroupField;
  }
  macros.group_size = kSegmentGroupSize;
  macros.interleave_bytes = static_cast<unsigned>(device_.chip.interleave_bytes);
  macros.channels = static_cast<unsigned>(device_.chip.channels);
  macros.quadrant_channels = static_cast<unsigned>(device_.quadrants.front().size());
  macros.stripes = kind == large ? kLargeStripes : kHeldStripes;
  macros.unroll = kSegmentUnroll;
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

Status SegmentKernels::build_sweep() {
  constexpr std::size_t piece = kSegmentWaveSize * 16;  // one load of the wavefront
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

Status SegmentKernels::build_registers() {
  const std::size_t span = static_cast<std::size_t>(kRegisterStripes) *
                           static_cast<std::size_t>(device_.chip.interleave_bytes) *
                           static_cast<std::size_t>(device_.chip.channels);
  WW_ASSIGN(ones, device_.host->create_buffer(2 * span));
  ones_ = std::move(ones);
  std::vector<std::byte> content(2 * span);
  kernels::fill(content, kernels::Pattern::ones, 0);
  WW_TRY(ones_->write(0, content));
  kernels::Macros macros;
  macros.target = pinning_.target();
  macros.group_size = kSegmentGroupSize;
  macros.interleave_bytes = static_cast<unsigned>(device_.chip.interleave_bytes);
  macros.channels = static_cast<unsigned>(device_.chip.channels);
  macros.quadrant_channels = static_cast<unsigned>(device_.quadrants.front().size());
  macros.stripes = kRegisterStripes;
  macros.unroll = kSegmentUnroll;
  WW_ASSIGN(source, kernels::find_source("register_stream"));
  WW_ASSIGN(text, kernels::program_text(source, macros));
  WW_ASSIGN(binary, device_.host->build(text, "register_stream"));
  WW_ASSIGN(kernel, device_.host->load(binary, "register_stream"));
  programs_[registers] = {std::move(kernel), hash_text(binary)};
  return programs_[registers].kernel->set(3, *output_);
}

Status SegmentKernels::select(const SegmentPoint& point, std::uint32_t loops,
                              std::uint32_t throttle) {
  LoadedKernel& kernel = *programs_[kind_of(point)].kernel;
  if (kind_of(point) == registers) {
    WW_TRY(kernel.set(0, point.ones ? *ones_ : *data_));
    WW_TRY(kernel.set(1, static_cast<std::uint32_t>(point.lanes)));
    return kernel.set(2, loops);
  }
  WW_TRY(kernel.set(log_first_argument, static_cast<std::uint32_t>(log_index(point))));
  WW_TRY(kernel.set(channels_argument, packed(point.channels)));
  WW_TRY(kernel.set(loops_argument, loops));
  WW_TRY(kernel.set(throttle_argument, throttle));
  return kernel.set(engine_argument, place_of(point));
}

Status SegmentKernels::launch(const SegmentPoint& point) {
  const Kind kind = kind_of(point);
  if (kind == registers) {
    return programs_[kind].kernel->launch(groups_ / kSegmentGroupsPerCu * kRegisterGroupsPerCu,
                                          kSegmentGroupSize);
  }
  if (is_behind_l2(kind)) WW_TRY(sweep_->launch(1, kSegmentWaveSize));
  return programs_[kind].kernel->launch(groups_, kSegmentGroupSize);
}

Status SegmentKernels::check_pinned(const SegmentPoint& point) const {
  std::vector<std::uint32_t> ids(waves());
  WW_TRY(
      log_->read(log_index(point) * sizeof(std::uint32_t), std::as_writable_bytes(std::span(ids))));
  const unsigned mask = pinning_.target().engine_mask << 3 | 7U;
  const auto working = std::ranges::count_if(
      ids, [&](std::uint32_t id) { return (id >> kGroupField & mask) == place_of(point); });
  if (working > 0) return {};
  return fail(ErrorCode::bad_data,
              fmt::format("no wavefront found itself on CUs {} to {} of engine {}",
                          kFour * point.group, kFour * point.group + kFour - 1, point.engine),
              device_.name);
}

}  // namespace ww::microbench
