// Declares what the rows of GPUOPT's reproduction share: measures and comparisons.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "gpuopt/gpuopt.hpp"
#include "ww/core/figure.hpp"

namespace ww::study::gpuopt {

class Rows {
 public:
  Rows(Reproduction& out, const GpuoptStudy& study) : out_(out), study_(study) {}

  [[nodiscard]] const GpuoptRun* find(const std::string& application,
                                      const std::string& variant) const {
    const auto runs = study_.runs.find(application);
    if (runs == study_.runs.end()) return nullptr;
    const auto run = runs->second.find(variant);
    return run == runs->second.end() ? nullptr : &run->second;
  }

  // measure(of variant a, of variant b) for every application that has both.
  template <class Measure>
  [[nodiscard]] std::map<std::string, double> each(const std::string& a, const std::string& b,
                                                   const Measure& measure) const {
    std::map<std::string, double> values;
    for (const std::string& application : applications_) {
      const GpuoptRun* first = find(application, a);
      const GpuoptRun* second = find(application, b);
      if (first != nullptr && second != nullptr) {
        values[application] = measure(*first, *second);
      }
    }
    return values;
  }
  // How much faster a is than b.
  [[nodiscard]] std::map<std::string, double> speedup(const std::string& a,
                                                      const std::string& b) const {
    return each(a, b, [](const GpuoptRun& x, const GpuoptRun& y) { return y.cycles / x.cycles; });
  }

  // Removes applications whose run on PS_GPUOPT ends before a control that decides once an epoch
  // can show anything: an entry of its table needs seven epochs from end to end.
  [[nodiscard]] std::map<std::string, double> judged(std::map<std::string, double> values) const {
    constexpr double kFewestEpochs = 20;
    const double epoch = sim::net::PhotonicConfig{}.epoch;
    std::erase_if(values, [&](const auto& one) {
      const GpuoptRun* run = find(one.first, "ps");
      return run == nullptr || run->cycles < kFewestEpochs * epoch;
    });
    return values;
  }

  // A stated number and ours: within a fifth is a match.
  void number(const char* figure, std::string quantity, double paper,
              const std::optional<double>& ours, const char* unit, std::string note) {
    const bool near = ours && std::abs(*ours - paper) <= 0.2 * std::abs(paper);
    stated(figure, std::move(quantity), paper, near, ours, unit, std::move(note));
  }
  // A stated bound or range.
  void range(const char* figure, std::string quantity, const char* paper, double low, double high,
             const std::optional<double>& ours, const char* unit, std::string note) {
    const bool inside = ours && *ours >= low && *ours <= high;
    stated(figure, std::move(quantity), paper, inside, ours, unit, std::move(note));
  }
  // The last row holds, but not because of what it is about.
  void vacuous(const std::string& why) {
    ReproductionRow& row = out_.rows.back();
    if (row.status != kMatches) return;
    row.status = kVacuous;
    row.note = row.note.empty() ? why : why + "; " + row.note;
  }
  // A question of ours, beside what the paper states (or null) for its own system.
  void ours(const char* figure, std::string quantity, nlohmann::json paper,
            const std::optional<double>& value, const char* unit, std::string note) {
    if (!value) return;
    out_.add({figure, std::move(quantity), std::move(paper), *value, unit, kOurs, std::move(note)});
  }
  void chart(const char* title, const char* description, const char* unit,
             const std::map<std::string, double>& values) {
    nlohmann::json bars = nlohmann::json::array();
    for (const std::string& application : applications_) {
      if (const auto value = values.find(application); value != values.end()) {
        bars.push_back({{"name", application}, {"parts", {value->second}}});
      }
    }
    out_.charts.push_back({{"title", title},
                           {"description", description},
                           {"unit", unit},
                           {"legend", {"virtual"}},
                           {"bars", bars}});
  }
  Reproduction& out() { return out_; }

 private:
  void stated(const char* figure, std::string quantity, nlohmann::json paper, bool holds,
              const std::optional<double>& ours, const char* unit, std::string note) {
    if (!ours && study_.quick) return;
    if (!ours) note = "no application ran on all the networks that it compares";
    out_.add({figure, std::move(quantity), std::move(paper), or_null(ours), unit,
              ours ? matches_when(holds) : kUnavailable, std::move(note)});
  }

  Reproduction& out_;
  const GpuoptStudy& study_;
  std::vector<std::string> applications_{gpuopt_applications()};
};

using Values = std::map<std::string, double>;

inline std::optional<double> mean(const Values& values) {
  if (values.empty()) return std::nullopt;
  double sum = 0;
  for (const auto& [name, value] : values) sum += value;
  return sum / static_cast<double>(values.size());
}

inline std::optional<double> largest(const Values& values) {
  std::optional<double> most;
  for (const auto& [name, value] : values) most = std::max(most.value_or(value), value);
  return most;
}

inline Values only(const Values& values, std::initializer_list<const char*> names) {
  Values some;
  for (const char* name : names) {
    if (const auto found = values.find(name); found != values.end()) some.insert(*found);
  }
  return some;
}

// Lists the values in words: "bp 1.2, bfs 3.4".
inline std::string listed(const Values& values) {
  std::string text;
  for (const auto& [name, value] : values) {
    text += fmt::format("{}{} {:.3g}", text.empty() ? "" : ", ", name, value);
  }
  return text;
}

inline std::optional<double> percent_over_one(const std::optional<double>& ratio) {
  return ratio ? std::optional(100 * (*ratio - 1)) : std::nullopt;
}

inline constexpr std::initializer_list<const char*> kMemoryBound{"bfs", "hs3", "nn", "sc"};
inline constexpr std::initializer_list<const char*> kQuiet{"gs", "hs", "hys"};

inline double laser_power(const GpuoptRun& run) {
  return run.laser_pj / run.cycles;
}

inline double seconds(const GpuoptRun& run) {
  return run.cycles / 1.4e9;
}

// The parts of add_gpuopt_rows().
void add_tables(Rows& rows);        // Tables 1 to 4
void add_link_budgets(Rows& rows);  // lasers by what light passes
void add_ablations(Rows& rows);     // causes of the large differences
void add_design_space(Rows& rows);  // ED2 against performance

}  // namespace ww::study::gpuopt
