// The kernels as code objects of AMD's targets: literals in them stand for the host's values.
#include "code_objects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "embedded.hpp"
#include "program_head.hpp"
#include "ww/kernels/sources.hpp"

namespace ww::kernels {
namespace {

// A late value as in amd/shim.clh.
struct LateValue {
  std::string_view name;
  std::uint32_t literal;
};
constexpr LateValue kLateValues[] = {
    {"WW_INTERLEAVE", 0x57570001},        {"WW_CHANNELS", 0x57570002},
    {"WW_QUADRANT_CHANNELS", 0x57570003}, {"WW_STRIPES", 0x57570004},
    {"WW_ENGINE_SHIFT", 0x57570005},      {"WW_ENGINE_MASK", 0x57570006},
    {"WW_CU_SHIFT", 0x57570007},          {"WW_CU_MASK", 0x57570008},
    {"WW_CLOCK_MASK", 0x57570009}};
constexpr LateValue kLateList{"WW_LIST", 0x5757000A};

// Newer parts of a family for which the compiler has no target of their own.
struct StandIn {
  std::string_view target;
  std::string_view generic;
};
constexpr StandIn kGenericTargets[] = {{"gfx1153", "gfx11-generic"}};

std::optional<std::uint32_t> head_value(const ProgramHead& head, std::string_view name) {
  const auto found = head.values.find(name);
  if (found == head.values.end()) {
    return {};
  }
  const std::string& text = found->second;
  std::uint32_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size()) {
    return {};
  }
  return value;
}

// s_mov_b32 of a literal into any scalar register: GCN's first two generations and RDNA 1 and 2
// number it otherwise than the rest.
bool moves_a_literal(std::uint32_t word) {
  constexpr std::uint32_t kAllButDestination = 0xFF80FFFF;
  return (word & kAllButDestination) == 0xBE8000FF || (word & kAllButDestination) == 0xBE8003FF;
}

// Writes `value` wherever a scalar register gets the literal.
void write_literal(std::vector<std::byte>& object, std::uint32_t literal, std::uint32_t value) {
  std::uint32_t before = 0;
  for (std::size_t at = 0; at + sizeof before <= object.size(); at += sizeof before) {
    std::uint32_t word = 0;
    std::memcpy(&word, object.data() + at, sizeof word);
    if (word == literal && moves_a_literal(before)) {
      std::memcpy(object.data() + at, &value, sizeof value);
    }
    before = word;
  }
}

}  // namespace

std::vector<PrecompiledTarget> precompiled_targets() {
  std::vector<PrecompiledTarget> targets;
  for (const CodeObjectFile& file : code_object_files()) {
    if (file.variant == "sleep") {
      targets.push_back({file.target, file.bytes});
    }
  }
  return targets;
}

Result<std::vector<std::byte>> code_object_for(std::string_view name, std::string_view text,
                                               std::string_view target) {
  const auto refuse = [&](const std::string& why) {
    return fail(ErrorCode::unsupported, why, fmt::format("kernel {} for {}", name, target));
  };
  if (code_object_files().empty()) {
    return refuse(
        "this wirewatt was built without clang-19, so it has no compiled kernels for AMD's GPUs");
  }
  std::string_view part = target.substr(0, target.find(':'));
  const auto generic = std::ranges::find(kGenericTargets, part, &StandIn::target);
  if (generic != std::end(kGenericTargets)) {
    part = generic->generic;
  }
  const auto source = find_source(name);
  const ProgramHead head = split_head(text);
  const auto made_of = [&](std::string_view wait) {
    return source && head.rest == std::string(embedded_text("dialect.clh")) +
                                      std::string(embedded_text(wait)) +
                                      std::string(embedded_text("pin.clh")) +
                                      std::string(source->text);
  };
  const bool nops = made_of("nops.clh");
  if (!nops && !made_of("sleep.clh")) {
    return refuse("it is not one of the kernels that were compiled when wirewatt was built");
  }
  const bool counted = head.values.contains("WW_COUNT_WAVES") &&
                       source->text.find("WW_COUNT_WAVES") != std::string_view::npos;
  const bool waits = source->text.find("WW_WAIT") != std::string_view::npos;
  const bool listed = head.values.contains(kLateList.name) &&
                      source->text.find(kLateList.name) != std::string_view::npos;
  // RDNA's wavefronts of 64 are those of campaigns, and lists are a campaign's.
  const bool both_sizes = has_both_wave_sizes(part);
  const bool wide = both_sizes && !listed && head_value(head, "WW_WAVE_SIZE") == 64U;
  const std::string variant = std::string(wide ? "wide_" : "") + (counted ? "counted_" : "") +
                              (listed ? "listed_" : "") + (nops && waits ? "nops" : "sleep");
  const auto files = code_object_files();
  const auto file = std::ranges::find_if(files, [&](const CodeObjectFile& each) {
    return each.target == part && each.variant == variant;
  });
  if (file == files.end()) {
    const bool known = std::ranges::find(files, part, &CodeObjectFile::target) != files.end();
    return refuse(
        known ? fmt::format("{} was not compiled in the variant {}", part, variant)
              : fmt::format("{} had no target {} when wirewatt was built", precompiled_by(), part));
  }
  const std::string_view contents(reinterpret_cast<const char*>(file->bytes.data()),
                                  file->bytes.size());
  if (wide && contents.find(std::string(name) + ".kd") == std::string_view::npos) {
    return refuse("it was compiled for wavefronts of 32 alone");
  }
  const std::pair<std::string_view, std::uint32_t> fixed[] = {
      {"WW_WAVE_SIZE", both_sizes && !wide && !listed ? 32 : 64},
      {"WW_GROUP_SIZE", kPrecompiledGroupSize},
      {"WW_UNROLL", kPrecompiledUnroll}};
  for (const auto& [macro, value] : fixed) {
    if (head_value(head, macro) != value) {
      return refuse(fmt::format("the kernels were compiled with {} = {}", macro, value));
    }
  }
  std::vector<std::byte> object(file->bytes.begin(), file->bytes.end());
  for (const LateValue& late : kLateValues) {
    const auto value = head_value(head, late.name);
    if (!value) {
      return refuse(fmt::format("no value for {}", late.name));
    }
    write_literal(object, late.literal, *value);
  }
  if (listed) {
    const auto entries = head_value(head, kLateList.name);
    if (!entries || *entries > kPrecompiledList) {
      return refuse(fmt::format("lists have at most {} entries", kPrecompiledList));
    }
    write_literal(object, kLateList.literal, *entries);
  }
  return object;
}

}  // namespace ww::kernels
