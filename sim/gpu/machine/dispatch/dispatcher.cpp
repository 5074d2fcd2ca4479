#include "machine/dispatch/dispatcher.hpp"

#include <algorithm>

namespace ww::sim::gpu::exec {

Dispatcher::Dispatcher(const LaunchState& launch, const Architecture& architecture,
                       std::size_t cus_used)
    : launch_(launch),
      engines_of_die_(static_cast<std::size_t>(architecture.shader_engines)),
      cus_per_engine_(static_cast<std::size_t>(architecture.cus_per_engine)),
      first_die_(static_cast<std::size_t>(launch.device * architecture.dies_per_device())),
      dies_(static_cast<std::size_t>(architecture.dies_per_device())),
      groups_(std::uint64_t{launch.groups[0]} * launch.groups[1] * launch.groups[2]) {
  for (int engine = 0; engine < architecture.engines_of_all_dies(); ++engine) {
    const auto working = static_cast<std::size_t>(architecture.cus_of_engine(engine));
    engines_.push_back({.cus_in_use = std::min(cus_used, working)});
  }
  for (std::size_t die = 0; die < dies_.size(); ++die) dies_[die].next_group = die;
}

std::array<std::uint32_t, 3> Dispatcher::id(std::uint64_t group) const {
  return {static_cast<std::uint32_t>(group % launch_.groups[0]),
          static_cast<std::uint32_t>(group / launch_.groups[0] % launch_.groups[1]),
          static_cast<std::uint32_t>(group / launch_.groups[0] / launch_.groups[1])};
}

void Dispatcher::fill(std::vector<std::unique_ptr<ComputeUnit>>& cus, std::int64_t cycle) {
  for (std::size_t die = 0; die < dies_.size(); ++die) {
    while (dies_[die].next_group < groups_ && place(cus, die, cycle)) {
    }
  }
}

bool Dispatcher::place(std::vector<std::unique_ptr<ComputeUnit>>& cus, std::size_t die,
                       std::int64_t cycle) {
  for (std::size_t tried = 0; tried < engines_of_die_; ++tried) {
    const std::size_t engine = (dies_[die].next_engine + tried) % engines_of_die_;
    const std::size_t number = (first_die_ + die) * engines_of_die_ + engine;
    if (!place_on(cus, number, dies_[die].next_group, cycle)) continue;
    dies_[die].next_engine = (engine + 1) % engines_of_die_;
    dies_[die].next_group += dies_.size();
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
    cu.start(id(group), start);
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
