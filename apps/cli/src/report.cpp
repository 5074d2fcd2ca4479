#include "ww/report/report.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "command.hpp"
#include "output.hpp"

namespace ww::cli {

void add_report(CLI::App& app, Outcome& outcome) {
  auto* command = app.add_subcommand("report", "Write one self-contained page from a run folder");
  struct Arguments {
    std::string folder;
    std::string out;
  };
  auto arguments = std::make_shared<Arguments>();
  command->add_option("folder", arguments->folder, "Folder that `wirewatt calibrate` filled")
      ->required();
  command->add_option("-o,--out", arguments->out, "The page (default: FOLDER/report.html)");
  command->footer("Example:\n  wirewatt report first-run -o first-run.html");
  command->callback([arguments, &outcome] {
    const std::filesystem::path folder = arguments->folder;
    const auto page =
        arguments->out.empty() ? folder / "report.html" : std::filesystem::path(arguments->out);
    if (const auto status = report::write_report(folder, page); !status) {
      outcome.exit_code = report_error(status.error());
      return;
    }
    fmt::print("{}\n", page.string());
  });
}

}  // namespace ww::cli
