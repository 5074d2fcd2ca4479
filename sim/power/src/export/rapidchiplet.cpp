// RapidChiplet's packaging (JSON): the power of a link between chiplets.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "export/targets.hpp"
#include "ww/core/json_reader.hpp"

namespace ww::sim::power {
namespace {

// A package of which nothing is known but its links: passive, without an interposer.
constexpr std::string_view kPlainPackaging = R"({"link_routing": "manhattan",
  "link_latency_type": "constant", "link_latency": 1, "packaging_yield": 1.0, "bump_pitch": 0.05,
  "non_data_wires": 0, "is_active": false, "has_interposer": false})";

}  // namespace

Result<ExportedFile> export_rapidchiplet(const ExportInput& input) {
  constexpr double kJoulesInFemtojoule = 1e-15;
  const ExportConfig& config = input.config;
  const bool own = config.base.empty();
  WW_ASSIGN(packaging, parse_json(own ? std::string(kPlainPackaging) : config.base,
                                  own ? "packaging" : "base"));
  if (!packaging.is_object() || !packaging.contains("link_routing")) {
    return fail(ErrorCode::parse_error,
                "the base has no link_routing: it is not a packaging of RapidChiplet", "base");
  }
  const double bits_per_s = config.router.flit_bits * config.clock.to<double>() * config.load;
  const auto watts = [&](double femtojoules) {
    return femtojoules * kJoulesInFemtojoule * bits_per_s;
  };
  ExportedFile file;
  file.constants = link_constants(input);
  const LinkConstant& link = config.link;
  const std::string label = link.is_virtual ? "virtual" : "measured";
  file.constants.push_back(
      {"power of a link", watts(link.value), watts(link.low), watts(link.high),
       link.per_mm ? "W/mm" : "W", link.convention, label,
       fmt::format("{} bits at {:g} Hz in {:g} of the cycles, one way", config.router.flit_bits,
                   config.clock.to<double>(), config.load)});
  auto lines = comment_lines(input, "RapidChiplet (packaging of a design)", file.constants);
  if (own) {
    lines.emplace_back(
        "Latency, yield, bumps and interposer are placeholders: give your packaging as --base.");
  }
  lines.emplace_back(
      "rapidchiplet.py of May 2025 sums the links' power and leaves it out of power_summary.");
  if (link.per_mm) {
    packaging["link_power_type"] = "function";
    packaging["link_power"] = fmt::format("lambda x : {:.9e} * x", watts(link.value));
  } else {
    packaging["link_power_type"] = "constant";
    packaging["link_power"] = watts(link.value);
  }
  packaging["comment"] = lines;
  constexpr int kIndent = 2;
  file.text = packaging.dump(kIndent) + "\n";
  return file;
}

}  // namespace ww::sim::power
