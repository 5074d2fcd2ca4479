// wirewatt project: another node, voltage, layout or cache: what the wires would then cost.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "anyway.hpp"
#include "card_node.hpp"
#include "command.hpp"
#include "estimate/calibrated_part.hpp"
#include "given_options.hpp"
#include "option.hpp"
#include "output.hpp"
#include "ww/calibration/kinds.hpp"
#include "ww/core/device_name.hpp"
#include "ww/runner/cache_shape.hpp"
#include "ww/session/application.hpp"
#include "ww/sim/trace/cache_replay.hpp"

namespace ww::cli {
namespace {

constexpr std::int64_t kKib = 1024;

struct ProjectArguments {
  std::string model;
  bool anyway{};
  std::string node{"7nm"};
  std::string card_node;  // of the card that was calibrated; empty: its data sheet's
  std::vector<std::string> counters;
  std::string architecture;  // of the counters, where they name none
  std::string trace;
  std::vector<int> l1_kib{4, 16};
  std::vector<int> l2_kib{256, 1024};
  calibration::ProjectRequest request;
  const CLI::App* command{};
  bool json{};
};

// The traffic of the trace through caches of other sizes, behind what the calibration says.
Status add_caches(calibration::Answer& answer, const ProjectArguments& arguments) {
  WW_ASSIGN(traced, sim::trace::Reader::open(arguments.trace));
  const std::string& producer = traced.producer();
  const sim::trace::CacheShape own = runner::cache_shape(producer);
  Table table{"Traffic with other caches",
              {{"L1 KIB", true, "l1_kib"},
               {"L2 KIB", true, "l2_kib"},
               {"L1-L2 B", true, "l1_l2_bytes"},
               {"L2-MEMORY B", true, "l2_memory_bytes"},
               {"", true, "l1_accesses"},
               {"", true, "l1_hits"},
               {"", true, "l2_misses"}},
              {}};
  std::vector<sim::trace::CacheShape> shapes;
  const auto add = [&](std::int64_t l1_bytes, std::int64_t l2_bytes) {
    sim::trace::CacheShape& shape = shapes.emplace_back(own);
    shape.l1_bytes = l1_bytes;
    shape.l2_bytes = l2_bytes;
  };
  for (const int l1 : arguments.l1_kib) add(kKib * l1, own.l2_bytes);
  for (const int l2 : arguments.l2_kib) {
    if (kKib * l2 != own.l2_bytes) add(own.l1_bytes, kKib * l2);
  }
  WW_ASSIGN(reader, sim::trace::Reader::open(arguments.trace));
  WW_ASSIGN(traffic, sim::trace::replay_through_caches(reader, shapes));
  const auto number = [](auto value) {
    return Cell(fmt::format("{:.4g}", static_cast<double>(value)), value);
  };
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    table.rows.push_back({number(shapes[i].l1_bytes / kKib), number(shapes[i].l2_bytes / kKib),
                          number(traffic[i].l1_l2_bytes()), number(traffic[i].l2_memory_bytes()),
                          number(traffic[i].l1_accesses), number(traffic[i].l1_hits),
                          number(traffic[i].l2_misses)});
  }
  const bool is_virtual = DeviceName(producer).is_virtual();
  answer.json["caches"] = table_json(table);
  answer.json["trace"] = {
      {"file", arguments.trace}, {"producer", producer}, {"virtual", is_virtual}};
  if (is_virtual) answer.json["virtual"] = true;
  answer.text.emplace_back(
      fmt::format("caches for the trace of {}{}", producer, is_virtual ? " (virtual)" : ""));
  answer.text.emplace_back(std::move(table));
  return {};
}

// Options that say nothing without another.
Status refuse_unread_options(const ProjectArguments& arguments,
                             const std::vector<std::string>& given) {
  struct Need {
    const char* option;
    const char* needs;
    bool is_met;
  };
  const bool has_counters = !arguments.counters.empty();
  const bool has_trace = !arguments.trace.empty();
  for (const Need& need : {Need{"--optimise", "--counters", has_counters},
                           Need{"--seed", "--optimise", arguments.request.optimise},
                           Need{"--l1", "--trace", has_trace}, Need{"--l2", "--trace", has_trace},
                           Need{"--toggle-rate", "--counters, whose data it is of", has_counters},
                           Need{"--arch", "--counters", has_counters}}) {
    if (!need.is_met && std::ranges::find(given, need.option) != given.end()) {
      return fail(ErrorCode::invalid_argument, fmt::format("needs {}", need.needs), need.option);
    }
  }
  return {};
}

Result<calibration::Answer> project(const ProjectArguments& arguments) {
  calibration::ProjectRequest request = arguments.request;
  WW_ASSIGN(node_nm, node_of(arguments.node, "--node"));
  request.node_nm = node_nm;
  WW_ASSIGN(model, calibration::load(arguments.model, admission(arguments.anyway)));
  const auto given = given_options(*arguments.command);
  WW_TRY(calibration::refuse_foreign(*model, calibration::Use::project, given));
  WW_TRY(refuse_unread_options(arguments, given));
  const calibration::Provenance& of = model->provenance();
  WW_ASSIGN(card_node_nm, node_of_card(arguments.card_node, of.device, of.target));
  request.card_node_nm = card_node_nm;
  if (!arguments.counters.empty()) {
    WW_ASSIGN(counted, session::read_application(arguments.counters, arguments.architecture,
                                                 assumed_of(of)));
    WW_ASSIGN(traffic, session::application_traffic(counted, arguments.counters.front()));
    request.traffic = std::move(traffic);
    request.estimate.options.busy_s = counted.busy_s;
    if (request.estimate.toggle_rate) {
      request.estimate.options.data = model::data_at_rate(*request.estimate.toggle_rate);
    }
    request.estimate.anyway = arguments.anyway;
    request.estimate.part = calibrated_part(of.device, of.target);
  }
  WW_ASSIGN(answer, model->project(request));
  if (!arguments.trace.empty()) WW_TRY(add_caches(answer, arguments));
  return answer;
}

}  // namespace

