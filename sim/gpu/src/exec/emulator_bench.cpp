// Wave instructions a second of the emulator on one core, and replays a second.
#include <benchmark/benchmark.h>

#include "exec/test_gpu.hpp"

namespace ww::sim::gpu {
namespace {

double instructions(test::TestGpu& gpu) {
  return gpu.counter("SQ_INSTS_VALU") + gpu.counter("SQ_INSTS_SALU") +
         gpu.counter("SQ_INSTS_SMEM") + gpu.counter("SQ_INSTS_VMEM_RD") +
         gpu.counter("SQ_INSTS_VMEM_WR") + gpu.counter("SQ_INSTS_LDS");
}

void stream(benchmark::State& state) {
  test::TestGpu gpu(Options{.threads = static_cast<unsigned>(state.range(0)), .replay = false},
                    false);
  const auto data = gpu.buffer(std::vector<std::uint32_t>(1 << 18, 0x5A5A5A5A));
  const auto out = gpu.buffer(44 * 1024 * 4);
  gpu.launch("stream", 44 * 1024, 256, data, out, 256U, 64U);  // commits the host's pages
  double total = 0;
  double lines = 0;
  for (auto _ : state) {
    gpu.launch("stream", 44 * 1024, 256, data, out, 256U, 64U);
    total += instructions(gpu);
    lines += gpu.counter("TCC_REQ_sum");
  }
  state.counters["wave_instructions"] = benchmark::Counter(total, benchmark::Counter::kIsRate);
  state.counters["lines"] = benchmark::Counter(lines, benchmark::Counter::kIsRate);
}
BENCHMARK(stream)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

void pinned_stream(benchmark::State& state) {
  test::TestGpu gpu(Options{.threads = static_cast<unsigned>(state.range(0)), .replay = false},
                    false);
  const auto data = gpu.buffer(std::vector<std::uint32_t>(1 << 18, 0x5A5A5A5A));
  const auto out = gpu.buffer(44 * 1024 * 4);
  gpu.launch("pinned_stream", 44 * 1024, 256, data, out, 0U, 4U, 128U);
  double total = 0;
  double lines = 0;
  for (auto _ : state) {
    gpu.launch("pinned_stream", 44 * 1024, 256, data, out, 0U, 4U, 128U);
    total += instructions(gpu);
    lines += gpu.counter("TCC_REQ_sum");
  }
  state.counters["wave_instructions"] = benchmark::Counter(total, benchmark::Counter::kIsRate);
  state.counters["lines"] = benchmark::Counter(lines, benchmark::Counter::kIsRate);
}
BENCHMARK(pinned_stream)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

// The same with the chip's real accounting.
void pinned_stream_with_ledger(benchmark::State& state) {
  auto gpu = std::move(*VirtualGpu::create(
      test::load_w9100(),
      Options{.threads = static_cast<unsigned>(state.range(0)), .replay = false}));
  const ProgramId program = *gpu->load(test::read_kernels());
  std::vector<std::uint32_t> words(1 << 18);
  for (std::uint32_t i = 0; i < words.size(); ++i) words[i] = i * 2654435761U;
  const auto data = *gpu->allocate(1 << 20);
  const auto out = *gpu->allocate(1 << 20);
  if (!gpu->write(data, std::as_bytes(std::span<const std::uint32_t>(words)))) return;
  const auto arguments = test::TestGpu::arguments(data, out, 0U, 4U, 128U);
  std::vector<double> counters(VirtualGpu::counter_names().size());
  double lines = 0;
  double total = 0;
  for (auto _ : state) {
    auto result = gpu->launch(program, "pinned_stream", Grid{1, {44 * 1024, 1, 1}, {256, 1, 1}},
                              arguments, 0);
    if (!result || !gpu->counters(result->dispatch, counters)) state.SkipWithError("launch");
    total += counters[2] + counters[3] + counters[4] + counters[5] + counters[6] + counters[8];
    lines += counters[14];
  }
  state.counters["wave_instructions"] = benchmark::Counter(total, benchmark::Counter::kIsRate);
  state.counters["lines"] = benchmark::Counter(lines, benchmark::Counter::kIsRate);
}
BENCHMARK(pinned_stream_with_ledger)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

void replay(benchmark::State& state) {
  test::TestGpu gpu(Options{.threads = 1}, false);
  const auto data = gpu.buffer(std::vector<std::uint32_t>(1 << 16, 1));
  const auto out = gpu.buffer(4096 * 4);
  const std::string kernel = "stream";
  const auto arguments = test::TestGpu::arguments(data, out, 16U, 64U);
  const Grid grid{1, {4096, 1, 1}, {256, 1, 1}};
  for (int i = 0; i < 4; ++i) {
    static_cast<void>(gpu.gpu().launch(gpu.program(), kernel, grid, arguments, 0));
  }
  for (auto _ : state) {
    auto result = gpu.gpu().launch(gpu.program(), kernel, grid, arguments, 0);
    if (!result || !result->replayed) state.SkipWithError("not replayed");
  }
}
BENCHMARK(replay);

}  // namespace
}  // namespace ww::sim::gpu
