// The campaign of crossings.
#include "ww/microbench/crossing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <tuple>

#include "device/latency_map.hpp"
#include "device/topology_probe.hpp"
#include "host/pinning.hpp"
#include "ww/core/interrupt.hpp"
#include "ww/measure/health.hpp"
#include "ww/measure/recorder.hpp"

namespace ww::microbench {
namespace {

constexpr std::size_t most_places = 4096;
constexpr double launch_s = 3e-3;
constexpr double bits_per_update = 32.0 * 32.0;  // 32 lanes of 32 bits
constexpr std::uint32_t kShortestWait = 1;
constexpr std::uint32_t kLongestWait = 1'000'000;
// Far's rates, of that with the shortest wait: near and far run with the waits that give them.
constexpr std::array<double, 3> kRateLevels{1.0, 0.6, 0.35};

struct CrossingCondition {
  int place_side{};
  int line_side{};
  bool random{};
  std::uint32_t wait{kShortestWait};
  int half{};    // of near's lines: 1 or 2; 0: all lines of the side
  bool empty{};  // waits without traffic
  [[nodiscard]] bool far() const { return place_side != line_side; }
  [[nodiscard]] std::string pattern() const {
    if (empty) return crossing_patterns::waits;
    if (half != 0) return half == 1 ? crossing_patterns::half_1 : crossing_patterns::half_2;
    return random ? crossing_patterns::random : crossing_patterns::zeros;
  }
};

class Crossing {
 public:
  Crossing(ComputeHost& host, measure::Sensor& sensor, const Pinning& pinning, int groups_per_place)
      : host_(host),
        sensor_(sensor),
        prober_(host, &pinning, {}),
        recorder_(sensor),
        groups_per_place_(static_cast<std::size_t>(groups_per_place)) {}

  Status set_up();
  // The waits, and how many iterations make a launch as long as the others.
  Status tune();
  [[nodiscard]] const std::vector<std::uint32_t>& waits() const { return waits_; }
  Result<StoredRun> idle(double seconds);
  Result<StoredRun> run(const CrossingCondition& condition, double seconds);
  [[nodiscard]] nlohmann::json describe() const;

 private:
  Status select(const CrossingCondition& condition);
  // Updates counted since the last call.
  Result<double> updates();
  // Iterations a second; sets the iterations of a launch.
  Result<double> rate(const CrossingCondition& condition);
  // Iterations of a launch: alike for all that take as long.
  std::uint32_t& loops_of(const CrossingCondition& condition);
  Status take(StoredRun& run);

