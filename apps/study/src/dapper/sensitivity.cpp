#include <fmt/format.h>

#include <algorithm>

#include "dapper/compare.hpp"

namespace ww::study::dapper {

PerApplication each(const DapperStudy& study, const std::vector<std::string>& variants,
                    const std::function<double(const DapperRuns&)>& value) {
  PerApplication values;
  for (const char* application : kDapperApplications) {
    DapperRuns runs;
    for (const auto& variant : variants) runs.push_back(study.find(application, variant));
    if (std::ranges::any_of(runs, [](const auto* run) { return run == nullptr; })) continue;
    values[application] = value(runs);
  }
  return values;
}

double mean(const PerApplication& values) {
  double sum = 0;
  for (const auto& [name, value] : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

std::pair<std::string, double> most(const PerApplication& values) {
  return *std::ranges::max_element(values, {}, [](const auto& one) { return one.second; });
}

double above(double base, double value) {
  return base > 0 ? 100 * (value / base - 1) : 0;
}

PerApplication percent_more(const DapperStudy& study, const std::string& base,
                            const std::string& variant, double DapperRun::*figure) {
  return each(study, {base, variant},
              [&](const auto& runs) { return above(runs[0]->*figure, runs[1]->*figure); });
}

std::string list(const PerApplication& values) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : values) parts.push_back(fmt::format("{} {:.3g}", name, value));
  return fmt::format("{}", fmt::join(parts, ", "));
}

double needed_flits(const DapperRuns& runs) {
  return runs[1]->reply_flits / std::max(runs[0]->network_cycles, 1.0);
}

namespace {

constexpr double kNoLonger = 2;  // percent that counts as the paper's "about 1"

// One run beside its baseline.
struct Point {
  double needed{};
  double longer{};  // percent
  double saved{};   // percent of the network's energy
  std::string where;
};

std::vector<Point> points_of(const DapperStudy& study, const std::string& base,
                             const std::string& variant) {
  std::vector<Point> points;
  for (const char* application : kDapperApplications) {
    const DapperRun* without = study.find(application, base);
    const DapperRun* with = study.find(application, variant);
    if (without == nullptr || with == nullptr) continue;
    points.push_back({needed_flits({without, with}), above(without->cycles, with->cycles),
                      -above(without->energy_pj, with->energy_pj),
                      fmt::format("{} on {}", application, variant)});
  }
  return points;
}

// The highest load of a run that is no longer than the baseline's, and the lowest of one that is.
void add_load(Reproduction& out, const DapperStudy& study) {
  std::vector<Point> points = points_of(study, "baseline", "dapper");
  for (const DapperVariant& variant : dapper_variants(true)) {
    if (variant.what.empty()) continue;
    for (Point& point : points_of(study, variant.against, variant.name)) {
      points.push_back(std::move(point));
    }
  }
  if (points.empty()) return;
  std::ranges::sort(points, {}, &Point::needed);
  const auto as_text = [](const Point& point) {
    return fmt::format("{:.2f}: {:+.1f}% time, {:.0f}% energy saved ({})", point.needed,
                       point.longer, point.saved, point.where);
  };
  std::vector<std::string> all;
  const Point* carried = nullptr;
  bool above_one_is_longer = true;
  for (const Point& point : points) {
    all.push_back(as_text(point));
    if (point.longer <= kNoLonger) carried = &point;
    if (point.needed > 1 && point.longer <= kNoLonger) above_one_is_longer = false;
  }
  out.add(
      {"Sec. IV", "64-bit reply flits a cycle of a baseline whose run Dapper makes no longer",
       nullptr, carried == nullptr ? nlohmann::json(nullptr) : nlohmann::json(carried->needed), "",
       kOurs,
       fmt::format("highest load with at most {}% more time; {}. All runs by load: {}", kNoLonger,
                   above_one_is_longer
                       ? "no run whose baseline delivers more than one flit a cycle is among "
                         "them, so the paper's 1% asks for such loads"
                       : "some baselines deliver more than one flit a cycle",
                   fmt::join(all, "; "))});
}

}  // namespace

void add_dapper_sensitivity(Reproduction& out, const DapperStudy& study) {
  add_load(out, study);
  for (const DapperVariant& variant : dapper_variants(false)) {
    if (variant.what.empty()) continue;
    const auto longer = percent_more(study, variant.against, variant.name, &DapperRun::cycles);
    if (longer.empty()) continue;
    const auto more = percent_more(study, variant.against, variant.name, &DapperRun::energy_pj);
    const auto needed = each(study, {variant.against, variant.name}, needed_flits);
    const auto latency = [&](double DapperRun::*requests, double DapperRun::*replies) {
      return mean(each(study, {variant.against, variant.name}, [&](const auto& runs) {
        return above(runs[0]->*requests + runs[0]->*replies,
                     runs[1]->*requests + runs[1]->*replies);
      }));
    };
    out.add({"Sensitivity", variant.what + ": execution time, Dapper over baseline, mean", nullptr,
             mean(longer), "%", kOurs,
             fmt::format("both in the same system; ours: {}. 64-bit reply flits a cycle of the "
                         "baseline: {}. Network latency {:+.0f}%",
                         list(longer), list(needed),
                         latency(&DapperRun::request_latency, &DapperRun::reply_latency))});
    PerApplication saved;
    for (const auto& [name, value] : more) saved[name] = -value;
    out.add({"Sensitivity", variant.what + ": network energy that Dapper saves, mean", nullptr,
             mean(saved), "%", kOurs, list(saved)});
  }
}

}  // namespace ww::study::dapper
