#include "ww/sim/power/export.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

#include "anyway.hpp"
#include "card_node.hpp"
#include "command.hpp"
#include "estimate/calibrated_part.hpp"
#include "option.hpp"
#include "output.hpp"
#include "ww/calibration/kinds.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/campaign_store.hpp"
#include "ww/core/log.hpp"
#include "ww/session/likwid_group.hpp"
#include "ww/tables/campaign_csv.hpp"

namespace ww::cli {
namespace {

struct ExportArguments {
  std::string target, campaign, model, card_node, output, base;
  std::string architecture;  // likwid: where the calibration does not name it
  std::string estimator{"dsent"};
  bool anyway{};
  bool json{};
  std::optional<double> node_nm, link_mm, pj_per_access;
  double clock_hz{1e9};
  sim::power::ExportConfig config;
  std::function<bool(const std::string& option)> is_given;
};

using sim::power::ExportTarget;

// Options that change the file for a target.
struct OptionUse {
  const char* option;
  std::vector<ExportTarget> wires;      // from a calibration of wires
  std::vector<ExportTarget> crossings;  // from one of crossings, which have neither length nor node
};

const std::vector<OptionUse>& option_uses() {
  using enum ExportTarget;
  const std::vector<ExportTarget> with_routers{accelwattch, gem5, mcpat, noxim};
  const auto both = [](const char* option, const std::vector<ExportTarget>& targets) {
    return OptionUse{option, targets, targets};
  };
  static const std::vector<OptionUse> uses{
      {"--link-mm", {accelwattch, gem5, mcpat, noxim, booksim}, {noxim, booksim}},
      {"--node", {accelwattch, gem5, mcpat, noxim, booksim, rapidchiplet}, with_routers},
      both("--estimator", with_routers),
      both("--flit-bits", {accelwattch, gem5, mcpat, noxim, rapidchiplet}),
      both("--ports", {accelwattch, gem5, mcpat}),  // those of Noxim have five
      both("--vcs", with_routers),
      both("--vc-buffer", with_routers),
      both("--clock", {gem5, rapidchiplet}),
      both("--link-load", {rapidchiplet}),
      both("--base", {accelwattch, mcpat, rapidchiplet}),
      both("--pj-per-access", {accelwattch, mcpat})};
  return uses;
}

// Options that the target's file would not show.
Status check_options(const ExportArguments& arguments, ExportTarget target, bool of_wires) {
  for (const OptionUse& use : option_uses()) {
    if (!arguments.is_given(use.option)) continue;
    const auto has = [&](const std::vector<ExportTarget>& targets) {
      return std::ranges::find(targets, target) != targets.end();
    };
    if (has(of_wires ? use.wires : use.crossings)) continue;
    if (has(use.wires)) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("changes nothing for {} with a calibration of crossings, which cost "
                              "the same at every length and node",
                              arguments.target),
                  use.option);
    }
    std::vector<std::string_view> names;
    for (const auto one : use.wires) names.push_back(to_string(one));
    return fail(ErrorCode::invalid_argument,
                fmt::format("changes nothing in a file for {}; it is for {}", arguments.target,
                            fmt::join(names, ", ")),
                use.option);
  }
  const bool has_routers = target != ExportTarget::booksim && target != ExportTarget::rapidchiplet;
  if (!arguments.card_node.empty() && !arguments.node_nm && !has_routers) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("is the node to scale from: for {} it needs the node to scale to "
                            "(--node)",
                            arguments.target),
                "--card-node");
  }
  return {};
}

// A table of what was recorded has none of the constants that the other options are about.
Status check_table_options(const ExportArguments& arguments) {
  const auto refuse = [&](const char* option) {
    return fail(ErrorCode::invalid_argument,
                "is for constants that come out of a model, not for tables", option);
  };
  for (const OptionUse& use : option_uses()) {
    if (arguments.is_given(use.option)) return refuse(use.option);
  }
  for (const char* option : {"--card-node", "--anyway"}) {
    if (arguments.is_given(option)) return refuse(option);
  }
  return {};
}

