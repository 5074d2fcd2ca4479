#include "ww/report/report.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "option.hpp"
#include "output.hpp"
#include "sweep/sweep_show.hpp"

namespace ww::cli {

void add_report(CLI::App& app, Outcome& outcome) {
  auto* command =
      app.add_subcommand("report", "Write one self-contained page about one or two runs");
  struct Arguments {
    std::string run, other, out;
    report::SweepOptions sweep;
    bool json{};
  };
  auto arguments = std::make_shared<Arguments>();
  command
      ->add_option(
          "run", arguments->run,
          "Folder of `calibrate`, `reproduce` or `sweep`, folder of simulations, or one JSON file "
          "that a command printed")
      ->required();
  command->add_option("other", arguments->other, "Another run of the same kind, to compare");
  as_output_file(
      command->add_option("-o,--out", arguments->out,
                          "The page (default: RUN/report.html, beside a file RUN.html; of two "
                          "comparison.html)"));
  command->add_option("--metric", arguments->sweep.metrics,
                      "Sweep: a number of the results, such as energy_pj.total; may be repeated");
  command->add_option("--pareto", arguments->sweep.pareto,
                      "Sweep: draw the Pareto front of min:METRIC,max:METRIC,...");
  command->add_option("--over", arguments->sweep.over, "Sweep: the axis along the curves");
  command->add_option("--by", arguments->sweep.by, "Sweep: the axis with one curve for each value");
  command->add_flag("--json", arguments->json, "Machine-readable output on stdout");
  command->footer(
      "Examples:\n"
      "  wirewatt report first-run -o first-run.html\n"
      "  wirewatt report first-run second-run -o both.html\n"
      "  wirewatt report mesh.sweep --over rate --by k -o mesh.html");
  command->callback([arguments, &outcome] {
    const std::filesystem::path run = arguments->run;
    std::filesystem::path page = arguments->out;
    if (page.empty()) {
      page = !arguments->other.empty()            ? "comparison.html"
             : std::filesystem::is_directory(run) ? run / "report.html"
                                                  : std::filesystem::path(run.string() + ".html");
    }
    refresh_sweep(run);
    if (!arguments->other.empty()) refresh_sweep(arguments->other);
    const auto status = arguments->other.empty() ? report::write_report(run, page, arguments->sweep)
                                                 : report::write_comparison(run, arguments->other,
                                                                            page, arguments->sweep);
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
