#include "ww/microbench/traffic_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "device/amd_device.hpp"
#include "device/launch_log.hpp"
#include "experiment/runner.hpp"
#include "experiment/stream_kernels.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/temporary_folder.hpp"
#include "ww/kernels/sources.hpp"
#include "ww/measure/profiler.hpp"
#include "ww/microbench/compute_device.hpp"
#include "ww/microbench/counter_check.hpp"
#include "ww/microbench/hosts.hpp"
#include "ww/model/floorplan.hpp"
#include "ww/model/known_floorplans.hpp"

namespace ww::microbench {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr double kTolerance = 0.005;
constexpr std::size_t kFewestCopied = std::size_t{64} << 20;
constexpr std::size_t kMaxCopied = std::size_t{256} << 20;
constexpr int kCopies = 2;
constexpr std::uint32_t kStreamLoops = 200;

// Large against the L2, so that what leaves it is known.
std::size_t bytes_to_copy(std::int64_t l2_bytes) {
  return std::clamp(16 * static_cast<std::size_t>(std::max<std::int64_t>(l2_bytes, 0)),
                    kFewestCopied, kMaxCopied);
}

class SteadyClock final : public measure::Sensor {
 public:
  const measure::SensorFacts& facts() const override { return facts_; }
  std::int64_t now_ns() override { return measure::steady_now_ns(); }
  void sleep_until(std::int64_t) override {}
  Result<std::vector<SensorReading>> new_readings() override {
    return std::vector<SensorReading>{};
  }
  std::vector<DvfsState> dvfs_states() const override { return {}; }
  int dvfs_current() const override { return -1; }
  Status select_dvfs(int) override { return fail(ErrorCode::unsupported, "a clock alone"); }

