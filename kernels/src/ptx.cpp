// The kernels as PTX: a template in which the host's values stand by name.
#include <fmt/format.h>

#include <optional>
#include <vector>

#include "embedded.hpp"
#include "program_head.hpp"
#include "ww/kernels/sources.hpp"

namespace ww::kernels {
namespace {

bool is_name_character(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

struct Fixed {
  std::string_view name;
  std::string_view value;
};
// Fixed values as in ptx/shim.clh. A mask or shift that keeps the whole id.
constexpr Fixed kFixed[] = {
    {"WW_WAVE_SIZE", "32"},   {"WW_GROUP_SIZE", "256"},         {"WW_UNROLL", "4"},
    {"WW_ENGINE_SHIFT", "0"}, {"WW_ENGINE_MASK", "4294967295"}, {"WW_CU_SHIFT", "0"},
    {"WW_CU_MASK", "0"},      {"WW_CLOCK_MASK", "4294967295"}};

}  // namespace

Result<std::string> ptx_for(std::string_view name, std::string_view text) {
  const auto source = find_source(name);
  const std::string file = std::string(name) + ".ptx";
  const std::string_view ptx = embedded_text(file);
  const ProgramHead head = split_head(text);
  const std::string known =
      std::string(embedded_text("pin.clh")) + std::string(source ? source->text : "");
  // Blank lines or comments before the head would hide a change of the kernel: compare it whole.
  if (!source || ptx.empty() || !head.rest.ends_with(known)) {
    return fail(
        ErrorCode::unsupported,
        "this host has no compiler of OpenCL C: it runs wirewatt's own kernels alone, which "
        "were compiled to PTX when wirewatt was built",
        std::string(name));
  }
  for (const Fixed& each : kFixed) {
    const auto found = head.values.find(each.name);
    if (found == head.values.end() || found->second != each.value) {
      return fail(ErrorCode::unsupported,
                  fmt::format("the PTX was compiled with {} = {}, not {}", each.name, each.value,
                              found == head.values.end() ? "nothing" : found->second),
                  std::string(name));
    }
  }
  std::string result;
  result.reserve(ptx.size());
  for (std::size_t at = 0; at < ptx.size();) {
    if (!ptx.substr(at).starts_with("WW_")) {
      result += ptx[at++];
      continue;
    }
    std::size_t end = at;
    while (end < ptx.size() && is_name_character(ptx[end])) ++end;
    const auto value = head.values.find(ptx.substr(at, end - at));
    if (value == head.values.end()) {
      return fail(ErrorCode::unsupported, fmt::format("no value for {}", ptx.substr(at, end - at)),
                  std::string(name));
    }
    result += value->second;
    at = end;
  }
  return result;
}

}  // namespace ww::kernels
