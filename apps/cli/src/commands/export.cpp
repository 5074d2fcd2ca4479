#include "ww/sim/power/export.hpp"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "anyway.hpp"
#include "command.hpp"
#include "output.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/json_reader.hpp"
#include "ww/core/log.hpp"
#include "ww/core/named_file.hpp"
#include "ww/model/crossing_use.hpp"

namespace ww::cli {
namespace {

struct ExportArguments {
  std::string target, model, output, base;
  std::string estimator{"dsent"};
  bool anyway{};
  bool json{};
  std::optional<double> node_nm, link_mm, pj_per_access;
  double clock_hz{1e9};
  sim::power::ExportConfig config;
};

// The calibration, of wires or of crossings.
Result<sim::power::LinkConstant> read_link(const ExportArguments& arguments, std::string& misfit) {
  if (model::is_crossing_model(arguments.model)) {
    WW_ASSIGN(crossing, model::load_crossing_model(arguments.model));
    sim::power::CrossingEnergy energy;
    energy.random_pj = {crossing.random_pj.value, crossing.random_pj.low, crossing.random_pj.high};
    energy.source = crossing.source;
    energy.is_virtual = crossing.is_virtual;
    return sim::power::link_constant(energy);
  }
  WW_ASSIGN(reason, model::admit_model_file(arguments.model, flagged_model(arguments.anyway)));
  misfit = std::move(reason);
  WW_ASSIGN(file, model_file(arguments.model));
  WW_ASSIGN(text, read_file(file));
  WW_ASSIGN(model, parse_json(text, file.string()));
  return sim::power::link_constant(model, arguments.node_nm);
}

Result<sim::power::ExportedFile> export_model(const ExportArguments& arguments) {
  using sim::power::ExportTarget;
  sim::power::ExportConfig config = arguments.config;
  WW_ASSIGN(target, sim::power::export_target_from_string(arguments.target));
  config.target = target;
  WW_ASSIGN(estimator, sim::power::estimator_from_string(arguments.estimator));
  config.estimator = estimator;
  WW_ASSIGN(link, read_link(arguments, config.misfit));
  config.link = std::move(link);
  constexpr double kRouterNode = 22;
  config.node_nm =
      arguments.node_nm.value_or(config.link.node_nm > 0 ? config.link.node_nm : kRouterNode);
  config.clock = Hertz(arguments.clock_hz);
  const bool whole_network = target == ExportTarget::accelwattch || target == ExportTarget::mcpat;
  config.link_length = Millimetre(
      arguments.link_mm.value_or(whole_network ? config.link.reach_mm.value_or(1.0) : 1.0));
  config.pj_per_access = arguments.pj_per_access;
  if (!arguments.base.empty()) {
    WW_ASSIGN(base, read_file(arguments.base));
    config.base = std::move(base);
  }
  WW_ASSIGN(file, sim::power::export_file(config));
  WW_TRY(write_file_atomically(arguments.output, file.text));
  return file;
}

void print_constants(const ExportArguments& arguments, const sim::power::ExportedFile& file) {
  std::vector<std::vector<std::string>> rows{{"CONSTANT", "VALUE", "95%", "UNIT", "LABEL"}};
  for (const auto& constant : file.constants) {
    rows.push_back({constant.name, fmt::format("{:.5g}", constant.value),
                    constant.low && constant.high
                        ? fmt::format("{:.5g} to {:.5g}", *constant.low, *constant.high)
                        : "-",
                    constant.unit, constant.label});
  }
  print_table(rows);
  fmt::print("written to {}\n", arguments.output);
}

}  // namespace

void add_export(CLI::App& app, Outcome& outcome) {
  auto* command = app.add_subcommand(
      "export", "Write a calibration's constants as an input file of another simulator");
  auto arguments = std::make_shared<ExportArguments>();
  command
      ->add_option("--to", arguments->target,
                   "accelwattch, gem5, mcpat, noxim, booksim or rapidchiplet")
      ->required();
  command
      ->add_option("--model", arguments->model,
                   "A calibration: model.json, crossing.json, or its folder")
      ->required();
  add_anyway_option(*command, arguments->anyway);
  command->add_option("-o,--output", arguments->output, "The file to write")->required();
  command->add_option("--link-mm", arguments->link_mm,
                      "Length of a link (default: 1; accelwattch, mcpat: the mean distance from "
                      "engines to the L2)");
  command->add_option("--node-nm", arguments->node_nm,
                      "Technology node of wires and routers (default: the chip's, unscaled)");
  command
      ->add_option("--estimator", arguments->estimator,
                   "Router energies: dsent, dsent-gem5, orion2, mcpat, mcpat-noc")
      ->capture_default_str();
  auto& router = arguments->config.router;
  command->add_option("--flit-bits", router.flit_bits, "Bits of a flit")->capture_default_str();
  command->add_option("--ports", router.ports, "Ports of a router")->capture_default_str();
  command->add_option("--vcs", router.vcs, "Virtual channels of a port")->capture_default_str();
  command->add_option("--vc-buffer", router.vc_buffer, "Flits of a virtual channel")
      ->capture_default_str();
  command->add_option("--clock-hz", arguments->clock_hz, "Clock of the network")
      ->capture_default_str();
  command
      ->add_option("--load", arguments->config.load,
                   "rapidchiplet: share of the cycles in which a link carries a flit")
      ->capture_default_str();
  command->add_option("--base", arguments->base,
                      "Configuration to write a copy of (accelwattch, mcpat: needed; "
                      "rapidchiplet: a packaging)");
  command->add_option("--pj-per-access", arguments->pj_per_access,
                      "accelwattch, mcpat (else not used): what the target charges for an "
                      "access to its network with that configuration [pJ]");
  command->add_flag("--json", arguments->json, "Machine-readable output on stdout");
  command->footer(
      "Example:\n"
      "  wirewatt export --to noxim --model first-run/model.json -o power.yaml\n"
      "  wirewatt export --to booksim --model first-run --link-mm 2 -o wires.tech");
  command->callback([arguments, &outcome] {
    const auto file = export_model(*arguments);
    if (!file) {
      outcome.exit_code = report_error(file.error());
      return;
    }
    if (arguments->json) {
      print_json(
          {{"to", arguments->target}, {"file", arguments->output}, {"constants", file->constants}});
      return;
    }
    print_constants(*arguments, *file);
  });
}

}  // namespace ww::cli
