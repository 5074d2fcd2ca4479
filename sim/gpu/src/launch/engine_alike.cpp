// Launches of which one part of the device is followed through time (alike_waves.hpp).
#include <algorithm>
#include <atomic>
#include <functional>
#include <span>
#include <vector>

#include "launch/alike_waves.hpp"
#include "launch/engine.hpp"

namespace ww::sim::gpu::exec {
namespace {

// Bounds for the host's time and memory. A wave that executes more may be one that never ends.
constexpr std::uint64_t kMaxOfWave = 4'000'000;                      // instructions
constexpr std::uint64_t kMaxBytesStored = std::uint64_t{512} << 20;  // kept until they are stored
constexpr std::uint64_t kGroupsAtOnce = 16;
constexpr std::uint64_t kMinGroups = 32;  // the first one is executed twice

}  // namespace

// A launch whose parts may do the same: shader engines, or dies where a die's engines differ.
struct Engine::AlikeLaunch {
  AlikeLaunch(const LaunchState& launch, const Architecture& architecture)
      : groups(Dispatcher::groups(launch)) {
    const auto dies = static_cast<std::size_t>(architecture.dies_per_device());
    const auto engines = static_cast<std::size_t>(architecture.shader_engines);
    const auto device = static_cast<std::size_t>(launch.device);
    places = static_cast<std::size_t>(architecture.cus_per_engine);
    first_place = device * dies * engines * places;
    for (int i = 1; i < architecture.shader_engines; ++i) {
      if (architecture.cus_of_engine(i) == architecture.cus_of_engine(0)) continue;
      followed = Dispatcher::Part::first_die;
    }
    if (followed == Dispatcher::Part::first_die) {
      places *= engines;
      for (std::size_t die = 0; die < dies; ++die) first_groups.push_back(die);
      return;
    }
    for (std::size_t die = 0; die < dies; ++die) {
      for (std::size_t i = 0; i < engines; ++i) first_groups.push_back(i * dies + die);
    }
  }

  [[nodiscard]] std::size_t parts() const { return first_groups.size(); }
  [[nodiscard]] bool is_of_first(std::uint64_t group) const { return group % parts() == 0; }

