// The ladder: every level's streams at common rates, in random order and then mirrored.
#include "ww/microbench/ladder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "bench/engine.hpp"
#include "experiment/experiments.hpp"
#include "experiment/ladder/ladder_kernels.hpp"
#include "experiment/points.hpp"
#include "ww/core/json_reader.hpp"
#include "ww/core/log.hpp"
#include "ww/core/statistics.hpp"
#include "ww/microbench/virtual_chips.hpp"
#include "ww/model/run_keys.hpp"

namespace ww::microbench {
namespace {

using calibration::LadderStream;
using nlohmann::json;
namespace levels = calibration::ladder_levels;

// Steps of the common rates, as shares of the greatest rate that all streams reach. Near that rate
// queues fill: wavefronts wait for memory rather than asleep, and compute units that wait so draw
// power. Up to three fifths of the rate a queue is short, so that P0 is as at low rates. Launches
// have as many rounds as the rate has steps, so that all of a stream's take as long: what a launch
// costs beside its accesses is then a part of P0.
constexpr double kRateStep = 0.12;
constexpr std::array<std::uint32_t, 5> kRateSteps{5, 4, 3, 2, 1};
// Streams that part what the L1's loads cost. A device that is too slow for one has none of them.
constexpr std::array kPartsOfL1{levels::kL1Quarter, levels::kL1Narrow, levels::kL1None};
// Share of points for data beside random bits: slopes alone are wanted.
constexpr std::array<std::size_t, 3> kFewRates{0, 2, 4};
constexpr double kLadderRateTolerance = 0.03;
constexpr int kMaxLadderTries = 6;
constexpr int kTimedLadderLaunches = 3;
constexpr double kLadderLaunchSeconds = 3e-3;
// A simulated chip's launches have no jitter, and each takes the host's time.
constexpr double kVirtualLaunchSeconds = 1.5e-4;
constexpr double kMaxVirtualLaunchBits = 8.0 * (1 << 30);
// Wavefronts begin together, so that their first accesses queue, and end one by one. At the highest
// rate a launch is as many times longer as makes this, which does not grow with the rounds, that
// share of it.
constexpr double kMaxEndsShare = 0.05;
constexpr double kMaxTimesLonger = 8;
// A step of latency behind the L2 is a cache's where few lines, as far apart, take no longer than
// the L2. Else it may be of address translation, unless the cache delivers more than memory does.
constexpr double kFewLinesAsL2 = 0.1;
constexpr double kCacheOverMemory = 1.25;
constexpr double kMaxLadderLoops = 1e6;
constexpr std::int64_t kLadderMiB = 1 << 20;
constexpr std::int64_t kRealSetMiB = 1024;
// Factor of memory behind the caches that the data sheet of a virtual chip names.
constexpr std::int64_t kLadderTimesL2 = 16, kLadderTimesCache = 2;
constexpr std::int64_t kLadderHeatPosition = 20;

struct LadderSettings {
  std::uint64_t seed{1};
  bool quick{};
  std::int64_t blocks{};
  double plateau_s{};
  std::string data{"half_random"};
  std::int64_t most_mib{};
};

struct LadderPoint {
  LadderLaunch launch;
  double bits_per_s{};  // as tuned
};

class Ladder final : public PointExperiment {
 public:
  explicit Ladder(LadderSettings settings)
      : PointExperiment(
            {settings.seed, settings.blocks, {settings.plateau_s, settings.plateau_s / 4}}),
        settings_(std::move(settings)) {}

  std::string_view name() const override { return "ladder"; }
  std::string_view file_name() const override { return kLadderFile; }
  json plan() const override;
  Status restore(const json& plan) override;
  Status prepare(Bench& bench) override;
  Status tune(Bench& bench) override;
  Status warm_up(Bench& bench, bool resumed) override;
  Result<Bench::Launch> load(Bench& bench, const Condition& condition, StoredRun& run) override;
  std::vector<Condition> rest_of_setup() const override;
  Status perform(Bench& bench, const Condition& condition, StoredRun& run) override;

