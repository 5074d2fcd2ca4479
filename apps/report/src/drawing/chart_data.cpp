#include "drawing/chart_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

namespace ww::report {
namespace {

using nlohmann::json;

double rounded(double value) {
  return std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr);
}

std::string text(const json& data) {
  const std::string plain = data.dump(-1, ' ', false, json::error_handler_t::replace);
  std::string safe;
  safe.reserve(plain.size());
  for (const char c : plain) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe;
}

}  // namespace

std::string to_data(const Plot& plot) {
  json data = {{"kind", "plot"},        {"title", plot.title},    {"description", plot.description},
               {"x", plot.x_label},     {"y", plot.y_label},      {"xNames", plot.x_names},
               {"height", plot.height}, {"zero", plot.zero_line}, {"series", json::array()},
               {"bands", json::array()}};
  for (const Series& series : plot.series) {
    json one = {{"name", series.name},   {"colour", series.colour}, {"line", series.line},
                {"dots", series.dotted}, {"radius", series.radius}, {"x", json::array()},
                {"y", json::array()}};
    const auto any = [&](auto has) { return std::ranges::any_of(series.dots, has); };
    const bool errors = any([](const Dot& dot) { return dot.error > 0; });
    const bool hints = any([](const Dot& dot) { return !dot.hint.empty(); });
    for (const Dot& dot : series.dots) {
      if (!std::isfinite(dot.x) || !std::isfinite(dot.y)) continue;
      one["x"].push_back(rounded(dot.x));
      one["y"].push_back(rounded(dot.y));
      if (errors) one["e"].push_back(std::isfinite(dot.error) ? rounded(dot.error) : 0.0);
      if (hints) one["hint"].push_back(dot.hint);
    }
    data["series"].push_back(std::move(one));
  }
  if (plot.y_most > 0) data["yMost"] = rounded(plot.y_most);
  for (const Band& band : plot.bands) {
    if (!std::isfinite(band.from) || !std::isfinite(band.to)) continue;
    data["bands"].push_back({rounded(band.from), rounded(band.to), band.colour});
  }
  return text(data);
}

std::string to_data(const BarChart& chart) {
  json data = {{"kind", "bars"},       {"title", chart.title},   {"description", chart.description},
               {"unit", chart.unit},   {"legend", chart.legend}, {"markName", chart.mark_name},
               {"bars", json::array()}};
  for (const Bar& bar : chart.bars) {
    json one = {{"name", bar.name}, {"parts", json::array()}};
    if (!bar.hint.empty() && bar.hint != bar.name) one["hint"] = bar.hint;
    for (std::size_t part = 0; part < chart.legend.size(); ++part) {
      const double value = part < bar.parts.size() ? bar.parts[part] : 0;
      one["parts"].push_back(std::isfinite(value) && value > 0 ? rounded(value) : 0.0);
    }
    if (bar.interval && std::isfinite(bar.interval->first) && std::isfinite(bar.interval->second)) {
      one["interval"] = {rounded(bar.interval->first), rounded(bar.interval->second)};
    }
    if (bar.mark && std::isfinite(*bar.mark)) one["mark"] = rounded(*bar.mark);
    data["bars"].push_back(std::move(one));
  }
  return text(data);
}

}  // namespace ww::report
