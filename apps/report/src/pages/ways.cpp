#include "pages/ways.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "values/values.hpp"
#include "ww/core/kernel_label.hpp"

namespace ww::report {
namespace {

using nlohmann::json;

Bar bar_of(const json& kernel, const std::string& label, const char* key, double scale) {
  Bar bar;
  bar.name = label;
  for (const json& way : kernel.at("hop_classes")) {
    const json& figure = way.at(key);
    bar.parts.push_back(figure.is_object() ? scale * figure.at("value").get<double>() : 0.0);
  }
  if (const json& figure = kernel.at("together").at(key); figure.is_object()) {
    bar.interval = {scale * figure.at("low").get<double>(),
                    scale * figure.at("high").get<double>()};
  }
  return bar;
}

// Two parts with a link have no I/O dies to draw.
bool is_of_pair(const json& ways) {
  const json& energies = ways.at("pj_per_bit");
  return energies.value("xgmi", json()).is_object() &&
         !energies.value("row_hop", json()).is_object();
}

std::string bytes_cell(const json& bytes) {
  return bytes.is_object() && bytes.at("low") == bytes.at("high")
             ? figure_text(bytes.at("value").get<double>(), 9)
             : interval_cell(bytes);
}

}  // namespace

PackageWays package_ways(const std::map<std::string, double>& figures) {
  const auto figure = [&figures](const char* name) {
    const auto found = figures.find(name);
    return found == figures.end() ? std::nullopt : std::optional(found->second);
  };
  return {figure("compute_die_and_cache"),
          figure("row_hop"),
          figure("column_hop"),
          figure("across"),
          figure("memory_phy"),
          figure("memory")};
}

void add_ways(Html& page, const json& ways, const char* key) {
  const bool watts = std::string_view(key) == "power_w";
  const json& total = ways.at("total");
  std::map<std::string, double> figures;
  for (const json& way : total.at("hop_classes")) {
    if (!way.at(key).is_object()) continue;
    figures[way.at("class")] = way.at(key).at("value");
  }
  const Scale joules =
      scale_for(number_of(object_of(total.at("hop_classes").at(0), "energy_j"), "value"));
  const Scale scale = watts ? Scale{1, "W"} : joules;
  for (auto& [name, value] : figures) value *= scale.times;
  page.section("Between the dies");
  if (!is_of_pair(ways)) {
    page.drawing(
        package_map(package_ways(figures),
                    fmt::format("{} by way between dies", watts ? "power" : "energy"), scale.unit),
        "The package as a block diagram, nothing to scale. Each figure is that of all ways "
        "of its kind together. A way without colour has no figure; the table says why.");
  }
  BarChart chart;
  chart.title = "Ways between dies";
  chart.description =
      "Each kernel, and all together, stacked by way; the line is the 95% interval of the sum, "
      "where all ways have a figure.";
  chart.unit = scale.unit;
  Table table{"Ways of every kernel",
              {{"kernel"},
               {"way"},
               {"bytes", true},
               {fmt::format("energy [{}]", joules.unit), true},
               {"power [W]", true},
               {"status"},
               {"why"}},
              {}};
  for (const json& way : total.at("hop_classes")) {
    chart.legend.push_back(way_name(way.at("class")));
  }
  const auto add = [&](const json& kernel, const std::string& label) {
    const std::string name = kernel_name(text_of(kernel, "kernel"));
    if (chart.bars.size() <= kMaxKernelBars) {
      chart.bars.push_back(bar_of(kernel, label, key, scale.times));
      chart.bars.back().hint = name;
    }
    for (const json& way : kernel.at("hop_classes")) {
      const json& upper = way.at("upper_j");
      table.rows.push_back(
          {name, way_name(way.at("class")), bytes_cell(way.at("bytes")),
           upper.is_number() ? "at most " + figure_text(joules.times * upper.get<double>())
                             : interval_cell(way.at("energy_j"), joules.times),
           interval_cell(way.at("power_w")), text_of(way, "status"), text_of(way, "reason")});
    }
  };
  add(total, text_of(total, "kernel"));
  const json& kernels = ways.at("kernels");
  const auto labels =
      kernel_labels(kernels, [](const json& kernel) { return text_of(kernel, "kernel"); });
  for (std::size_t k = 0; k < kernels.size(); ++k) add(kernels[k], labels[k]);
  page.chart("By way", chart);
  page.table(table);
}

}  // namespace ww::report