constexpr const char* kLiterature = "literature";  // label of what no calibration gave

Result<sim::power::LinkConstant> read_link(const ExportArguments& arguments, std::string& misfit) {
  WW_ASSIGN(calibration, calibration::load(arguments.model, admission(arguments.anyway)));
  const calibration::Provenance& of = calibration->provenance();
  misfit = of.misfit;
  if (calibration->wires() != nullptr) {
    WW_ASSIGN(card_node_nm, node_of_card(arguments.card_node, of.device, of.target));
    return sim::power::link_constant(calibration->document(), card_node_nm, arguments.node_nm);
  }
  WW_ASSIGN(links, calibration->link_constants());
  if (!links.pj_per_crossing) {
    return fail(ErrorCode::unsupported,
                fmt::format("{} has no energy of a link: a network needs the wires of one die",
                            calibration->title()),
                arguments.model);
  }
  if (!arguments.card_node.empty()) {
    return fail(ErrorCode::invalid_argument,
                "says nothing of a calibration of crossings, whose energies are not scaled",
                "--card-node");
  }
  const Interval& pj = links.pj_per_crossing->random;
  return sim::power::link_constant(sim::power::CrossingEnergy{
      {pj.value, pj.low, pj.high}, std::nullopt, of.source, of.is_virtual});
}

// `misfit`: why the calibration is flagged; empty where it is not.
Result<sim::power::ExportedFile> export_model(const ExportArguments& arguments,
                                              std::string& misfit) {
  sim::power::ExportConfig config = arguments.config;
  WW_ASSIGN(target, sim::power::export_target_from_string(arguments.target));
  config.target = target;
  WW_ASSIGN(estimator, sim::power::estimator_from_string(arguments.estimator));
  config.estimator = estimator;
  WW_ASSIGN(link, read_link(arguments, config.misfit));
  config.link = std::move(link);
  misfit = config.misfit;
  WW_TRY(check_options(arguments, target, config.link.per_mm));
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
  auto file = sim::power::export_file(config);
  if (!file) {
    Error error = std::move(file).error();
    if (error.context == "node" && !arguments.node_nm) {
      error.message +=
          "; --node gives a node that it has, and scales wires from the card's to that";
    }
    return tl::unexpected<Error>(std::move(error));
  }
  WW_TRY(write_file_atomically(arguments.output, file->text));
  return file;
}

void print_constants(const ExportArguments& arguments, const sim::power::ExportedFile& file,
                     const std::string& misfit) {
  print_misfit(misfit);
  std::vector<std::vector<std::string>> rows{{"CONSTANT", "VALUE (95%)", "UNIT", "LABEL"}};
  for (const auto& constant : file.constants) {
    rows.push_back(
        {constant.name,
         constant.low && constant.high
             ? interval_text(Interval{constant.value, *constant.low, *constant.high})
             : fmt::format("{:.4g}", constant.value),
         constant.unit,
         constant.label +
             (misfit.empty() || constant.label == kLiterature ? std::string() : ", misfit")});
  }
  print_table(rows);
  for (const auto& note : file.notes) fmt::print("{}\n", note);
  fmt::print("written to {}\n", arguments.output);
}

bool is_likwid(const ExportArguments& arguments) {
  return arguments.target == "likwid";
}

// A group has the calibration's own constants, at the calibrated node.
Status check_likwid_options(const ExportArguments& arguments) {
  for (const OptionUse& use : option_uses()) {
    if (!arguments.is_given(use.option)) continue;
    return fail(ErrorCode::invalid_argument, "changes nothing for likwid", use.option);
  }
  if (arguments.is_given("--card-node")) {
    return fail(ErrorCode::invalid_argument, "changes nothing for likwid", "--card-node");
  }
  return {};
}