 private:
  std::size_t points() const override { return points_.size(); }
  std::string note_of(std::size_t point) const override {
    return points_[point].launch.stream.name();
  }
  bool ends_idle() const override { return true; }
  void keep_tolerances(const SensorResponse& response) override {
    gain_tolerance_95_ = response.info.gain_tolerance_95;
    regulator_tolerance_95_ = response.info.regulator_slope_tolerance_95;
  }
  [[nodiscard]] std::vector<std::string> data() const {
    return {"random", "zeros", settings_.data};
  }
  [[nodiscard]] json toggle_rates() const;
  Result<std::int64_t> largest_set(Device& device) const;
  Result<double> loop_s(Bench& bench, std::uint32_t loops);
  Result<double> wait_s(Bench& bench);
  Result<double> full_rate(Bench& bench, const LadderStream& stream);
  Result<std::optional<LadderPoint>> at_rate(Bench& bench, const LadderStream& stream,
                                             double bits_per_s, std::uint32_t loops,
                                             double& access_s);
  Result<std::uint32_t> times_longer(Bench& bench, const LadderPoint& point);
  Status drop_doubtful_cache(Bench& bench);
  void drop_missed_parts();
  static bool is_part(const LadderStream& stream) {
    return std::ranges::count(kPartsOfL1, stream.level) > 0;
  }
  [[nodiscard]] std::vector<LadderStream> random_streams() const;
  [[nodiscard]] std::uint32_t loops_for(const LadderStream& stream, double bits_per_s) const;
  [[nodiscard]] std::uint32_t loops_of_step(const LadderStream& stream, double least_rate,
                                            std::uint32_t step) const;
  [[nodiscard]] const LadderSet* find_set(const std::string& level) const {
    const auto found = std::ranges::find(sets_, level, &LadderSet::name);
    return found == sets_.end() ? nullptr : &*found;
  }

