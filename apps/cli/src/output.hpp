// Data to stdout, logs to stderr.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/model/interval.hpp"

namespace ww::cli {

// One JSON document on stdout, with its keys in alphabetical order.
void print_json(const nlohmann::json& json);
// The same with the keys in the document's own order.
void print_ordered_json(const nlohmann::ordered_json& json);

// Columns padded to their widest cell; the first row is the heading.
void print_table(const std::vector<std::vector<std::string>>& rows);

// "4.2 mJ (4..4.4)" with the prefix that fits the value; without an interval "at most ..." of the
// bound; "-" without either.
[[nodiscard]] std::string interval_text(const std::optional<model::Interval>& interval,
                                        const std::optional<double>& upper, const char* unit);

// {value, low, high}; null where it is absent.
[[nodiscard]] nlohmann::json interval_json(const std::optional<model::Interval>& interval);

// Logs the error and gives its exit code.
int report_error(const Error& error);

}  // namespace ww::cli
