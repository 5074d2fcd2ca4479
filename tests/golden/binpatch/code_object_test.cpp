// Real code objects from the compiler: parsed, decoded, written as assembly and assembled back.
#include "ww/binpatch/code_object.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "toolchain.hpp"
#include "ww/binpatch/isa/instruction.hpp"

namespace ww::binpatch {
namespace {

using testing::Bytes;
using testing::CompileOptions;

#define NEED_COMPILER()                                                         \
  if (!testing::have_compiler()) {                                              \
    GTEST_SKIP() << "clang-15, ld.lld-15 or rocm-device-libs is not installed"; \
  }

CodeObject parsed(const Bytes& bytes) {
  auto object = CodeObject::parse(bytes);
  EXPECT_TRUE(object.has_value()) << (object ? "" : object.error().text());
  if (!object) std::abort();
  return *object;
}

// The linker writes addresses over literals: one may then hold a value that the assembler, given
// the text, would put into the instruction itself. Such an instruction reads the same either way.
bool same_but_for_inlined_literal(const Bytes& original, const Bytes& assembled) {
  const auto before = isa::decode(isa::Generation::gfx7, original);
  const auto after = isa::decode(isa::Generation::gfx7, assembled);
  if (!before || !after || before->opcode != after->opcode || before->dst != after->dst) {
    return false;
  }
  for (std::size_t i = 0; i < before->src.size(); ++i) {
    const isa::Operand& a = before->src[i];
    const isa::Operand& b = after->src[i];
    const bool inlined = a.kind == isa::OperandKind::literal &&
                         b.kind == isa::OperandKind::inline_int && a.value == b.value;
    if (a != b && !inlined) return false;
  }
  return true;
}

void expect_reassembles(const CodeObject& object, std::size_t& instructions) {
  std::vector<std::string> lines;
  std::vector<Bytes> expected;
  for (const Segment& segment : object.segments()) {
    if (!segment.executable) continue;
    auto code = object.bytes().subspan(segment.file_offset, segment.file_size);
    while (!code.empty()) {
      const auto decoded = isa::decode(isa::Generation::gfx7, code);
      ASSERT_TRUE(decoded.has_value()) << decoded.error().text();
      expected.emplace_back(code.begin(), code.begin() + decoded->size_bytes);
      lines.push_back(isa::disassemble(*decoded, isa::Generation::gfx7));
      code = code.subspan(decoded->size_bytes);
    }
  }
  const auto assembled = testing::assemble(lines, "gfx701");
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (assembled[i].bytes && expected[i].size() == assembled[i].bytes->size() + 4 &&
        same_but_for_inlined_literal(expected[i], *assembled[i].bytes)) {
      continue;
    }
    EXPECT_EQ(assembled[i].bytes, expected[i]) << lines[i];
  }
  instructions += lines.size();
}

class Reassembly : public ::testing::TestWithParam<const char*> {};

TEST_P(Reassembly, OfCompiledKernelsGivesTheSameBytes) {
  NEED_COMPILER();
  if (!testing::have_assembler()) GTEST_SKIP() << "llvm-mc-15 is not installed";
  const auto bytes = testing::compile(testing::read_source_file("tests/golden/binpatch/kernels.cl"),
                                      {.optimisation = GetParam()});
  ASSERT_TRUE(bytes.has_value());
  std::size_t instructions = 0;
  expect_reassembles(parsed(*bytes), instructions);
  EXPECT_GT(instructions, 2000U);
}

INSTANTIATE_TEST_SUITE_P(Levels, Reassembly, ::testing::Values("-O1", "-O2", "-O3"),
                         [](const auto& info) { return std::string(info.param + 1); });

// One kernel per built-in function of the mathematical library, in single and double precision.
std::string math_library_source() {
  std::string source = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n";
  const auto add = [&](const std::string& name, const std::string& arguments) {
    for (const std::string type : {"float", "double"}) {
      source += fmt::format(
          "__kernel void {0}_{1}(__global {1}* o) {{\n  const {1} a = o[0], b = o[1], c = o[2];\n"
          "  o[3] = {0}({2});\n}}\n",
          name, type, arguments);
    }
  };
  for (const char* name :
       {"acos",  "acosh", "acospi", "asin",  "asinh",   "asinpi",  "atan",  "atanh", "atanpi",
        "cbrt",  "ceil",  "cos",    "cosh",  "cospi",   "erf",     "erfc",  "exp",   "exp2",
        "exp10", "expm1", "fabs",   "floor", "lgamma",  "log",     "log2",  "log10", "log1p",
        "logb",  "rint",  "round",  "rsqrt", "sin",     "sinh",    "sinpi", "sqrt",  "tan",
        "tanh",  "tanpi", "tgamma", "trunc", "degrees", "radians", "sign"}) {
    add(name, "a");
  }
  for (const char* name : {"atan2", "atan2pi", "copysign", "fdim", "fmax", "fmin", "fmod", "hypot",
                           "maxmag", "minmag", "nextafter", "pow", "powr", "remainder", "step"}) {
    add(name, "a, b");
  }
  for (const char* name : {"fma", "mad", "clamp", "mix", "smoothstep", "bitselect"}) {
    add(name, "a, b, c");
  }
  return source;
}

TEST(ReassemblyOfTheMathLibrary, GivesTheSameBytes) {
  NEED_COMPILER();
  if (!testing::have_assembler()) GTEST_SKIP() << "llvm-mc-15 is not installed";
  const auto bytes = testing::compile(math_library_source(), {.optimisation = "-O1"});
  ASSERT_TRUE(bytes.has_value());
  std::size_t instructions = 0;
  expect_reassembles(parsed(*bytes), instructions);
  EXPECT_GT(instructions, 15000U);
}

constexpr const char* kTwoKernels = R"(
__constant uint table[4] = {1, 2, 3, 4};
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void first(__global const uint* restrict x, __global float4* o, __local uint* l, float f,
           volatile __global int* count) {
  const uint i = (uint)get_global_id(0);
  l[i & 63] = table[x[i] & 3];
  barrier(CLK_LOCAL_MEM_FENCE);
  o[i] = (float4)(l[(i + 1) & 63] * f);
  atomic_inc(count);
}
__kernel void second(__global float* o) { o[get_global_id(0)] = 1.0f; }
)";

