#include "device/kfd_topology.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include "ww/core/temporary_folder.hpp"

namespace ww::microbench {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

// A processor, and an MI210 as amdgpu publishes it.
class KfdTopology : public ::testing::Test {
 protected:
  void SetUp() override {
    write("0/properties", "cpu_cores_count 64\nsimd_count 0\nlocation_id 0\n");
    write("1/properties",
          "cpu_cores_count 0\nsimd_count 416\nmem_banks_count 1\ncaches_count 122\n"
          "array_count 8\nsimd_arrays_per_engine 1\ncu_per_simd_array 16\nsimd_per_cu 4\n"
          "gfx_target_version 90010\nlocation_id 49408\ndomain 0\nnum_xcc 1\n"
          "unique_id 18446744073709551615\n");
    write("1/caches/0/properties", "level 1\nsize 16\ncache_line_size 64\n");
    write("1/caches/1/properties", "level 2\nsize 8192\ncache_line_size 128\n");
  }
  void write(const std::string& name, const std::string& text) {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }
  ScratchFolder scratch_ = ScratchFolder::create("kfd").value();
  const fs::path& root_ = scratch_.path();
};

TEST_F(KfdTopology, GivesEnginesCusAndL2) {
  for (const char* bus : {"0000:c1:00.0", ""}) {
    const auto layout = read_kfd_layout(root_, bus);
    ASSERT_TRUE(layout) << layout.error().text();
    EXPECT_EQ(layout->engines, 8);
    EXPECT_EQ(layout->compute_units, 104);
    EXPECT_EQ(layout->l2_bytes, 8 << 20);
    EXPECT_EQ(layout->dies, 1);
    EXPECT_FALSE(layout->channels);
  }
}

// KFD says 8 MiB of it, as of an MI100.
TEST_F(KfdTopology, Vega20Has4MiBOfL2) {
  write("1/properties",
        "cpu_cores_count 0\nsimd_count 240\narray_count 4\nsimd_arrays_per_engine 1\n"
        "simd_per_cu 4\ngfx_target_version 90006\nlocation_id 49408\ndomain 0\n");
  const auto layout = read_kfd_layout(root_, "0000:c1:00.0");
  ASSERT_TRUE(layout) << layout.error().text();
  EXPECT_EQ(layout->l2_bytes, 4 << 20);
}

TEST_F(KfdTopology, NamesTheTarget) {
  EXPECT_EQ(kfd_target(root_, "0000:c1:00.0"), "gfx90a");
  EXPECT_FALSE(kfd_target(root_, "0000:01:00.0"));
  const std::pair<int, const char*> names[] = {
      {70001, "gfx701"}, {90402, "gfx942"}, {110501, "gfx1151"}, {120001, "gfx1201"}};
  for (const auto& [version, name] : names) {
    write("1/properties", "simd_count 240\nlocation_id 49408\ngfx_target_version " +
                              std::to_string(version) + "\n");
    EXPECT_EQ(kfd_target(root_, "0000:c1:00.0"), name);
  }
}

TEST_F(KfdTopology, SaysWhatIsNotThere) {
  EXPECT_EQ(read_kfd_layout(root_ / "no", "").error().code, ErrorCode::not_found);
  EXPECT_EQ(read_kfd_layout(root_, "0000:01:00.0").error().code, ErrorCode::not_found);
  write("2/properties", "simd_count 240\n");
  EXPECT_THAT(read_kfd_layout(root_, "").error().message, HasSubstr("several"));
  write("2/properties", "simd_count\n");
  const auto broken = read_kfd_layout(root_, "");
  EXPECT_EQ(broken.error().code, ErrorCode::parse_error);
  EXPECT_THAT(broken.error().context, HasSubstr("2/properties:1"));
}

}  // namespace
}  // namespace ww::microbench
