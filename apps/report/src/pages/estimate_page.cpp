#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "drawing/floorplan_map.hpp"
#include "pages/html.hpp"
#include "pages/page_kinds.hpp"
#include "pages/ways.hpp"
#include "values/names.hpp"
#include "values/values.hpp"
#include "ww/core/kernel_label.hpp"

namespace ww::report {
namespace {

using nlohmann::json;

void add_answer(Html& page, const json& estimate, const char* key, const char* unit) {
  const json& total = estimate.at("total");
  const auto left_out = text_of(total, "left_out");
  std::vector<std::string> lines{
      fmt::format("95% interval, all segments with a figure together{}.",
                  left_out.empty() ? "" : ", without " + segment_name(left_out))};
  if (const auto why = text_of(total, "time_reason"); !why.empty()) {
    lines.push_back((total.at("power_w").is_object() ? "Watts: " : "No watts: ") + why + ".");
  }
  const json& share = estimate.at("interconnect_share_percent");
  lines.push_back(share.is_object() ? interval_cell(share) + " % of the dynamic power."
                                    : "No share of the dynamic power: " +
                                          text_of(estimate, "share_reason") + ".");
  const auto misfit = misfit_of(estimate);
  page.answer(prefixed_interval(total.at(key), unit) + (misfit.empty() ? "" : ", misfit"), lines);
  if (misfit.empty()) return;
  page.warn("The calibration is flagged as a misfit.",
            misfit + ". Do not rely on the figures of wires.");
}

// Answers by a calibration of a package's dies, which has the ways and no wires of a die.
void add_answer_of_ways(Html& page, const json& ways, const char* key, const char* unit) {
  const json& together = ways.at("total").at("together");
  const json& known =
      together.at(key).is_object() ? together : ways.at("total").at("hop_classes").at(0);
  std::vector<std::string> lines;
  if (&known == &together) {
    lines.emplace_back("95% interval, all ways between dies together.");
  } else {
    lines.push_back("95% interval, " + way_name(text_of(known, "class")) + " alone.");
    lines.push_back("No sum of all ways: " + text_of(together, "reason") + ".");
  }
  lines.push_back("Energy of random bits, of the " + text_of(ways, "source") +
                  ". It has no wires of the compute dies; those below are from the literature.");
  page.answer(prefixed_interval(known.at(key), unit), lines);
}

void add_map(Html& page, const json& estimate, const char* key, const char* unit) {
  const auto plan = known_floorplan(text_of(estimate, "device"));
  if (!plan) return;
  std::array<std::optional<double>, 3> segments;
  std::size_t index = 0;
  for (const json& segment : list_of(estimate.at("total"), "segments")) {
    if (index < segments.size() && segment.at(key).is_object()) {
      segments[index] = segment.at(key).at("value").get<double>();
    }
    ++index;
  }
  page.section("Where on the die");
  page.drawing(
      segment_map(*plan, segments, "Interconnect by segment on the die", unit),
      fmt::format("Floorplan {}: compute units show registers–L1, lines between engines and "
                  "L2 show L1–L2, lines to the controllers L2–memory. A segment without a "
                  "figure has no colour.",
                  plan->name));
}

// "31.3 GB", with the prefix that fits and what is not exact.
std::string bytes_text(const json& segment) {
  const double bytes = number_of(segment, "bytes");
  if (!std::isfinite(bytes)) return "–";
  constexpr std::array kPrefixes{"", "k", "M", "G", "T", "P"};
  double scaled = bytes;
  std::size_t prefix = 0;
  while (scaled >= 999.5 && prefix + 1 < kPrefixes.size()) {
    scaled /= 1000;
    ++prefix;
  }
  return fmt::format("{}{} {}B", segment.value("bytes_at_least", false) ? "at least " : "",
                     figure_text(scaled, 3), kPrefixes[prefix]);
}

// The unit in which the chart is easy to read.
Scale scale_of_bars(const json& total, bool watts) {
  const double value = number_of(total, "value");
  if (!watts) return scale_for(value);
  if (!(value > 0) || value >= 0.1) return {1, "W"};
  return value >= 1e-4 ? Scale{1e3, "mW"} : Scale{1e6, "µW"};
}

}  // namespace

std::string estimate_page(const json& estimate) {
  Html page("Interconnect power of an application on " + text_of(estimate, "device"),
            estimate.value("virtual", false));
  const json& total = estimate.at("total");
  const bool watts = total.at("power_w").is_object();
  const char* key = watts ? "power_w" : "energy_j";
  const char* unit = watts ? "W" : "J";
  const json& ways = object_of(estimate, "ways");
  if (const auto notice = text_of(estimate, "notice"); !notice.empty()) {
    page.warn("LITERATURE.", notice);
  }
  if (!ways.empty()) {
    add_answer_of_ways(page, ways, key, unit);
    add_ways(page, ways, key);
  } else {
    add_answer(page, estimate, key, unit);
  }
  add_map(page, estimate, key, unit);
  BarChart chart;
  chart.title = "Interconnect by segment";
  chart.description =
      "Each kernel, and all together, stacked by segment; the line is the 95% interval of the sum.";
  const Scale bars = scale_of_bars(object_of(total, key), watts);
  chart.unit = bars.unit;
  chart.legend = {"registers–L1", "L1–L2", "L2–memory"};
  const Scale scale = scale_for(number_of(object_of(total, "energy_j"), "value"));
  Table table{"Segments of every kernel",
              {{"kernel"},
               {"segment"},
               {"bytes", true},
               {"toggles"},
               {fmt::format("energy [{}]", scale.unit), true},
               {"power [W]", true},
               {"status"},
               {"why"}},
              {}};
  const auto add = [&](const json& kernel, const std::string& label, bool bar_too) {
    Bar bar;
    bar.name = label;
    bar.hint = kernel_name(text_of(kernel, "kernel"));
    for (const json& segment : kernel.at("segments")) {
      const json& figure = segment.at(key);
      bar.parts.push_back(figure.is_object() ? bars.times * figure.at("value").get<double>() : 0.0);
      table.rows.push_back(
          {bar.hint, segment_name(text_of(segment, "segment")), bytes_text(segment),
           figure_text(number_of(segment, "toggle_rate"), 2) + " " + text_of(segment, "toggles"),
           interval_cell(segment.at("energy_j"), scale.times), interval_cell(segment.at("power_w")),
           text_of(segment, "status"), text_of(segment, "reason")});
    }
    if (const json& figure = kernel.at(key); figure.is_object()) {
      bar.interval = {bars.times * figure.at("low").get<double>(),
                      bars.times * figure.at("high").get<double>()};
    }
    if (bar_too) chart.bars.push_back(std::move(bar));
  };
  add(total, text_of(total, "kernel"), true);
  const json& kernels = estimate.at("kernels");
  const auto labels =
      kernel_labels(kernels, [](const json& kernel) { return text_of(kernel, "kernel"); });
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    add(kernels[k], labels[k], chart.bars.size() <= kMaxKernelBars);
  }
  for (std::size_t part = 0; part < chart.legend.size(); ++part) {
    const auto is_empty = [&](const Bar& bar) {
      return part >= bar.parts.size() || bar.parts[part] == 0;
    };
    if (std::ranges::all_of(chart.bars, is_empty)) chart.legend[part] += ": no figure";
  }
  if (kernels.size() > kMaxKernelBars) {
    chart.description +=
        fmt::format(" The {} kernels with the most energy; the table has all.", kMaxKernelBars);
  }
  page.chart(ways.empty() ? "By segment" : "Wires of the compute dies", chart);
  page.section("All figures");
  page.table(table);
  page.section("Provenance");
  const json& constant = object_of(estimate, "constant");
  const bool per_ns = constant.contains("fj_per_bit_ns");
  Table provenance{
      "Provenance",
      {{"what"}, {"value"}},
      {{"device",
        text_of(estimate, "device") + (estimate.value("virtual", false) ? " (virtual)" : "")},
       {"architecture", text_of(estimate, "architecture")},
       {per_ns ? "energy per bit and ns of flight" : "energy per bit and mm",
        fmt::format("{} fJ ({}), {}",
                    figure_text(number_of(constant, per_ns ? "fj_per_bit_ns" : "fj_per_bit_mm")),
                    interval_text(number_of(constant, "low"), number_of(constant, "high")),
                    text_of(constant, "convention"))},
       {"its source", text_of(constant, "source")},
       {"voltage and frequency", text_of(constant, "exponents")},
       {"distances", text_of(estimate, "distances")}}};
  for (const json& file : list_of(estimate, "files")) {
    provenance.rows.push_back({"counters from", cell_text(file)});
  }
  for (const auto& [key, what] :
       {std::pair{"written_utc", "counters written (UTC)"}, {"wirewatt_version", "wirewatt"}}) {
    if (const auto text = text_of(estimate, key); !text.empty()) {
      provenance.rows.push_back({what, text});
    }
  }
  page.table(provenance);
  return page.finish();
}

}  // namespace ww::report