  ComputeHost& host_;
  measure::Sensor& sensor_;
  Prober prober_;
  measure::Recorder recorder_;
  std::vector<TopologyPlace> places_;
  Sides sides_;
  std::array<std::unique_ptr<DeviceBuffer>, 2> lines_;   // by side
  std::array<std::unique_ptr<DeviceBuffer>, 2> halves_;  // every other line of side 0, and the rest
  std::array<std::unique_ptr<DeviceBuffer>, 2> masks_;   // of places, by side
  std::array<std::uint32_t, 2> line_counts_{};
  std::unique_ptr<DeviceBuffer> done_;
  std::unique_ptr<LoadedKernel> kernel_;
  std::size_t groups_per_place_;
  std::size_t groups_{};
  std::map<std::tuple<std::uint32_t, bool, bool>, std::uint32_t> loops_;  // wait, far, empty
  std::vector<std::uint32_t> waits_;
  nlohmann::json rates_ = nlohmann::json::array();  // iterations a second, as tuned
  double launch_seconds_{launch_s};
};

Status Crossing::set_up() {
  WW_TRY(prober_.set_up());
  WW_ASSIGN(places, prober_.places(host_.facts().compute_units));
  places_ = std::move(places);
  const auto offsets = lines_for_sides();
  std::vector<std::vector<std::vector<double>>> tables;
  for (int repeat = 0; repeat < latency_repeats; ++repeat) {
    WW_ASSIGN(table, prober_.latencies(places_, offsets));
    tables.push_back(std::move(table));
  }
  WW_ASSIGN(latency, latency_map(tables));
  std::vector<int> side_of_line;
  sides_ = find_sides(latency, side_of_line);
  if (!sides_.found) {
    return fail(ErrorCode::unsupported,
                "no two sides of the L2 were found, so nothing crosses: " + sides_.reason,
                host_.device_name());
  }
  for (int side = 0; side < 2; ++side) {
    const auto index = static_cast<std::size_t>(side);
    std::vector<std::uint32_t> words;
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      if (side_of_line[i] == side) words.push_back(prober_.word(offsets[i]));
    }
    std::ranges::sort(words);
    words.erase(std::unique(words.begin(), words.end()), words.end());
    std::vector<std::uint32_t> mask(most_places / 32);
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const std::uint32_t id = places_[i].id;
      if (sides_.side_of_place[i] == side && id < most_places) mask[id / 32] |= 1u << id % 32;
    }
    WW_ASSIGN(lines, host_.create_buffer(words.size() * 4));
    WW_TRY(lines->write(0, std::as_bytes(std::span(words))));
    WW_ASSIGN(bits, host_.create_buffer(mask.size() * 4));
    WW_TRY(bits->write(0, std::as_bytes(std::span(mask))));
    line_counts_[index] = static_cast<std::uint32_t>(words.size());
    for (std::size_t half = 0; side == 0 && half < 2; ++half) {
      std::vector<std::uint32_t> every_other;
      for (std::size_t i = half; i < words.size(); i += 2) every_other.push_back(words[i]);
      WW_ASSIGN(part, host_.create_buffer(std::max<std::size_t>(1, every_other.size()) * 4));
      WW_TRY(part->write(0, std::as_bytes(std::span(every_other))));
      halves_[half] = std::move(part);
    }
    lines_[index] = std::move(lines);
    masks_[index] = std::move(bits);
  }
  WW_ASSIGN(done, host_.create_buffer(most_places * 4));
  done_ = std::move(done);
  WW_ASSIGN(kernel, prober_.kernel("cross", true));
  kernel_ = std::move(kernel);
  WW_TRY(kernel_->set(0, prober_.region()));
  WW_TRY(kernel_->set(7, *done_));
  groups_ = places_.size() * groups_per_place_;
  return {};
}

std::uint32_t& Crossing::loops_of(const CrossingCondition& condition) {
  return loops_.try_emplace({condition.wait, condition.far(), condition.empty}, 64u).first->second;
}

Status Crossing::select(const CrossingCondition& condition) {
  const auto line = static_cast<std::size_t>(condition.line_side);
  const auto place = static_cast<std::size_t>(condition.place_side);
  // As many lines on either side, and in either half.
  std::uint32_t count = std::min(line_counts_[0], line_counts_[1]);
  if (condition.half != 0) count /= 2;
  if (condition.empty) count = 0;
  WW_TRY(kernel_->set(1, condition.half != 0
                             ? *halves_[static_cast<std::size_t>(condition.half - 1)]
                             : *lines_[line]));
  WW_TRY(kernel_->set(2, count));
  WW_TRY(kernel_->set(3, loops_of(condition)));
  WW_TRY(kernel_->set(4, condition.random ? 0xFFFFFFFFu : 0u));
  WW_TRY(kernel_->set(5, condition.wait));
  return kernel_->set(6, *masks_[place]);
}

Result<double> Crossing::updates() {
  std::vector<std::uint32_t> counts(most_places);
  WW_TRY(done_->read(0, std::as_writable_bytes(std::span(counts))));
  double sum = 0;
  for (const std::uint32_t count : counts) sum += count;
  std::ranges::fill(counts, 0u);
  WW_TRY(done_->write(0, std::as_bytes(std::span(counts))));
  return sum;
}

Result<double> Crossing::rate(const CrossingCondition& condition) {
  double rate = 0;
  for (int round = 0; round < 5; ++round) {
    WW_TRY(select(condition));
    WW_ASSIGN(warm, kernel_->time_launch(groups_, kernels::ptx_group_size));
    static_cast<void>(warm);
    WW_ASSIGN(before, updates());
    static_cast<void>(before);
    double seconds = 0;
    for (int i = 0; i < 3; ++i) {
      WW_ASSIGN(once, kernel_->time_launch(groups_, kernels::ptx_group_size));
      seconds += once;
    }
    launch_seconds_ = seconds / 3;
    WW_ASSIGN(count, updates());
    if (!(count > 0) || !(seconds > 0)) {
      return fail(ErrorCode::bad_data,
                  "no wavefront found itself on the side that it was pinned to",
                  host_.device_name());
    }
    rate = count / seconds;
    const double factor = launch_s / launch_seconds_;
    if (factor > 0.7 && factor < 1.5) break;
    std::uint32_t& loops = loops_of(condition);
    loops = static_cast<std::uint32_t>(std::clamp(loops * factor, 8.0, 1e6));
  }
  return rate;
}

