#include "machine/memory/die_memories.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <span>

#include "machine/memory/die_links.hpp"
#include "machine/memory/io_dies.hpp"
#include "ww/core/split_mix.hpp"

namespace ww::sim::gpu::exec {
namespace {

// Lines that are noted before those that the L2 has given up are forgotten.
constexpr std::size_t kMaxForeign = std::size_t{1} << 20;

LineHolders::Dies only(int die) {
  return static_cast<LineHolders::Dies>(1U << static_cast<unsigned>(die));
}

template <class F>
void for_others(LineHolders::Dies dies, int die, F&& each) {
  for (unsigned left = dies & ~unsigned{only(die)}; left != 0; left &= left - 1) {
    each(static_cast<std::size_t>(std::countr_zero(left)));
  }
}

std::unique_ptr<Fabric> make_fabric(const Architecture& architecture, const DeviceMemory& memory) {
  if (architecture.xgmi_links != 0) return std::make_unique<DieLinks>(architecture, memory);
  return std::make_unique<IoDies>(architecture, &memory);
}

}  // namespace

DieMemories::DieMemories(const Chip& chip, DeviceMemory& memory, DeferredObserver& observer,
                         HostArena& arena)
    : fabric_(make_fabric(chip.architecture(), memory)),
      holders_((memory.limit() - kDeviceBase) / kLineBytes),
      cus_of_die_(
          static_cast<std::size_t>(chip.architecture().cu_places() / chip.architecture().dies)),
      foreign_(static_cast<std::size_t>(chip.architecture().dies)),
      architecture_(chip.architecture()) {
  assert(chip.architecture().dies <= LineHolders::kMaxDies);
  for (int die = 0; die < chip.architecture().dies; ++die) {
    dies_.push_back(std::make_unique<MemorySystem>(chip, memory, observer, arena, die, this));
    dies_.back()->l2().set_snoop_filter(&holders_, only(die));
  }
}

void DieMemories::begin_launch(const LaunchState& launch,
                               std::vector<std::unique_ptr<ComputeUnit>>& cus) {
  fabric_->begin_launch();
  first_ = 0;
  for (auto& die : dies_) die->begin_launch(launch, cus);
}

void DieMemories::commit(std::vector<std::unique_ptr<ComputeUnit>>& cus,
                         std::span<const std::size_t> engaged, std::int64_t start, std::int64_t end,
                         Workers&) {
  const std::span all(cus);
  for (std::size_t i = 0; i < dies_.size(); ++i) {
    const std::size_t die = (first_ + i) % dies_.size();
    const std::size_t first = die * cus_of_die_;
    const auto begin = std::ranges::lower_bound(engaged, first);
    const auto past = std::ranges::lower_bound(begin, engaged.end(), first + cus_of_die_);
    dies_[die]->commit_die(all.subspan(first, cus_of_die_), first, {begin, past}, start, end);
  }
  first_ = (first_ + 1) % dies_.size();
}

std::int64_t DieMemories::finish(std::int64_t cycles) {
  std::int64_t end = cycles;
  for (auto& die : dies_) end = std::max(end, die->finish(cycles));
  bool foreign = false;
  for (std::size_t die = 0; die < dies_.size(); ++die) {
    for (const std::uint32_t line : foreign_[die]) dies_[die]->give_up(line, end);
    foreign = foreign || !foreign_[die].empty();
    foreign_[die].clear();
  }
  return foreign ? fabric_->drained(end) : end;
}

void DieMemories::note_foreign(int die, std::uint32_t line) {
  if (architecture_.devices == 1 ||
      fabric_->domain(die, line) == architecture_.domain_of_die(die)) {
    return;
  }
  auto& lines = foreign_[static_cast<std::size_t>(die)];
  if (lines.size() >= kMaxForeign) {
    const L2Tags& l2 = dies_[static_cast<std::size_t>(die)]->l2();
    std::ranges::sort(lines);
    lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
    std::erase_if(lines, [&l2](std::uint32_t one) { return !l2.holds(one); });
  }
  lines.push_back(line);
}

void DieMemories::set_private_memory(std::uint64_t begin, std::uint64_t end) {
  for (auto& die : dies_) die->set_private_memory(begin, end);
}

std::int64_t DieMemories::last_completion() const {
  std::int64_t last = 0;
  for (const auto& die : dies_) last = std::max(last, die->last_completion());
  return last;
}

const std::vector<ChannelActivity>& DieMemories::channels() const {
  channels_.clear();
  for (const auto& die : dies_) {
    channels_.insert(channels_.end(), die->channels().begin(), die->channels().end());
  }
  return channels_;
}

const MemoryCounters& DieMemories::counters() const {
  counters_ = {};
  for (const auto& die : dies_) counters_ += die->counters();
  return counters_;
}

std::shared_ptr<const L2Snapshot> DieMemories::state() {
  auto all = std::make_shared<L2Snapshot>();
  all->hash = fabric_->cache_hash();
  for (const auto& die : dies_) all->hash = SplitMix(all->hash ^ die->l2().snapshot()->hash).next();
  return all;
}

std::int64_t DieMemories::read(int die, std::uint32_t line, std::int64_t cycle) {
  for_others(holders_.dirty(line), die,
             [&](std::size_t other) { dies_[other]->clean(line, cycle); });
  note_foreign(die, line);
  return fabric_->read(die, line, cycle);
}

void DieMemories::wrote(int die, std::uint32_t line, std::int64_t cycle) {
  note_foreign(die, line);
  for_others(holders_.present(line), die,
             [&](std::size_t other) { dies_[other]->give_up(line, cycle); });
}

}  // namespace ww::sim::gpu::exec