  LadderSettings settings_;
  std::unique_ptr<LadderKernels> kernels_;
  Staircase staircase_;
  double few_lines_ticks_{};  // of the cache's set; 0: none behind the L2
  std::vector<LadderSet> sets_;
  std::vector<MemoryLevels::Missing> missing_;
  double launch_s_{kLadderLaunchSeconds};
  double wait_unit_s_{};
  std::vector<LadderPoint> points_;  // empty until they are tuned
  std::uint32_t hot_loops_{1};
  double gain_tolerance_95_{}, regulator_tolerance_95_{};
};

json Ladder::plan() const {
  json found = json::array();
  for (const LadderSet& set : sets_) {
    found.push_back({{"name", set.name},
                     {"set_bytes", set.set_bytes},
                     {"kept_before_bytes", set.kept_before_bytes},
                     {"from_bytes", set.seen.from_bytes},
                     {"to_bytes", set.seen.to_bytes},
                     {"latency_cycles", set.seen.ticks}});
  }
  json missing = json::array();
  for (const auto& [name, reason] : missing_) {
    missing.push_back({{"name", name}, {"reason", reason}});
  }
  json stairs = json::array();
  for (const StairPoint& point : staircase_.points) {
    stairs.push_back({{"bytes", point.bytes}, {"cycles", point.ticks}});
  }
  json points = json::array();
  for (const LadderPoint& point : points_) {
    points.push_back({{"stream", point.launch.stream.name()},
                      {"wait", point.launch.wait},
                      {"loops", point.launch.loops},
                      {"bits_per_s", point.bits_per_s}});
  }
  json plan{{"method", "ladder"},
            {"data", settings_.data},
            {"most_mib", settings_.most_mib},
            {"quick", settings_.quick},
            {"setup",
             {{"levels", std::move(found)},
              {"missing", std::move(missing)},
              {"staircase", std::move(stairs)},
              {"past_l1_cycles", staircase_.past_l1_ticks},
              {"few_lines_cycles", few_lines_ticks_},
              {"points", std::move(points)},
              {"toggle_rates", toggle_rates()},
              {"wave_size", kernels_ == nullptr ? 0U : kernels_->wave_size()},
              {"hot_loops", hot_loops_}}}};
  put(plan);
  if (plateau().settle_s > 0) {
    plan["gain_tolerance_95"] = gain_tolerance_95_;
    plan["regulator_tolerance_95"] = regulator_tolerance_95_;
  }
  return plan;
}

// Toggles a bit, on wires that carry whole lines.
json Ladder::toggle_rates() const {
  constexpr std::size_t kSample = 1 << 18, kLine = 64;
  json rates;
  std::vector<std::byte> sample(kSample);
  for (const std::string& name : data()) {
    const auto pattern = kernels::pattern_from_string(name);
    if (!pattern) continue;
    kernels::fill(sample, *pattern, settings_.seed);
    rates[name] = kernels::toggle_rate(sample, kLine);
  }
  return rates;
}

Status Ladder::restore(const json& plan) {
  WW_TRY(check_same_options(plan, this->plan(),
                            {"blocks", "least_plateau_s", "data", "most_mib", "quick"}));
  const JsonReader reader(plan, "plan of the recording");
  take(reader);
  reader.read_optional("gain_tolerance_95", gain_tolerance_95_);
  reader.read_optional("regulator_tolerance_95", regulator_tolerance_95_);
  const JsonReader setup = reader.object("setup");
  for (const JsonReader& one : setup.objects("levels")) {
    LadderSet set;
    one.read("name", set.name);
    one.read("set_bytes", set.set_bytes);
    one.read_optional("kept_before_bytes", set.kept_before_bytes);
    one.read("from_bytes", set.seen.from_bytes);
    one.read("to_bytes", set.seen.to_bytes);
    one.read("latency_cycles", set.seen.ticks);
    set.seen.name = set.name;
    sets_.push_back(std::move(set));
  }
  for (const JsonReader& one : setup.objects("missing")) {
    MemoryLevels::Missing missing;
    one.read("name", missing.name);
    one.read("reason", missing.reason);
    missing_.push_back(std::move(missing));
  }
  for (const JsonReader& one : setup.objects("staircase")) {
    StairPoint point;
    one.read("bytes", point.bytes);
    one.read("cycles", point.ticks);
    staircase_.points.push_back(point);
  }
  setup.read("past_l1_cycles", staircase_.past_l1_ticks);
  setup.read_optional("few_lines_cycles", few_lines_ticks_);
  setup.read("hot_loops", hot_loops_);
  for (const JsonReader& one : setup.objects("points")) {
    LadderPoint point;
    std::string stream;
    one.read("stream", stream);
    one.read("wait", point.launch.wait);
    one.read("loops", point.launch.loops);
    one.read("bits_per_s", point.bits_per_s);
    const auto parsed = LadderStream::parse(stream);
    if (!parsed) one.refuse("stream", "is no stream");
    point.launch.stream = parsed.value_or(LadderStream{});
    points_.push_back(std::move(point));
  }
  return reader.status();
}

// Behind the L2 nobody reports what there is. A real card's memory is read in milliseconds; of a
// virtual chip every line takes the host's time, and its data sheet says how large its caches are.
Result<std::int64_t> Ladder::largest_set(Device& device) const {
  if (settings_.most_mib > 0) return settings_.most_mib * kLadderMiB;
  if (!device.is_virtual) {
    const std::int64_t memory = device.host->facts().memory_bytes;
    const std::int64_t most = kRealSetMiB * kLadderMiB;
    std::int64_t bytes = most;
    while (memory > 0 && bytes > memory / 8 && bytes > 16 * kLadderMiB) bytes /= 2;
    return bytes;
  }
  std::int64_t bytes =
      kLadderTimesL2 * std::max<std::int64_t>(device.chip.l2_bytes, kLadderMiB / 4);
  DeviceRequest request;
  request.name = device.name;
  if (const auto sheet = virtual_data_sheet(request)) {
    constexpr std::string_view kKey = "infinity_cache_bytes = ";
    std::istringstream lines(*sheet);
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with(kKey)) {
        bytes = std::max<std::int64_t>(bytes,
                                       kLadderTimesCache * std::atoll(line.c_str() + kKey.size()));
      }
    }
  }
  std::int64_t rounded = kLadderMiB;
  while (rounded < bytes) rounded *= 2;
  return rounded;
}

Status Ladder::prepare(Bench& bench) {
  Device& device = bench.device();
  if (device.is_virtual) launch_s_ = kVirtualLaunchSeconds;
  if (sets_.empty()) {
    log::info("looking for the levels of the memory of {}", device.host->device_name());
    WW_ASSIGN(most, largest_set(device));
    const int known = device.chip.engines * device.chip.cus_per_engine;
    const int units = known > 0 ? known : device.host->facts().compute_units;
    WW_ASSIGN(staircase, measure_staircase(*device.host, units, most, {}));
    staircase_ = std::move(staircase);
    const MemoryLevels seen = levels_of(staircase_);
    sets_ = ladder_sets(seen, device.is_virtual);
    missing_ = seen.missing;
    if (const LadderSet* cache = find_set(levels::cache)) {
      WW_ASSIGN(ticks, measure_few_lines(*device.host, cache->seen.to_bytes));
      few_lines_ticks_ = ticks;
    }
  }
  if (sets_.size() < 2) {
    return fail(ErrorCode::unsupported,
                fmt::format("its latencies show fewer than two levels that streams can end in: {}",
                            missing_.empty() ? "one tread alone" : missing_.front().reason),
                device.name);
  }
  WW_ASSIGN(kernels, LadderKernels::create(device, sets_, data(), settings_.seed));
  kernels_ = std::move(kernels);
  return {};
}