Status Crossing::tune() {
  const CrossingCondition far{0, 1, true};
  WW_ASSIGN(full, rate(far));
  std::uint32_t wait = kShortestWait;
  for (const double level : kRateLevels) {
    // The rate falls as the wait grows: double it past the level, then halve the interval.
    std::uint32_t low = wait;
    std::uint32_t high = wait;
    double found = full;
    for (int step = 0; step < 40 && level < 1; ++step) {
      CrossingCondition slower = far;
      slower.wait = high == low ? low * 2 : (low + high) / 2;
      loops_.try_emplace({slower.wait, true, false}, loops_of(far));
      WW_ASSIGN(slow_rate, rate(slower));
      found = slow_rate / full;
      wait = slower.wait;
      if (std::abs(found - level) < 0.05) break;
      if (found > level) {
        if (high == low) {
          low = high = wait;
        } else {
          low = wait;
        }
      } else {
        high = wait;
      }
      if (wait >= kLongestWait || (high != low && high - low <= 1)) break;
    }
    if (waits_.empty() || wait > waits_.back()) waits_.push_back(wait);
  }
  // Launches of all conditions take as long, so that the gaps between them weigh alike.
  for (const std::uint32_t each : waits_) {
    WW_ASSIGN(near_rate, rate({0, 0, true, each}));
    WW_ASSIGN(far_rate, rate({0, 1, true, each}));
    WW_ASSIGN(empty_rate, rate({.wait = each, .empty = true}));
    rates_.push_back({{"wait", each},
                      {"near_per_s", near_rate},
                      {"far_per_s", far_rate},
                      {"empty_per_s", empty_rate}});
  }
  return {};
}

Status Crossing::take(StoredRun& run) {
  WW_ASSIGN(readings, recorder_.take());
  run.samples.insert(run.samples.end(), readings.begin(), readings.end());
  return {};
}

Result<StoredRun> Crossing::idle(double seconds) {
  StoredRun run;
  run.kind = RunKind::idle;
  run.start_ns = sensor_.now_ns();
  sensor_.sleep_until(run.start_ns + std::llround(seconds * 1e9));
  run.end_ns = sensor_.now_ns();
  WW_TRY(take(run));
  return run;
}

Result<StoredRun> Crossing::run(const CrossingCondition& condition, double seconds) {
  StoredRun run;
  run.kind = RunKind::stream;
  run.engine = condition.place_side;
  run.quadrant = condition.line_side;
  run.pattern = condition.pattern();
  run.throttle = static_cast<std::int32_t>(condition.wait);
  WW_TRY(select(condition));
  WW_ASSIGN(before, updates());
  static_cast<void>(before);
  run.start_ns = sensor_.now_ns();
  const auto wanted = run.start_ns + std::llround(seconds * 1e9);
  // Batches of launches keep the queue filled without running far past the end.
  const auto batch = std::max<std::int64_t>(1, std::llround(0.05 / launch_seconds_));
  while (sensor_.now_ns() < wanted) {
    for (std::int64_t i = 0; i < batch; ++i) {
      WW_TRY(kernel_->launch(groups_, kernels::ptx_group_size));
    }
    run.launches += batch;
    WW_TRY(host_.finish());
  }
  run.end_ns = sensor_.now_ns();
  WW_ASSIGN(count, updates());
  run.payload_bits = condition.empty ? 0 : count * bits_per_update;
  WW_TRY(take(run));
  return run;
}

nlohmann::json Crossing::describe() const {
  return {{"places", places_.size()},
          {"near_ticks", sides_.near_ticks},
          {"far_ticks", sides_.far_ticks},
          {"lines", {line_counts_[0], line_counts_[1]}},
          {"side_of_place", sides_.side_of_place},
          {"waits", waits_},
          {"rates", rates_}};
}