Result<session::LikwidGroup> write_likwid_group(const ExportArguments& arguments,
                                                std::string& misfit) {
  WW_TRY(check_likwid_options(arguments));
  WW_ASSIGN(calibration, calibration::load(arguments.model, admission(arguments.anyway)));
  const calibration::Provenance& of = calibration->provenance();
  misfit = of.misfit;
  if (calibration->wires() == nullptr) {
    return fail(ErrorCode::unsupported, "has no wires, whose energy a group could give",
                std::string(calibration->title()));
  }
  WW_ASSIGN(group,
            session::likwid_group(*calibration->wires(), arguments.architecture.empty()
                                                             ? calibrated_part(of.device, of.target)
                                                             : arguments.architecture));
  WW_TRY(write_file_atomically(arguments.output, group.text));
  return group;
}

int export_likwid(const ExportArguments& arguments) {
  std::string misfit;
  const auto group = write_likwid_group(arguments, misfit);
  if (!group) return report_error(group.error());
  if (arguments.json) {
    auto constants = nlohmann::json::array();
    for (const session::LikwidSegment& segment : group->segments) {
      constants.push_back({{"name", segment.name},
                           {"unit", "pJ/B"},
                           {"value", segment.pj_per_byte.value},
                           {"low", segment.pj_per_byte.low},
                           {"high", segment.pj_per_byte.high}});
    }
    print_json({{"to", arguments.target},
                {"file", arguments.output},
                {"status", misfit.empty() ? "ok" : "misfit"},
                {"reason", misfit},
                {"notes", group->left_out},
                {"constants", std::move(constants)}});
    return 0;
  }
  print_misfit(misfit);
  std::vector<std::vector<std::string>> rows{{"CONSTANT", "VALUE (95%)", "UNIT"}};
  for (const session::LikwidSegment& segment : group->segments) {
    rows.push_back({segment.name, interval_text(segment.pj_per_byte), "pJ/B"});
  }
  print_table(rows);
  for (const std::string& left : group->left_out) fmt::print("left out: {}\n", left);
  fmt::print("written to {}\n", arguments.output);
  return 0;
}

// Whether the target is a table of what was recorded, and not a simulator's file.
bool is_table(const ExportArguments& arguments) {
  return arguments.target == "csv" || arguments.target == "arrow";
}

Error wrong_source(const ExportArguments& arguments) {
  return {ErrorCode::invalid_argument,
          is_table(arguments) ? "tables come out of a campaign: give campaign.db or its folder, "
                                "and no --model"
                              : "constants come out of a calibration: give --model, and no "
                                "campaign",
          "--to " + arguments.target};
}

int export_tables(const ExportArguments& arguments) {
  if (const auto fits = check_table_options(arguments); !fits) return report_error(fits.error());
  if (arguments.target == "arrow") {
    return report_error({ErrorCode::unsupported,
                         "this program is built without an Arrow library; in Python, "
                         "wirewatt.Campaign(FOLDER).arrow(TABLE) gives Arrow tables, and "
                         "save(FILE.npz) writes NumPy's. Here, use --to csv",
                         "--to arrow"});
  }
  const auto store = CampaignStore::open_read_only(arguments.campaign);
  if (!store) return report_error(store.error());
  const auto facts = store->facts();
  if (!facts) return report_error(facts.error());
  const auto told = facts->find(std::string(campaign_keys::is_virtual));
  const bool is_virtual = told != facts->end() && told->second == "true";
  const auto written = tables::write_campaign_csv(*store, arguments.output);
  if (!written) return report_error(written.error());
  if (arguments.json) {
    auto list = nlohmann::json::array();
    for (const auto& table : *written) {
      list.push_back({{"table", table.name},
                      {"file", table.file.string()},
                      {"rows", table.rows},
                      {"columns", table.columns}});
    }
    print_json({{"to", arguments.target}, {"virtual", is_virtual}, {"tables", std::move(list)}});
    return 0;
  }
  if (is_virtual) fmt::print("of a virtual device, not a measurement\n");
  std::vector<std::vector<std::string>> rows{{"TABLE", "ROWS", "COLUMNS", "FILE"}};
  for (const auto& table : *written) {
    rows.push_back({table.name, fmt::format("{}", table.rows),
                    fmt::format("{}", table.columns.size()), table.file.string()});
  }
  print_table(rows);
  return 0;
}

}  // namespace

