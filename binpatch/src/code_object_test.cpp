#include "ww/binpatch/code_object.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "metadata.hpp"
#include "object_builder.hpp"

namespace ww::binpatch::code_object_test {
namespace {

using testing::build_object;
using testing::Bytes;
using testing::ObjectSpec;
using testing::words;

const Bytes end_program = words({0xbf810000});

Bytes bytes_of(std::initializer_list<int> values) {
  Bytes bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

TEST(CodeObject, GivesTheKernelsCodeAndPlace) {
  const Bytes code = words({0xbf800000, 0xbf810000});
  const auto object = CodeObject::parse(build_object({.code = code}));
  ASSERT_TRUE(object.has_value()) << object.error().text();
  EXPECT_EQ(to_string(object->target()), "gfx701");
  EXPECT_EQ(object->version(), 4);
  const Kernel* kernel = object->find_kernel("k");
  ASSERT_NE(kernel, nullptr);
  EXPECT_EQ(kernel->code_size, code.size());
  EXPECT_EQ(kernel->arguments.size(), 1U);
  EXPECT_TRUE(object->has_arguments());
  const auto found = object->code(*kernel);
  EXPECT_EQ(Bytes(found.begin(), found.end()), code);
  EXPECT_EQ(object->find_kernel("other"), nullptr);
}

TEST(CodeObject, GivesPrintfFormatsInOrder) {
  const auto object =
      CodeObject::parse(build_object({.code = end_program, .printf_formats = {"1:0:a", "2:0:b"}}));
  ASSERT_TRUE(object.has_value());
  EXPECT_EQ(object->printf_formats(), (std::vector<std::string>{"1:0:a", "2:0:b"}));
}

TEST(CodeObject, KeepsItsBytesWhenMoved) {
  auto object = CodeObject::parse(build_object({.code = end_program}));
  ASSERT_TRUE(object.has_value());
  const CodeObject moved = std::move(*object);
  EXPECT_EQ(moved.code(moved.kernels()[0]).size(), end_program.size());
}

TEST(CodeObject, WithoutMetadataHasTheKernelsOfItsDescriptors) {
  const auto object =
      CodeObject::parse(build_object({.code = end_program, .with_metadata = false}));
  ASSERT_TRUE(object.has_value()) << object.error().text();
  ASSERT_NE(object->find_kernel("k"), nullptr);
  EXPECT_EQ(object->find_kernel("k")->code_size, end_program.size());
  EXPECT_FALSE(object->has_arguments());
}

TEST(CodeObject, WithoutMetadataAndDescriptorsIsAParseError) {
  const auto object = CodeObject::parse(build_object(
      {.kernel = "", .code = end_program, .with_metadata = false, .with_symbols = false}));
  ASSERT_FALSE(object.has_value());
  EXPECT_EQ(object.error().code, ErrorCode::parse_error);
}

TEST(CodeObject, FindsTheCodesEndWhereNoFunctionSymbolTellsIt) {
  // A conditional branch over the first end; padding and rubbish follow the second.
  const Bytes code =
      words({0xbf840001, 0xbf810000, 0xbf800000, 0xbf810000, 0xbf800000, 0xffffffff});
  const auto object = CodeObject::parse(build_object({.code = code, .with_function = false}));
  ASSERT_TRUE(object.has_value()) << object.error().text();
  EXPECT_EQ(object->kernels()[0].code_size, 16U);
}

TEST(CodeObject, OfAGenericTargetCountsAsTheFamilysFirst) {
  const auto object = CodeObject::parse(
      build_object({.machine = 0x01000053, .abi_version = 4, .code = end_program}));
  ASSERT_TRUE(object.has_value()) << object.error().text();
  EXPECT_EQ(to_string(object->target()), "gfx1030");
  EXPECT_EQ(object->version(), 6);
}

TEST(GenericTarget, RunsOnEveryProcessorOfItsFamilyAlone) {
  const std::pair<const char*, std::vector<const char*>> families[] = {
      {"gfx9-generic", {"gfx900", "gfx904", "gfx906", "gfx90c"}},
      {"gfx9-4-generic", {"gfx940", "gfx942", "gfx950"}},
      {"gfx10-1-generic", {"gfx1010", "gfx1013"}},
      {"gfx10-3-generic", {"gfx1030", "gfx1036"}},
      {"gfx11-generic", {"gfx1100", "gfx1103", "gfx1151"}},
      {"gfx12-generic", {"gfx1200", "gfx1201"}}};
  for (const auto& [target, own] : families) {
    EXPECT_TRUE(is_generic_target(target));
    for (const auto& [other, processors] : families) {
      for (const char* processor : processors) {
        EXPECT_EQ(runs_on(target, processor), std::string_view(target) == other)
            << target << " " << processor;
      }
    }
    // Vector registers of another kind, and matrix instructions.
    EXPECT_FALSE(runs_on(target, "gfx908"));
    EXPECT_FALSE(runs_on(target, "gfx90a"));
    EXPECT_FALSE(runs_on(target, "gfx1"));
  }
  EXPECT_FALSE(is_generic_target("gfx900"));
  EXPECT_TRUE(runs_on("gfx90a", "gfx90a"));
  EXPECT_FALSE(runs_on("gfx900", "gfx906"));
}

TEST(GenericTarget, NeedsItsVersionInTheFile) {
  const Bytes code = words({0xbf810000});
  const auto object = [&](std::uint32_t flags) {
    return *CodeObject::parse(build_object({.machine = flags, .abi_version = 4, .code = code}));
  };
  const CodeObject first = object(0x51 | 1U << 24);
  EXPECT_EQ(first.target_name(), "gfx9-generic");
  EXPECT_TRUE(first.check_runs_on("gfx900").has_value());
  EXPECT_TRUE(first.check_runs_on("gfx906").has_value());
  EXPECT_EQ(first.check_runs_on("gfx90a").error().code, ErrorCode::unsupported);
  // A later version may have brought more processors on; all of today's were there before.
  EXPECT_TRUE(object(0x54 | 7U << 24).check_runs_on("gfx1100").has_value());
  EXPECT_EQ(object(0x51).check_runs_on("gfx900").error().code, ErrorCode::bad_data);
  EXPECT_TRUE(object(0x2f).check_runs_on("gfx906").has_value());
}

TEST(CodeObject, OfAnUnknownMachineIsUnsupported) {
  const auto object = CodeObject::parse(build_object({.machine = 0xee, .code = end_program}));
  ASSERT_FALSE(object.has_value());
  EXPECT_EQ(object.error().code, ErrorCode::unsupported);
}

TEST(CodeObject, RefusesFilesThatAreNotElf) {
  EXPECT_EQ(CodeObject::parse({}).error().code, ErrorCode::parse_error);
  EXPECT_EQ(CodeObject::parse(Bytes(4096)).error().code, ErrorCode::parse_error);
}

TEST(CodeObject, RefusesAnEntryOutsideTheCode) {
  Bytes object = build_object({.code = end_program});
  // The entry offset lies 16 bytes into the descriptor, which is aligned to 64 before the code.
  const auto parsed = CodeObject::parse(object);
  ASSERT_TRUE(parsed.has_value());
  const std::uint64_t at = parsed->kernels()[0].descriptor_address + 16;
  const std::int64_t wild = -4096;
  std::memcpy(object.data() + at, &wild, sizeof wild);
  EXPECT_EQ(CodeObject::parse(object).error().code, ErrorCode::parse_error);
}

TEST(Metadata, RefusesDeepNesting) {
  const Bytes deep(100000, std::byte{0x91});  // arrays of one array
  const auto metadata = parse_metadata(deep);
  ASSERT_FALSE(metadata.has_value());
  EXPECT_EQ(metadata.error().code, ErrorCode::parse_error);
}

TEST(Metadata, RefusesCountsThatTheFileCannotHold) {
  EXPECT_FALSE(parse_metadata(bytes_of({0xdf, 0xff, 0xff, 0xff, 0xff})).has_value());
  EXPECT_FALSE(parse_metadata(bytes_of({0x81, 0xdb, 0xff, 0xff, 0xff, 0xff, 'a'})).has_value());
}

TEST(Metadata, NamesTheKeyThatIsMissing) {
  // {"amdhsa.kernels": [{}]}
  Bytes bytes = bytes_of({0x81, 0xae});
  for (const char c : std::string("amdhsa.kernels")) bytes.push_back(static_cast<std::byte>(c));
  bytes.push_back(std::byte{0x91});
  bytes.push_back(std::byte{0x80});
  const auto metadata = parse_metadata(bytes);
  ASSERT_FALSE(metadata.has_value());
  EXPECT_NE(metadata.error().text().find(".name"), std::string::npos) << metadata.error().text();
}

constexpr std::string_view kYaml = R"(---
Version:         [ 1, 0 ]
Printf:
  - '1:1:4:%d\n'
Kernels:
  - Name:            k
    SymbolName:      'k@kd'
    Attrs:
      ReqdWorkGroupSize: [ 64, 2, 1 ]
      WorkGroupSizeHint: [ 32, 4, 1 ]
      VecTypeHint:     float4
    Args:
      - Name:            n
        TypeName:        char
        Size:            1
        Align:           1
        ValueKind:       ByValue
      - TypeName:        'uint*'
        Size:            8
        Align:           8
        ValueKind:       GlobalBuffer
        AddrSpaceQual:   Global
        AccQual:         ReadOnly
    CodeProps:
      KernargSegmentSize: 16
      WavefrontSize:   64
...
)";

TEST(YamlMetadata, PlacesArgumentsByTheirAlignment) {
  const auto metadata = parse_yaml_metadata(kYaml);
  ASSERT_TRUE(metadata.has_value());
  EXPECT_EQ(metadata->printf_formats, (std::vector<std::string>{"1:1:4:%d\\n"}));
  ASSERT_EQ(metadata->kernels.size(), 1U);
  const Kernel& kernel = metadata->kernels[0];
  ASSERT_EQ(kernel.arguments.size(), 2U);
  EXPECT_EQ(kernel.arguments[0].name, "n");
  EXPECT_EQ(kernel.arguments[0].value_kind, "by_value");
  EXPECT_EQ(kernel.arguments[1].offset, 8U);
  EXPECT_EQ(kernel.arguments[1].value_kind, "global_buffer");
  EXPECT_EQ(kernel.arguments[1].access, "read_only");
  EXPECT_EQ(kernel.required_workgroup_size, (std::array<std::uint32_t, 3>{64, 2, 1}));
  EXPECT_EQ(kernel.workgroup_size_hint, (std::array<std::uint32_t, 3>{32, 4, 1}));
  EXPECT_EQ(kernel.vector_type_hint, "float4");
  EXPECT_EQ(kernel.kernarg_segment_size, 16U);
}

TEST(YamlMetadata, IsNothingWhereALaunchCouldNotRelyOnIt) {
  for (const auto& [from, to] : {std::pair{"Align:           8", "Align:           3"},
                                 std::pair{"Size:            8", "Size:            x"},
                                 std::pair{"        ValueKind:       ByValue\n", ""},
                                 std::pair{"[ 64, 2, 1 ]", "[ 64, 2 ]"}}) {
    std::string text(kYaml);
    text.replace(text.find(from), std::string_view(from).size(), to);
    EXPECT_FALSE(parse_yaml_metadata(text).has_value()) << to;
  }
}

TEST(Metadata, OfAnEmptyMapHasNoKernels) {
  const auto metadata = parse_metadata(bytes_of({0x80}));
  ASSERT_TRUE(metadata.has_value());
  EXPECT_TRUE(metadata->kernels.empty());
}

TEST(CodeObjectNotes, AreFoundInASectionThatNoSegmentCovers) {
  const Bytes file = build_object({.code = words({0xbf810000}), .note_in_section = true});
  const auto object = CodeObject::parse(file);
  ASSERT_TRUE(object.has_value()) << object.error().text();
  ASSERT_NE(object->find_kernel("k"), nullptr);
  EXPECT_EQ(object->find_kernel("k")->arguments.size(), 1U) << "which the note alone tells";
}

}  // namespace
}  // namespace ww::binpatch::code_object_test