void add_project(CLI::App& app, Outcome& outcome) {
  auto* command = app.add_subcommand(
      "project", "Project the wires' cost to another node, layout or cache size");
  auto arguments = std::make_shared<ProjectArguments>();
  command
      ->add_option(
          "--model", arguments->model,
          "model.json of a calibration (of a package's dies, too), crossing.json of one of "
          "crossings, or its folder")
      ->required();
  add_anyway_option(*command, arguments->anyway, kAlsoOtherParts);
  command->add_option("--node", arguments->node, "28nm to 3nm")->capture_default_str();
  command->add_option(
      "--counters", arguments->counters,
      "An application's counters; layouts are compared for its traffic; with crossings, "
      "what moving some of them saves");
  command->add_option("--arch", arguments->architecture,
                      "Of the counters, where they name none: gfx90a, sm_80");
  auto& request = arguments->request;
  command->add_option("--wire-to-logic", request.wire_to_logic,
                      "How much less wires shrink than the rest; 1.68 is IISWC'16's (default: the "
                      "published tables, a row each)");
  command->add_option("--share", request.shares_percent,
                      "Interconnect shares at 28 nm to project [%] (default: 14.3 and 5.6)");
  command->add_option("--voltage", request.voltage_v,
                      "Core voltage to project to [V] (default: the model's reference)");
  command->add_option("--clock", request.clock_hz,
                      "Core clock to project to [Hz] (default: the model's reference)");
  command->add_flag("--optimise", request.optimise,
                    "Search for a better layout of tiles for that traffic");
  command->add_option("--seed", request.seed, "Seed of the search")->capture_default_str();
  command->add_option("--trace", arguments->trace,
                      "An application's trace (.wwt), to find its traffic with other cache sizes");
  command->add_option("--l1", arguments->l1_kib, "L1 sizes [KiB]")->capture_default_str();
  command->add_option("--l2", arguments->l2_kib, "L2 sizes [KiB]")->capture_default_str();
  for (const char* name : {"--model", "--counters", "--trace"}) {
    as_input_file(command->get_option(name));
  }
  const char* const of_both = "With a calibration of crossings or of a package's dies";
  const char* const of_crossings = "With a calibration of crossings";
  command
      ->add_option("--moved", request.moved_percent,
                   "Shares of the crossings that go to the near side instead, or "
                   "of the pages that move to the reader's own I/O die [%] "
                   "(default: 10, 25 and 50)")
      ->group(of_both);
  command
      ->add_option("--toggle-rate", request.estimate.toggle_rate,
                   "Of the application's data, 0 to 1 (default: not known)")
      ->group(of_both);
  add_card_node_option(*command, arguments->card_node);
  command
      ->add_option("--crossing-mm", request.crossing_mm,
                   "How long a crossing is, as a floorplan has it [mm] "
                   "(default: not known)")
      ->group(of_crossings);
  command
      ->add_option("--crossing-mm-source", request.crossing_mm_source,
                   "Where that length is from (needed with it)")
      ->group(of_crossings);
  command->add_flag("--json", arguments->json, "Machine-readable output on stdout");
  command->footer(
      "Example:\n  wirewatt project --model first-run/model.json --node 7nm --counters out.csv "
      "--optimise");
  arguments->command = command;
  command->callback([arguments, &outcome] {
    const auto answer = project(*arguments);
    outcome.exit_code = answer ? show(*answer, arguments->json) : report_error(answer.error());
  });
}

}  // namespace ww::cli