class Versions : public ::testing::TestWithParam<int> {};

TEST_P(Versions, GiveKernelsWithArgumentsDescriptorAndCode) {
  NEED_COMPILER();
  const auto bytes = testing::compile(kTwoKernels, {.code_object_version = GetParam()});
  ASSERT_TRUE(bytes.has_value());
  const CodeObject object = parsed(*bytes);
  EXPECT_EQ(object.version(), GetParam());
  EXPECT_EQ(to_string(object.target()), "gfx701");
  ASSERT_EQ(object.kernels().size(), 2U);
  const Kernel* kernel = object.find_kernel("first");
  ASSERT_NE(kernel, nullptr);
  EXPECT_EQ(kernel->symbol, "first.kd");
  ASSERT_GE(kernel->arguments.size(), 5U);
  EXPECT_EQ(kernel->arguments[0].value_kind, "global_buffer");
  EXPECT_EQ(kernel->arguments[0].type_name, "uint*");
  EXPECT_TRUE(kernel->arguments[0].is_const);
  EXPECT_TRUE(kernel->arguments[0].is_restrict);
  EXPECT_EQ(kernel->arguments[2].value_kind, "dynamic_shared_pointer");
  EXPECT_EQ(kernel->arguments[2].pointee_align, 4U);
  EXPECT_EQ(kernel->arguments[3].value_kind, "by_value");
  EXPECT_EQ(kernel->arguments[3].offset, 20U);
  EXPECT_EQ(kernel->arguments[3].size, 4U);
  EXPECT_TRUE(kernel->arguments[4].is_volatile);
  ASSERT_TRUE(kernel->required_workgroup_size.has_value());
  EXPECT_EQ((*kernel->required_workgroup_size)[0], 64U);
  EXPECT_EQ(kernel->kernarg_segment_size, kernel->descriptor.kernarg_size);
  EXPECT_EQ(kernel->entry_address % 256, 0U);
  // The code begins with something decodable and its last instructions end the program.
  const auto code = object.code(*kernel);
  ASSERT_EQ(code.size(), kernel->code_size);
  bool ends = false;
  for (auto rest = code; !rest.empty();) {
    const auto decoded = isa::decode(isa::Generation::gfx7, rest);
    ASSERT_TRUE(decoded.has_value()) << decoded.error().text();
    ends = ends || decoded->opcode == isa::Opcode::s_endpgm;
    rest = rest.subspan(decoded->size_bytes);
  }
  EXPECT_TRUE(ends);
}

INSTANTIATE_TEST_SUITE_P(CodeObject, Versions, ::testing::Values(3, 4, 5));

