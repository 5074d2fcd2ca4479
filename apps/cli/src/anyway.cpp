#include "anyway.hpp"

#include <fmt/format.h>

namespace ww::cli {

CLI::Option* add_anyway_option(CLI::App& command, bool& anyway) {
  return command.add_flag(
      "--anyway", anyway,
      "Use a model that is flagged as a misfit, or crossings of another part, and "
      "mark every figure");
}

void print_misfit(const std::string& reason) {
  if (!reason.empty()) {
    fmt::print("MISFIT: rely on no figure that is marked so; its calibration is flagged: {}\n",
               reason);
  }
}

}  // namespace ww::cli