 private:
  measure::SensorFacts facts_;
};

// One counted launch of every engine on a quadrant of its own.
Status run_streams(Device& device, ExerciseReport& report) {
  WW_ASSIGN(pinning, make_pinning(device.chip.target));
  WW_ASSIGN(bench, StreamKernels::create(device, *pinning, true, 1));
  for (int engine = 0; engine < device.chip.engines; ++engine) {
    const Stream stream{engine, engine % static_cast<int>(device.quadrants.size()),
                        kernels::Pattern::random, Rate::saturated};
    WW_TRY(bench->select(stream, kStreamLoops, 0));
    WW_TRY(bench->count_waves(true));
    WW_TRY(bench->counted_waves());
    WW_TRY(bench->launch_stream());
    WW_ASSIGN(waves, bench->counted_waves());
    report.stream_bytes.push_back(waves * StreamKernels::bytes_per_wave(kStreamLoops));
  }
  return {};
}

// Returns the profiler's dispatches of one kernel, in order.
std::vector<measure::CounterDispatch> of_kernel(const measure::CounterFile& file,
                                                std::string_view name) {
  std::vector<measure::CounterDispatch> found;
  for (const auto& dispatch : file.dispatches) {
    if (dispatch.kernel == name) found.push_back(dispatch);
  }
  return found;
}

std::optional<double> read_bytes(const std::string& target,
                                 const measure::CounterDispatch& dispatch, bool reads_alone) {
  for (const auto& segment : measure::segment_bytes(target, dispatch)) {
    const auto wanted = reads_alone ? measure::Segment::l1_l2_read : measure::Segment::l1_l2;
    if (segment.segment == wanted && segment.bytes) return segment.bytes;
  }
  return {};
}

const measure::MappingCheck* check_of(const std::vector<measure::MappingCheck>& checks,
                                      measure::Segment segment) {
  const auto found = std::ranges::find(checks, segment, &measure::MappingCheck::segment);
  return found == checks.end() ? nullptr : &*found;
}

// Compares the streams, where the counters hold on known bytes.
void judge(TrafficCheck& check, const ExerciseReport& report, const measure::CounterFile& file) {
  using measure::MappingVerdict;
  const auto usable = [](const measure::MappingCheck* mapping) {
    return mapping != nullptr && (mapping->verdict == MappingVerdict::exact ||
                                  mapping->verdict == MappingVerdict::scaled);
  };
  const auto* mapping = check_of(check.mapping, measure::Segment::l1_l2_read);
  const bool reads_alone = usable(mapping);
  if (!reads_alone) mapping = check_of(check.mapping, measure::Segment::l1_l2);
  if (!usable(mapping)) {
    check.reason = "the counters do not hold on known bytes: " +
                   (mapping == nullptr ? "no bytes between L1 and L2" : mapping->reason);
    return;
  }
  if (report.stream_bytes.empty()) {
    check.reason = report.no_streams;
    return;
  }
  const auto streams = of_kernel(file, "l2_stream");
  if (streams.size() != report.stream_bytes.size()) {
    check.reason = fmt::format("the profiler saw {} streams of {}", streams.size(),
                               report.stream_bytes.size());
    return;
  }
  double worst = 0;
  for (std::size_t i = 0; i < streams.size(); ++i) {
    const auto counted = read_bytes(report.target, streams[i], reads_alone);
    if (!counted) {
      check.reason = "the profiler did not count the streams";
      return;
    }
    const double deviation = *counted * mapping->scale / report.stream_bytes[i] - 1;
    if (std::abs(deviation) > std::abs(worst)) worst = deviation;
  }
  check.stream_deviation = worst;
  check.verified = std::abs(worst) <= kTolerance;
  check.contradicted = !check.verified;
  if (check.contradicted) {
    check.reason = fmt::format(
        "counters that hold on known bytes see {:+.1f}% of what the streams should have moved: "
        "their loads do not all pass from L2 to L1",
        100 * worst);
  }
}

Result<ExerciseReport> report_from(const fs::path& file) {
  WW_ASSIGN(text, read_file(file));
  const json parsed = json::parse(text, nullptr, false);
  ExerciseReport report;
  try {
    parsed.at("target").get_to(report.target);
    parsed.at("known_bytes").get_to(report.known_bytes);
    parsed.at("l2_bytes").get_to(report.l2_bytes);
    parsed.at("copies").get_to(report.copies);
    parsed.at("stream_bytes").get_to(report.stream_bytes);
    parsed.at("no_streams").get_to(report.no_streams);
  } catch (const json::exception&) {
    return fail(ErrorCode::bad_data, "the exercise left no report of what it moved", file.string());
  }
  return report;
}

// The profiler on the exercise. Its failures are the check's reason.
Result<TrafficCheck> profile_exercise(const std::string& name, const std::string& target,
                                      const fs::path& program) {
  TrafficCheck check;
  const auto installed = measure::installed_profilers(target);
  if (installed.empty()) {
    check.reason =
        target.starts_with("sm_")
            ? "no profiler is installed (ncu: package nsight-compute of NVIDIA's repository)"
            : "no profiler is installed (rocprofv3: package rocprofiler-sdk of AMD's repository; "
              "rocprof: rocprofiler-dev)";
    return check;
  }
  WW_ASSIGN(scratch, ScratchFolder::create("exercise"));
  const fs::path report_file = scratch.path() / "exercise.json";
  measure::ProfileRequest request;
  request.architecture = target;
  request.command = {program.string(), "exercise", "--device", name, "--out", report_file.string()};
  request.limit = std::chrono::minutes(3);
  const auto profile = measure::profile(installed.front(), request);
  check.profiler = measure::to_string(installed.front().profiler);
  if (!profile) {
    check.reason = profile.error().text();
    return check;
  }
  const auto report = report_from(report_file);
  if (!report) {
    check.reason = report.error().text();
    return check;
  }
  measure::KnownBytes known;
  known.read = known.written = report->known_bytes;
  known.l2_bytes = report->l2_bytes;
  check.mapping =
      measure::check_mapping(report->target, of_kernel(profile->counters, "known_bytes"), known);
  judge(check, *report, profile->counters);
  return check;
}

}  // namespace

