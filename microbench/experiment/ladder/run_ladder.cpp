// Campaigns of the ladder on any device, and the launches of a recorded one.
#include <nlohmann/json.hpp>

#include "bench/engine.hpp"
#include "device/launch_log.hpp"
#include "device/nvidia_device.hpp"
#include "experiment/experiments.hpp"
#include "experiment/ladder/ladder_kernels.hpp"
#include "experiment/runner.hpp"
#include "host/pinning.hpp"
#include "ww/core/campaign_store.hpp"
#include "ww/core/device_name.hpp"
#include "ww/core/json_reader.hpp"
#include "ww/microbench/compute_device.hpp"
#include "ww/microbench/ladder.hpp"

namespace ww::microbench {
namespace {

using calibration::LadderStream;
using nlohmann::json;

// How kernels are spelled for a device on which nothing needs a place.
class UnpinnedKernels final : public Pinning {
 public:
  explicit UnpinnedKernels(kernels::PinTarget target) : target_(target) {}
  kernels::PinTarget target() const override { return target_; }
  Result<std::vector<std::byte>> patch(std::span<const std::byte>,
                                       const std::string& kernel) const override {
    return fail(ErrorCode::unsupported, "the ladder patches nothing", kernel);
  }
  Result<Place> place(std::uint32_t) const override {
    return fail(ErrorCode::unsupported, "the ladder needs no place");
  }
  std::uint32_t place_mask() const override { return 0; }

 private:
  kernels::PinTarget target_;
};

// Any device whose power can be read.
Result<Device> open_ladder_device(const DeviceRequest& request, const std::string& name) {
  if (DeviceName(name).is_virtual()) return open_device(request, name);
  DeviceRequest named = request;
  named.name = name;
  WW_ASSIGN(opened, open_compute_device(named));
  if (opened.nvidia) return open_nvidia_device(std::move(opened), name);
  if (opened.sensor == nullptr) return tl::unexpected(no_power(opened));
  const HostFacts facts = opened.host->facts();
  Device device;
  device.name = name;
  device.is_virtual = facts.is_virtual;
  device.chip.name = facts.device;
  device.chip.target = opened.target;
  device.chip.l2_bytes = opened.l2_bytes;
  device.traffic = Traffic::every_launch;
  device.notes = json{{"driver", facts.driver}, {"sensor", opened.sensor->facts().name}}.dump();
  attach_logged(device, std::move(opened.sensor), std::move(opened.host));
  return device;
}

}  // namespace

Result<CampaignSummary> run_ladder(const LadderRequest& request, const ProgressFunction& progress) {
  const ExperimentSettings settings{
      request.seed, request.quick, {{"data", request.data}, {"most_mib", request.most_mib}}};
  WW_ASSIGN(experiment, make_ladder(settings));
  ExperimentParts parts;
  parts.open = open_ladder_device;
  parts.pinning = [](const Device& device) -> Result<std::unique_ptr<Pinning>> {
    return std::make_unique<UnpinnedKernels>(kernel_target(device.chip.target));
  };
  return run_experiment(std::move(experiment),
                        {request.device, request.folder, request.seed, request.resume}, parts,
                        progress);
}

Result<std::vector<LadderExercise>> exercise_ladder(const DeviceRequest& request,
                                                    const std::filesystem::path& recording) {
  WW_ASSIGN(store, CampaignStore::open_read_only(recording));
  WW_ASSIGN(text, store.get(campaign_keys::plan));
  WW_ASSIGN(plan, parse_json(text.value_or(""), "plan of the recording"));
  std::vector<LadderSet> sets;
  std::vector<LadderLaunch> launches;
  const JsonReader reader(plan, "plan of the recording");
  std::string data;
  std::uint64_t seed = 1;
  reader.read("data", data);
  reader.read("seed", seed);
  const JsonReader setup = reader.object("setup");
  for (const JsonReader& one : setup.objects("levels")) {
    LadderSet& set = sets.emplace_back();
    one.read("name", set.name);
    one.read("set_bytes", set.set_bytes);
    one.read_optional("kept_before_bytes", set.kept_before_bytes);
  }
  for (const JsonReader& one : setup.objects("points")) {
    std::string stream;
    LadderLaunch& launch = launches.emplace_back();
    one.read("stream", stream);
    one.read("wait", launch.wait);
    one.read("loops", launch.loops);
    launch.stream = LadderStream::parse(stream).value_or(LadderStream{});
  }
  WW_TRY(reader.status());
  if (sets.empty() || launches.empty()) {
    return fail(ErrorCode::bad_data, "its plan has no launches yet", recording.string());
  }
  WW_ASSIGN(device, open_ladder_device(request, request.name));
  WW_ASSIGN(kernels, LadderKernels::create(device, sets, {"random", "zeros", data}, seed));
  std::vector<LadderExercise> done;
  for (const LadderLaunch& launch : launches) {
    WW_TRY(kernels->select(launch));
    for (int i = 0; i < kLadderExerciseLaunches; ++i) WW_TRY(kernels->launch());
    WW_TRY(device.host->finish());
    done.push_back({launch.stream.name(), kernels->bits_per_loop(launch.stream) * launch.loops});
  }
  return done;
}

}  // namespace ww::microbench
