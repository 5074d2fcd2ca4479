// Values of JSON objects that may lack them, and figures as pages print them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace ww::report {

// A number of an object, NaN where it is absent or null.
[[nodiscard]] double number_of(const nlohmann::json& object, const char* key);
// A text of an object, empty where it is absent or no text.
[[nodiscard]] std::string text_of(const nlohmann::json& object, const char* key);
// A list of an object, an empty one where it is absent or no list.
[[nodiscard]] const nlohmann::json& list_of(const nlohmann::json& object, const char* key);
// An object of an object, an empty one where it is absent or no object.
[[nodiscard]] const nlohmann::json& object_of(const nlohmann::json& parent, const char* key);

// The unit of a model's distances: "mm", or "ns" where they are times of flight.
[[nodiscard]] std::string distance_unit(const nlohmann::json& model);
// A key of a model that ends in that unit: "near" is "near_mm" or "near_ns".
[[nodiscard]] std::string in_unit(const nlohmann::json& model, const char* name);

// Why the calibration of a model, or the one behind a run's figures, is flagged as a misfit; empty
// where it is not.
[[nodiscard]] std::string misfit_of(const nlohmann::json& content);

// The unit in which energies of this size are easy to read: joules times `times`.
struct Scale {
  double times;
  const char* unit;
};
[[nodiscard]] Scale scale_for(double joules);

// "3.142", or a dash where it is not finite.
[[nodiscard]] std::string figure_text(double value, int digits = 4);
// "2.9..3.3", or a dash; intervals look as in the terminal (ww/core/figure.hpp).
[[nodiscard]] std::string interval_text(double low, double high);
// A text as it is, a number in four digits, else a dash.
[[nodiscard]] std::string cell_text(const nlohmann::json& value);
// {value, low, high}, each times `scale`, as "3.1 (2.9..3.3)"; a dash for anything else.
[[nodiscard]] std::string interval_cell(const nlohmann::json& value, double scale = 1);
// "98.1 uJ (6.57..391)", as the terminal has it; a dash for anything but {value, low, high}.
[[nodiscard]] std::string prefixed_interval(const nlohmann::json& value, const char* unit);

}  // namespace ww::report
