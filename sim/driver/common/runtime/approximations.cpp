#include "common/runtime/approximations.hpp"

#include <charconv>
#include <optional>
#include <string_view>

#include "ww/core/cl_approximable.h"

namespace ww::sim::driver {
namespace {

std::optional<std::uint32_t> type_of(std::string_view name) {
  if (name == "int32") return WW_CL_INT32;
  if (name == "float32") return WW_CL_FLOAT32;
  if (name == "uint8") return WW_CL_UINT8;
  return std::nullopt;
}

std::optional<std::uint64_t> number_of(std::string_view text) {
  std::uint64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

Result<ApproximationRule> parse_one(std::string_view text) {
  const auto wrong = [text](std::string_view why) {
    return fail(ErrorCode::invalid_argument,
                "\"" + std::string(text) + "\": " + std::string(why) +
                    "; KERNEL.ARGUMENT:TYPE or #N:TYPE with a type of int32, float32, uint8",
                "approx");
  };
  ApproximationRule rule;
  rule.text = text;
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return wrong("no type");
  const auto type = type_of(text.substr(colon + 1));
  if (!type) return wrong("no such type");
  rule.type = *type;
  const std::string_view what = text.substr(0, colon);
  if (what.starts_with('#')) {
    const auto number = number_of(what.substr(1));
    if (!number || *number == 0) return wrong("buffers count from 1");
    rule.buffer = *number;
    return rule;
  }
  const auto dot = what.rfind('.');
  if (dot == std::string_view::npos || dot == 0 || dot + 1 == what.size()) {
    return wrong("no kernel and argument");
  }
  rule.kernel = what.substr(0, dot);
  rule.argument = what.substr(dot + 1);
  return rule;
}

}  // namespace

Result<std::vector<ApproximationRule>> parse_approximations(const std::vector<std::string>& texts) {
  std::vector<ApproximationRule> rules;
  for (const std::string& text : texts) {
    WW_ASSIGN(rule, parse_one(text));
    rules.push_back(std::move(rule));
  }
  return rules;
}

}  // namespace ww::sim::driver
