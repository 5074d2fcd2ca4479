#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "ww/binpatch/code_object.hpp"
#include "ww/binpatch/isa/instruction.hpp"

namespace ww::binpatch {

namespace {

constexpr std::string_view kPrefix = "gfx";

std::optional<int> parse_number(std::string_view text, int base) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size() || value < 0) {
    return std::nullopt;
  }
  return value;
}

}  // namespace

std::string to_string(GfxTarget target) {
  return fmt::format("{}{}{:x}{:x}", kPrefix, target.major, target.minor, target.stepping);
}

Result<GfxTarget> parse_gfx_target(std::string_view text) {
  // One hexadecimal digit each for stepping and minor at the end; the rest is the major number.
  if (text.starts_with(kPrefix) && text.size() >= kPrefix.size() + 3 &&
      text.size() <= kPrefix.size() + 4) {
    const std::string_view digits = text.substr(kPrefix.size());
    const auto major = parse_number(digits.substr(0, digits.size() - 2), 10);
    const auto minor = parse_number(digits.substr(digits.size() - 2, 1), 16);
    const auto stepping = parse_number(digits.substr(digits.size() - 1), 16);
    if (major && minor && stepping) {
      return GfxTarget{*major, *minor, *stepping};
    }
  }
  return fail(ErrorCode::parse_error,
              fmt::format("not a GPU target such as gfx701: '{}'", text.substr(0, 64)));
}

namespace {

// LLVM, "User Guide for AMDGPU Backend", table of generic processors. All were there from the first
// version of their target on.
struct GenericTarget {
  std::string_view name;
  std::string_view processors;  // with a space behind each
};
constexpr GenericTarget kGenericTargets[] = {
    {"gfx9-generic", "gfx900 gfx902 gfx904 gfx906 gfx909 gfx90c "},
    {"gfx9-4-generic", "gfx940 gfx941 gfx942 gfx950 "},
    {"gfx10-1-generic", "gfx1010 gfx1011 gfx1012 gfx1013 "},
    {"gfx10-3-generic", "gfx1030 gfx1031 gfx1032 gfx1033 gfx1034 gfx1035 gfx1036 "},
    {"gfx11-generic", "gfx1100 gfx1101 gfx1102 gfx1103 gfx1150 gfx1151 gfx1152 gfx1153 "},
    {"gfx12-generic", "gfx1200 gfx1201 "},
};

}  // namespace

bool is_generic_target(std::string_view target) {
  return std::ranges::find(kGenericTargets, target, &GenericTarget::name) !=
         std::end(kGenericTargets);
}

bool runs_on(std::string_view target, std::string_view processor) {
  if (target == processor) return true;
  const auto* found = std::ranges::find(kGenericTargets, target, &GenericTarget::name);
  return found != std::end(kGenericTargets) &&
         found->processors.find(std::string(processor) + " ") != std::string_view::npos;
}

namespace isa {

namespace {

Generation gfx9_generation(GfxTarget target) {
  if (target.minor != 0) {
    const bool cdna3 = target.minor == 4 && target.stepping <= 2;
    return cdna3 ? Generation::gfx940 : Generation::gfx9;
  }
  switch (target.stepping) {
    case 0x0:
    case 0x1:  // as old compilers named gfx900 and gfx902 with page faults that are retried
    case 0x2:
    case 0x3:
    case 0x9:
    case 0xc: return Generation::gfx900;
    case 0x4: return Generation::gfx904;
    case 0x6: return Generation::gfx906;
    case 0x8: return Generation::gfx908;
    case 0xa: return Generation::gfx90a;
    default: return Generation::gfx9;
  }
}

}  // namespace

Result<Generation> generation_of(GfxTarget target) {
  switch (target.major) {
    case 6: return Generation::gfx6;
    case 7: return Generation::gfx7;
    case 8: return Generation::gfx8;
    case 9: return gfx9_generation(target);
    case 10: return target.minor == 3 ? Generation::gfx1030 : Generation::gfx10;
    case 11: return target.minor == 0 ? Generation::gfx1100 : Generation::gfx11;
    case 12: return Generation::gfx12;
    default:
      return fail(ErrorCode::unsupported,
                  fmt::format("no instruction table for {}", to_string(target)));
  }
}

}  // namespace isa

}  // namespace ww::binpatch
