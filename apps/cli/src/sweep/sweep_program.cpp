#include "sweep/sweep_program.hpp"

#include <fmt/format.h>

#include "program/program.hpp"
#include "ww/core/process.hpp"

namespace ww::cli {

Result<sweep::Program> swept_program() {
  namespace fs = std::filesystem;
  std::error_code ec;
  sweep::Program program;
  WW_ASSIGN(executable, own_program());
  program.executable = executable;
  std::vector<fs::path> files{program.executable};
  const auto bin = program.executable.parent_path();
  for (const auto& part : {bin / ".." / "lib" / "libwirewatt_vgpu.so",
                           bin / ".." / "libexec" / "wirewatt" / "wirewatt-compile-worker"}) {
    if (fs::exists(part, ec)) files.push_back(part);
  }
  WW_ASSIGN(hash, sweep::hash_files(files));
  program.hash = hash;
  program.run = run_command_line;
  program.check = check_command_line;
  program.input_files = input_files_of;
  return program;
}

std::string failures_text(const sweep::StatusCounts& counts) {
  std::string text;
  for (const auto& [status, count] : counts.of) {
    if (status == sweep::PointStatus::ok) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, sweep::to_string(status));
  }
  return text;
}

}  // namespace ww::cli
