#include "experiment/points.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>

namespace ww::microbench {
namespace {

constexpr double kPlateauOverSettle = 4;

}  // namespace

Plateau plateau_for(const SensorResponse& response, const Plateau& least) {
  const double settle_s = std::max(least.settle_s, response.settle_s());
  return {std::max(least.seconds, kPlateauOverSettle * settle_s), settle_s};
}

Status check_same_options(const nlohmann::json& recorded, const nlohmann::json& now,
                          std::initializer_list<std::string_view> options) {
  for (const std::string_view option : options) {
    const auto found = recorded.find(option);
    const auto wanted = now.find(option);
    if (found != recorded.end() && wanted != now.end() && *found == *wanted) continue;
    const auto text = [](auto value, const nlohmann::json& plan) {
      return value == plan.end() ? std::string("none") : value->dump();
    };
    return fail(ErrorCode::invalid_argument,
                fmt::format("the recording in this folder has {} = {}, not {}; go on with the same "
                            "options and version, or choose another folder",
                            option, text(found, recorded), text(wanted, now)));
  }
  return {};
}

std::vector<Condition> block_of_points(std::int64_t block, std::size_t points, std::uint64_t seed,
                                       double seconds,
                                       const std::function<std::string(std::size_t)>& note) {
  std::vector<std::size_t> order(points);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937_64 generator(seed);
  for (std::int64_t b = 1; b <= block; ++b) shuffle(order, generator);
  const auto count = static_cast<std::int64_t>(points);
  std::vector<Condition> list{
      {.block = block, .position = 2 * count, .kind = RunKind::idle, .seconds = seconds}};
  std::int64_t visited = 0;
  for (const std::size_t point : twice(order)) {
    const std::int64_t pass = visited++ < count ? 0 : 1;
    list.push_back({.block = block,
                    .position = pass * count + static_cast<std::int64_t>(point),
                    .kind = RunKind::stream,
                    .seconds = seconds,
                    .note = note(point)});
  }
  return list;
}

void PointExperiment::use(const SensorResponse& response) {
  if (plateau_.settle_s > 0) return;
  plateau_ = plateau_with(response);
  keep_tolerances(response);
}

Plateau PointExperiment::plateau_with(const SensorResponse& response) const {
  return plateau_for(response, fixed_.least);
}

std::vector<std::size_t> PointExperiment::order_of_pair(std::int64_t pair) const {
  std::vector<std::size_t> order(points());
  std::mt19937_64 generator(fixed_.seed);
  for (std::int64_t drawn = 0; drawn < pair; ++drawn) {
    std::iota(order.begin(), order.end(), std::size_t{0});
    shuffle(order, generator);
  }
  return order;
}

std::vector<std::size_t> PointExperiment::order(std::int64_t block) const {
  auto order = order_of_pair((block + 1) / 2);
  if (block % 2 == 0) std::ranges::reverse(order);
  return order;
}

std::vector<Condition> PointExperiment::block(std::int64_t block) const {
  std::vector<Condition> list;
  add_run(list, block, RunKind::idle, plateau_.seconds, "idle");
  for (const std::size_t point : order(block)) {
    add_run(list, block, RunKind::stream, plateau_.seconds, note_of(point));
  }
  if (ends_idle()) add_run(list, block, RunKind::idle, plateau_.seconds, "idle");
  return list;
}

std::size_t PointExperiment::point_of(const Condition& condition) const {
  return order(condition.block).at(static_cast<std::size_t>(condition.position - 1));
}

void PointExperiment::put(nlohmann::json& plan) const {
  plan["seed"] = fixed_.seed;
  plan["blocks"] = fixed_.blocks;
  plan["least_plateau_s"] = fixed_.least.seconds;
  if (plateau_.settle_s <= 0) return;
  plan["plateau_s"] = plateau_.seconds;
  plan["settle_s"] = plateau_.settle_s;
}

void PointExperiment::take(const JsonReader& plan) {
  plan.read_optional("plateau_s", plateau_.seconds);
  plan.read_optional("settle_s", plateau_.settle_s);
}

Result<Bench::Launched> perform_point(Bench& bench, const Condition& condition,
                                      const Bench::Launch& launch, StoredRun& run, int dispatches) {
  WW_ASSIGN(done, bench.launch_for(condition.seconds, launch, dispatches));
  run.start_ns = done.start_ns;
  run.end_ns = done.end_ns;
  run.launches = done.launches;
  WW_ASSIGN(counters, bench.device().counters->sum(done.first, done.end));
  run.counters = std::move(counters);
  return done;
}

}  // namespace ww::microbench
