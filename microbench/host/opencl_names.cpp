#include "host/opencl_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace ww::microbench {
namespace {

// "gfx" and the figures and features behind it: "gfx90a:sramecc+:xnack-".
std::string target_within(std::string_view name) {
  for (auto at = name.find("gfx"); at != std::string_view::npos; at = name.find("gfx", at + 1)) {
    const auto is_part = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == ':' || c == '+' || c == '-';
    };
    const auto rest = name.substr(at);
    const auto end = std::ranges::find_if_not(rest, is_part);
    std::string target(rest.begin(), end);
    // "gfx1151-" of a longer word ends where the features do not begin.
    while (!target.empty() && (target.back() == ':' || target.back() == '-') &&
           target.find(':') == std::string::npos) {
      target.pop_back();
    }
    if (target.size() > 3 && std::isdigit(static_cast<unsigned char>(target[3])) != 0) {
      return target;
    }
  }
  return {};
}

// Chips by the names that drivers before ROCm gave them.
struct ChipName {
  std::string_view chip, target;
};
constexpr std::array kChipNames = {
    ChipName{"Tahiti", "gfx600"},    ChipName{"Pitcairn", "gfx601"},
    ChipName{"Capeverde", "gfx601"}, ChipName{"Bonaire", "gfx704"},
    ChipName{"Hawaii", "gfx701"},    ChipName{"Kaveri", "gfx700"},
    ChipName{"Tonga", "gfx802"},     ChipName{"Iceland", "gfx802"},
    ChipName{"Fiji", "gfx803"},      ChipName{"Ellesmere", "gfx803"},
    ChipName{"Baffin", "gfx803"},
};

}  // namespace

OpenClIdentity identify_opencl(const OpenClNames& names) {
  OpenClIdentity identity;
  identity.target = target_within(names.device);
  if (names.platform.starts_with("rusticl") || names.platform.starts_with("Clover")) {
    identity.no_code = fmt::format(
        "{} is Mesa's OpenCL, whose binaries are no machine code, so no kernel can be tied to a "
        "place; use ROCm's OpenCL or HIP on this card",
        names.platform);
    return identity;
  }
  if (!names.platform.starts_with("AMD")) return identity;
  const auto chip = std::ranges::find_if(
      kChipNames, [&names](const ChipName& known) { return known.chip == names.device; });
  const bool container = identity.target.empty() || names.driver.find("HSAIL") != names.driver.npos;
  if (identity.target.empty() && chip != kChipNames.end()) identity.target = chip->target;
  if (container) {
    identity.no_code = fmt::format(
        "the driver {} makes containers of Catalyst's kind, which 'wirewatt patch' rewrites and "
        "the "
        "campaign does not; it takes ROCm's code objects",
        names.driver.empty() ? "of this platform" : names.driver);
  }
  return identity;
}

}  // namespace ww::microbench
