#include <benchmark/benchmark.h>

#include <vector>

#include "draw.hpp"
#include "ww/sim/gpu/activity.hpp"

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
    transfer.payload = reinterpret_cast<const std::byte*>(&data[count % 4096 * 8]);
    ledger->crossbar(transfer);
    ++count;
  }
  state.SetItemsProcessed(count);
}
BENCHMARK(crossbar_read)->Arg(1)->Arg(100);

}  // namespace
}  // namespace ww::sim::gpu
