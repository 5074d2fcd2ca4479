// Data to stdout, logs to stderr.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ww/core/figure.hpp"
#include "ww/core/result.hpp"

namespace ww::calibration {
struct Answer;
}

namespace ww::cli {

// One JSON document on stdout, with its keys in alphabetical order.
void print_json(const nlohmann::json& json);
// Prints one JSON document with the keys in its own order.
void print_ordered_json(const nlohmann::ordered_json& json);

// Columns padded to their widest cell; the first row is the heading. On a terminal the last column
// is as wide as there is room.
void print_table(const std::vector<std::vector<std::string>>& rows);

// The answer of a calibration: its document if `json`, else its lines and tables. Returns the exit
// code, after the reason of an answer without any figure.
int show(const calibration::Answer& answer, bool json);

// Logs the error and gives its exit code. A setting in it has the name of the command's option:
// "--link-mm: is below 0" for "link_length: link_length is below 0".
int report_error(const Error& error);
// Whether the command that runs has an option of that name, as "--link-mm".
using HasOption = std::function<bool(const std::string& name)>;
void name_options_in_errors(HasOption has_option);

}  // namespace ww::cli
