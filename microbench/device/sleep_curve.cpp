#include <array>
#include <span>

#include "device/topology_probe.hpp"
#include "ww/microbench/raw_probes.hpp"

namespace ww::microbench {
namespace {

constexpr std::size_t kSleeps = 8;  // as in kernels/cl/sleeps.cl
constexpr std::uint32_t kSleepRounds = 64;

}  // namespace

Result<SleepCurve> measure_sleeps(ComputeHost& host) {
  const std::string target = host.facts().target;
  const bool nvidia = target.starts_with("sm_");
  if (!nvidia && !target.starts_with("gfx")) {
    return fail(ErrorCode::unsupported, "its target has no instruction that sleeps", target);
  }
  SleepCurve curve;
  curve.instruction = nvidia ? "nanosleep" : "s_sleep";
  for (std::uint32_t i = 0; i < kSleeps; ++i) {
    curve.arguments.push_back(nvidia ? 20U << (2 * i) : (1U << i) - 1);
  }
  const Prober prober(host, nullptr, {});
  WW_ASSIGN(kernel, prober.kernel("sleeps", false));
  std::array<std::uint32_t, kSleeps * kSleepRounds> ticks{};
  WW_ASSIGN(memory, host.create_buffer(sizeof ticks));
  WW_TRY(memory->write(0, std::as_bytes(std::span(ticks))));
  WW_TRY(kernel->set(0, *memory));
  WW_TRY(kernel->set(1, kSleepRounds));
  WW_TRY(kernel->launch(1, prober.wave_size()));
  WW_TRY(host.finish());
  WW_TRY(memory->read(0, std::as_writable_bytes(std::span(ticks))));
  curve.ticks.assign(kSleeps, {});
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    curve.ticks[i % kSleeps].push_back(ticks[i]);
    sum += ticks[i];
  }
  if (sum == 0) return fail(ErrorCode::unsupported, "its compiler gives kernels no clock", target);
  return curve;
}

}  // namespace ww::microbench