std::vector<LadderStream> Ladder::random_streams() const {
  std::vector<LadderStream> streams;
  for (const LadderSet& set : sets_) {
    streams.push_back({set.name, false, "random"});
    if (set.name == levels::l2) streams.push_back({levels::kL2Again, false, "random"});
    // Stores pass the L1 by: it writes through.
    if (set.name != levels::l1) streams.push_back({set.name, true, "random"});
  }
  if (find_set(levels::l1) != nullptr) {
    for (const char* level : kPartsOfL1) streams.push_back({level, false, "random"});
  }
  return streams;
}

std::uint32_t Ladder::loops_for(const LadderStream& stream, double bits_per_s) const {
  const double pass = kernels_->loops_of_a_pass(stream);
  const double passes = std::round(launch_s_ * bits_per_s / kernels_->bits_per_loop(stream) / pass);
  return static_cast<std::uint32_t>(pass * std::clamp(passes, 1.0, kMaxLadderLoops / pass));
}

std::uint32_t Ladder::loops_of_step(const LadderStream& stream, double least_rate,
                                    std::uint32_t step) const {
  const std::uint32_t one = loops_for(stream, kRateStep * least_rate);
  // Every line of a simulated chip takes the host's time. Where a pass is long, the launch is.
  const bool too_long =
      launch_s_ == kVirtualLaunchSeconds &&
      kRateSteps.front() * one * kernels_->bits_per_loop(stream) > kMaxVirtualLaunchBits;
  return too_long ? loops_for(stream, step * kRateStep * least_rate) : step * one;
}

// Seconds of one round of what is selected. The first launch fills the caches. Where no counters
// follow launches, a host knows only when it queued them and when all were done, so that the launch
// before would be in the second one's time: there the device's events time one launch at a time.
Result<double> Ladder::loop_s(Bench& bench, std::uint32_t loops) {
  if (bench.device().traffic != Traffic::counters) {
    WW_TRY(kernels_->launch());
    std::vector<double> seconds;
    for (int i = 0; i < kTimedLadderLaunches; ++i) {
      WW_ASSIGN(one, kernels_->time_launch());
      seconds.push_back(one);
    }
    return std::max(median(std::move(seconds)), 1e-9) / loops;
  }
  WW_ASSIGN(done, bench.launch_count(2, [this] { return kernels_->launch(); }));
  WW_ASSIGN(second, bench.device().counters->dispatch(done.end - 1));
  const auto ns = std::max<std::int64_t>(second.end_ns - second.start_ns, 1);
  return static_cast<double>(ns) * 1e-9 / loops;
}

// Time of one unit of waiting: it hides behind nothing where nothing is accessed.
Result<double> Ladder::wait_s(Bench& bench) {
  constexpr std::uint32_t kShort = 64, kLong = 192, kLoops = 16;
  WW_TRY(kernels_->select_empty(kShort, kLoops));
  WW_ASSIGN(brief, loop_s(bench, kLoops));
  WW_TRY(kernels_->select_empty(kLong, kLoops));
  WW_ASSIGN(longer, loop_s(bench, kLoops));
  if (!(longer > brief)) {
    return fail(ErrorCode::bad_data, "longer waits do not slow its kernels down",
                bench.device().name);
  }
  return (longer - brief) / (kLong - kShort);
}

Result<double> Ladder::full_rate(Bench& bench, const LadderStream& stream) {
  // A rate that no level exceeds makes the launch short; a second one has the length.
  double rate = 0;
  std::uint32_t loops = loops_for(stream, 16 * kernels_->bits_per_loop(stream) / launch_s_);
  for (int round = 0; round < 2; ++round) {
    WW_TRY(kernels_->select({stream, 0, loops}));
    WW_ASSIGN(seconds, loop_s(bench, loops));
    rate = kernels_->bits_per_loop(stream) / seconds;
    const std::uint32_t wanted = loops_for(stream, rate);
    if (wanted <= 2 * loops) break;
    loops = wanted;
  }
  return rate;
}