  std::uint64_t groups;
  Dispatcher::Part followed{Dispatcher::Part::first_engine};
  std::size_t first_place{};                // of the first part's compute units
  std::size_t places{};                     // of each part
  std::vector<std::uint64_t> first_groups;  // that each part gets; the others come as many behind
  std::uint64_t instructions{};             // of each group
  AlikeWaves waves;
  std::atomic<bool> are_alike{true};      // as far as is known
  std::atomic<std::uint64_t> next{};      // group that no thread has taken
  std::atomic<std::uint64_t> executed{};  // groups, since somebody looked
};

// Learns from the first group what all groups do; false where it is not known, or not worth it.
bool Engine::learn_alike(const LaunchState& launch, AlikeLaunch& alike) {
  ComputeUnit& cu = *cus_[alike.first_place];
  cu.begin_launch(launch, registers_);
  const bool known = cu.execute_apart({}, kMaxOfWave, [&](std::uint32_t wave) {
    return wave != 0 || alike.waves.learn(cu.requests);
  });
  if (!known) {
    unlike_.emplace(launch.code, launch.entry);
    return false;
  }
  alike.instructions = cu.counters.instructions();
  const std::uint64_t lines = alike.waves.lines_of_wave() * launch.waves_per_group;
  const std::uint64_t waves = alike.groups * launch.waves_per_group;
  return alike.instructions * alike.groups >= alike_from_ &&
         waves * alike.waves.runs_of_wave() <= kMaxStores &&
         alike.instructions >= kInstructionsPerStoredLine * lines &&
         waves * alike.waves.bytes_of_wave() <= kMaxBytesStored;
}

// Follows the first part through time; false where its waves turn out to differ.
bool Engine::follow_first(const LaunchState& launch, const Watchdog& watchdog, AlikeLaunch& alike,
                          Teller& teller) {
  recorder_.begin(true, &alike.waves);
  Dispatcher dispatcher(launch, architecture_, cus_in_use_, alike.followed);
  NothingBehind behind(recorder_, alike.are_alike);
  const Watchdog stricter{watchdog.cycles, watchdog.instructions / alike.parts()};
  return !run_quanta(launch, stricter, dispatcher, behind, teller).error.has_value();
}

// Executes groups of the other parts on a compute unit of one of them, as long as there are some
// that no other thread has taken. `between` is called now and then.
void Engine::execute_others(const LaunchState& launch, AlikeLaunch& alike, ComputeUnit& cu,
                            const std::function<void()>& between) {
  while (alike.are_alike) {
    const std::uint64_t begin = alike.next.fetch_add(kGroupsAtOnce);
    if (begin >= alike.groups) return;
    const std::uint64_t end = std::min(begin + kGroupsAtOnce, alike.groups);
    for (std::uint64_t group = begin; group < end; ++group) {
      if (alike.is_of_first(group)) continue;
      const bool done =
          cu.execute_apart(Dispatcher::id(launch, group), kMaxOfWave, [&](std::uint32_t wave) {
            const std::uint64_t number = group * launch.waves_per_group + wave;
            return !cu.ways_differ() &&
                   std::ranges::all_of(cu.requests, [&](const Request& request) {
                     return alike.waves.take(number, request);
                   });
          });
      if (!done) {
        alike.are_alike = false;
        return;
      }
      ++alike.executed;
    }
    between();
  }
}

// Whether the waves of all compute units went the same way.
bool Engine::ways_are_alike() const {
  std::uint64_t way = 0;
  return std::ranges::all_of(cus_, [&way](const auto& cu) {
    if (way == 0) way = cu->way_of_all();
    return !cu->ways_differ() && (cu->way_of_all() == 0 || cu->way_of_all() == way);
  });
}

// The tape of all parts from that of the first one, and the bytes of its stores.
std::shared_ptr<const StoreTape> Engine::tape_of_all(const LaunchState& launch,
                                                     const AlikeLaunch& alike,
                                                     const StoreTape& first,
                                                     std::vector<std::byte*>& bytes) const {
  const std::size_t parts = alike.parts();
  auto tape = std::make_shared<StoreTape>();
  tape->lines = first.lines * parts;
  tape->stores.reserve(first.stores.size() * parts);
  bytes.reserve(first.stores.size() * parts);
  std::size_t begin = 0;
  for (StoreTape::Quantum quantum : first.quanta) {
    const std::size_t end = begin + quantum.stores;
    for (std::size_t part = 0; part < parts; ++part) {
      for (std::size_t i = begin; i < end; ++i) {
        const auto& [first_wave, run] = recorder_.origins()[i];
        const std::uint64_t group = first_wave / launch.waves_per_group + alike.first_groups[part];
        const std::uint64_t wave =
            group * launch.waves_per_group + first_wave % launch.waves_per_group;
        StoreTape::Store store = first.stores[i];
        store.cu = static_cast<std::uint16_t>(store.cu + part * alike.places);
        store.line = alike.waves.line(wave, run);
        tape->stores.push_back(store);
        bytes.push_back(alike.waves.bytes(wave, run));
      }
    }
    begin = end;
    quantum.stores *= static_cast<std::uint32_t>(parts);
    tape->quanta.push_back(quantum);
  }
  // Each compute unit did what the one of the first part did.
  tape->work = first.work;
  tape->work.instructions *= parts;
  const auto followed = std::span(tape->work.activities).subspan(alike.first_place, alike.places);
  for (std::size_t part = 1; part < parts; ++part) {
    tape->work.counters += first.work.counters;
    std::ranges::copy(followed,
                      followed.begin() + static_cast<std::ptrdiff_t>(part * alike.places));
  }
  return tape;
}

std::optional<ExecutedLaunch> Engine::run_alike(const LaunchState& launch,
                                                const Watchdog& watchdog) {
  const bool may_be = trace_ == nullptr && launch.straight != nullptr && launch.cus.empty() &&
                      !launch.cooperative && launch.scratch_per_lane == 0 &&
                      architecture_.scalar_cache_bytes == 0;
  if (!may_be || unlike_.contains({launch.code, launch.entry})) return std::nullopt;
  AlikeLaunch alike(launch, architecture_);
  if (alike.parts() == 1 || alike.groups % alike.parts() != 0) return std::nullopt;
  if (alike.groups < kMinGroups && alike_from_ != 0) return std::nullopt;
  if (!learn_alike(launch, alike)) return std::nullopt;
  if (!alike.waves.make_room(alike.groups * launch.waves_per_group)) return std::nullopt;
  begin_cus(launch);
  for (const auto& cu : cus_) cu->compare_ways();
  Teller teller(tell_, between_, launch.kernel, alike.groups,
                [&alike](std::uint64_t ended) { return ended * alike.instructions; });
  // One thread follows the first part, and then does as the others do.
  const std::size_t others = alike.first_place + alike.places;
  const std::size_t threads = std::min(workers_.threads(), (alike.parts() - 1) * alike.places);
  workers_.rest(false);
  if (threads > 1) workers_.wake();
  workers_.run(
      threads,
      [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
          const bool follows = i == 0;
          if (follows && !follow_first(launch, watchdog, alike, teller)) alike.are_alike = false;
          execute_others(launch, alike, *cus_[others + i], [&] {
            if (follows) teller.look(alike.executed.exchange(0));
          });
        }
      },
      true);
  std::shared_ptr<const StoreTape> tape;
  std::vector<std::byte*> bytes;
  if (alike.are_alike && alike.waves.have_all() && ways_are_alike()) {
    const auto first = recorder_.end(cus_, launch, work_of_cus(alike.first_place, alike.places));
    if (first != nullptr) tape = tape_of_all(launch, alike, *first, bytes);
  }
  if (tape == nullptr || !may_be_kept(tape->stores, launch)) {
    unlike_.emplace(launch.code, launch.entry);
    return std::nullopt;
  }
  ExecutedLaunch result = store(launch, *tape, bytes);
  result.engines_alike = true;
  result.stores = std::move(tape);
  return result;
}

}  // namespace ww::sim::gpu::exec
