// wirewatt score: a fit beside the sealed truth of its virtual chip.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "commands/score_estimate.hpp"
#include "output.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/log.hpp"
#include "ww/score/score.hpp"

namespace ww::cli {
namespace {

// The folder, where one of its files is given.
std::string folder_of(const std::string& path) {
  std::error_code ec;
  if (!std::filesystem::is_regular_file(path, ec)) return path;
  return std::filesystem::absolute(path).parent_path().string();
}

int run(const std::string& folder, bool json) {
  const auto answer = score::score_folder(folder);
  if (!answer) return report_error(answer.error());
  const auto kept = write_file_atomically(std::filesystem::path(folder) / "score.json",
                                          answer->json.dump(2) + "\n");
  const int code = show(*answer, json);
  if (kept) return code;
  if (kept.error().code != ErrorCode::permission_denied) return report_error(kept.error());
  // A calibration that many share is often read alone.
  log::warn("score.json is not kept: {}", kept.error().text());
  return code;
}

int run_program(const std::string& folder, const std::vector<std::string>& command, bool json) {
  const auto scored = [&]() -> Result<calibration::Answer> {
    WW_ASSIGN(device, score::chip_of_campaign(folder));
    return score_estimate((std::filesystem::path(folder) / "model.json").string(), device, command);
  }();
  return scored ? show(*scored, json) : report_error(scored.error());
}

}  // namespace

void add_score(CLI::App& app, Outcome& outcome) {
  auto* command =
      app.add_subcommand("score", "Compare a fit with the sealed truth (virtual devices only)");
  struct Arguments {
    std::string folder;
    std::vector<std::string> command;
    bool json{};
  };
  auto arguments = std::make_shared<Arguments>();
  command
      ->add_option(
          "folder", arguments->folder,
          "Folder that `wirewatt calibrate`, `wirewatt ladder`, `wirewatt segments` or `wirewatt "
          "attribute --record` filled, or a file in it")
      ->required();
  command->add_flag("--json", arguments->json, "Machine-readable output on stdout");
  command->add_option("command", arguments->command,
                      "A program, after --: its estimated wire energy beside the truth");
  command->footer(
      "Examples:\n  wirewatt score first-run --json\n"
      "  wirewatt score first-run -- wirewatt workloads run nn\n"
      "  wirewatt score ladder\n"
      "  wirewatt score segments");
  command->callback([arguments, &outcome] {
    const std::string folder = folder_of(arguments->folder);
    outcome.exit_code = arguments->command.empty()
                            ? run(folder, arguments->json)
                            : run_program(folder, arguments->command, arguments->json);
  });
}

}  // namespace ww::cli
