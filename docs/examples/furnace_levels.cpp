#include "furnace_levels.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "bench/order.hpp"
#include "ww/core/split_mix.hpp"
#include "ww/kernels/sources.hpp"

namespace ww::examples {
namespace {

using microbench::Bench;
using microbench::Condition;
using microbench::SensorResponse;

constexpr std::int64_t kLevels = 3;
constexpr std::uint32_t kLoopsPerLevel = 2000;
constexpr std::uint32_t kLoadLoops = 5000;
constexpr std::size_t kGroupSize = 256;

class FurnaceLevels final : public microbench::Experiment {
 public:
  FurnaceLevels(std::uint64_t seed, std::int64_t blocks) : seed_(seed), blocks_(blocks) {}

  std::string_view name() const override { return "furnace_levels"; }

  // Returns the settings that fix the conditions. A resumed session gets them back.
  nlohmann::json plan() const override {
    return {{"method", "furnace_levels"}, {"blocks", blocks_}, {"plateau_s", plateau_s_}};
  }
  Status restore(const nlohmann::json& plan) override {
    plateau_s_ = plan.value("plateau_s", 0.0);
    if (plan.value("blocks", blocks_) == blocks_) return {};
    return fail(ErrorCode::invalid_argument, "the recording in this folder has other blocks");
  }

  Status prepare(Bench& bench) override {
    microbench::ComputeHost& host = *bench.device().host;
    kernels::Macros macros;
    macros.target = bench.pinning().target();
    macros.group_size = kGroupSize;
    WW_ASSIGN(source, kernels::find_source("furnace"));
    WW_ASSIGN(text, kernels::program_text(source, macros));
    WW_ASSIGN(binary, host.build(text, "furnace"));
    WW_ASSIGN(output, host.create_buffer(64));
    output_ = std::move(output);
    WW_ASSIGN(kernel, host.load(binary, "furnace"));
    kernel_ = std::move(kernel);
    groups_ = static_cast<std::size_t>(bench.device().chip.engines) *
              static_cast<std::size_t>(bench.device().chip.cus_per_engine);
    return kernel_->set(1, *output_);
  }
  Status tune(Bench&) override { return {}; }
  Status warm_up(Bench&, bool) override { return {}; }

  // The load of the step test, from which the engine finds the sensor's response.
  Result<Bench::Launch> load(Bench&, const Condition&, StoredRun&) override {
    return select(kLoadLoops);
  }
  void use(const SensorResponse& response) override {
    if (plateau_s_ > 0) return;  // an earlier session's plan goes on
    plateau_s_ = std::max(0.5, 10 * (response.info.delay_s + response.info.rise_s));
  }

  // An idle run, and then every level twice: in random order, and mirrored.
  std::int64_t minimum_blocks() const override { return blocks_; }
  std::vector<Condition> block(std::int64_t block) const override {
    std::vector<std::int64_t> levels{0, 1, 2};
    SplitMix generator(seed_ + static_cast<std::uint64_t>(block));
    microbench::shuffle(levels, [&] { return generator.next(); });
    std::vector<Condition> list{
        {.block = block, .position = 2 * kLevels, .kind = RunKind::idle, .seconds = plateau_s_}};
    for (const std::int64_t level : microbench::twice(levels)) {
      const std::int64_t pass = std::ssize(list) > kLevels ? 1 : 0;
      list.push_back({.block = block,
                      .position = pass * kLevels + level,
                      .kind = RunKind::stream,
                      .seconds = plateau_s_});
    }
    return list;
  }
  Status perform(Bench& bench, const Condition& condition, StoredRun& run) override {
    const auto level = static_cast<std::uint32_t>(condition.position % kLevels);
    WW_ASSIGN(launch, select(kLoopsPerLevel * (1 + level)));
    WW_ASSIGN(done, bench.launch_for(condition.seconds, launch));
    run.start_ns = done.start_ns;
    run.end_ns = done.end_ns;
    run.launches = done.launches;
    return {};
  }

 private:
  Result<Bench::Launch> select(std::uint32_t loops) {
    WW_TRY(kernel_->set(0, loops));
    return Bench::Launch([this] { return kernel_->launch(groups_, kGroupSize); });
  }

  std::uint64_t seed_;
  std::int64_t blocks_;
  double plateau_s_{};
  std::size_t groups_{};
  std::unique_ptr<microbench::DeviceBuffer> output_;  // outlives the kernel whose argument it is
  std::unique_ptr<microbench::LoadedKernel> kernel_;
};

}  // namespace

Result<std::unique_ptr<microbench::Experiment>> make_furnace_levels(
    const microbench::ExperimentSettings& settings) {
  std::int64_t blocks = 3;
  WW_TRY(
      microbench::SettingsReader("furnace_levels", settings.own).read("blocks", blocks).finish());
  return std::make_unique<FurnaceLevels>(settings.seed, blocks);
}

}  // namespace ww::examples
