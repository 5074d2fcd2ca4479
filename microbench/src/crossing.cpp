// The campaign of crossings.
#include "ww/microbench/crossing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

#include "latency_map.hpp"
#include "pinning.hpp"
#include "topology_probe.hpp"
#include "ww/core/interrupt.hpp"
#include "ww/measure/health.hpp"
#include "ww/measure/recorder.hpp"

namespace ww::microbench {
namespace {

constexpr std::size_t most_places = 4096;
constexpr double launch_s = 3e-3;
constexpr double bits_per_update = 32.0 * 32.0;  // 32 lanes of 32 bits

struct Condition {
  int place_side{};
  int line_side{};
  bool random{};
  [[nodiscard]] bool far() const { return place_side != line_side; }
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
  // Launch length, and the waiting that brings near down to far's rate.
  Status tune();
  Result<StoredRun> idle(double seconds);
  Result<StoredRun> run(const Condition& condition, double seconds);
  [[nodiscard]] nlohmann::json describe() const;

 private:
  Status select(const Condition& condition);
  // Updates counted since the last call.
  Result<double> updates();
  Result<double> rate(const Condition& condition);  // updates a second
  Status take(StoredRun& run);

  ComputeHost& host_;
  measure::Sensor& sensor_;
  Prober prober_;
  measure::Recorder recorder_;
  std::vector<TopologyPlace> places_;
  Sides sides_;
  std::array<std::unique_ptr<DeviceBuffer>, 2> lines_;  // by side
  std::array<std::unique_ptr<DeviceBuffer>, 2> masks_;  // of places, by side
  std::array<std::uint32_t, 2> line_counts_{};
  std::unique_ptr<DeviceBuffer> done_;
  std::unique_ptr<LoadedKernel> kernel_;
  std::size_t groups_per_place_;
  std::size_t groups_{};
  std::uint32_t loops_{64};
  std::uint32_t near_throttle_{};
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

Status Crossing::select(const Condition& condition) {
  const auto line = static_cast<std::size_t>(condition.line_side);
  const auto place = static_cast<std::size_t>(condition.place_side);
  WW_TRY(kernel_->set(1, *lines_[line]));
  // As many lines on either side.
  WW_TRY(kernel_->set(2, std::min(line_counts_[0], line_counts_[1])));
  WW_TRY(kernel_->set(3, loops_));
  WW_TRY(kernel_->set(4, condition.random ? 0xFFFFFFFFu : 0u));
  WW_TRY(kernel_->set(5, condition.far() ? 0u : near_throttle_));
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

Result<double> Crossing::rate(const Condition& condition) {
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
    return fail(ErrorCode::bad_data, "no wavefront found itself on the side that it was pinned to",
                host_.device_name());
  }
  return count / seconds;
}

Status Crossing::tune() {
  const Condition far{0, 1, true};
  const Condition near{0, 0, true};
  for (int round = 0; round < 4; ++round) {
    WW_ASSIGN(ignored, rate(far));
    static_cast<void>(ignored);
    const double factor = launch_s / launch_seconds_;
    if (factor > 0.7 && factor < 1.5) break;
    loops_ = static_cast<std::uint32_t>(std::clamp(loops_ * factor, 8.0, 1e6));
  }
  WW_ASSIGN(far_rate, rate(far));
  WW_ASSIGN(free_rate, rate(near));
  if (free_rate <= 1.005 * far_rate) return {};
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  double best = free_rate / far_rate;
  for (std::uint32_t throttle = 4; high == 0 || high - low > 1;) {
    const std::uint32_t kept = near_throttle_;
    near_throttle_ = throttle;
    WW_ASSIGN(near_rate, rate(near));
    const double ratio = near_rate / far_rate;
    (ratio > 1 ? low : high) = throttle;
    if (std::abs(ratio - 1) < std::abs(best - 1)) {
      best = ratio;
    } else {
      near_throttle_ = kept;
    }
    if (std::abs(best - 1) < 0.003 || throttle > 100'000) break;
    throttle = high == 0 ? 2 * throttle : (low + high) / 2;
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

Result<StoredRun> Crossing::run(const Condition& condition, double seconds) {
  StoredRun run;
  run.kind = RunKind::stream;
  run.engine = condition.place_side;
  run.quadrant = condition.line_side;
  run.pattern = condition.random ? "random" : "zeros";
  run.throttle = condition.far() ? 0 : static_cast<std::int32_t>(near_throttle_);
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
  run.payload_bits = count * bits_per_update;
  WW_TRY(take(run));
  return run;
}

nlohmann::json Crossing::describe() const {
  return {{"places", places_.size()},
          {"near_ticks", sides_.near_ticks},
          {"far_ticks", sides_.far_ticks},
          {"lines", {line_counts_[0], line_counts_[1]}},
          {"side_of_place", sides_.side_of_place},
          {"loops", loops_},
          {"near_throttle", near_throttle_}};
}

std::vector<Condition> shuffled(std::mt19937_64& generator) {
  std::vector<Condition> order;
  for (const int place : {0, 1}) {
    for (const int line : {0, 1}) {
      order.push_back({place, line, false});
      order.push_back({place, line, true});
    }
  }
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
  nlohmann::json plan{{"method", "crossing"},
                      {"blocks", options.blocks},
                      {"plateau_s", options.plateau_s},
                      {"settle_s", options.settle_s},
                      {"seed", options.seed}};
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
  const double total = options.blocks * 19.0;
  double done = 0;
  for (int block = 1; block <= options.blocks; ++block) {
    const auto order = shuffled(generator);
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
    for (const Condition& condition : order) {
      WW_TRY(keep(crossing.run(condition, options.plateau_s)));
    }
    WW_TRY(keep(crossing.idle(options.plateau_s)));
    for (auto condition = order.rbegin(); condition != order.rend(); ++condition) {
      WW_TRY(keep(crossing.run(*condition, options.plateau_s)));
    }
    WW_TRY(keep(crossing.idle(options.plateau_s)));
  }
  return store.put(campaign_keys::finished, "true");
}

}  // namespace ww::microbench
