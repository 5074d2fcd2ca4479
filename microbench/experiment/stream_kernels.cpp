#include "experiment/stream_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "caches/array_caches.hpp"
#include "experiment/stream_arguments.hpp"
#include "ww/core/hash.hpp"
#include "ww/kernels/sources.hpp"

namespace ww::microbench {
namespace {

// Real drivers map large pages into buffers of such a size; below a page, addresses choose channels
// as they do in memory.
constexpr std::size_t kLargePageBuffer = std::size_t{4} << 20;

constexpr std::uint32_t pin_marker = 0x5EC0DE01u;
constexpr std::uint32_t kUnlogged = 0xFFFFFFFFu;

constexpr unsigned kStripes = 128;  // 128 KiB of a 4-channel quadrant at 256 B: half of it
// A list of 512 KiB: twice the largest cache of a shader array (256 KiB, RDNA 3), so that even one
// that ignored the loads' bits could serve half of them at most.
constexpr unsigned kArrayCacheStripes = 512;

// The stripes of a device's lists. A simulated chip, whose counters judge each run, keeps them
// short, because it executes them line by line.
unsigned stripes_of(const Device& device) {
  if (!has_array_caches(device.chip.target) || device.traffic == Traffic::counters) return kStripes;
  unsigned stripes = kArrayCacheStripes;
  const auto fits = [&device](unsigned wanted) {
    const std::size_t bytes = device.quadrants.size() * wanted * StreamKernels::wave_size * 16;
    return bytes <= kHomePage && bytes <= static_cast<std::size_t>(device.chip.l2_bytes) / 2;
  };
  while (stripes > kStripes && !fits(stripes)) stripes /= 2;
  return stripes;
}

template <class T>
std::span<const std::byte> bytes_of(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

}  // namespace

Result<std::unique_ptr<StreamKernels>> StreamKernels::create(Device& device, const Pinning& pinning,
                                                             bool patch, std::uint64_t seed,
                                                             kernels::Wait wait) {
  std::unique_ptr<StreamKernels> bench(new StreamKernels(device, pinning));
  bench->seed_ = seed;
  bench->stripes_ = stripes_of(device);
  const ChipFacts& chip = device.chip;
  if (device.quadrants.empty() || chip.engines < 1 || chip.cus_per_engine < 1) {
    return fail(ErrorCode::unsupported, "the chip's engines and quadrants are not known",
                device.name);
  }
  kernels::Macros macros;
  macros.target = pinning.target();
  // AMD's parts all run wavefronts of 64, RDNA where its compiler is asked to.
  if (macros.target.dialect == kernels::Dialect::amd) macros.target.wave_size = wave_size;
  if (macros.target.wave_size != wave_size) {
    return fail(ErrorCode::unsupported, "kernels are laid out for wavefronts of 64", chip.target);
  }
  bench->stream_groups_ =
      static_cast<std::size_t>(chip.engines * chip.cus_per_engine) * groups_per_cu;

  macros.wait = wait;
  macros.group_size = group_size;
  macros.interleave_bytes = static_cast<unsigned>(chip.interleave_bytes);
  macros.channels = static_cast<unsigned>(chip.channels);
  macros.quadrant_channels = static_cast<unsigned>(device.quadrants.front().size());
  macros.stripes = bench->stripes_;
  macros.unroll = unroll;
  macros.count_waves = device.traffic != Traffic::counters;
  if (device.homes) {
    // Lists need no order of channels.
    macros.channels = kernels::Macros{}.channels;
    macros.quadrant_channels = kernels::Macros{}.quadrant_channels;
    macros.interleave_bytes = static_cast<unsigned>(bench->run_bytes());
    macros.list = static_cast<unsigned>(bench->list_entries());
  }

  ComputeHost& host = *device.host;
  WW_ASSIGN(stream_source, kernels::find_source("l2_stream"));
  WW_ASSIGN(stream_text, kernels::program_text(stream_source, macros));
  WW_ASSIGN(binary, host.build(stream_text, "l2_stream"));
  if (patch) {
    WW_ASSIGN(patched, pinning.patch(binary, "l2_stream"));
    binary = std::move(patched);
  }
  bench->stream_hash_ = hash_text(binary);
  WW_ASSIGN(stream_kernel, host.load(binary, "l2_stream"));
  bench->stream_kernel_ = std::move(stream_kernel);

  WW_ASSIGN(furnace_source, kernels::find_source("furnace"));
  WW_ASSIGN(furnace_text, kernels::program_text(furnace_source, macros));
  WW_ASSIGN(furnace_binary, host.build(furnace_text, "furnace"));
  WW_ASSIGN(furnace_kernel, host.load(furnace_binary, "furnace"));
  bench->furnace_kernel_ = std::move(furnace_kernel);

  WW_ASSIGN(sweep_source, kernels::find_source("l2_sweep"));
  WW_ASSIGN(sweep_text, kernels::program_text(sweep_source, macros));
  WW_ASSIGN(sweep_binary, host.build(sweep_text, "l2_sweep"));
  WW_ASSIGN(sweep_kernel, host.load(sweep_binary, "l2_sweep"));
  bench->sweep_kernel_ = std::move(sweep_kernel);
  constexpr std::size_t piece = wave_size * 16;  // one load of the wavefront
  const std::size_t pieces = (static_cast<std::size_t>(chip.l2_bytes) + piece - 1) / piece;
  WW_ASSIGN(sweep_data, host.create_buffer(std::max<std::size_t>(pieces, 1) * piece));
  bench->sweep_data_ = std::move(sweep_data);
  const std::vector<std::byte> zeros(bench->sweep_data_->size());
  WW_TRY(bench->sweep_data_->write(0, zeros));

  WW_ASSIGN(known_source, kernels::find_source("known_bytes"));
  WW_ASSIGN(known_text, kernels::program_text(known_source, macros));
  bench->known_bytes_text_ = std::move(known_text);

  const std::size_t streams = kernels::all_patterns.size() * kRateCount *
                              static_cast<std::size_t>(chip.engines) * device.quadrants.size();
  const std::vector<std::uint32_t> empty(streams * bench->waves(), kUnlogged);
  WW_ASSIGN(log, host.create_buffer(empty.size() * sizeof(std::uint32_t)));
  WW_TRY(log->write(0, bytes_of(empty)));
  bench->log_ = std::move(log);
  WW_ASSIGN(output, host.create_buffer(256));
  bench->output_ = std::move(output);
  WW_TRY(bench->stream_kernel_->set(log_argument, *bench->log_));
  WW_TRY(bench->stream_kernel_->set(output_argument, *bench->output_));
  if (macros.count_waves) {
    WW_ASSIGN(working, host.create_buffer(256));
    bench->working_ = std::move(working);
    WW_TRY(bench->working_->write(0, std::vector<std::byte>(256)));
    WW_TRY(bench->stream_kernel_->set(working_argument, *bench->working_));
    WW_TRY(bench->count_waves(false));
  }
  if (device.homes) {
    WW_TRY(bench->make_lists());
    const unsigned argument = macros.count_waves ? kListsBehindCount : kListsAlone;
    WW_TRY(bench->stream_kernel_->set(argument, *bench->lists_));
  }
  WW_TRY(bench->furnace_kernel_->set(1, *bench->output_));
  WW_TRY(bench->sweep_kernel_->set(0, *bench->sweep_data_));
  WW_TRY(bench->sweep_kernel_->set(1, static_cast<std::uint32_t>(pieces)));
  WW_TRY(bench->sweep_kernel_->set(2, *bench->output_));
  // All data now: filling it later would change memory between measured launches.
  for (const kernels::Pattern pattern : kernels::all_patterns) WW_TRY(bench->data(pattern));
  return bench;
}

std::size_t StreamKernels::run_bytes() const {
  return std::min<std::size_t>(wave_size * 16,
                               static_cast<std::size_t>(device_.chip.interleave_bytes));
}

std::size_t StreamKernels::list_entries() const {
  return stripes_ * wave_size * 16 / run_bytes();
}

double StreamKernels::list_bytes(double waves) const {
  if (!device_.homes) return 0;
  constexpr std::size_t waves_per_group = group_size / wave_size;
  return waves / static_cast<double>(waves_per_group) *
         static_cast<double>(list_entries() * sizeof(std::uint32_t));
}

double StreamKernels::log_bytes() const {
  // RDNA's counters know no less than a line of 128 bytes.
  const double line_bytes = device_.chip.target.starts_with("gfx1") ? 128 : 64;
  return device_.homes ? line_bytes * static_cast<double>(waves()) : 0;
}

Status StreamKernels::make_lists() {
  HomeMemory& memory = *device_.homes;
  std::vector<std::uint32_t> lists;
  std::vector<std::byte> content(kHomePage);
  for (std::size_t p = 0; p < kernels::all_patterns.size(); ++p) {
    const kernels::Pattern pattern = kernels::all_patterns[p];
    for (std::size_t q = 0; q < device_.quadrants.size(); ++q) {
      WW_ASSIGN(lines, lines_of_home(memory, static_cast<int>(q), static_cast<std::size_t>(pattern),
                                     list_entries(), run_bytes()));
      lists.insert(lists.end(), lines.begin(), lines.end());
    }
    kernels::fill(content, pattern, seed_ ^ 0x77AA00FF13579BDFu);
    WW_TRY(memory.buffer->write(memory.aligned + static_cast<std::size_t>(pattern) * kHomePage,
                                content));
  }
  WW_ASSIGN(buffer, device_.host->create_buffer(lists.size() * sizeof(std::uint32_t)));
  WW_TRY(buffer->write(0, bytes_of(lists)));
  lists_ = std::move(buffer);
  return {};
}

Result<DeviceBuffer*> StreamKernels::data(kernels::Pattern pattern) {
  if (device_.homes) return device_.homes->buffer.get();
  auto& slot = data_[pattern];
  if (slot == nullptr) {
    // Twice the span: an aligned span lies within, wherever the buffer begins.
    const std::size_t span = static_cast<std::size_t>(stripes_) *
                             static_cast<std::size_t>(device_.chip.interleave_bytes) *
                             static_cast<std::size_t>(device_.chip.channels);
    const std::size_t size =
        device_.traffic == Traffic::counters ? 2 * span : std::max(2 * span, kLargePageBuffer);
    WW_ASSIGN(buffer, device_.host->create_buffer(size));
    std::vector<std::byte> content(size);
    kernels::fill(content, pattern, seed_ ^ 0x77AA00FF13579BDFu);
    WW_TRY(buffer->write(0, content));
    slot = std::move(buffer);
  }
  return slot.get();
}

Result<std::uint64_t> StreamKernels::lines_argument(const Stream& stream) const {
  const auto& channels = device_.quadrants[static_cast<std::size_t>(stream.quadrant)];
  if (channels.size() != device_.quadrants.front().size()) {
    return fail(ErrorCode::unsupported, "quadrants of different size", device_.name);
  }
  if (device_.homes) {
    return (static_cast<std::size_t>(stream.pattern) * device_.quadrants.size() +
            static_cast<std::size_t>(stream.quadrant)) *
           list_entries();
  }
  std::uint64_t packed = 0;
  for (std::size_t i = 0; i < channels.size(); ++i) {
    packed |= static_cast<std::uint64_t>(channels[i] & 255) << (8 * i);
  }
  return packed;
}

std::size_t StreamKernels::log_index(const Stream& stream) const {
  const auto pattern = static_cast<std::size_t>(stream.pattern);
  const auto rate = static_cast<std::size_t>(stream.rate);
  const auto engines = static_cast<std::size_t>(device_.chip.engines);
  const std::size_t pair = static_cast<std::size_t>(stream.engine) * device_.quadrants.size() +
                           static_cast<std::size_t>(stream.quadrant);
  return ((pattern * kRateCount + rate) * engines * device_.quadrants.size() + pair) * waves();
}

Status StreamKernels::select(const Stream& stream, std::uint32_t loops, std::uint32_t throttle) {
  LoadedKernel& kernel = *stream_kernel_;
  const bool all = !selected_;
  const Selected before = selected_.value_or(Selected{});
  if (all || before.stream.pattern != stream.pattern) {
    WW_ASSIGN(buffer, data(stream.pattern));
    WW_TRY(kernel.set(buffer_argument, *buffer));
  }
  // Lists differ by pattern, too.
  if (all || before.stream.quadrant != stream.quadrant ||
      (device_.homes && before.stream.pattern != stream.pattern)) {
    WW_ASSIGN(lines, lines_argument(stream));
    WW_TRY(kernel.set(channels_argument, lines));
  }
  if (all || before.loops != loops) WW_TRY(kernel.set(loops_argument, loops));
  if (all || before.throttle != throttle) WW_TRY(kernel.set(throttle_argument, throttle));
  if (all || before.stream.engine != stream.engine) {
    WW_TRY(
        kernel.set(engine_argument, static_cast<std::uint32_t>(device_.number_of(stream.engine))));
  }
  if (all || before.stream != stream) {
    WW_TRY(kernel.set(log_first_argument, static_cast<std::uint32_t>(log_index(stream))));
  }
  selected_ = Selected{stream, loops, throttle};
  return {};
}

Status StreamKernels::set_furnace(std::uint32_t loops) {
  if (furnace_loops_ == loops) return {};
  WW_TRY(furnace_kernel_->set(0, loops));
  furnace_loops_ = loops;
  return {};
}

Status StreamKernels::launch_furnace(std::uint32_t loops) {
  WW_TRY(set_furnace(loops));
  return furnace_kernel_->launch(stream_groups_, group_size);
}

Result<double> StreamKernels::time_furnace(std::uint32_t loops) {
  WW_TRY(set_furnace(loops));
  return furnace_kernel_->time_launch(stream_groups_, group_size);
}

Status StreamKernels::count_waves(bool on) {
  return stream_kernel_->set(count_argument, std::uint32_t{on ? 1U : 0U});
}

Result<double> StreamKernels::counted_waves() {
  WW_TRY(device_.host->finish());
  std::uint32_t waves = 0;
  WW_TRY(working_->read(0, std::as_writable_bytes(std::span(&waves, 1))));
  const std::uint32_t none = 0;
  WW_TRY(working_->write(0, std::as_bytes(std::span(&none, 1))));
  return static_cast<double>(waves);
}

Result<WaveReport> StreamKernels::read_log(const Stream& stream) const {
  std::vector<std::uint32_t> ids(waves());
  WW_TRY(log_->read(log_index(stream) * sizeof(std::uint32_t),
                    std::as_writable_bytes(std::span(ids))));
  constexpr std::size_t waves_per_group = group_size / wave_size;
  std::size_t silent = 0;
  std::size_t unpatched = 0;
  for (std::size_t wave = 0; wave < ids.size(); ++wave) {
    const auto group = static_cast<std::uint32_t>(wave / waves_per_group);
    silent += ids[wave] == kUnlogged ? 1 : 0;
    unpatched += ids[wave] == (group ^ pin_marker) ? 1 : 0;
  }
  if (unpatched == ids.size()) {
    return fail(
        ErrorCode::bad_data,
        "the binary is not patched: wavefronts report work-group numbers instead of hardware "
        "ids, so nothing is pinned",
        device_.name);
  }
  if (silent != 0) {
    return fail(ErrorCode::bad_data,
                fmt::format("{} of {} wavefronts did not report their place", silent, ids.size()),
                device_.name);
  }
  std::map<std::uint32_t, std::uint64_t> working;
  std::set<int> cus;
  WaveReport report;
  for (const std::uint32_t id : ids) {
    WW_ASSIGN(place, pinning_.place(id));
    const auto engine = device_.engine_named(place.engine);
    if (!engine) {
      return fail(ErrorCode::bad_data,
                  fmt::format("a wavefront reports engine {}, which none of the {} engines has",
                              place.engine, device_.chip.engines),
                  device_.name);
    }
    if (*engine != stream.engine) continue;
    ++working[id];
    ++report.working_waves;
    cus.insert(place.cu);
  }
  report.working_cus = static_cast<int>(cus.size());
  for (const auto& [id, waves] : working) report.working.push_back({id, waves});
  return report;
}

double StreamKernels::bytes_per_wave(std::uint32_t loops) {
  return static_cast<double>(loops) * unroll * static_cast<double>(wave_size) * 16.0;
}

double StreamKernels::peak_bytes_per_second(int quadrant, double clock_hz) const {
  return static_cast<double>(device_.quadrants[static_cast<std::size_t>(quadrant)].size()) *
         static_cast<double>(device_.chip.bytes_per_clock_per_channel) * clock_hz;
}

Result<double> StreamKernels::run_known_bytes() {
  constexpr std::size_t bytes = std::size_t{4} << 20;  // beyond the L2 of the virtual chips
  constexpr auto count = static_cast<std::uint32_t>(bytes / 16);
  ComputeHost& host = *device_.host;
  WW_ASSIGN(binary, host.build(known_bytes_text_, "known_bytes"));
  WW_ASSIGN(kernel, host.load(binary, "known_bytes"));
  WW_ASSIGN(from, host.create_buffer(bytes));
  WW_ASSIGN(to, host.create_buffer(bytes));
  std::vector<std::byte> content(bytes);
  kernels::fill(content, kernels::Pattern::random, seed_ + 1);
  WW_TRY(from->write(0, content));
  WW_TRY(kernel->set(0, *from));
  WW_TRY(kernel->set(1, *to));
  WW_TRY(kernel->set(2, count));
  WW_TRY(kernel->launch(count / group_size, group_size));
  WW_TRY(host.finish());
  std::vector<std::byte> copy(bytes);
  WW_TRY(to->read(0, copy));
  for (std::size_t i = 0; i < bytes; ++i) {
    if ((copy[i] ^ content[i]) != std::byte{0xA5}) {
      return fail(ErrorCode::bad_data, fmt::format("byte {} of the known copy is wrong", i),
                  device_.name);
    }
  }
  return 2.0 * static_cast<double>(bytes);
}

}  // namespace ww::microbench
