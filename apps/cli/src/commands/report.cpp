#include "ww/report/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "open_page.hpp"
#include "option.hpp"
#include "output.hpp"
#include "sweep/sweep_show.hpp"
#include "ww/core/log.hpp"

namespace ww::cli {
namespace {

namespace fs = std::filesystem;

struct ReportArguments {
  std::string run, other, out, figures;
  bool index{}, open{};
  report::SweepOptions sweep;
  bool json{};
};

fs::path page_of(const ReportArguments& arguments) {
  if (!arguments.out.empty()) return arguments.out;
  const fs::path run = arguments.run;
  if (arguments.index) return run / "index.html";
  if (!arguments.other.empty()) return "comparison.html";
  return fs::is_directory(run) ? run / "report.html" : fs::path(run.string() + ".html");
}

Status refuse_unread(const ReportArguments& arguments) {
  const auto refuse = [](const char* what, const char* option) {
    return fail(ErrorCode::invalid_argument, what, option);
  };
  if (arguments.index && !arguments.other.empty()) {
    return refuse("lists the runs of one folder; two runs are compared without it", "--index");
  }
  if (arguments.index && !arguments.sweep.empty()) {
    return refuse("does not go with --metric, --pareto, --over and --by", "--index");
  }
  if (!arguments.figures.empty() && !arguments.other.empty()) {
    return refuse("writes the charts of one run", "--figures");
  }
  return {};
}

int write_page(const ReportArguments& arguments) {
  if (const auto status = refuse_unread(arguments); !status) return report_error(status.error());
  const fs::path page = page_of(arguments);
  if (!arguments.index) {
    refresh_sweep(arguments.run);
    if (!arguments.other.empty()) refresh_sweep(arguments.other);
  }
  const auto status =
      arguments.index ? report::write_index(arguments.run, page)
      : arguments.other.empty()
          ? report::write_report(arguments.run, page, arguments.sweep)
          : report::write_comparison(arguments.run, arguments.other, page, arguments.sweep);
  if (!status) return report_error(status.error());
  if (arguments.json) {
    print_json({{"page", page.string()}});
  } else {
    fmt::print("{}\n", page.string());
  }
  return arguments.open ? open_page(page) : 0;
}

int write_pictures(const ReportArguments& arguments) {
  if (const auto status = refuse_unread(arguments); !status) return report_error(status.error());
  refresh_sweep(arguments.run);
  const auto files = report::write_figures(arguments.run, arguments.figures, arguments.sweep);
  if (!files) return report_error(files.error());
  if (std::ranges::none_of(*files,
                           [](const fs::path& file) { return file.extension() == ".png"; })) {
    log::info(
        "SVG alone: for PNG, too, install rsvg-convert (Debian, Ubuntu: librsvg2-bin; Fedora: "
        "librsvg2-tools), or use the PNG buttons of the page");
  }
  auto json = nlohmann::json::array();
  for (const fs::path& file : *files) {
    json.push_back(file.string());
    if (!arguments.json) fmt::print("{}\n", file.string());
  }
  if (arguments.json) print_json({{"figures", json}});
  return 0;
}

}  // namespace

void add_report(CLI::App& app, Outcome& outcome) {
  auto* command =
      app.add_subcommand("report", "Write one self-contained page about one or two runs");
  auto arguments = std::make_shared<ReportArguments>();
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
  auto* figures = as_output_folder(
      command->add_option("--figures", arguments->figures,
                          "Write every chart into this folder instead, as SVG and, where "
                          "rsvg-convert is installed, as PNG"));
  auto* index = command->add_flag("--index", arguments->index,
                                  "RUN is a folder of runs: list them and their differences");
  add_open_flag(*command, arguments->open)->excludes(figures);
  index->excludes(figures);
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
      "  wirewatt report first-run --figures pictures\n"
      "  wirewatt report --index . --open\n"
      "  wirewatt report mesh.sweep --over rate --by k -o mesh.html");
  command->callback([arguments, &outcome] {
    outcome.exit_code =
        !arguments->figures.empty() ? write_pictures(*arguments) : write_page(*arguments);
  });
}

}  // namespace ww::cli