// A point whose rate is the wanted one; nothing where no wait gives it. `access_s` is what a round
// takes beside its waits: as it is expected, and as it was found.
Result<std::optional<LadderPoint>> Ladder::at_rate(Bench& bench, const LadderStream& stream,
                                                   double bits_per_s, std::uint32_t loops,
                                                   double& access_s) {
  const double wanted_s = kernels_->bits_per_loop(stream) / bits_per_s;
  std::optional<LadderPoint> best;
  for (int attempt = 0; attempt < kMaxLadderTries; ++attempt) {
    const double waits = std::max(0.0, std::round((wanted_s - access_s) / wait_unit_s_));
    const auto wait = static_cast<std::uint32_t>(std::min(waits, 1e6));
    if (best && best->launch.wait == wait) break;
    WW_TRY(kernels_->select({stream, wait, loops}));
    WW_ASSIGN(seconds, loop_s(bench, loops));
    const LadderPoint point{{stream, wait, loops}, kernels_->bits_per_loop(stream) / seconds};
    const auto off = [&](const LadderPoint& p) { return std::abs(p.bits_per_s / bits_per_s - 1); };
    if (!best || off(point) < off(*best)) best = point;
    access_s = seconds - wait * wait_unit_s_;
    if (off(point) < kLadderRateTolerance) break;
  }
  if (best && std::abs(best->bits_per_s / bits_per_s - 1) > 3 * kLadderRateTolerance) best.reset();
  return best;
}

// How many times longer a stream's launches are to be than that of a point, by one of twice as many
// rounds.
Result<std::uint32_t> Ladder::times_longer(Bench& bench, const LadderPoint& point) {
  LadderLaunch launch = point.launch;
  const double bits = launch.loops * kernels_->bits_per_loop(launch.stream);
  double most = std::min(kMaxTimesLonger, std::floor(kMaxLadderLoops / launch.loops));
  if (launch_s_ == kVirtualLaunchSeconds) {
    most = std::min(most, std::floor(kMaxVirtualLaunchBits / bits));
  }
  if (most < 2) return 1;
  launch.loops *= 2;
  WW_TRY(kernels_->select(launch));
  WW_ASSIGN(of_round, loop_s(bench, launch.loops));
  const double once = bits / point.bits_per_s;
  const double rounds_s = of_round * launch.loops - once;
  const double ends_s = once - rounds_s;
  if (!(rounds_s > 0) || !(ends_s > 0)) return 1;
  const double times = std::ceil(ends_s * (1 / kMaxEndsShare - 1) / rounds_s);
  return static_cast<std::uint32_t>(std::clamp(times, 1.0, most));
}

Status Ladder::drop_doubtful_cache(Bench& bench) {
  const LadderSet* l2 = find_set(levels::l2);
  if (!find_set(levels::cache) || !find_set(levels::memory) || l2 == nullptr) return {};
  if (few_lines_ticks_ > 0 && few_lines_ticks_ < (1 + kFewLinesAsL2) * l2->seen.ticks) return {};
  WW_ASSIGN(cache, full_rate(bench, {levels::cache, false, "random"}));
  WW_ASSIGN(memory, full_rate(bench, {levels::memory, false, "random"}));
  if (cache >= kCacheOverMemory * memory) return {};
  const auto at = std::ranges::find(sets_, levels::cache, &LadderSet::name);
  missing_.push_back(
      {levels::cache,
       fmt::format(
           "sets of {} MiB take a step less in latency than memory, and deliver only {:.2f} times "
           "its rate. Few lines as far apart take {:.0f} cycles: the step may be of address "
           "translation",
           at->set_bytes / kLadderMiB, cache / memory, few_lines_ticks_)});
  sets_.erase(at);
  return {};
}

Status Ladder::tune(Bench& bench) {
  if (!points_.empty()) return {};  // an earlier session did
  WW_ASSIGN(unit, wait_s(bench));
  wait_unit_s_ = unit;
  WW_TRY(drop_doubtful_cache(bench));
  const auto streams = random_streams();
  double least = HUGE_VAL;
  double hottest = 0;
  for (const LadderStream& stream : streams) {
    if (stream.level == levels::kL2Again || is_part(stream)) continue;
    WW_ASSIGN(rate, full_rate(bench, stream));
    least = std::min(least, rate);
    if (stream.level == levels::l2 && !stream.writes) hottest = rate;
  }
  hot_loops_ = loops_for({levels::l2, false, "random"}, hottest);
  for (const LadderStream& stream : streams) {
    double access_s = 0;
    std::uint32_t longer = 1;
    for (std::size_t r = 0; r < kRateSteps.size(); ++r) {
      if (is_part(stream) && !std::ranges::count(kFewRates, r)) continue;
      const std::uint32_t step = kRateSteps[r];
      const auto tuned = [&] {
        return at_rate(bench, stream, step * kRateStep * least,
                       longer * loops_of_step(stream, least, step), access_s);
      };
      WW_ASSIGN(point, tuned());
      if (r == 0 && point) {
        WW_ASSIGN(times, times_longer(bench, *point));
        longer = times;
        if (longer > 1) {
          WW_ASSIGN(again, tuned());
          point = again;
        }
      }
      if (!point) continue;
      points_.push_back(*point);
      // The other data have as many waits: what they move takes as long.
      if (stream.level == levels::kL2Again || stream.level == levels::kL1None ||
          !std::ranges::count(kFewRates, r)) {
        continue;
      }
      for (const std::string& data : {std::string("zeros"), settings_.data}) {
        if ((stream.writes || is_part(stream)) && data != "zeros") continue;
        LadderPoint other = *point;
        other.launch.stream.data = data;
        points_.push_back(std::move(other));
      }
    }
  }
  drop_missed_parts();
  return {};
}

