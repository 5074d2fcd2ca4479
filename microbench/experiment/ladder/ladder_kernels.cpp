#include "experiment/ladder/ladder_kernels.hpp"

#include <algorithm>
#include <bit>

#include "host/pinning.hpp"
#include "ww/core/hash.hpp"

namespace ww::microbench {
namespace {

namespace levels = calibration::ladder_levels;

constexpr const char* kLadderKernel = "ladder";
// Enough wavefronts to hide the latency of memory, few enough that all of them fit: at most so many
// groups a unit, and at least half of that, as their number is a power of two.
constexpr std::size_t kLadderGroupsOfUnit = 6;
// Pieces that a wavefront goes through at least. On a virtual chip it goes through few, as each
// line takes the host's time: a cache whose sets are a power of two has 16 lines of those that lie
// so far apart. Other caches keep more, so that all pieces together are to exceed what the level
// before keeps: twice the largest set that showed it, as the next one is twice as large.
constexpr std::uint32_t kMinOwnPieces = kernels::kPtxUnroll;
constexpr std::uint32_t kMinOwnVirtualPieces = 32;
constexpr std::int64_t kOverKeptBefore = 2;
constexpr std::int64_t kLadderFill = 1 << 20;
// A set of memory is so many times what the level before keeps, where the staircase reaches there.
// A virtual chip's caches give up the oldest line, so that none of them stays.
constexpr std::int64_t kMemoryOverCache = 8, kMemoryOverVirtualCache = 4;
// As in ladder.cl.
enum class LadderAccess : std::uint32_t {
  through_l1 = 0,
  past_l1 = 1,
  stores = 2,
  none = 3,
  quarter = 4,
  narrow = 5
};

LadderAccess access_of(const calibration::LadderStream& stream) {
  if (stream.writes) return LadderAccess::stores;
  if (stream.level == levels::l1) return LadderAccess::through_l1;
  if (stream.level == levels::kL1Quarter) return LadderAccess::quarter;
  if (stream.level == levels::kL1Narrow) return LadderAccess::narrow;
  if (stream.level == levels::kL1None) return LadderAccess::none;
  return LadderAccess::past_l1;
}

std::size_t ladder_units(const Device& device) {
  const int known = device.chip.engines * device.chip.cus_per_engine;
  return static_cast<std::size_t>(
      std::max(1, known > 0 ? known : device.host->facts().compute_units));
}

}  // namespace

std::vector<LadderSet> ladder_sets(const MemoryLevels& levels, bool is_virtual) {
  const std::int64_t over = is_virtual ? kMemoryOverVirtualCache : kMemoryOverCache;
  std::vector<LadderSet> sets;
  std::int64_t before = 0;
  for (const MemoryLevel& level : levels.found) {
    std::int64_t bytes = level.to_bytes / 2;
    if (level.name == levels::memory) {
      bytes = std::max(level.from_bytes, std::min(over * before, level.to_bytes));
    }
    sets.push_back({level.name,
                    static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(bytes))),
                    level, before});
    before = level.to_bytes;
  }
  return sets;
}

Result<std::unique_ptr<LadderKernels>> LadderKernels::create(Device& device,
                                                             const std::vector<LadderSet>& sets,
                                                             const std::vector<std::string>& data,
                                                             std::uint64_t seed) {
  std::unique_ptr<LadderKernels> made(new LadderKernels(device));
  made->sets_ = sets;
  kernels::Macros macros;
  macros.target = kernel_target(device.chip.target);
  macros.group_size = kGroupSize;
  made->wave_size_ = macros.target.wave_size;
  made->groups_ = std::bit_floor(kLadderGroupsOfUnit * ladder_units(device));
  WW_ASSIGN(source, kernels::find_source(kLadderKernel));
  WW_ASSIGN(text, kernels::program_text(source, macros));
  WW_ASSIGN(binary, device.host->build(text, kLadderKernel));
  made->hash_ = hash_text(binary);
  WW_ASSIGN(kernel, device.host->load(binary, kLadderKernel));

  std::int64_t most = 0;
  for (const LadderSet& set : sets) most = std::max(most, set.set_bytes);
  for (const std::string& name : data) {
    WW_ASSIGN(buffer, device.host->create_buffer(static_cast<std::size_t>(most)));
    WW_TRY(made->fill(*buffer, name, seed));
    made->data_[name] = std::move(buffer);
  }
  WW_ASSIGN(again, device.host->create_buffer(
                       static_cast<std::size_t>(made->set_of(levels::kL2Again).set_bytes)));
  WW_TRY(made->fill(*again, "random", ~seed));
  made->again_ = std::move(again);
  WW_ASSIGN(target, device.host->create_buffer(static_cast<std::size_t>(most)));
  made->target_ = std::move(target);
  WW_ASSIGN(output, device.host->create_buffer(64));
  made->output_ = std::move(output);
  made->kernel_ = std::move(kernel);
  WW_TRY(made->kernel_->set(1, *made->target_));
  WW_TRY(made->kernel_->set(7, *made->output_));
  return made;
}