void add_export(CLI::App& app, Outcome& outcome) {
  auto* command =
      app.add_subcommand("export", "Write constants for other simulators, or a campaign as tables");
  auto arguments = std::make_shared<ExportArguments>();
  command
      ->add_option(
          "--to", arguments->target,
          "Of a model: accelwattch, gem5, mcpat, noxim, booksim, rapidchiplet, likwid; of a "
          "campaign: csv")
      ->required();
  command->add_option("campaign", arguments->campaign,
                      "csv: campaign.db of a calibration, or its folder");
  command->add_option("--model", arguments->model,
                      "A calibration: model.json, crossing.json, or its folder");
  as_input_file(command->get_option("--model"));
  add_anyway_option(*command, arguments->anyway);
  as_any_output(
      command->add_option("-o,--out", arguments->output, "The file to write; csv: the folder"))
      ->required();
  command->add_option("--arch", arguments->architecture,
                      "likwid: the part, as gfx90a, where the calibration does not name it");
  command->add_option("--link-mm", arguments->link_mm,
                      "Length of a link (default: 1; accelwattch, mcpat: the mean distance from "
                      "engines to the L2)");
  command
      ->add_option("--node", arguments->node_nm,
                   "Technology node of wires and routers, as 7 or 7nm (default: the card's, "
                   "unscaled; routers 22 where it is not known)")
      ->transform(kNanometres);
  add_card_node_option(*command, arguments->card_node);
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
  command->add_option("--clock", arguments->clock_hz, "Clock of the network [Hz]")
      ->capture_default_str();
  command
      ->add_option("--link-load", arguments->config.load,
                   "rapidchiplet: share of the cycles in which a link carries a flit")
      ->capture_default_str();
  command->add_option("--base", arguments->base,
                      "Configuration to write a copy of (accelwattch, mcpat: needed; "
                      "rapidchiplet: a packaging)");
  as_input_file(command->get_option("--base"));
  command->add_option("--pj-per-access", arguments->pj_per_access,
                      "accelwattch, mcpat (else not used): what the target charges for an "
                      "access to its network with that configuration [pJ]");
  command->add_flag("--json", arguments->json, "Machine-readable output on stdout");
  command->footer(
      "Example:\n"
      "  wirewatt export --to noxim --model first-run/model.json -o power.yaml\n"
      "  wirewatt export --to booksim --model first-run --link-mm 2 -o wires.tech\n"
      "  wirewatt export --to likwid --model my-card -o ~/.likwid/groups/amd_gpu/WIRES.txt\n"
      "  wirewatt export first-run --to csv -o tables");
  arguments->is_given = [command](const std::string& option) { return command->count(option) > 0; };
  command->callback([arguments, &outcome] {
    if (arguments->campaign.empty() == is_table(*arguments) ||
        arguments->model.empty() != is_table(*arguments)) {
      outcome.exit_code = report_error(wrong_source(*arguments));
      return;
    }
    if (is_table(*arguments)) {
      outcome.exit_code = export_tables(*arguments);
      return;
    }
    if (is_likwid(*arguments)) {
      outcome.exit_code = export_likwid(*arguments);
      return;
    }
    if (!arguments->architecture.empty()) {
      outcome.exit_code =
          report_error({ErrorCode::invalid_argument, "changes the file for likwid only", "--arch"});
      return;
    }
    std::string misfit;
    const auto file = export_model(*arguments, misfit);
    if (!file) {
      outcome.exit_code = report_error(file.error());
      return;
    }
    if (arguments->json) {
      print_json({{"to", arguments->target},
                  {"file", arguments->output},
                  {"status", misfit.empty() ? "ok" : "misfit"},
                  {"reason", misfit},
                  {"notes", file->notes},
                  {"constants", file->constants}});
      return;
    }
    print_constants(*arguments, *file, misfit);
  });
}

}  // namespace ww::cli
