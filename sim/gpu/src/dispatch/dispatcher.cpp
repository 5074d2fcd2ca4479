#include "dispatch/dispatcher.hpp"

#include <algorithm>

namespace ww::sim::gpu::exec {

Dispatcher::Dispatcher(const LaunchState& launch, const Architecture& architecture,
                       std::size_t cus_used, Part part)
    : launch_(launch),
      engines_of_die_(static_cast<std::size_t>(architecture.shader_engines)),
      engines_used_(part == Part::first_engine ? 1 : engines_of_die_),
      cus_per_engine_(static_cast<std::size_t>(architecture.cus_per_engine)),
      first_die_(static_cast<std::size_t>(launch.device * architecture.dies_per_device())),
      dies_(part == Part::all ? static_cast<std::size_t>(architecture.dies_per_device()) : 1),
      apart_(static_cast<std::uint64_t>(architecture.dies_per_device()) *
             (part == Part::first_engine ? engines_of_die_ : 1)),
      to_start_(part == Part::all ? groups(launch) : groups(launch) / apart_) {
  for (int engine = 0; engine < architecture.engines_of_all_dies(); ++engine) {
    const auto working = static_cast<std::size_t>(architecture.cus_of_engine(engine));
    engines_.push_back({.cus_in_use = std::min(cus_used, working)});
  }
  for (std::size_t die = 0; die < dies_.size(); ++die) dies_[die].next_group = die;
}

std::array<std::uint32_t, 3> Dispatcher::id(const LaunchState& launch, std::uint64_t group) {
  return {static_cast<std::uint32_t>(group % launch.groups[0]),
          static_cast<std::uint32_t>(group / launch.groups[0] % launch.groups[1]),
          static_cast<std::uint32_t>(group / launch.groups[0] / launch.groups[1])};
}

void Dispatcher::fill(std::vector<std::unique_ptr<ComputeUnit>>& cus, std::int64_t cycle) {
  const std::uint64_t end = groups(launch_);
  for (std::size_t die = 0; die < dies_.size(); ++die) {
    while (dies_[die].next_group < end && place(cus, die, cycle)) {
    }
  }
}

bool Dispatcher::place(std::vector<std::unique_ptr<ComputeUnit>>& cus, std::size_t die,
                       std::int64_t cycle) {
  for (std::size_t tried = 0; tried < engines_used_; ++tried) {
    const std::size_t engine = (dies_[die].next_engine + tried) % engines_used_;
    const std::size_t number = (first_die_ + die) * engines_of_die_ + engine;
    if (!place_on(cus, number, dies_[die].next_group, cycle)) continue;
    dies_[die].next_engine = (engine + 1) % engines_used_;
    dies_[die].next_group += apart_;
    ++started_;
    return true;
  }
  return false;
}

bool Dispatcher::place_on(std::vector<std::unique_ptr<ComputeUnit>>& cus, std::size_t number,
                          std::uint64_t group, std::int64_t cycle) {
  EngineState& engine = engines_[number];
  for (std::size_t tried = 0; tried < engine.cus_in_use; ++tried) {
    const std::size_t index = (engine.next_cu + tried) % engine.cus_in_use;
    const std::size_t place = number * cus_per_engine_ + index;
    if (!launch_.cus.empty() && !launch_.cus[place]) continue;
    ComputeUnit& cu = *cus[place];
    if (!cu.has_room()) continue;
    // An engine's dispatcher starts a wave a cycle.
    const std::int64_t start = std::max(cycle, engine.free_at);
    engine.free_at = start + launch_.waves_per_group;
    cu.start(id(launch_, group), start);
    engage(place);
    engine.next_cu = (index + 1) % engine.cus_in_use;
    return true;
  }
  return false;
}

void Dispatcher::engage(std::size_t place) {
  const auto at = std::ranges::lower_bound(engaged_, place);
  if (at == engaged_.end() || *at != place) engaged_.insert(at, place);
}

}  // namespace ww::sim::gpu::exec
