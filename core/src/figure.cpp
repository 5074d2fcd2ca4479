#include "ww/core/figure.hpp"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

namespace ww {
namespace {

constexpr std::array kStatuses{
    RowStatus::ok,       RowStatus::not_identified, RowStatus::transferred, RowStatus::unavailable,
    RowStatus::rejected, RowStatus::misfit,         RowStatus::failed};

struct Scale {
  double above;
  double factor;
  const char* prefix;
};

// The prefix that a value is printed with.
Scale scale_of(double value) {
  static constexpr Scale kScales[] = {
      {1, 1, ""}, {1e-3, 1e3, "m"}, {1e-6, 1e6, "u"}, {1e-9, 1e9, "n"}, {0, 1e12, "p"}};
  for (const auto& scale : kScales) {
    if (std::abs(value) >= scale.above && value != 0) return scale;
  }
  return kScales[0];
}

// The prefix of an interval: that of its value, or of its upper end where that needs four figures.
Scale scale_of(const Interval& interval) {
  constexpr double kFourFigures = 999.5;
  const Scale scale = scale_of(interval.value);
  return interval.high * scale.factor < kFourFigures ? scale : scale_of(interval.high);
}

}  // namespace

std::string interval_text(const std::optional<Interval>& interval) {
  if (!interval) return "-";
  return fmt::format("{:.4g} ({:.4g}..{:.4g})", interval->value, interval->low, interval->high);
}

std::string interval_text(const std::optional<Interval>& interval,
                          const std::optional<double>& upper, const char* unit) {
  if (interval) {
    const Scale scale = scale_of(*interval);
    return fmt::format("{:.3g} {}{} ({:.3g}..{:.3g})", interval->value * scale.factor, scale.prefix,
                       unit, interval->low * scale.factor, interval->high * scale.factor);
  }
  if (upper) {
    const Scale scale = scale_of(*upper);
    return fmt::format("at most {:.3g} {}{}", *upper * scale.factor, scale.prefix, unit);
  }
  return "-";
}

nlohmann::json interval_json(const std::optional<Interval>& interval) {
  if (!interval) return {};
  return {{"value", interval->value}, {"low", interval->low}, {"high", interval->high}};
}

nlohmann::json or_null(const std::optional<double>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

std::string_view to_string(RowStatus status) {
  switch (status) {
    case RowStatus::ok: return "ok";
    case RowStatus::not_identified: return "not_identified";
    case RowStatus::transferred: return "transferred";
    case RowStatus::unavailable: return "unavailable";
    case RowStatus::rejected: return "rejected";
    case RowStatus::misfit: return "misfit";
    case RowStatus::failed: return "failed";
  }
  return "unknown";
}

std::optional<RowStatus> row_status_from_string(std::string_view text) {
  for (const RowStatus status : kStatuses) {
    if (to_string(status) == text) return status;
  }
  return std::nullopt;
}

std::optional<Interval> Figure::interval() const {
  if (!value || !low || !high) return std::nullopt;
  return Interval{*value, *low, *high};
}

Figure Figure::of(std::string name, const Interval& interval, std::string unit) {
  Figure figure;
  figure.name = std::move(name);
  figure.value = interval.value;
  figure.low = interval.low;
  figure.high = interval.high;
  figure.unit = std::move(unit);
  return figure;
}

void to_json(nlohmann::json& json, const Figure& figure) {
  json = {{"name", figure.name},        {"value", or_null(figure.value)},
          {"low", or_null(figure.low)}, {"high", or_null(figure.high)},
          {"unit", figure.unit},        {"status", to_string(figure.status)},
          {"reason", figure.reason},    {"device", figure.device}};
}

Figure figure_of(const nlohmann::json& json) {
  Figure figure;
  if (!json.is_object()) return figure;
  const auto number = [&json](const char* key) -> std::optional<double> {
    const auto found = json.find(key);
    return found != json.end() && found->is_number() ? std::optional(found->get<double>())
                                                     : std::nullopt;
  };
  const auto string = [&json](const char* key) {
    const auto found = json.find(key);
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  figure.name = string("name");
  figure.value = number("value");
  figure.low = number("low");
  figure.high = number("high");
  figure.unit = string("unit");
  figure.status = row_status_from_string(string("status"))
                      .value_or(figure.value ? RowStatus::ok : RowStatus::unavailable);
  figure.reason = string("reason");
  figure.device = string("device");
  return figure;
}

std::string text(const Figure& figure) {
  if (!figure.value) return fmt::format("{}: {}", to_string(figure.status), figure.reason);
  const auto interval = figure.interval();
  return fmt::format("{}{}{}",
                     interval ? interval_text(interval) : fmt::format("{:.4g}", *figure.value),
                     figure.unit.empty() ? "" : " ", figure.unit);
}

Figure in_picojoules(Figure figure) {
  constexpr double kPicojoules = 1e12;  // in a joule
  for (auto* number : {&figure.value, &figure.low, &figure.high}) {
    if (*number) **number *= kPicojoules;
  }
  figure.unit = "p" + figure.unit;
  return figure;
}

}  // namespace ww
