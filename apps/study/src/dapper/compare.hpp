// Figures of a Dapper study side by side: one for each application, and what is said of them.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "dapper/dapper.hpp"

namespace ww::study::dapper {

// A quantity of each application that has all the runs it needs.
using PerApplication = std::map<std::string, double>;
using DapperRuns = std::vector<const DapperRun*>;

[[nodiscard]] PerApplication each(const DapperStudy& study,
                                  const std::vector<std::string>& variants,
                                  const std::function<double(const DapperRuns&)>& value);
[[nodiscard]] double mean(const PerApplication& values);
// The application with the largest value; `values` is not empty.
[[nodiscard]] std::pair<std::string, double> most(const PerApplication& values);
// Percent by which `value` is above `base`.
[[nodiscard]] double above(double base, double value);
// Percent by which a figure of each application's run with `variant` is above that with `base`.
[[nodiscard]] PerApplication percent_more(const DapperStudy& study, const std::string& base,
                                          const std::string& variant, double DapperRun::*figure);
// "dct 1.2, hist 3"
[[nodiscard]] std::string list(const PerApplication& values);
// 64-bit flits of the second run's replies in each network cycle of the first's: what a network
// of 64 bits would have to deliver to take no longer. Dapper's circuits carry one at most.
[[nodiscard]] double needed_flits(const DapperRuns& runs);

// The paper's figures by its other readings, and what its bypass router costs.
void add_dapper_readings(Reproduction& out, const DapperStudy& study);

// Dapper in systems that are not the paper's, each beside a baseline in the same system, and the
// load that its circuits carry without making the run longer.
void add_dapper_sensitivity(Reproduction& out, const DapperStudy& study);

}  // namespace ww::study::dapper