// Every condition of a block, in a random order: near and far at every wait, zeros at the shortest,
// and the controls.
std::vector<CrossingCondition> shuffled(const std::vector<std::uint32_t>& waits,
                                        std::mt19937_64& generator) {
  std::vector<CrossingCondition> order;
  for (const int place : {0, 1}) {
    for (const int line : {0, 1}) {
      for (const std::uint32_t wait : waits) order.push_back({place, line, true, wait});
      order.push_back({place, line, false, waits.front()});
    }
  }
  for (const int half : {1, 2}) order.push_back({0, 0, true, waits.front(), half});
  for (const std::uint32_t wait : waits) order.push_back({.wait = wait, .empty = true});
  // By hand: the standard library's shuffle differs between libraries.
  for (std::size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[static_cast<std::size_t>(generator() % i)]);
  }
  return order;
}

}  // namespace

Status run_crossing(ComputeHost& host, measure::Sensor& sensor, const std::string& device,
                    const std::filesystem::path& folder, const CrossingOptions& options,
                    const ProgressFunction& progress) {
  if (options.blocks < 2 || options.groups_per_place < 1 ||
      !(options.plateau_s > options.settle_s) || options.settle_s < 0) {
    return fail(ErrorCode::invalid_argument,
                "a crossing campaign needs two blocks and plateaus longer than what is cut off");
  }
  const HostFacts facts = host.facts();
  WW_ASSIGN(pinning, make_pinning(facts.target));
  Crossing crossing(host, sensor, *pinning, options.groups_per_place);
  if (progress) progress({0, 1, "finding the sides of the L2"});
  WW_TRY(crossing.set_up());
  WW_TRY(crossing.tune());

  std::error_code ec;
  std::filesystem::create_directories(folder, ec);
  WW_ASSIGN(store, CampaignStore::create(folder / "campaign.db"));
  nlohmann::json plan{
      {"method", "crossing"},
      {"blocks", options.blocks},
      {"plateau_s", options.plateau_s},
      {"settle_s", options.settle_s},
      {"seed", options.seed},
      {"gain_tolerance_95", sensor.facts().gain_tolerance_95.value_or(0.05)},
      {"regulator_tolerance_95", sensor.facts().regulator_slope_tolerance_95.value_or(0.05)}};
  plan["setup"] = crossing.describe();
  WW_TRY(store.put(campaign_keys::plan, plan.dump()));
  WW_TRY(store.put(campaign_keys::device, device));
  WW_TRY(store.put(campaign_keys::is_virtual, "false"));
  WW_TRY(store.put(campaign_keys::version, WW_VERSION));
  const nlohmann::json chip{{"name", facts.device},
                            {"driver", facts.driver},
                            {"target", facts.target},
                            {"compute_units", facts.compute_units},
                            {"l2_bytes", facts.l2_bytes}};
  WW_TRY(store.put(campaign_keys::chip, chip.dump()));
  WW_ASSIGN(session, store.begin_session());

  std::mt19937_64 generator(options.seed);
  std::vector<CrossingCondition> order;
  double done = 0;
  for (int block = 1; block <= options.blocks; ++block) {
    // Every second block runs in the order of the one before, backwards, so that drift cancels.
    if (block % 2 == 1) {
      order = shuffled(crossing.waits(), generator);
    } else {
      std::ranges::reverse(order);
    }
    const double total = options.blocks * static_cast<double>(order.size() + 2);
    std::int64_t position = 0;
    const auto keep = [&](Result<StoredRun> measured) -> Status {
      if (!measured) return tl::unexpected(measured.error());
      measured->session = session;
      measured->block = block;
      measured->position = position++;
      const auto health = measure::check_health(measured->samples, sensor.facts().name, {});
      if (!health) {
        measured->status = RunStatus::rejected;
        measured->reason = health.error().text();
      }
      WW_TRY(store.add(*measured));
      if (progress) progress({++done, total, fmt::format("block {}", block)});
      if (interrupted()) return fail(ErrorCode::cancelled, "interrupted");
      return {};
    };
    WW_TRY(keep(crossing.idle(options.plateau_s)));
    for (const CrossingCondition& condition : order) {
      WW_TRY(keep(crossing.run(condition, options.plateau_s)));
    }
    WW_TRY(keep(crossing.idle(options.plateau_s)));
  }
  return store.put(campaign_keys::finished, "true");
}

}  // namespace ww::microbench
