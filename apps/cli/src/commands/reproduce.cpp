// wirewatt reproduce: a paper's figures and tables beside ours.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "build_version.hpp"
#include "command.hpp"
#include "option.hpp"
#include "output.hpp"
#include "ww/study/reproduce.hpp"

namespace ww::cli {
namespace {

struct ReproduceArguments {
  study::ReproduceRequest request;
  bool json{};
};

int run(ReproduceArguments arguments) {
  study::ReproduceRequest& request = arguments.request;
  if (request.out.empty()) request.out = "reproduce-" + request.paper;
  request.build = build_version();
  if (request.size.empty()) request.size = request.quick ? "small" : "medium";
  const auto result = study::reproduce(request);
  if (!result) return report_error(result.error());
  if (arguments.json) {
    print_ordered_json(*result);
    return 0;
  }
  fmt::print("{}", study::reproduction_text(*result));
  fmt::print("ours: {}, not a measurement\n", (*result)["device"].get<std::string>());
  fmt::print("notes, plots, and where the paper disagrees with itself: {}/reproduction.html\n",
             request.out);
  return 0;
}

}  // namespace

void add_reproduce(CLI::App& app, Outcome& outcome) {
  auto* command =
      app.add_subcommand("reproduce", "Print a paper's figures and tables beside ours (virtual)");
  auto arguments = std::make_shared<ReproduceArguments>();
  command->add_option("paper", arguments->request.paper, "Which paper")
      ->required()
      ->check(CLI::IsMember(study::papers()));
  as_output_folder(command->add_option(
      "-o,--out", arguments->request.out,
      "Folder for calibration or runs, rows and page (default: reproduce-<paper>); what "
      "is in it is used"));
  command->add_flag("--quick", arguments->request.quick,
                    "Quick campaign or fewer ablations, small inputs");
  command
      ->add_option("--size", arguments->request.size,
                   "Inputs of the applications (default: small with --quick, else medium)")
      ->check(CLI::IsMember({"small", "medium", "paper", "suite"}));
  command
      ->add_option("--jobs", arguments->request.jobs,
                   "Runs of applications at once; each takes a core (default: 2)")
      ->check(CLI::Range(1, 256));
  command->add_flag("--json", arguments->json, "Machine-readable output on stdout");
  command->footer(
      "Examples:\n  wirewatt reproduce iiswc16 --quick\n  wirewatt reproduce dapper --quick "
      "--json\n  wirewatt reproduce gpuopt --quick");
  command->callback([arguments, &outcome] { outcome.exit_code = run(*arguments); });
}

}  // namespace ww::cli