// Pieces of their own random bits: none repeats another's.
Status LadderKernels::fill(DeviceBuffer& buffer, const std::string& data, std::uint64_t seed) {
  WW_ASSIGN(pattern, kernels::pattern_from_string(data));
  std::vector<std::byte> content;
  for (std::size_t at = 0; at < buffer.size(); at += content.size()) {
    content.resize(std::min<std::size_t>(buffer.size() - at, kLadderFill));
    kernels::fill(content, pattern, seed ^ (0x1ADDE2000000u + at));
    WW_TRY(buffer.write(at, content));
  }
  return {};
}

const LadderSet& LadderKernels::set_of(const std::string& level) const {
  const std::string wanted = level == levels::kL2Again       ? levels::l2
                             : level.starts_with(levels::l1) ? levels::l1
                                                             : level;
  const auto found = std::ranges::find(sets_, wanted, &LadderSet::name);
  return found == sets_.end() ? sets_.back() : *found;
}

double LadderKernels::bits_per_loop(const calibration::LadderStream& stream) const {
  const double of_item = stream.level == levels::kL1Narrow ? 4 : 16;
  return 8 * of_item * kernels::kPtxUnroll * static_cast<double>(groups_ * kGroupSize);
}

std::uint32_t LadderKernels::pieces(const std::string& level) const {
  return static_cast<std::uint32_t>(
      std::max<std::int64_t>(set_of(level).set_bytes / (wave_size_ * 16), 1));
}

// All wavefronts together go through a large set in order.
std::uint32_t LadderKernels::stride(const std::string& level) const {
  const auto waves = static_cast<std::uint32_t>(groups_ * kGroupSize / wave_size_);
  const std::uint32_t side_by_side = std::max(std::min(waves, pieces(level) / kMinOwnPieces), 1U);
  if (!device_.is_virtual) return side_by_side;
  const std::int64_t of_waves = std::int64_t{waves} * wave_size_ * 16;
  std::uint32_t own = kMinOwnVirtualPieces;
  while (own < pieces(level) &&
         own * of_waves < kOverKeptBefore * set_of(level).kept_before_bytes) {
    own *= 2;
  }
  return std::max(side_by_side, pieces(level) / own);
}

std::uint32_t LadderKernels::loops_of_a_pass(const calibration::LadderStream& stream) const {
  return std::max(pieces(stream.level) / (stride(stream.level) * kernels::kPtxUnroll), 1U);
}

Status LadderKernels::select(const LadderLaunch& launch) {
  const auto& [stream, wait, loops] = launch;
  const DeviceBuffer& source = stream.level == levels::kL2Again ? *again_ : *data_.at(stream.data);
  WW_TRY(kernel_->set(0, source));
  WW_TRY(kernel_->set(2, pieces(stream.level) - 1));
  WW_TRY(kernel_->set(3, stride(stream.level)));
  WW_TRY(kernel_->set(4, loops));
  WW_TRY(kernel_->set(5, wait));
  return kernel_->set(6, static_cast<std::uint32_t>(access_of(stream)));
}

Status LadderKernels::select_empty(std::uint32_t wait, std::uint32_t loops) {
  WW_TRY(select({{sets_.front().name, false, "random"}, wait, loops}));
  return kernel_->set(6, static_cast<std::uint32_t>(LadderAccess::none));
}

}  // namespace ww::microbench
