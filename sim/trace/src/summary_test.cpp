#include "ww/sim/trace/summary.hpp"

#include <gtest/gtest.h>

#include "testing.hpp"

namespace ww::sim::trace {
namespace {

struct WaveOf {
  std::string kernel;
  Instruction instruction;
  std::uint64_t lanes{};
};

Reader written(const std::vector<WaveOf>& waves, const test::Folder& folder) {
  const auto file = folder / "trace.wwt";
  auto writer = Writer::create(file, "test");
  EXPECT_TRUE(writer);
  std::string launched;
  for (const WaveOf& wave : waves) {
    if (wave.kernel != launched) {
      Launch launch;
      launch.kernel = launched = wave.kernel;
      (*writer)->launch(launch);
    }
    AccessView view;
    view.instruction = (*writer)->instruction(wave.instruction);
    view.lanes = wave.lanes;
    view.base = 4096;
    view.stride = wave.instruction.element_bytes;
    (*writer)->access(view);
  }
  EXPECT_TRUE((*writer)->finish());
  return Reader::open(file).value();
}

const Instruction kLoad{0x10, "load", Operation::load, 4, 4};
const Instruction kWideStore{0x18, "store", Operation::store, 16, 16};

TEST(TraceSummary, CountsLanesAndBytesByKernel) {
  const test::Folder folder;
  Reader reader = written({{"copy", kLoad, 0xff},
                           {"copy", kWideStore, 0x3},
                           {"fill", kWideStore, 0x1},
                           {"copy", kLoad, 0x1}},
                          folder);
  const auto summary = summarise(reader);
  ASSERT_TRUE(summary);
  ASSERT_EQ(summary->kernels.size(), 2U);
  const KernelSummary& copy = summary->kernels.at("copy");
  EXPECT_EQ(copy.launches, 2U);
  EXPECT_EQ(copy.wave_accesses, 3U);
  EXPECT_EQ(copy.accesses, 11U);
  EXPECT_EQ(copy.bytes, 9U * 4 + 2 * 16);
  EXPECT_EQ(summary->kernels.at("fill").bytes, 16U);
}

TEST(TraceSummary, ComparesTheFileWithPlainRecords) {
  const test::Folder folder;
  Reader reader = written(std::vector<WaveOf>(1000, {"copy", kLoad, ~std::uint64_t{0}}), folder);
  const auto summary = summarise(reader);
  ASSERT_TRUE(summary);
  const auto file_bytes = static_cast<double>(reader.file_bytes());
  ASSERT_TRUE(summary->bytes_per_access);
  EXPECT_DOUBLE_EQ(*summary->bytes_per_access, file_bytes / 64'000);
  EXPECT_EQ(summary->accesses_with_values, 0U);
  EXPECT_DOUBLE_EQ(summary->compression, 8.0 * 64'000 / file_bytes) << "addresses alone";
}

TEST(TraceSummary, HasNoBytesAnAccessWithoutAccesses) {
  const test::Folder folder;
  Reader reader = written({}, folder);
  const auto summary = summarise(reader);
  ASSERT_TRUE(summary);
  EXPECT_FALSE(summary->bytes_per_access);
  EXPECT_TRUE(summary->kernels.empty());
}

}  // namespace
}  // namespace ww::sim::trace