// A stream needs all of its rates, and the parts of a load all of their streams.
void Ladder::drop_missed_parts() {
  const auto of_part = [](const LadderPoint& point) { return is_part(point.launch.stream); };
  constexpr std::ptrdiff_t kWanted = (2 + 2 + 1) * std::ssize(kFewRates);
  if (std::ranges::count_if(points_, of_part) < kWanted) std::erase_if(points_, of_part);
}

// Clocks and caches settle.
Status Ladder::warm_up(Bench& bench, bool resumed) {
  WW_TRY(kernels_->select({{levels::l2, false, "random"}, 0, hot_loops_}));
  WW_TRY(bench.launch_for(0.5, [this] { return kernels_->launch(); }));
  if (resumed) bench.sleep(settings_.quick ? 2.0 : 10.0);
  return {};
}

Result<Bench::Launch> Ladder::load(Bench&, const Condition&, StoredRun& run) {
  const LadderStream stream{levels::l2, false, "random"};
  run.pattern = stream.name();
  run.kernel_hash = kernels_->hash();
  WW_TRY(kernels_->select({stream, 0, hot_loops_}));
  return Bench::Launch([this] { return kernels_->launch(); });
}

// Idle power against temperature.
std::vector<Condition> Ladder::rest_of_setup() const {
  return {{.block = 0,
           .position = kLadderHeatPosition,
           .kind = RunKind::heat,
           .seconds = settings_.quick ? 20.0 : 60.0},
          {.block = 0,
           .position = kLadderHeatPosition + 1,
           .kind = RunKind::cooldown,
           .seconds = settings_.quick ? 15.0 : 45.0}};
}

Status Ladder::perform(Bench& bench, const Condition& condition, StoredRun& run) {
  const LadderPoint& point = points_[point_of(condition)];
  run.pattern = point.launch.stream.name();
  run.throttle = static_cast<std::int32_t>(point.launch.wait);
  run.kernel_hash = kernels_->hash();
  WW_TRY(kernels_->select(point.launch));
  WW_ASSIGN(done, perform_point(
                      bench, condition, [this] { return kernels_->launch(); }, run));
  WW_ASSIGN(share, bench.busy_share(done));
  if (share) run.counters[run_keys::busy_share] = *share;
  run.payload_bits = kernels_->bits_per_loop(point.launch.stream) * point.launch.loops *
                     static_cast<double>(run.launches);
  return {};
}

}  // namespace

Result<std::unique_ptr<Experiment>> make_ladder(const ExperimentSettings& settings) {
  LadderSettings own;
  own.seed = settings.seed;
  own.quick = settings.quick;
  own.blocks = settings.quick ? 2 : 6;
  own.plateau_s = settings.quick ? 0.8 : 2.0;
  WW_TRY(SettingsReader("ladder", settings.own)
             .read("blocks", own.blocks)
             .read("plateau_s", own.plateau_s)
             .read("data", own.data)
             .read("most_mib", own.most_mib)
             .finish());
  WW_TRY(kernels::pattern_from_string(own.data));
  if (own.blocks < 1 || !(own.plateau_s > 0) || own.most_mib < 0) {
    return fail(ErrorCode::invalid_argument,
                "needs a block or more, plateaus longer than nothing and sets of a size");
  }
  if (own.data == "random" || own.data == "zeros") {
    return fail(ErrorCode::invalid_argument,
                "random and zeros run anyway; name data of another toggle rate", own.data);
  }
  return std::make_unique<Ladder>(std::move(own));
}

}  // namespace ww::microbench
