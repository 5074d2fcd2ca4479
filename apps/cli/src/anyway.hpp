// --anyway: commands that take a calibration refuse a flagged one, unless the user asks for its
// figures with their marks.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "ww/calibration/kinds.hpp"

namespace ww::cli {

// The option is the same in every command that reads a model. `also`: what else the command uses
// then, ", or crossings of another part".
CLI::Option* add_anyway_option(CLI::App& command, bool& anyway, const std::string& also = {});
inline constexpr const char* kAlsoOtherParts = ", or crossings of another part";

[[nodiscard]] inline calibration::Admission admission(bool anyway) {
  return anyway ? calibration::Admission::mark_flagged : calibration::Admission::refuse_flagged;
}

// The line that stands with marked figures; nothing where `reason` is empty.
void print_misfit(const std::string& reason);

}  // namespace ww::cli
