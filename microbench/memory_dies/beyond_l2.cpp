#include "memory_dies/beyond_l2.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "ww/core/hash.hpp"
#include "ww/core/split_mix.hpp"
#include "ww/kernels/sources.hpp"
#include "ww/measure/i_counters.hpp"

namespace ww::microbench {
namespace {

constexpr const char* kReadsKernel = "part_stream";
constexpr std::uint32_t kPageBytes = 4096;
constexpr std::size_t kMemoryGroupSize = 256;
constexpr std::size_t kWaveSize = 64;
// The pages that miss are four times the L2's size; the pages that hit fill half of the L2.
constexpr std::uint32_t kTimesL2 = 4;
constexpr std::uint32_t kTimesHeld = 2 * kTimesL2;
constexpr std::uint32_t kPasses = 4;
// Waits of 256 cycles after each page: over ten times what its four loads take, so that reads that
// miss are only some percent slower.
constexpr std::uint32_t kWaits = 64;
constexpr double kMinShare = 0.99;       // of lookups that hit, or that miss
constexpr double kByteTolerance = 0.01;  // beside the payload, a launch reads its arguments
constexpr int kMissed = 2;

}  // namespace

bool BeyondL2::is_for(const Device& device) {
  return (device.chip.target == "gfx1100" || device.chip.target == "gfx1101") &&
         device.traffic == Traffic::counters && device.chip.l2_bytes > 0;
}

Result<std::unique_ptr<BeyondL2>> BeyondL2::create(Bench& bench, std::uint64_t seed) {
  std::unique_ptr<BeyondL2> made(new BeyondL2(bench));
  const Device& device = bench.device();
  ComputeHost& host = *device.host;
  int units = 0;
  for (int engine = 0; engine < device.chip.engines; ++engine) units += device.cus_of(engine);
  constexpr std::size_t kWavesPerGroup = kMemoryGroupSize / kWaveSize;
  const auto held = static_cast<std::uint32_t>(device.chip.l2_bytes / 2 / kPageBytes);
  made->groups_ = std::max<std::size_t>(
      1, std::min(2 * static_cast<std::size_t>(units), held / kWavesPerGroup));
  made->waves_ = static_cast<std::uint32_t>(made->groups_ * kWavesPerGroup);
  made->pages_ = held / made->waves_ * made->waves_;

  kernels::Macros macros;
  macros.target = bench.pinning().target();
  macros.target.wave_size = kWaveSize;
  macros.group_size = kMemoryGroupSize;
  WW_ASSIGN(source, kernels::find_source(kReadsKernel));
  WW_ASSIGN(text, kernels::program_text(source, macros));
  WW_ASSIGN(binary, host.build(text, kReadsKernel));
  made->hash_ = hash_text(binary);
  WW_ASSIGN(stream, host.load(binary, kReadsKernel));
  made->stream_ = std::move(stream);

  SplitMix random(seed);
  std::vector<std::uint64_t> bits(std::size_t{made->pages_} * kTimesHeld * kPageBytes / 8);
  std::ranges::generate(bits, [&] { return random.next(); });
  WW_ASSIGN(memory, host.create_buffer(bits.size() * 8));
  WW_TRY(memory->write(0, std::as_bytes(std::span(bits))));
  made->memory_ = std::move(memory);
  WW_ASSIGN(output, host.create_buffer(64));
  made->output_ = std::move(output);
  WW_TRY(made->stream_->set(0, *made->memory_));
  WW_TRY(made->stream_->set(2, made->waves_));
  WW_TRY(made->stream_->set(4, kWaits));
  // Loads one by one, which pass by the caches before the L2.
  WW_TRY(made->stream_->set(6, std::uint32_t{1}));
  WW_TRY(made->stream_->set(7, *made->output_));
  return made;
}

std::string BeyondL2::judge(const StoredRun& run, int point) const {
  if (run.payload_bits == 0) return {};
  const auto bytes = measure::l1_l2_bytes(bench_.device().chip.target, run.counters);
  if (!bytes) return bytes.error().text();
  const double deviation = *bytes * 8 / run.payload_bits - 1;
  if (std::abs(deviation) > kByteTolerance) {
    return fmt::format("counters are {:+.2f}% off the bytes that waves load", 100 * deviation);
  }
  const auto counter = [&run](const char* name) {
    for (const char* end : {"_sum", ""}) {
      if (const auto at = run.counters.find(std::string(name) + end); at != run.counters.end()) {
        return at->second;
      }
    }
    return 0.0;
  };
  const double misses = counter("GL2C_MISS");
  const double all = counter("GL2C_HIT") + misses;
  const double wanted = point == kMissed ? misses : all - misses;
  if (!(wanted >= kMinShare * all) || all == 0) {
    return fmt::format("{:.1f}% of the L2's lookups {}", all > 0 ? 100 * wanted / all : 0.0,
                       point == kMissed ? "missed" : "hit");
  }
  return {};
}

Status BeyondL2::perform(int point, double seconds, StoredRun& run) {
  const auto& name = model::kBeyondL2Points.at(static_cast<std::size_t>(point));
  const bool misses = point == kMissed;
  const bool reads = point != 0;
  WW_TRY(stream_->set(1, misses ? kTimesHeld * pages_ : pages_));
  WW_TRY(stream_->set(3, misses ? kPasses : kTimesHeld * kPasses));
  WW_TRY(stream_->set(5, reads ? static_cast<std::uint32_t>(kPageBytes / (kWaveSize * 16)) : 0U));
  run.pattern = name;
  run.throttle = static_cast<std::int32_t>(kWaits);
  run.kernel_hash = hash_;
  WW_ASSIGN(done, bench_.launch_for(seconds,
                                    [this] { return stream_->launch(groups_, kMemoryGroupSize); }));
  run.start_ns = done.start_ns;
  run.end_ns = done.end_ns;
  run.launches = static_cast<std::int64_t>(done.end - done.first);
  WW_ASSIGN(counters, bench_.device().counters->sum(done.first, done.end));
  run.counters = std::move(counters);
  run.payload_bits =
      reads ? 8.0 * pages_ * kTimesHeld * kPasses * kPageBytes * static_cast<double>(run.launches)
            : 0;
  if (auto reason = judge(run, point); !reason.empty()) reject(run, std::move(reason));
  return {};
}

}  // namespace ww::microbench
