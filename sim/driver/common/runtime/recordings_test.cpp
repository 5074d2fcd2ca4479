#include "common/runtime/recordings.hpp"

#include <gmock/gmock.h>

#include "fake_virtual_gpu.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/temporary_folder.hpp"

namespace ww::sim::driver::recordings_test {
namespace {

using ::testing::EndsWith;

// The last line of a recording of one reading with these flags.
std::string recorded(std::uint32_t flags) {
  const auto folder = ScratchFolder::create("recordings").value();
  Settings settings;
  settings.samples_file = (folder.path() / "samples.csv").string();
  auto recordings = Recordings::open(settings);
  EXPECT_TRUE(recordings) << recordings.error().text();
  ww_vgpu_sample sample{};
  sample.time_ns = 1'000'000;
  sample.power_uw = 85'000'000;
  sample.energy_ticks = 5570;
  sample.temperature_mc = 41'000;
  sample.voltage_uv = 900'000;
  sample.clock_khz = 930'000;
  sample.flags = flags;
  fake::state().samples = {sample};
  auto gpu = gpu::VirtualGpu::create(gpu::Chip::load({}).value(), {}).value();
  const auto saved = (*recordings)->save_power(*gpu);
  EXPECT_TRUE(saved) << saved.error().text();
  fake::state().samples.clear();
  return read_file(settings.samples_file).value();
}

TEST(Recordings, ShowTheEnergyCounter) {
  EXPECT_THAT(recorded(WW_VGPU_SAMPLE_VALID),
              EndsWith("\n1000000,85000000,5570,41000,900000,930000,1,1\n"));
}

TEST(Recordings, LeaveTheEnergyOutWhereTheChipHasNoCounter) {
  EXPECT_THAT(recorded(WW_VGPU_SAMPLE_VALID | WW_VGPU_SAMPLE_NO_ENERGY),
              EndsWith("\n1000000,85000000,,41000,900000,930000,1,1\n"));
}

}  // namespace
}  // namespace ww::sim::driver::recordings_test