TEST(CodeObjectVersion2, HasTheKernelsAndArgumentsOfVersion3) {
  NEED_COMPILER();
  const auto older = testing::compile(kTwoKernels, {.code_object_version = 2});
  const auto newer = testing::compile(kTwoKernels, {.code_object_version = 3});
  ASSERT_TRUE(older.has_value() && newer.has_value());
  const auto a = CodeObject::parse(*older);
  const auto b = CodeObject::parse(*newer);
  ASSERT_TRUE(a.has_value()) << a.error().text();
  ASSERT_TRUE(b.has_value());
  EXPECT_TRUE(a->has_arguments());
  EXPECT_EQ(a->target(), b->target());
  ASSERT_EQ(a->kernels().size(), b->kernels().size());
  for (const Kernel& wanted : b->kernels()) {
    const Kernel* kernel = a->find_kernel(wanted.name);
    ASSERT_NE(kernel, nullptr) << wanted.name;
    EXPECT_EQ(kernel->kernarg_segment_size, wanted.kernarg_segment_size);
    EXPECT_EQ(kernel->wavefront_size, wanted.wavefront_size);
    EXPECT_EQ(kernel->required_workgroup_size, wanted.required_workgroup_size);
    EXPECT_EQ(kernel->descriptor.group_segment_fixed_size,
              wanted.descriptor.group_segment_fixed_size);
    ASSERT_EQ(kernel->arguments.size(), wanted.arguments.size()) << wanted.name;
    for (std::size_t i = 0; i < wanted.arguments.size(); ++i) {
      EXPECT_EQ(kernel->arguments[i].offset, wanted.arguments[i].offset);
      EXPECT_EQ(kernel->arguments[i].size, wanted.arguments[i].size);
      EXPECT_EQ(kernel->arguments[i].value_kind, wanted.arguments[i].value_kind);
      EXPECT_EQ(kernel->arguments[i].type_name, wanted.arguments[i].type_name);
      EXPECT_EQ(kernel->arguments[i].name, wanted.arguments[i].name);
    }
  }
}

TEST(CodeObjectRelocations, PointAtTheSymbolsOfAPointerTable) {
  NEED_COMPILER();
  const auto bytes = testing::compile(R"(
__constant int a[2] = {1, 2};
__constant int b[2] = {3, 4};
__constant int* __constant pointers[2] = {a, b};
__kernel void k(__global int* o, int i) { o[0] = pointers[i & 1][i & 1]; }
)");
  ASSERT_TRUE(bytes.has_value());
  const CodeObject object = parsed(*bytes);
  ASSERT_EQ(object.relocations().size(), 2U);
  EXPECT_EQ(object.relocations()[1].address, object.relocations()[0].address + 8);
  EXPECT_EQ(object.relocations()[1].value, object.relocations()[0].value + 8);
}

TEST(HostileCodeObject, TruncatedAnywhereIsAnErrorOrWhole) {
  NEED_COMPILER();
  const auto bytes = testing::compile(kTwoKernels);
  ASSERT_TRUE(bytes.has_value());
  std::size_t refused = 0;
  for (std::size_t size = 0; size < bytes->size(); ++size) {
    const Bytes part(bytes->begin(), bytes->begin() + static_cast<std::ptrdiff_t>(size));
    refused += CodeObject::parse(part) ? 0U : 1U;
  }
  EXPECT_EQ(refused, bytes->size()) << "the section headers end the file, so no part is whole";
}

TEST(HostileCodeObject, ChangedBytesNeverCrashTheParserOrDecoder) {
  NEED_COMPILER();
  const auto bytes = testing::compile(kTwoKernels);
  ASSERT_TRUE(bytes.has_value());
  std::mt19937_64 random(3);
  std::size_t still_parsed = 0;
  for (int i = 0; i < 20000; ++i) {
    Bytes changed = *bytes;
    for (auto changes = 1 + random() % 4; changes > 0; --changes) {
      changed[random() % changed.size()] = static_cast<std::byte>(random());
    }
    const auto object = CodeObject::parse(changed);
    if (!object) continue;
    ++still_parsed;
    for (const Kernel& kernel : object->kernels()) {
      for (auto rest = object->code(kernel); !rest.empty();) {
        const auto decoded = isa::decode(isa::Generation::gfx7, rest);
        if (!decoded) break;
        EXPECT_FALSE(isa::disassemble(*decoded, isa::Generation::gfx7).empty());
        rest = rest.subspan(decoded->size_bytes);
      }
    }
  }
  EXPECT_GT(still_parsed, 100U) << "most single changes hit code or padding";
}

}  // namespace
}  // namespace ww::binpatch
