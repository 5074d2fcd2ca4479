#include "anyway.hpp"

#include <fmt/format.h>

namespace ww::cli {

CLI::Option* add_anyway_option(CLI::App& command, bool& anyway, const std::string& also) {
  return command.add_flag(
      "--anyway", anyway,
      fmt::format("Use a model that is flagged as a misfit{}, and mark every figure", also));
}

void print_misfit(const std::string& reason) {
  if (!reason.empty()) {
    fmt::print("MISFIT: rely on no figure that is marked so; its calibration is flagged: {}\n",
               reason);
  }
}

}  // namespace ww::cli
