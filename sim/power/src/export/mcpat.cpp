// McPAT's and AccelWattch's XML: a copy of the user's configuration whose network costs what was
// calibrated.
//
// Neither has a constant for a wire's energy: both compute an energy for an access from their own
// circuit models and multiply it by the accesses. What can be set is what accesses are multiplied
// by: AccelWattch's coefficient NOC_A, and in McPAT the number of accesses itself.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "export/targets.hpp"

namespace ww::sim::power {
namespace {

// Comments of XML must not contain two hyphens.
std::string xml_comment(const std::vector<std::string>& lines) {
  std::string text = "\n<!--\n";
  for (std::string line : lines) {
    for (auto at = line.find("--"); at != std::string::npos; at = line.find("--")) {
      line.replace(at, 2, "- ");
    }
    text += "  " + line + "\n";
  }
  return text + "-->\n";
}

// Blanks out comments, so that what is found has the same place and stands in none of them.
Result<std::string> without_comments(std::string text) {
  for (auto begin = text.find("<!--"); begin != std::string::npos; begin = text.find("<!--")) {
    const auto end = text.find("-->", begin);
    if (end == std::string::npos) {
      return fail(ErrorCode::parse_error, "a comment of the base does not end", "base");
    }
    std::fill(text.begin() + static_cast<std::ptrdiff_t>(begin),
              text.begin() + static_cast<std::ptrdiff_t>(end) + 3, ' ');
  }
  return text;
}

struct ValuePlace {
  std::size_t begin{}, size{};  // of the text between the quotes
  double value{};
};

// The value of <kind name="NAME" value="..."/> at or behind `from`.
Result<ValuePlace> find_value(const std::string& text, std::string_view kind, std::string_view name,
                              std::size_t from) {
  const auto missing = [&] {
    return fail(ErrorCode::parse_error,
                fmt::format("the base has no <{} name=\"{}\" value=\"NUMBER\"/> where it should be",
                            kind, name),
                "base");
  };
  const auto at = text.find(fmt::format("name=\"{}\"", name), from);
  if (at == std::string::npos) {
    return missing();
  }
  const auto open = text.rfind('<', at);
  const auto close = text.find('>', at);
  constexpr std::string_view kValue = "value=\"";
  const auto value = text.find(kValue, at);
  if (open == std::string::npos || close == std::string::npos || value >= close ||
      text.compare(open + 1, kind.size(), kind) != 0) {
    return missing();
  }
  ValuePlace place;
  place.begin = value + kValue.size();
  const auto quote = text.find('"', place.begin);
  if (quote == std::string::npos || quote > close) {
    return missing();
  }
  place.size = quote - place.begin;
  const char* begin = text.data() + place.begin;
  const auto [end, error] = std::from_chars(begin, begin + place.size, place.value);
  if (error != std::errc() || end != begin + place.size) {
    return missing();
  }
  return place;
}

// Energy of a flit through the network: the wire to the L2, and one router of the estimator.
struct FlitCost {
  double pj{}, low_pj{}, high_pj{};
};

Result<FlitCost> flit_cost(const ExportInput& input) {
  if (input.config.base.empty() || !input.config.pj_per_access ||
      !(*input.config.pj_per_access > 0)) {
    return fail(
        ErrorCode::invalid_argument,
        fmt::format("{} computes the energy of an access itself: give your configuration (--base) "
                    "and the pJ that it charges for an access to the network (--pj-per-access: the "
                    "network's runtime dynamic power x time / accesses, of one run)",
                    to_string(input.config.target)),
        "base");
  }
  constexpr double kPicojoulesInFemtojoule = 1e-3;
  const RouterEnergy& router = input.router;
  const double router_pj =
      router.buffer_write_pj + router.buffer_read_pj + router.crossbar_pj + router.switch_grant_pj;
  const auto flit = [&](double femtojoules) {
    return femtojoules * kPicojoulesInFemtojoule * input.config.router.flit_bits + router_pj;
  };
  return FlitCost{flit(input.per_link.value), flit(input.per_link.low), flit(input.per_link.high)};
}

std::vector<ExportedConstant> flit_constants(const ExportInput& input, const FlitCost& cost) {
  auto constants = link_constants(input);
  const RouterEnergy& router = input.router;
  constants.push_back(router_constant(
      input, "one router",
      router.buffer_write_pj + router.buffer_read_pj + router.crossbar_pj + router.switch_grant_pj,
      "pJ/flit"));
  constants.push_back(
      {fmt::format("a flit of {} bits over the network", input.config.router.flit_bits), cost.pj,
       cost.low_pj, cost.high_pj, "pJ/flit", input.config.link.convention,
       input.config.link.is_virtual ? "virtual and literature" : "measured and literature",
       "the link and one router; the interval is the link's"});
  return constants;
}

// The base with `value` in a place, and a comment behind its first component's opening.
Result<std::string> rewritten(const ExportInput& input, const ValuePlace& place,
                              const std::string& value, const std::vector<std::string>& lines) {
  std::string text = input.config.base;
  text.replace(place.begin, place.size, value);
  // Behind the declaration, which must stay the first thing in the file.
  const auto declaration = text.starts_with("<?xml") ? text.find("?>") : std::string::npos;
  text.insert(declaration == std::string::npos ? 0 : declaration + 2, xml_comment(lines));
  return text;
}

}  // namespace

Result<ExportedFile> export_accelwattch(const ExportInput& input) {
  WW_ASSIGN(cost, flit_cost(input));
  WW_ASSIGN(bare, without_comments(input.config.base));
  WW_ASSIGN(place, find_value(bare, "param", "NOC_A", 0));
  const double coefficient = cost.pj / *input.config.pj_per_access;
  ExportedFile file;
  file.constants = flit_constants(input, cost);
  auto lines = comment_lines(input, "AccelWattch (accelwattch_*.xml)", file.constants);
  lines.push_back(fmt::format(
      "NOC_A is {:.9g} (95% interval of its wires {:.6g} to {:.6g}) instead of {:.9g}: with it a "
      "flit costs that, where the circuit model charges {:.6g} pJ at NOC_A = 1.",
      coefficient, cost.low_pj / *input.config.pj_per_access,
      cost.high_pj / *input.config.pj_per_access, place.value, *input.config.pj_per_access));
  WW_ASSIGN(text, rewritten(input, place, fmt::format("{:.9g}", coefficient), lines));
  file.text = std::move(text);
  return file;
}

Result<ExportedFile> export_mcpat(const ExportInput& input) {
  WW_ASSIGN(cost, flit_cost(input));
  WW_ASSIGN(bare, without_comments(input.config.base));
  const auto network = bare.find("\"system.NoC0\"");
  if (network == std::string::npos) {
    return fail(ErrorCode::parse_error, "the base has no component system.NoC0", "base");
  }
  WW_ASSIGN(place, find_value(bare, "stat", "total_accesses", network));
  if (place.begin > bare.find("</component>", network)) {
    return fail(ErrorCode::parse_error, "system.NoC0 of the base has no total_accesses", "base");
  }
  const double ratio = cost.pj / *input.config.pj_per_access;
  ExportedFile file;
  file.constants = flit_constants(input, cost);
  auto lines = comment_lines(input, "McPAT (-infile)", file.constants);
  lines.push_back(fmt::format(
      "total_accesses of system.NoC0 is {:.9g} accesses times {:.9g} (95% interval of its wires "
      "{:.6g} to {:.6g}): an access then costs that, where McPAT's circuit model charges {:.6g} "
      "pJ.",
      place.value, ratio, cost.low_pj / *input.config.pj_per_access,
      cost.high_pj / *input.config.pj_per_access, *input.config.pj_per_access));
  lines.emplace_back("Multiply the accesses of other runs by the same factor.");
  WW_ASSIGN(text, rewritten(input, place, fmt::format("{:.9g}", place.value * ratio), lines));
  file.text = std::move(text);
  return file;
}

}  // namespace ww::sim::power
