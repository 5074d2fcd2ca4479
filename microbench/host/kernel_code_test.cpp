// What the compiler makes of the kernels: an assembly test that the loads are there, bypass the L1
// and are few instructions apart, and that the pin can be patched in.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "host/pinning.hpp"
#include "toolchain.hpp"
#include "ww/binpatch/code_object.hpp"
#include "ww/binpatch/isa/instruction.hpp"
#include "ww/kernels/sources.hpp"

namespace ww::microbench {
namespace {

using binpatch::testing::Bytes;

Bytes compiled(const char* kernel, const kernels::PinTarget& target, const std::string& cpu) {
  kernels::Macros macros;
  macros.target = target;
  const auto text = kernels::program_text(*kernels::find_source(kernel), macros);
  const auto bytes = binpatch::testing::compile(*text, {.cpu = cpu});
  return bytes.value_or(Bytes{});
}

std::vector<std::string> listing(const Bytes& bytes, const char* kernel) {
  const auto object = binpatch::CodeObject::parse(bytes).value();
  const auto generation = binpatch::isa::generation_of(object.target()).value();
  auto code = object.code(*object.find_kernel(kernel));
  std::vector<std::string> lines;
  while (!code.empty()) {
    const auto instruction = binpatch::isa::decode(generation, code);
    if (!instruction) break;
    lines.push_back(binpatch::isa::disassemble(*instruction, generation));
    code = code.subspan(instruction->size_bytes);
  }
  return lines;
}

class KernelCode : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!binpatch::testing::have_compiler()) GTEST_SKIP() << "clang-15 or ld.lld is not here";
  }
};

TEST_F(KernelCode, StreamLoadsSixteenBytesALanePastTheL1) {
  const auto pinning = make_pinning("gfx701").value();
  const auto lines = listing(compiled("l2_stream", pinning->target(), "gfx701"), "l2_stream");
  ASSERT_FALSE(lines.empty());
  EXPECT_EQ(std::ranges::count_if(lines,
                                  [](const std::string& line) {
                                    return line.starts_with("flat_load_dwordx4") &&
                                           line.find("glc") != std::string::npos;
                                  }),
            4);
  EXPECT_EQ(std::ranges::count_if(
                lines, [](const std::string& line) { return line.starts_with("flat_load"); }),
            4)
      << "no other loads";
  const auto first = std::ranges::find_if(
      lines, [](const std::string& line) { return line.starts_with("flat_load"); });
  const auto last = std::find_if(lines.rbegin(), lines.rend(), [](const std::string& line) {
                      return line.starts_with("flat_load");
                    }).base();
  // Loads dominate: at most eight instructions from one to the next.
  EXPECT_LE(last - first, 3 * 8 + 1);
}

TEST_F(KernelCode, PinnedKernelsArePatchedOnEveryTarget) {
  for (const char* cpu : {"gfx701", "gfx803", "gfx900", "gfx906", "gfx90a"}) {
    const auto pinning = make_pinning(cpu).value();
    for (const char* kernel : {"l2_stream", "latency"}) {
      const Bytes binary = compiled(kernel, pinning->target(), cpu);
      const auto patched = pinning->patch(binary, kernel);
      ASSERT_TRUE(patched) << cpu << " " << kernel << ": " << patched.error().text();
      EXPECT_EQ(patched->size(), binary.size());
      EXPECT_NE(*patched, binary);
    }
  }
}

TEST_F(KernelCode, KernelsWithoutThePinAreRefused) {
  const auto pinning = make_pinning("gfx701").value();
  const auto patched = pinning->patch(compiled("furnace", pinning->target(), "gfx701"), "furnace");
  ASSERT_FALSE(patched);
  EXPECT_EQ(patched.error().code, ErrorCode::not_found);
}

TEST_F(KernelCode, PlacesAreReadWhereTheKernelsReadThem) {
  for (const char* cpu : {"gfx701", "gfx900", "gfx90a"}) {
    const auto pinning = make_pinning(cpu).value();
    const auto target = pinning->target();
    for (unsigned engine = 0; engine <= target.engine_mask; ++engine) {
      const auto place = pinning->place(engine << target.engine_shift | 5u << target.cu_shift);
      ASSERT_TRUE(place);
      EXPECT_EQ(place->engine, static_cast<int>(engine)) << cpu;
      EXPECT_EQ(place->cu, 5) << cpu;
    }
  }
}

}  // namespace
}  // namespace ww::microbench