json to_json(const ExerciseReport& report) {
  return {{"target", report.target},
          {"known_bytes", report.known_bytes},
          {"l2_bytes", report.l2_bytes},
          {"copies", report.copies},
          {"stream_bytes", report.stream_bytes},
          {"no_streams", report.no_streams}};
}

json to_json(const TrafficCheck& check) {
  json mapping = json::array();
  for (const auto& entry : check.mapping) {
    mapping.push_back({{"segment", measure::to_string(entry.segment)},
                       {"verdict", measure::to_string(entry.verdict)},
                       {"scale", entry.scale},
                       {"reason", entry.reason}});
  }
  json deviation;
  if (check.stream_deviation) deviation = *check.stream_deviation;
  return {{"verified", check.verified},
          {"profiler", check.profiler},
          {"reason", check.reason},
          {"mapping", mapping},
          {"stream_deviation", deviation}};
}

Result<ExerciseReport> run_exercise(const DeviceRequest& request) {
  WW_ASSIGN(opened, open_compute_device(request));
  ExerciseReport report;
  const HostFacts facts = opened.host->facts();
  const std::string device_id = opened.amd ? opened.amd->device_id : "";
  const AmdCard* card = find_amd_card(device_id);
  report.target = facts.target;
  report.copies = kCopies;
  report.l2_bytes = static_cast<double>(opened.l2_bytes);
  WW_ASSIGN(copied, copy_known_bytes(*opened.host, bytes_to_copy(opened.l2_bytes), kCopies, {}));
  report.known_bytes = static_cast<double>(copied);
  report.no_streams = campaign_obstacle(facts.target, device_id);
  if (report.no_streams.empty() && card == nullptr) {
    report.no_streams =
        "no floorplan of its die is known, and lists of lines are found in a campaign alone";
  }
  if (!report.no_streams.empty()) return report;
  WW_ASSIGN(plan, model::parse_floorplan(
                      model::known_floorplan(card->floorplan).value_or(std::string_view()),
                      std::string(card->floorplan)));
  SteadyClock clock;
  Device device;
  device.name = request.name;
  std::size_t most = 0;
  for (const auto& cus : plan.compute_units) most = std::max(most, cus.size());
  device.chip = {facts.device,
                 std::string(card->target),
                 static_cast<int>(plan.compute_units.size()),
                 static_cast<int>(most),
                 card->channels,
                 card->interleave_bytes,
                 card->bytes_per_clock_per_channel,
                 card->l1_bytes,
                 card->l2_bytes};
  device.quadrants = plan.quadrants;
  device.traffic = Traffic::every_launch;
  LoggedHost logged = log_launches(std::move(opened.host), clock);
  device.host = std::move(logged.host);
  device.counters = std::move(logged.launches);
  WW_TRY(run_streams(device, report));
  return report;
}

Result<TrafficCheck> check_traffic(const DeviceRequest& request, const fs::path& program) {
  std::string target;
  {
    WW_ASSIGN(opened, open_compute_device(request));
    target = opened.target;
    TrafficCheck refused;
    refused.reason = campaign_obstacle(target, opened.amd ? opened.amd->device_id : "");
    if (!refused.reason.empty()) return refused;  // the campaign will say so itself
  }
  return profile_exercise(request.name, target, program);
}

Result<std::vector<measure::MappingCheck>> check_device_mapping(ComputeDevice& device,
                                                                const fs::path& program) {
  if (device.counters != nullptr) {
    const auto bytes =
        static_cast<std::size_t>(4 * std::max<std::int64_t>(device.l2_bytes, 1 << 20));
    return check_counter_mapping(*device.host, *device.counters, device.l2_bytes, bytes, kCopies);
  }
  WW_ASSIGN(check, profile_exercise(device.name, device.target, program));
  if (check.mapping.empty()) return fail(ErrorCode::unsupported, check.reason, device.name);
  return std::move(check.mapping);
}

}  // namespace ww::microbench
