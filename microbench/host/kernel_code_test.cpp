// Tests the compiled kernels' assembly: the loads are there, bypass the L1 and are few instructions
// apart, and the pin can be patched in.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "host/code_compiler.hpp"
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

std::uint32_t wavefront_of(const Bytes& bytes, const std::string& kernel) {
  return binpatch::CodeObject::parse(bytes).value().find_kernel(kernel)->wavefront_size;
}

// A campaign's kernels: RDNA's compilers take wavefronts of 32 unless they are asked for 64.
TEST_F(KernelCode, RunsTheWavefrontsThatItsTextIsLaidOutForOnRdna) {
  for (const char* cpu : {"gfx1030", "gfx1100"}) {
    const auto pinning = make_pinning(cpu).value();
    for (const unsigned lanes : {32u, 64u}) {
      kernels::Macros macros;
      macros.target = pinning->target();
      macros.target.wave_size = lanes;
      for (const char* kernel : {"l2_stream", "latency"}) {
        SCOPED_TRACE(std::string(cpu) + " " + kernel + " " + std::to_string(lanes));
        const auto text = kernels::program_text(*kernels::find_source(kernel), macros).value();
        const auto options = kernels::compiler_options(text, cpu);
        EXPECT_EQ(options.size(), lanes == 64 ? 1u : 0u);
        const auto bytes = binpatch::testing::compile(
            text, {.cpu = cpu, .extra = options.empty() ? "" : options.front()});
        ASSERT_TRUE(bytes);
        EXPECT_EQ(wavefront_of(*bytes, kernel), lanes);
        const auto patched = pinning->patch(*bytes, kernel);
        ASSERT_TRUE(patched) << patched.error().text();
        EXPECT_EQ(wavefront_of(*patched, kernel), lanes);
      }
    }
  }
}

// Compiles by the program that serves hosts whose driver takes no source.
TEST_F(KernelCode, IsCompiledByTheWorkerForTheWavefrontsOfItsText) {
  kernels::Macros macros;
  for (const char* cpu : {"gfx1030", "gfx1100"}) {
    macros.target = kernel_target(cpu);
    for (const unsigned lanes : {32u, 64u}) {
      macros.target.wave_size = lanes;
      const auto text = kernels::program_text(*kernels::find_source("l2_stream"), macros).value();
      const auto bytes = compile_for_amd(cpu, text, "l2_stream");
      if (!bytes && bytes.error().code == ErrorCode::missing_dependency) {
        GTEST_SKIP() << bytes.error().text();
      }
      ASSERT_TRUE(bytes) << bytes.error().text();
      EXPECT_EQ(wavefront_of(*bytes, "l2_stream"), lanes) << cpu;
    }
  }
}

TEST(CompilerOptions, AskForNothingWhereAllWavefrontsAreAlike) {
  kernels::Macros macros;
  const auto text = kernels::program_text(*kernels::find_source("furnace"), macros).value();
  EXPECT_TRUE(kernels::compiler_options(text, "gfx90a").empty());
  EXPECT_TRUE(kernels::compiler_options(text, "gfx701").empty());
  EXPECT_TRUE(kernels::compiler_options(text, "").empty());
  EXPECT_FALSE(kernels::compiler_options(text, "gfx1201").empty());
  EXPECT_TRUE(kernels::compiler_options("__kernel void mine() {}", "gfx1100").empty());
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

// Counts loads of l2_stream. For RDNA, whose instructions no table here names, by the word of
// global_load_dwordx4 (RDNA 3: global_load_b128) with GLC and DLC set. RDNA 4: the first two words
// of global_load_b128, the second with SCOPE_SYS.
std::ptrdiff_t wide_loads_past_the_l1(const std::string& target, const Bytes& bytes) {
  const bool rdna4 = target.starts_with("gfx12");
  const bool rdna3 = target.starts_with("gfx11");
  if (rdna4 || rdna3 || target.starts_with("gfx10")) {
    const auto object = binpatch::CodeObject::parse(bytes).value();
    const auto code = object.code(*object.find_kernel("l2_stream"));
    std::ptrdiff_t count = 0;
    for (std::size_t at = 0; at + 8 <= code.size(); at += 4) {
      std::array<std::uint32_t, 2> words{};
      std::memcpy(words.data(), code.data() + at, sizeof words);
      const bool wide = rdna4   ? (words[0] & 0xFFFFFF80) == 0xEE05C000 && (words[1] >> 18 & 3) == 3
                        : rdna3 ? (words[0] & 0xFFFFE000) == 0xDC5E6000
                                : (words[0] & 0xFFFFF000) == 0xDC399000;
      count += wide ? 1 : 0;
    }
    return count;
  }
  return std::ranges::count_if(listing(bytes, "l2_stream"), [](const std::string& line) {
    const bool wide =
        line.starts_with("flat_load_dwordx4") || line.starts_with("global_load_dwordx4");
    // CDNA 3 calls the bits otherwise.
    return wide &&
           (line.find(" glc") != std::string::npos || line.find(" sc0") != std::string::npos);
  });
}

// The kernels that were compiled when wirewatt was built, with the values that a host writes in.
TEST(PrecompiledCode, StreamsSixteenBytesALanePastTheL1OnEveryTarget) {
  if (kernels::precompiled_targets().empty()) GTEST_SKIP() << "this build has no clang-19";
  for (const kernels::PrecompiledTarget& target : kernels::precompiled_targets()) {
    const std::string name(target.name);
    kernels::Macros macros;
    if (const auto pinning = make_pinning(name); pinning) macros.target = (*pinning)->target();
    if (name.starts_with("gfx1")) macros.target.wave_size = 32;
    // Compiles for address order, and for lists where campaigns run.
    for (const unsigned list : {0u, 512u}) {
      if (list != 0 && name.starts_with("gfx1")) continue;
      macros.list = list;
      const auto text = kernels::program_text(*kernels::find_source("l2_stream"), macros);
      const auto object = kernels::code_object_for("l2_stream", *text, name);
      ASSERT_TRUE(object) << object.error().text();
      EXPECT_EQ(wide_loads_past_the_l1(name, *object), 4) << name << ", list of " << list;
    }
  }
}

TEST(KernelTarget, IsAmdsOnRdna4) {
  EXPECT_TRUE(make_pinning("gfx1201"));
  const kernels::PinTarget rdna4 = kernel_target("gfx1201");
  EXPECT_EQ(rdna4.dialect, kernels::Dialect::amd);
  EXPECT_EQ(rdna4.wave_size, 32u);
  EXPECT_EQ(kernel_target("gfx90a:sramecc+:xnack-").wave_size, 64u);
  EXPECT_EQ(kernel_target("sm_90").dialect, kernels::Dialect::nvidia);
  EXPECT_EQ(kernel_target("").dialect, kernels::Dialect::portable);
  // So the furnace, which heats without a pin, needs no compiler there.
  if (kernels::precompiled_targets().empty()) GTEST_SKIP() << "this build has no clang-19";
  kernels::Macros macros;
  macros.target = rdna4;
  const auto text = kernels::program_text(*kernels::find_source("furnace"), macros);
  EXPECT_TRUE(kernels::code_object_for("furnace", *text, "gfx1201"));
}

}  // namespace
}  // namespace ww::microbench
