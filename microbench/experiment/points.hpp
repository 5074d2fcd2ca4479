// Declares what experiments over a list of points share: each point runs twice in a block, in a
// random order and then in the mirrored one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "bench/bench.hpp"
#include "bench/i_experiment.hpp"

namespace ww::microbench {

// How long a run lasts, and what is cut off at its start [s].
struct Plateau {
  double seconds{};
  double settle_s{};
};

// The plateau that the sensor needs, and at least `least`. A slow sensor's plateau is four times
// what is cut off.
[[nodiscard]] Plateau plateau_for(const SensorResponse& response, const Plateau& least);

// A resumed recording must have these options in its plan as they are `now`. Error invalid_argument
// names the first that differs.
[[nodiscard]] Status check_same_options(const nlohmann::json& recorded, const nlohmann::json& now,
                                        std::initializer_list<std::string_view> options);

// Returns the runs of `block`: an idle run, `points` in an order that `seed` and the block give,
// and these mirrored. The position of a run is its point, and on the second pass that plus
// `points`; the position of the idle run is 2 * points. `note` returns a point's name.
[[nodiscard]] std::vector<Condition> block_of_points(
    std::int64_t block, std::size_t points, std::uint64_t seed, double seconds,
    const std::function<std::string(std::size_t point)>& note);

// Launches for the condition's time, and notes times, launches and the sum of their counters.
Result<Bench::Launched> perform_point(Bench& bench, const Condition& condition,
                                      const Bench::Launch& launch, StoredRun& run,
                                      int dispatches = 1);

}  // namespace ww::microbench
