// wirewatt manual and wirewatt completion: what packages install.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "command.hpp"
#include "help/description.hpp"
#include "option.hpp"
#include "output.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/file_system.hpp"

namespace ww::cli {
namespace {

namespace fs = std::filesystem;

Status write_all(const CLI::App& app, const fs::path& folder) {
  WW_TRY(make_folder(folder / "man1"));
  const auto program = describe_program(app);
  const auto commands = describe_commands(app, Hidden::left_out);
  // Pages name the release, not the commit: the same sources give the same page.
  WW_TRY(write_file_atomically(folder / "man1" / "wirewatt.1",
                               program_manual(program, commands, WW_VERSION)));
  for (const auto& command : commands) {
    std::string name = command.name;
    std::ranges::replace(name, ' ', '-');
    WW_TRY(write_file_atomically(folder / "man1" / ("wirewatt-" + name + ".1"),
                                 manual_page(command, WW_VERSION)));
  }
  for (const auto& [shell, file] :
       {std::pair{Shell::bash, "wirewatt.bash"}, std::pair{Shell::zsh, "_wirewatt"},
        std::pair{Shell::fish, "wirewatt.fish"}}) {
    WW_TRY(write_file_atomically(folder / file, completion(shell, program, commands)));
  }
  return {};
}

}  // namespace

void add_manual(CLI::App& app, Outcome& outcome) {
  auto* command = app.add_subcommand("manual", "Write manual pages and shell completions as files");
  auto folder = std::make_shared<std::string>("manual");
  as_output_folder(command->add_option("-o,--out", *folder, "Folder for man1/ and the completions"))
      ->capture_default_str();
  command->footer(
      "Example:\n  wirewatt manual --out build/manual && man build/manual/man1/wirewatt.1");
  command->callback([folder, &app, &outcome] {
    if (const auto status = write_all(app, *folder); !status) {
      outcome.exit_code = report_error(status.error());
    }
  });
}

void add_completion(CLI::App& app, Outcome& outcome) {
  auto* command = app.add_subcommand("completion", "Print completions for a shell");
  auto shell = std::make_shared<std::string>();
  command->add_option("shell", *shell, "Which shell")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->footer("Example:\n  source <(wirewatt completion bash)");
  command->callback([shell, &app, &outcome] {
    const auto which = *shell == "bash" ? Shell::bash : *shell == "zsh" ? Shell::zsh : Shell::fish;
    fmt::print("{}",
               completion(which, describe_program(app), describe_commands(app, Hidden::left_out)));
    outcome.exit_code = 0;
  });
}

}  // namespace ww::cli
