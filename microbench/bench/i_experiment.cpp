#include "bench/i_experiment.hpp"

#include <fmt/format.h>

namespace ww::microbench {
namespace {

constexpr double kIdleSeconds = 5.0;
constexpr std::int64_t kSteps = 5;
constexpr double kStepSeconds = 0.5;
// Sensors that average over seconds.
constexpr std::int64_t kSlowSteps = 3;
constexpr std::int64_t kFirstSlowStep = 10;
constexpr double kSlowStepSeconds = 10.0;

void add_steps(std::vector<Condition>& conditions, std::int64_t first, std::int64_t count,
               double seconds) {
  for (std::int64_t i = 0; i < count; ++i) {
    conditions.push_back({.block = 0,
                          .position = first + i,
                          .kind = RunKind::step_test,
                          .seconds = seconds,
                          .note = "step test of the sensor"});
  }
}

}  // namespace

void add_run(std::vector<Condition>& list, std::int64_t block, RunKind kind, double seconds,
             std::string_view note) {
  list.push_back({.block = block,
                  .position = std::ssize(list),
                  .kind = kind,
                  .seconds = seconds,
                  .note = fmt::format("block {}: {}", block, note)});
}

std::vector<Condition> Experiment::setup() const {
  std::vector<Condition> conditions{
      {.block = 0, .position = 0, .kind = RunKind::idle, .seconds = kIdleSeconds, .note = "idle"}};
  add_steps(conditions, 1, kSteps, kStepSeconds);
  return conditions;
}

std::vector<Condition> Experiment::slow_steps() const {
  std::vector<Condition> conditions;
  add_steps(conditions, kFirstSlowStep, kSlowSteps, kSlowStepSeconds);
  return conditions;
}

}  // namespace ww::microbench
