// Data to stdout, logs to stderr.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "ww/core/result.hpp"

namespace ww::cli {

// One JSON document on stdout.
void print_json(const nlohmann::json& json);

// Columns padded to their widest cell; the first row is the heading.
void print_table(const std::vector<std::vector<std::string>>& rows);

// Logs the error and gives its exit code.
int report_error(const Error& error);

}  // namespace ww::cli
