#include "ww/microbench/gpu_load.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "host/pinning.hpp"
#include "ww/core/interrupt.hpp"
#include "ww/kernels/sources.hpp"

namespace ww::microbench {
namespace {

constexpr std::size_t kLoadGroupSize = 256;
constexpr std::size_t kGroups = 512;  // several waves for each unit of today's chips
constexpr int kBatch = 8;             // launches between two waits

class GpuLoad final : public measure::Load {
 public:
  GpuLoad(ComputeHost& host, measure::Sensor& sensor, std::unique_ptr<LoadedKernel> kernel,
          std::unique_ptr<DeviceBuffer> output)
      : host_(host), sensor_(sensor), output_(std::move(output)), kernel_(std::move(kernel)) {}

  // Loops that make a launch of about `launch_s`.
  Status tune(double launch_s) {
    constexpr std::uint32_t most_loops = 1U << 24;
    for (std::uint32_t loops = 16; loops < most_loops; loops *= 4) {
      WW_TRY(kernel_->set(0, loops));
      WW_TRY(launch(1));  // the first launch after a change may compile or wake the chip
      const std::int64_t before = sensor_.now_ns();
      WW_TRY(launch(1));
      const double took = static_cast<double>(sensor_.now_ns() - before) * 1e-9;
      if (took < launch_s / 4) continue;
      const double fitting = static_cast<double>(loops) * launch_s / took;
      return kernel_->set(0,
                          static_cast<std::uint32_t>(std::clamp(fitting, 1.0, 1.0 * most_loops)));
    }
    return fail(ErrorCode::device_error, "no loop count makes the load last: it does no work",
                host_.device_name());
  }

  std::string name() const override {
    return fmt::format("furnace kernel on {}", host_.device_name());
  }
  Result<measure::LoadStep> run_for(double seconds) override {
    measure::LoadStep step;
    step.on_ns = sensor_.now_ns();
    const std::int64_t end_ns = step.on_ns + std::llround(seconds * 1e9);
    do {
      if (interrupted()) return fail(ErrorCode::cancelled, "interrupted");
      WW_TRY(launch(kBatch));
      step.off_ns = sensor_.now_ns();
    } while (step.off_ns < end_ns);
    return step;
  }

 private:
  Status launch(int count) {
    for (int i = 0; i < count; ++i) WW_TRY(kernel_->launch(kGroups, kLoadGroupSize));
    return host_.finish();
  }

  ComputeHost& host_;
  measure::Sensor& sensor_;
  std::unique_ptr<DeviceBuffer> output_;
  std::unique_ptr<LoadedKernel> kernel_;
};

}  // namespace

Result<std::unique_ptr<measure::Load>> make_gpu_load(ComputeHost& host, measure::Sensor& sensor,
                                                     double launch_s) {
  const HostFacts facts = host.facts();
  kernels::Macros macros;
  macros.group_size = kLoadGroupSize;
  // The furnace is not pinned, but its dialect has to be one that the device's compiler reads, and
  // PTX exists for NVIDIA's own layout of a place alone.
  macros.target = kernel_target(facts.target);
  WW_ASSIGN(source, kernels::find_source("furnace"));
  WW_ASSIGN(text, kernels::program_text(source, macros));
  WW_ASSIGN(binary, host.build(text, "furnace"));
  WW_ASSIGN(kernel, host.load(binary, "furnace"));
  WW_ASSIGN(output, host.create_buffer(64));
  WW_TRY(kernel->set(1, *output));
  auto load = std::make_unique<GpuLoad>(host, sensor, std::move(kernel), std::move(output));
  WW_TRY(load->tune(launch_s));
  return load;
}

}  // namespace ww::microbench
