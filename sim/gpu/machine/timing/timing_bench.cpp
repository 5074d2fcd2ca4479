// Speed of timing mode: wave instructions and network cycles a second of one core, with the mesh at
// about 0.3 flits a node and cycle.
#include <benchmark/benchmark.h>

#include "machine/testing/test_gpu.hpp"
#include "ww/sim/gpu/timing.hpp"

namespace ww::sim::gpu {
namespace {

void timing(benchmark::State& state, const char* kernel, std::uint32_t items) {
  const auto config = std::make_shared<const TimingConfig>(
      default_timing(test::load_chip("dapper").architecture()));
  test::TestGpu gpu(Options{.threads = 1, .timing = config}, false, "dapper");
  std::vector<float> values(items);
  for (std::uint32_t i = 0; i < items; ++i) values[i] = static_cast<float>(i % 977) * 0.37F;
  const auto in = gpu.buffer(values);
  const auto out = gpu.buffer(std::uint64_t{items} * 8 * 4);
  double instructions = 0;
  double cycles = 0;
  double load = 0;
  for (auto _ : state) {
    gpu.launch(kernel, items, 256, in, out);
    const TimingStats& stats = gpu.gpu().timing_report()->dispatches.back().stats;
    instructions += static_cast<double>(stats.wave_instructions);
    cycles += static_cast<double>(stats.network_cycles);
    load = stats.flits_per_node_cycle;
  }
  state.counters["wave_instructions"] =
      benchmark::Counter(instructions, benchmark::Counter::kIsRate);
  state.counters["network_cycles"] = benchmark::Counter(cycles, benchmark::Counter::kIsRate);
  state.counters["load"] = load;
}
BENCHMARK_CAPTURE(timing, math_f32, "math_f32", 1U << 16)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ww::sim::gpu
