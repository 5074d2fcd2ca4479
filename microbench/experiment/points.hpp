// Declares what experiments over a list of points share: how long a run lasts, in which order the
// points of a block run, and what of it a plan keeps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "bench/bench.hpp"
#include "bench/i_experiment.hpp"
#include "bench/order.hpp"
#include "ww/core/json_reader.hpp"

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

// An experiment whose blocks run all points of a list.
class PointExperiment : public Experiment {
 public:
  struct Plan {
    std::uint64_t seed{1};
    std::int64_t blocks{};
    Plateau least;
  };

  [[nodiscard]] std::int64_t minimum_blocks() const final { return fixed_.blocks; }
  // Sets how long runs last, unless an earlier session's plan goes on.
  void use(const SensorResponse& response) final;
  // An idle run, the points in the block's order and, with ends_idle(), an idle run. The position
  // of a run is its place in the block.
  [[nodiscard]] std::vector<Condition> block(std::int64_t block) const override;

 protected:
  explicit PointExperiment(const Plan& fixed) : fixed_(fixed) {}

  [[nodiscard]] virtual std::size_t points() const = 0;
  [[nodiscard]] virtual std::string note_of(std::size_t point) const = 0;
  [[nodiscard]] virtual bool ends_idle() const { return false; }
  // Order of a pair of blocks, the first of which is pair 1. The default draws all pairs one after
  // another from one generator.
  [[nodiscard]] virtual std::vector<std::size_t> order_of_pair(std::int64_t pair) const;
  // How long runs last with this sensor; the default is plateau_for().
  [[nodiscard]] virtual Plateau plateau_with(const SensorResponse& response) const;
  virtual void keep_tolerances(const SensorResponse&) {}

  // The point that a condition of block() runs.
  [[nodiscard]] std::size_t point_of(const Condition& condition) const;
  [[nodiscard]] const Plan& fixed() const { return fixed_; }
  // As the sensor needs it; zeros until its response is known.
  [[nodiscard]] const Plateau& plateau() const { return plateau_; }
  // Writes seed, blocks and, once they are known, the lengths of runs into a plan; reads the
  // latter.
  void put(nlohmann::json& plan) const;
  void take(const JsonReader& plan);

 private:
  // Every second block runs in the order of the one before, backwards, so that drift cancels.
  [[nodiscard]] std::vector<std::size_t> order(std::int64_t block) const;

  Plan fixed_;
  Plateau plateau_;
};

// Launches for the condition's time, and notes times, launches and the sum of their counters.
Result<Bench::Launched> perform_point(Bench& bench, const Condition& condition,
                                      const Bench::Launch& launch, StoredRun& run,
                                      int dispatches = 1);

}  // namespace ww::microbench
