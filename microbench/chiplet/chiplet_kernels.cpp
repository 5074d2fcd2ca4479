#include "chiplet/chiplet_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "ww/core/hash.hpp"
#include "ww/core/interrupt.hpp"
#include "ww/core/log.hpp"
#include "ww/core/split_mix.hpp"
#include "ww/core/statistics.hpp"
#include "ww/kernels/sources.hpp"

namespace ww::microbench {
namespace {

// Lists are short and still miss where they must: their pages share sets. Addresses that differ by
// a multiple of 16 MiB, which is a way of the Infinity Cache (256 MB of 16 ways, CDNA 3 white
// paper), share its sets; those that differ by one of 256 KiB, a way of a compute die's L2 (4 MB of
// 16 ways), share the L2's. Whether a list hits or misses is not taken for granted: the fit
// compares the stacks' rail, and counters the L2's misses.
constexpr std::uint32_t kCacheWay = 16U << 20U;
constexpr std::uint32_t kL2Way = 256U << 10U;
constexpr std::uint32_t kLargePage = 2U << 20U;
constexpr std::uint32_t kBlock = 256;  // that one channel has in a row
// The least by which a miss takes longer than a hit, of a hit.
constexpr double kMinContrast = 0.05;
// Share of a list's lines that may hit the L2; each hit is a line that crosses no I/O die.
constexpr double kMaxL2Hits = 0.01;
constexpr std::uint32_t kWindow = 8;  // pages in a row
// Windows that share sets of the L2, by sets of the Infinity Cache that they share: as many pages
// either way, eight to a way of the L2's sets for each of the two readers of an I/O die.
struct Footprint {
  std::uint32_t in_cache_way, cache_ways;
};
constexpr Footprint kFits{32, 8}, kMisses{8, 32};
constexpr int kProbeRepeats = 2;
constexpr std::uint32_t kMaxDies = 8;  // of the kernel's lists

std::vector<std::uint32_t> pages_of(const Footprint& footprint) {
  std::vector<std::uint32_t> pages;
  for (std::uint32_t way = 0; way < footprint.cache_ways; ++way) {
    for (std::uint32_t window = 0; window < footprint.in_cache_way; ++window) {
      for (std::uint32_t page = 0; page < kWindow; ++page) {
        pages.push_back(way * kCacheWay + window * kL2Way + page * ChipletKernels::kPageBytes);
      }
    }
  }
  return pages;
}

template <class T>
Result<std::unique_ptr<DeviceBuffer>> buffer_of(ComputeHost& host, const std::vector<T>& values) {
  WW_ASSIGN(buffer, host.create_buffer(values.size() * sizeof(T)));
  WW_TRY(buffer->write(0, std::as_bytes(std::span(values))));
  return buffer;
}

}  // namespace

Result<std::unique_ptr<PackageKernels>> ChipletKernels::create(Device& device,
                                                               const Pinning& pinning,
                                                               std::uint64_t seed) {
  std::unique_ptr<ChipletKernels> made(new ChipletKernels(device, pinning));
  made->candidates_[0] = pages_of(kFits);
  made->candidates_[1] = pages_of(kMisses);
  WW_TRY(made->load_kernels());
  WW_TRY(made->align());
  WW_TRY(made->fill(seed));
  log::info("looking for the dies of {} and the homes of its pages", device.host->device_name());
  WW_TRY(made->find_layout());
  WW_TRY(made->check_l2_misses());
  WW_TRY(made->find_misses());
  return made;
}

Result<std::unique_ptr<LoadedKernel>> ChipletKernels::kernel(const char* name, bool pinned) {
  kernels::Macros macros;
  macros.target = pinning_.target();
  macros.group_size = kGroupSize;
  WW_ASSIGN(source, kernels::find_source(name));
  WW_ASSIGN(text, kernels::program_text(source, macros));
  WW_ASSIGN(built, device_.host->build(text, name));
  if (!pinned) return device_.host->load(built, name);
  WW_ASSIGN(binary, pinning_.patch(built, name));
  hash_ = hash_text(binary);  // the stream's, which is loaded last
  return device_.host->load(binary, name);
}

Status ChipletKernels::load_kernels() {
  WW_ASSIGN(probe, kernel("fabric_probe"));
  probe_ = std::move(probe);
  WW_ASSIGN(stream, kernel("fabric_stream"));
  stream_ = std::move(stream);
  WW_ASSIGN(working, device_.host->create_buffer(kMaxDies * 4));
  working_ = std::move(working);
  WW_ASSIGN(output, device_.host->create_buffer(64));
  output_ = std::move(output);
  return {};
}

// Windows begin where the device's large pages do, so that each covers whole sets.
Status ChipletKernels::align() {
  WW_ASSIGN(data,
            device_.host->create_buffer(std::size_t{kMisses.cache_ways} * kCacheWay + kLargePage));
  data_ = std::move(data);
  WW_ASSIGN(contend, kernel("contend", false));
  WW_TRY(contend->set(0, *data_));
  for (const unsigned word : {1U, 2U}) WW_TRY(contend->set(word, std::uint32_t{0}));
  WW_TRY(contend->set(3, std::uint32_t{1}));
  WW_TRY(contend->set(4, *output_));
  WW_TRY(contend->launch(1, pinning_.target().wave_size));
  std::uint32_t address{};  // its lower half
  WW_TRY(output_->read(8, std::as_writable_bytes(std::span(&address, 1))));
  for (auto& pages : candidates_) {
    for (std::uint32_t& page : pages) page += (kLargePage - address % kLargePage) % kLargePage;
  }
  return {};
}

Status ChipletKernels::fill(std::uint64_t seed) {
  SplitMix random(seed);
  std::vector<std::uint64_t> bits(kWindow * kPageBytes / 8);
  for (const auto& pages : candidates_) {
    for (std::size_t i = 0; i < pages.size(); i += kWindow) {
      std::ranges::generate(bits, [&] { return random.next(); });
      WW_TRY(data_->write(pages[i], std::as_bytes(std::span(bits))));
    }
  }
  return {};
}

// Ticks [die][page]; dies that do not report are not there.
Result<std::vector<std::vector<double>>> ChipletKernels::latencies(
    const std::vector<std::uint32_t>& pages, std::uint32_t dies) {
  WW_ASSIGN(offsets, buffer_of(*device_.host, pages));
  WW_ASSIGN(ticks, device_.host->create_buffer(pages.size() * 4));
  WW_ASSIGN(ticket, device_.host->create_buffer(64));
  std::vector<std::vector<double>> table;
  std::vector<std::uint32_t> read(pages.size());
  for (std::uint32_t die = 0; die < dies; ++die) {
    if (interrupted()) return fail(ErrorCode::cancelled, "interrupted");
    std::array<std::uint32_t, 2> taken{};
    WW_TRY(ticket->write(0, std::as_bytes(std::span(taken))));
    WW_TRY(probe_->set(0, *data_));
    WW_TRY(probe_->set(1, *offsets));
    WW_TRY(probe_->set(2, static_cast<std::uint32_t>(pages.size())));
    WW_TRY(probe_->set(3, die));
    WW_TRY(probe_->set(4, *ticket));
    WW_TRY(probe_->set(5, *ticks));
    WW_TRY(probe_->launch(4UL * kMaxDies, pinning_.target().wave_size));
    WW_TRY(ticket->read(0, std::as_writable_bytes(std::span(taken))));
    if (taken[0] == 0) break;
    if (taken[1] != die + 1) {
      return fail(ErrorCode::bad_data, fmt::format("compute die {} did not report", die),
                  device_.name);
    }
    WW_TRY(ticks->read(0, std::as_writable_bytes(std::span(read))));
    auto& row = table.emplace_back(pages.size());
    std::ranges::copy(read, row.begin());
  }
  WW_TRY(device_.host->finish());
  return table;
}

Status ChipletKernels::read_layout(const std::vector<std::uint32_t>& pages) {
  // The first time brings some pages into the Infinity Cache.
  WW_ASSIGN(first, latencies(pages, kMaxDies));
  if (first.empty()) {
    return fail(ErrorCode::bad_data, "no compute die reported", device_.name);
  }
  const auto read = [&]() -> Result<std::vector<std::vector<double>>> {
    WW_ASSIGN(table, latencies(pages, kMaxDies));
    if (table.size() != first.size()) {
      return fail(ErrorCode::bad_data, "not every compute die reported every time", device_.name);
    }
    return table;
  };
  WW_ASSIGN(layout, layout_of_reads(read, device_.name));
  layout_ = std::move(layout);
  return {};
}

Status ChipletKernels::find_layout() {
  // All candidates at once: both lists then have homes of the same numbers.
  std::vector<std::uint32_t> pages = candidates_[0];
  pages.insert(pages.end(), candidates_[1].begin(), candidates_[1].end());
  WW_TRY(read_layout(pages));
  const std::size_t readers = dies() / ChipletLayout::kIoDies;
  std::array<std::vector<std::uint32_t>, ChipletLayout::kIoDies> of_home[2];
  for (std::size_t i = 0; i < pages.size(); ++i) {
    if (layout_.home_of_page[i] < 0) continue;
    const std::size_t kind = i < candidates_[0].size() ? 0 : 1;
    of_home[kind][static_cast<std::size_t>(layout_.home_of_page[i])].push_back(pages[i]);
  }
  std::size_t shortest = pages.size();
  for (const auto& homes : of_home) {
    for (const auto& list : homes) shortest = std::min(shortest, list.size());
  }
  pages_ = static_cast<std::uint32_t>(shortest / readers);
  for (const std::size_t kind : {0U, 1U}) {
    std::vector<std::uint32_t> all;
    for (const auto& list : of_home[kind]) {
      // Readers take turns, so that neighbouring pages are read by different dies at about one
      // time.
      for (std::size_t reader = 0; reader < readers; ++reader) {
        for (std::size_t i = 0; i < pages_; ++i) all.push_back(list[i * readers + reader]);
      }
    }
    const std::size_t own = static_cast<std::size_t>(layout_.io_die_of_die[0]) * readers * pages_;
    own_lists_[kind].assign(all.begin() + static_cast<std::ptrdiff_t>(own),
                            all.begin() + static_cast<std::ptrdiff_t>(own + pages_));
    WW_ASSIGN(lists, buffer_of(*device_.host, all));
    lists_[kind] = std::move(lists);
  }
  return {};
}

// Compute die 0 times a line of every block of the list that it reads at home, a second time over,
// and so few pages that its L2 surely has them. Where the L2 hashes its sets, lists that were to
// share sets do not, and stay in it. Error unsupported: lines of a list were in the L2.
Status ChipletKernels::check_l2_misses() {
  const auto blocks_of = [](std::span<const std::uint32_t> pages) {
    std::vector<std::uint32_t> blocks;
    for (const std::uint32_t page : pages) {
      for (std::uint32_t at = 0; at < kPageBytes; at += kBlock) blocks.push_back(page + at);
    }
    return blocks;
  };
  const auto again =
      [this](const std::vector<std::uint32_t>& blocks) -> Result<std::vector<double>> {
    std::vector<double> ticks;
    for (int repeat = 0; repeat < kProbeRepeats; ++repeat) {
      WW_ASSIGN(table, latencies(blocks, 1));
      if (table.empty()) return fail(ErrorCode::bad_data, "compute die 0 did not report");
      ticks = std::move(table.front());
    }
    return ticks;
  };
  for (const auto& own : own_lists_) {
    WW_ASSIGN(held, again(blocks_of(std::span(own).first(kWindow))));
    WW_ASSIGN(listed, again(blocks_of(own)));
    const double hit = median(held);
    const double between = 0.5 * (hit + median(listed));
    const double hits = static_cast<double>(
        std::ranges::count_if(listed, [=](double one) { return one < between; }));
    l2_hits_ = std::max(l2_hits_, hits / static_cast<double>(listed.size()));
    if (median(listed) >= (1 + kMinContrast) * hit && l2_hits_ <= kMaxL2Hits) continue;
    return fail(ErrorCode::unsupported,
                fmt::format("lists of pages that were to share sets of a compute die's L2 stay in "
                            "it, so its sets are hashed: {:.0f} ticks from the L2, {:.0f} in the "
                            "middle from a list, {:.1f}% of it nearer to the L2",
                            hit, median(listed), 100 * l2_hits_),
                device_.name);
  }
  return {};
}

// Compute die 0 times a line of every block of either list, a second time over. What a home's lines
// for memory take is a miss where it is nearer to their median than to that of its lines in the
// cache.
Status ChipletKernels::find_misses() {
  std::vector<double> ticks[2];
  for (const std::size_t kind : {0U, 1U}) {
    std::vector<std::uint32_t> blocks;
    for (const std::uint32_t page : candidates_[kind]) {
      for (std::uint32_t at = 0; at < kPageBytes; at += kBlock) blocks.push_back(page + at);
    }
    for (int repeat = 0; repeat < kProbeRepeats; ++repeat) {
      WW_ASSIGN(table, latencies(blocks, 1));
      ticks[kind] = std::move(table.front());
    }
  }
  const std::size_t of_page = kPageBytes / kBlock;
  double misses = 0;
  for (int home = 0; home < ChipletLayout::kIoDies; ++home) {
    std::vector<double> of_home[2];
    for (const std::size_t kind : {0U, 1U}) {
      const std::size_t first = kind == 0 ? 0 : candidates_[0].size();
      for (std::size_t i = 0; i < ticks[kind].size(); ++i) {
        if (layout_.home_of_page[first + i / of_page] == home) {
          of_home[kind].push_back(ticks[kind][i]);
        }
      }
    }
    double median[2]{};
    for (const std::size_t kind : {0U, 1U}) {
      const auto middle = of_home[kind].begin() + std::ssize(of_home[kind]) / 2;
      std::ranges::nth_element(of_home[kind], middle);
      median[kind] = *middle;
    }
    if (median[1] < (1 + kMinContrast) * median[0]) continue;
    const double between = 0.5 * (median[0] + median[1]);
    misses += static_cast<double>(
        std::ranges::count_if(of_home[1], [=](double one) { return one > between; }));
  }
  memory_misses_ = misses / static_cast<double>(ticks[1].size());
  return {};
}

nlohmann::json ChipletKernels::setup() const {
  return {{"io_die_of_die", layout_.io_die_of_die},
          {"row_of", layout_.row_of},
          {"column_of", layout_.column_of},
          {"across_of", layout_.across_of},
          {"ticks_by_hops", layout_.ticks_by_hops},
          {"separation", layout_.separation},
          {"clear_pages", layout_.clear_pages},
          {"pages_of_list", pages_},
          {"l2_hits", l2_hits_},
          {"memory_misses", memory_misses_}};
}

std::size_t ChipletKernels::waves_of_die() const {
  return kGroupsPerDie * kGroupSize / pinning_.target().wave_size;
}

bool ChipletKernels::works(const model::ChipletPoint& point, std::size_t die) const {
  return point.dies == model::ChipletDies::all ||
         (point.dies == model::ChipletDies::odd) == (die % 2 == 1);
}

std::uint64_t ChipletKernels::homes(const model::ChipletPoint& point) const {
  std::array<std::size_t, ChipletLayout::kIoDies> seen{};
  const std::size_t readers = dies() / ChipletLayout::kIoDies;
  std::uint64_t homes = 0;
  for (std::size_t die = 0; die < dies(); ++die) {
    const auto from = static_cast<std::size_t>(layout_.io_die_of_die[die]);
    const std::size_t reader = seen[from]++;
    if (!works(point, die)) continue;
    std::size_t home = from;
    switch (point.way) {
      case model::ChipletWay::xgmi:  // of no point of this package
      case model::ChipletWay::own: break;
      case model::ChipletWay::row: home = static_cast<std::size_t>(layout_.row_of[from]); break;
      case model::ChipletWay::column:
        home = static_cast<std::size_t>(layout_.column_of[from]);
        break;
      case model::ChipletWay::across:
        home = static_cast<std::size_t>(layout_.across_of[from]);
        break;
    }
    homes |= std::uint64_t{home * readers + reader + 1} << (8 * die);
  }
  return homes;
}

double ChipletKernels::bits(const model::ChipletPoint& point, const Pace& pace) const {
  if (!point.traffic) return 0;
  double working = 0;
  for (std::size_t die = 0; die < dies(); ++die) working += works(point, die) ? 1 : 0;
  return working * pages_ * pace.passes * 8.0 * kPageBytes;
}

Status ChipletKernels::select(const model::ChipletPoint& point, const Pace& pace) {
  const auto wave_bytes = pinning_.target().wave_size * 16;
  WW_TRY(stream_->set(0, *data_));
  WW_TRY(stream_->set(1, *lists_[point.memory ? 1 : 0]));
  WW_TRY(stream_->set(2, pages_));
  WW_TRY(stream_->set(3, homes(point)));
  WW_TRY(stream_->set(4, pace.passes));
  WW_TRY(stream_->set(5, pace.waits));
  WW_TRY(stream_->set(6, point.traffic ? kPageBytes / wave_bytes : 0U));
  WW_TRY(stream_->set(7, static_cast<std::uint32_t>(dies())));
  WW_TRY(stream_->set(8, static_cast<std::uint32_t>(waves_of_die())));
  WW_TRY(stream_->set(9, *working_));
  WW_TRY(stream_->set(10, std::uint32_t{0}));
  return stream_->set(11, *output_);
}

Status ChipletKernels::check(const model::ChipletPoint& point) {
  WW_TRY(select(point, {}));
  WW_TRY(stream_->set(10, std::uint32_t{1}));
  std::array<std::uint32_t, kMaxDies> counted{};
  WW_TRY(working_->write(0, std::as_bytes(std::span(counted))));
  WW_TRY(launch());
  WW_TRY(working_->read(0, std::as_writable_bytes(std::span(counted))));
  for (std::size_t die = 0; die < kMaxDies; ++die) {
    const bool wanted = die < dies() && works(point, die);
    if (counted[die] == (wanted ? waves_of_die() : 0)) continue;
    return fail(ErrorCode::bad_data,
                fmt::format("{} wavefronts worked on compute die {} instead of {}", counted[die],
                            die, wanted ? waves_of_die() : 0),
                device_.name);
  }
  return {};
}

}  // namespace ww::microbench
