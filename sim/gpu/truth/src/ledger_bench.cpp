#include <benchmark/benchmark.h>

#include <memory>
#include <vector>

#include "chip_timeline.hpp"
#include "draw.hpp"
#include "energy_ledger.hpp"
#include "transitions/transitions.hpp"

namespace ww::sim::gpu {
namespace {

// Reads by one engine from the four channels of a quadrant; `gap` cycles between beats of a link.
void crossbar_read(benchmark::State& state) {
  const Chip chip = Chip::load({}).value();
  const auto ledger = make_energy_ledger(chip);
  Draw draw(1);
  std::vector<std::uint64_t> data(8 * 4096);
  for (auto& word : data) {
    word = draw.bits();
  }
  ledger->begin_launch();
  CrossbarTransfer transfer;
  transfer.bytes = 64;
  std::int64_t count = 0;
  for (auto _ : state) {
    transfer.cycle = count / 4 * state.range(0);
    transfer.channel = static_cast<std::uint16_t>(count % 4);
    transfer.cu = static_cast<std::uint16_t>(count % 11);
    transfer.address = static_cast<std::uint64_t>(count * 64);
    transfer.payload =
        reinterpret_cast<const std::byte*>(&data[static_cast<std::size_t>(count % 4096 * 8)]);
    ledger->crossbar(transfer);
    ++count;
  }
  state.SetItemsProcessed(count);
}
BENCHMARK(crossbar_read)->ArgName("gap")->Arg(1)->Arg(100);

// One word onto a bus: on this processor's best instruction set, and on any.
void drive_bus(benchmark::State& state) {
  Draw draw(1);
  std::vector<std::uint64_t> data(8 * 1024);
  for (auto& word : data) {
    word = draw.bits();
  }
  const BusDriver drive = state.range(0) == 0 ? bus_driver(0) : portable_bus_driver(0);
  Bus bus{};
  std::size_t line = 0;
  for (auto _ : state) {
    drive.one(bus, &data[line % 1024 * 8]);
    ++line;
  }
  benchmark::DoNotOptimize(bus.counts().toggles);
}
BENCHMARK(drive_bus)->ArgName("portable")->Arg(0)->Arg(1);

// One sensor tick of a millisecond, idle or with launches of 100 us back to back.
void sensor_tick(benchmark::State& state) {
  const Chip chip = Chip::load({}).value();
  LaunchActivity activity;
  activity.cycles = 93000;
  activity.capacitance_f.assign(9, 1e-4 / 9);
  auto timeline = std::make_unique<ChipTimeline>(chip, 1);
  constexpr std::int64_t kTicks = 10000;
  for (auto _ : state) {
    if (timeline->sample_count() > 1'000'000) {
      state.PauseTiming();
      timeline = std::make_unique<ChipTimeline>(chip, 1);
      state.ResumeTiming();
    }
    if (state.range(0) == 0) {
      timeline->idle_until(timeline->now_ns() + kTicks * 1'000'000);
    } else {
      timeline->run_repeated(activity, kTicks * 10);
    }
  }
  state.SetItemsProcessed(state.iterations() * kTicks);
}
BENCHMARK(sensor_tick)->ArgName("busy")->Arg(0)->Arg(1);

}  // namespace
}  // namespace ww::sim::gpu
