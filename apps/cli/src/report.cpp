#include "ww/report/report.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "output.hpp"

namespace ww::cli {

void add_report(CLI::App& app, Outcome& outcome) {
  auto* command =
      app.add_subcommand("report", "Write one self-contained page about one or two runs");
  struct Arguments {
    std::string run, other, out;
    bool json{};
  };
  auto arguments = std::make_shared<Arguments>();
  command
      ->add_option("run", arguments->run,
                   "Folder of `calibrate` or `reproduce`, folder of simulations, or one JSON file "
                   "that a command printed")
      ->required();
  command->add_option("other", arguments->other, "Another run of the same kind, to compare");
  command->add_option("-o,--out", arguments->out,
                      "The page (default: RUN/report.html, beside a file RUN.html; of two "
                      "comparison.html)");
  command->add_flag("--json", arguments->json, "Machine-readable output on stdout");
  command->footer(
      "Examples:\n"
      "  wirewatt report first-run -o first-run.html\n"
      "  wirewatt report first-run second-run -o both.html");
  command->callback([arguments, &outcome] {
    const std::filesystem::path run = arguments->run;
    std::filesystem::path page = arguments->out;
    if (page.empty()) {
      page = !arguments->other.empty()            ? "comparison.html"
             : std::filesystem::is_directory(run) ? run / "report.html"
                                                  : std::filesystem::path(run.string() + ".html");
    }
    const auto status = arguments->other.empty()
                            ? report::write_report(run, page)
                            : report::write_comparison(run, arguments->other, page);
    if (!status) {
      outcome.exit_code = report_error(status.error());
      return;
    }
    if (arguments->json) {
      print_json({{"page", page.string()}});
    } else {
      fmt::print("{}\n", page.string());
    }
  });
}

}  // namespace ww::cli
