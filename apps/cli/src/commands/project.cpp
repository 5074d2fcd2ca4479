// wirewatt project: another node, voltage, layout or cache: what the wires would then cost.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "anyway.hpp"
#include "card_node.hpp"
#include "command.hpp"
#include "commands/project.hpp"
#include "estimate/calibrated_part.hpp"
#include "option.hpp"
#include "output.hpp"
#include "ww/core/device_name.hpp"
#include "ww/model/chiplet_use.hpp"
#include "ww/model/crossing_use.hpp"
#include "ww/model/floorplan.hpp"
#include "ww/model/layout.hpp"
#include "ww/model/supply_limits.hpp"
#include "ww/model/technology.hpp"
#include "ww/runner/chip_architecture.hpp"
#include "ww/session/same_part.hpp"
#include "ww/session/traffic.hpp"
#include "ww/sim/trace/cache_replay.hpp"

namespace ww::cli {

double relative_to_28nm(double at_7nm, double node_nm) {
  return std::pow(at_7nm, std::log(28 / node_nm) / std::log(28.0 / 7.0));
}

namespace {

using nlohmann::json;

constexpr std::int64_t kKib = 1024;

json node_projection(const model::WireModel& model, const ProjectArguments& arguments,
                     std::optional<double> from_nm, double node_nm) {
  // The shares that IISWC'16 states at 28 nm: color, the mean.
  auto shares = arguments.shares;
  if (shares.empty()) shares = {14.3, 5.6};
  auto rows = json::array();
  const auto add = [&](const std::string& name, double r, std::optional<double> wire,
                       const std::string& source, const char* status) {
    const bool of_misfit = wire && !model.misfit.empty();
    json row{{"scaling", name},
             {"wire_to_logic", r},
             {"source", source},
             {"status", of_misfit ? "misfit" : status}};
    row["energy_fj_per_bit_mm"] = wire ? json(model.random.value * *wire) : json(nullptr);
    row["energy_interval_fj_per_bit_mm"] =
        wire ? interval_json(model.random.times(*wire)) : json(nullptr);
    for (const double share : shares) {
      row["shares"].push_back({{"share_28nm_percent", share},
                               {"share_percent", 100 * model::projected_share(share / 100, r)}});
    }
    rows.push_back(std::move(row));
  };
  if (arguments.wire_to_logic) {
    add("given", *arguments.wire_to_logic, std::nullopt, "--wire-to-logic", "assumed");
  }
  for (const auto& scaling : model::node_scalings()) {
    const bool calibrated = scaling.logic == 1.0;  // its ratio alone is known
    const double r = relative_to_28nm(scaling.wire_to_logic(), node_nm);
    std::optional<double> wire;
    if (!calibrated && from_nm) {
      wire = relative_to_28nm(scaling.wire, node_nm) / relative_to_28nm(scaling.wire, *from_nm);
    }
    add(std::string(scaling.name), r, wire, std::string(scaling.source),
        calibrated ? "by_construction"
        : wire     ? "published"
                   : "unavailable");
    if (!calibrated && !wire) rows.back()["reason"] = kUnknownCardNode;
  }
  return rows;
}

json voltage_projection(const model::WireModel& model, const ProjectArguments& arguments) {
  const double volt = arguments.voltage_v.value_or(model.reference_voltage_v);
  const double clock = arguments.clock_hz.value_or(model.reference_clock_hz);
  const model::Interval energy = model.energy_factor(volt);
  const model::Interval power = model.power_factor(volt, clock);
  return {{"voltage_v", volt},
          {"clock_hz", clock},
          {"energy_factor", energy.value},
          {"energy_factor_interval", interval_json(energy)},
          {"power_factor", power.value},
          {"power_factor_interval", interval_json(power)},
          {"energy_fj_per_bit_mm", model.random.value * energy.value},
          {"energy_interval_fj_per_bit_mm", interval_json(product(model.random, energy))},
          {"status", model.misfit.empty() ? "ok" : "misfit"},
          {"exponents", model.exponent_note}};
}

Result<json> layout_projection(const session::CountedTraffic& traffic,
                               const ProjectArguments& arguments) {
  model::LayoutTraffic bits;
  for (const auto& kernel : traffic.kernels) {
    for (const std::size_t s : {std::size_t{1}, std::size_t{2}}) {
      if (!kernel.segments[s].bytes) {
        return fail(ErrorCode::bad_data,
                    fmt::format("no bytes of {}: {}", model::to_string(model::wire_segments[s]),
                                kernel.segments[s].reason),
                    kernel.kernel);
      }
    }
    bits.l1_l2_bits += 8 * *kernel.segments[1].bytes;
    bits.l2_memory_bits += 8 * *kernel.segments[2].bytes;
  }
  const auto layouts = model::paper_layouts();
  const double base = model::layout_cost(layouts[0], bits);
  if (!(base > 0)) return fail(ErrorCode::bad_data, "nothing crossed L1-L2 or L2-memory");
  json result{{"l1_l2_bits", bits.l1_l2_bits}, {"l2_memory_bits", bits.l2_memory_bits}};
  for (const auto& layout : layouts) {
    result["paper_layouts"].push_back(
        {{"name", layout.name},
         {"l1_l2_units", layout.l1_l2},
         {"l2_memory_units", layout.l2_memory},
         {"relative_energy", model::layout_cost(layout, bits) / base}});
  }
  if (!arguments.optimise) return result;
  // Compute units, channels and die as the W9100 has them.
  WW_ASSIGN(start, model::central_plan(44, 16, 20.9));
  WW_ASSIGN(best, model::optimise_plan(start, bits, arguments.seed));
  const auto energy = [&](const model::BlockPlan& plan) {
    return plan.l1_l2_mm() * bits.l1_l2_bits + plan.l2_memory_mm() * bits.l2_memory_bits;
  };
  result["optimised"] = {{"from",
                          {{"l1_l2_mm", start.l1_l2_mm()},
                           {"l2_memory_mm", start.l2_memory_mm()},
                           {"picture", start.picture()}}},
                         {"to",
                          {{"l1_l2_mm", best.l1_l2_mm()},
                           {"l2_memory_mm", best.l2_memory_mm()},
                           {"picture", best.picture()}}},
                         {"relative_energy", energy(best) / energy(start)},
                         {"seed", arguments.seed}};
  return result;
}

// The caches of the chip that made a trace. A trace of no known chip (an import, a drawn chip) runs
// through the W9100's.
sim::trace::CacheShape shape_of(const std::string& producer) {
  sim::trace::CacheShape shape;
  if (!DeviceName(producer).is_virtual()) return shape;
  microbench::DeviceRequest device;
  device.name = producer;
  const auto chip = runner::chip_architecture(device);
  if (!chip) return shape;
  shape.l1_bytes = chip->l1_bytes;
  shape.l1_ways = chip->l1_ways;
  shape.l2_bytes = chip->l2_bytes;
  shape.l2_ways = chip->l2_ways;
  shape.engines = chip->shader_engines;
  shape.cus_per_engine = chip->cus_per_engine;
  shape.channels = chip->l2_channels;
  shape.interleave_bytes = chip->channel_interleave_bytes;
  shape.l1_line_bytes = chip->l1_line_bytes;
  shape.l2_line_bytes = chip->l2_fetch_bytes;
  return shape;
}

struct CacheProjection {
  json rows = json::array();
  std::string producer;  // of the trace
};

Result<CacheProjection> cache_projection(const ProjectArguments& arguments) {
  CacheProjection caches;
  json& rows = caches.rows;
  WW_ASSIGN(traced, sim::trace::Reader::open(arguments.trace));
  caches.producer = traced.producer();
  const sim::trace::CacheShape own = shape_of(caches.producer);
  const auto add = [&](std::int64_t l1_bytes, std::int64_t l2_bytes) -> Status {
    sim::trace::CacheShape shape = own;
    shape.l1_bytes = l1_bytes;
    shape.l2_bytes = l2_bytes;
    WW_ASSIGN(reader, sim::trace::Reader::open(arguments.trace));
    WW_ASSIGN(traffic, sim::trace::replay_through_caches(reader, shape));
    rows.push_back({{"l1_kib", l1_bytes / kKib},
                    {"l2_kib", l2_bytes / kKib},
                    {"l1_l2_bytes", traffic.l1_l2_bytes()},
                    {"l2_memory_bytes", traffic.l2_memory_bytes()},
                    {"l1_accesses", traffic.l1_accesses},
                    {"l1_hits", traffic.l1_hits},
                    {"l2_misses", traffic.l2_misses}});
    return {};
  };
  for (const int l1 : arguments.l1_kib) WW_TRY(add(kKib * l1, own.l2_bytes));
  for (const int l2 : arguments.l2_kib) {
    if (kKib * l2 != own.l2_bytes) WW_TRY(add(own.l1_bytes, kKib * l2));
  }
  return caches;
}

// Options that say nothing without another.
Status refuse_unread_options(const ProjectArguments& arguments) {
  const auto given = [&](std::string_view name) {
    return std::ranges::any_of(arguments.of_wires, [&](const CLI::Option* option) {
      return option->get_name() == name && option->count() > 0;
    });
  };
  struct Need {
    const char* option;
    const char* needs;
    bool is_met;
  };
  const bool has_counters = !arguments.counters.empty();
  const bool has_trace = !arguments.trace.empty();
  if (!arguments.architecture.empty() && !has_counters) {
    return fail(ErrorCode::invalid_argument, "needs --counters", "--arch");
  }
  for (const Need& need :
       {Need{"--optimise", "--counters", has_counters},
        Need{"--seed", "--optimise", arguments.optimise}, Need{"--l1", "--trace", has_trace},
        Need{"--l2", "--trace", has_trace}}) {
    if (given(need.option) && !need.is_met) {
      return fail(ErrorCode::invalid_argument, fmt::format("needs {}", need.needs), need.option);
    }
  }
  return {};
}

// Volts that are millivolts, and hertz that are megahertz, would scale by powers of a thousand.
Status check_within(const std::optional<double>& value, double least, double most,
                    std::string_view unit, std::string_view option) {
  if (!value || (*value >= least && *value <= most)) return {};
  return fail(ErrorCode::out_of_range,
              fmt::format("{:g} {}; {:g} to {:g} make sense", *value, unit, least, most),
              std::string(option));
}

// The traffic that the counters give, of the calibrated part.
Result<session::CountedTraffic> traffic_of(const ProjectArguments& arguments,
                                           const model::WireModel& model) {
  const std::string part = calibrated_part(model);
  const std::string unnamed =
      arguments.architecture.empty() && model.is_virtual ? part : arguments.architecture;
  WW_ASSIGN(read, session::read_dispatches(arguments.counters, unnamed));
  const std::string& file = arguments.counters.front();
  WW_TRY(session::require_named_part(arguments.architecture, read.named_architecture, file));
  WW_TRY(session::require_same_part(part, read.architecture, file, "a bit",
                                    "or give counters of the calibrated one"));
  return session::count_traffic(read.dispatches, read.architecture);
}

Result<json> project(const ProjectArguments& arguments) {
  for (const CLI::Option* option : arguments.of_crossings) {
    if (option->count() == 0) continue;
    return fail(ErrorCode::invalid_argument,
                "goes with a calibration of crossings or of a package's dies alone",
                option->get_name());
  }
  WW_TRY(refuse_unread_options(arguments));
  WW_ASSIGN(node_nm, node_of(arguments.node, "--node"));
  if (arguments.wire_to_logic && !(*arguments.wire_to_logic > 0)) {
    return fail(ErrorCode::invalid_argument, "must be above 0", "--wire-to-logic");
  }
  for (const double share : arguments.shares) {
    if (!(share >= 0 && share <= 100)) {
      return fail(ErrorCode::invalid_argument, "a share lies between 0 and 100", "--share");
    }
  }
  WW_ASSIGN(model, model::load_wire_model(arguments.model, flagged_model(arguments.anyway)));
  WW_TRY(model::require_millimetres(model, "project"));
  json result{{"device", model.device},
              {"virtual", model.is_virtual},
              {"calibration_virtual", model.is_virtual},
              {"energy_fj_per_bit_mm", model.random.value},
              {"energy_interval_fj_per_bit_mm", interval_json(model.random)},
              {"status", model.misfit.empty() ? "ok" : "misfit"},
              {"reason", model.misfit},
              {"node_nm", node_nm}};
  WW_ASSIGN(from_nm, node_of_card(arguments.card_node, model.device, card_target(model)));
  result["card_node_nm"] = from_nm ? json(*from_nm) : json();
  result["node"] = node_projection(model, arguments, from_nm, node_nm);
  if (arguments.voltage_v || arguments.clock_hz) {
    WW_TRY(check_within(arguments.voltage_v, model::kLeastCoreVoltage, model::kMostCoreVoltage, "V",
                        "--voltage"));
    WW_TRY(check_within(arguments.clock_hz, model::kLeastCoreClock, model::kMostCoreClock, "Hz",
                        "--clock"));
    result["dvfs"] = voltage_projection(model, arguments);
  }
  if (!arguments.counters.empty()) {
    WW_ASSIGN(traffic, traffic_of(arguments, model));
    WW_ASSIGN(layout, layout_projection(traffic, arguments));
    result["layout"] = std::move(layout);
    result["counters_virtual"] = traffic.is_virtual;
    if (traffic.is_virtual) result["virtual"] = true;
  }
  if (!arguments.trace.empty()) {
    WW_ASSIGN(caches, cache_projection(arguments));
    const bool is_virtual = DeviceName(caches.producer).is_virtual();
    result["caches"] = std::move(caches.rows);
    result["trace"] = {
        {"file", arguments.trace}, {"producer", caches.producer}, {"virtual", is_virtual}};
    if (is_virtual) result["virtual"] = true;
  }
  return result;
}

std::string text(const json& value) {
  return value.is_number() ? fmt::format("{:.4g}", value.get<double>()) : std::string("-");
}

// "210 (152..267)" of a figure with its interval.
std::string text_with_ends(const json& figure) {
  if (!figure.is_object()) return "-";
  return fmt::format("{} ({}..{})", text(figure["value"]), text(figure["low"]),
                     text(figure["high"]));
}

const char* of_virtual(const json& is_virtual) {
  return is_virtual.get<bool>() ? " (virtual)" : "";
}

void print(const json& result) {
  const auto mark = [](const json& figure) {
    return figure["status"] == "misfit" ? " (misfit)" : "";
  };
  print_misfit(result["reason"].get<std::string>());
  fmt::print("{}{}: {} fJ/bit/mm{} as fitted; projected to {} nm\n",
             result["device"].get<std::string>(), of_virtual(result["calibration_virtual"]),
             text_with_ends(result["energy_interval_fj_per_bit_mm"]), mark(result),
             text(result["node_nm"]));
  std::vector<std::vector<std::string>> rows{
      {"SCALING", "WIRE/LOGIC", "FJ/BIT/MM (95%)", "SHARE OF DYNAMIC POWER", "STATUS"}};
  for (const auto& row : result["node"]) {
    std::string shares;
    for (const auto& share : row["shares"]) {
      shares +=
          fmt::format("{}{}% -> {:.3g}%", shares.empty() ? "" : ", ",
                      text(share["share_28nm_percent"]), share["share_percent"].get<double>());
    }
    rows.push_back({row["scaling"], fmt::format("{:.3g}", row["wire_to_logic"].get<double>()),
                    text_with_ends(row["energy_interval_fj_per_bit_mm"]), shares, row["status"]});
  }
  print_table(rows);
  if (result["card_node_nm"].is_null()) fmt::print("{}\n", kUnknownCardNode);
  if (result.contains("dvfs")) {
    const auto& dvfs = result["dvfs"];
    fmt::print("at {} V, {} Hz: energy x {}, power x {}{} ({})\n", text(dvfs["voltage_v"]),
               text(dvfs["clock_hz"]), text_with_ends(dvfs["energy_factor_interval"]),
               text_with_ends(dvfs["power_factor_interval"]), mark(dvfs),
               dvfs["exponents"].get<std::string>());
  }
  if (result.contains("layout")) {
    fmt::print("layouts for the traffic of the counters{}\n",
               of_virtual(result["counters_virtual"]));
    for (const auto& layout : result["layout"]["paper_layouts"]) {
      fmt::print("{}: {} of the first layout's energy\n", layout["name"].get<std::string>(),
                 text(layout["relative_energy"]));
    }
    if (result["layout"].contains("optimised")) {
      const auto& best = result["layout"]["optimised"];
      fmt::print("optimised tiles: L1-L2 {} -> {} mm, L2-memory {} -> {} mm, energy x {}\n{}",
                 text(best["from"]["l1_l2_mm"]), text(best["to"]["l1_l2_mm"]),
                 text(best["from"]["l2_memory_mm"]), text(best["to"]["l2_memory_mm"]),
                 text(best["relative_energy"]), best["to"]["picture"].get<std::string>());
    }
  }
  if (result.contains("caches")) {
    fmt::print("caches for the trace of {}{}\n", result["trace"]["producer"].get<std::string>(),
               of_virtual(result["trace"]["virtual"]));
    std::vector<std::vector<std::string>> caches{{"L1 KIB", "L2 KIB", "L1-L2 B", "L2-MEMORY B"}};
    for (const auto& row : result["caches"]) {
      caches.push_back({text(row["l1_kib"]), text(row["l2_kib"]), text(row["l1_l2_bytes"]),
                        text(row["l2_memory_bytes"])});
    }
    print_table(caches);
  }
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
  const auto of_wires = [&](CLI::Option* option) {
    arguments->of_wires.push_back(option);
    return option;
  };
  of_wires(command->add_option(
      "--wire-to-logic", arguments->wire_to_logic,
      "How much less wires shrink than the rest; 1.68 is IISWC'16's (default: the published "
      "tables, a row each)"));
  of_wires(command->add_option("--share", arguments->shares,
                               "Interconnect shares at 28 nm to project [%] (default: 14.3 and "
                               "5.6)"));
  of_wires(command->add_option("--voltage", arguments->voltage_v,
                               "Core voltage to project to [V] (default: the model's reference)"));
  of_wires(command->add_option("--clock", arguments->clock_hz,
                               "Core clock to project to [Hz] (default: the model's reference)"));
  of_wires(command->add_flag("--optimise", arguments->optimise,
                             "Search for a better layout of tiles for that traffic"));
  of_wires(
      command->add_option("--seed", arguments->seed, "Seed of the search")->capture_default_str());
  of_wires(command->add_option(
      "--trace", arguments->trace,
      "An application's trace (.wwt), to find its traffic with other cache sizes"));
  of_wires(command->add_option("--l1", arguments->l1_kib, "L1 sizes [KiB]")->capture_default_str());
  of_wires(command->add_option("--l2", arguments->l2_kib, "L2 sizes [KiB]")->capture_default_str());
  for (const char* name : {"--model", "--counters", "--trace"}) {
    as_input_file(command->get_option(name));
  }
  const auto of_crossings = [&](CLI::Option* option) {
    option->group("With a calibration of crossings or of a package's dies");
    arguments->of_crossings.push_back(option);
  };
  const auto of_distances = [&](CLI::Option* option) {
    option->group("With a calibration of crossings");
    arguments->of_crossings.push_back(option);
    arguments->of_distances.push_back(option);
  };
  of_crossings(command->add_option("--moved", arguments->moved_percent,
                                   "Shares of the crossings that go to the near side instead, or "
                                   "of the pages that move to the reader's own I/O die [%] "
                                   "(default: 10, 25 and 50)"));
  of_crossings(command->add_option("--toggle-rate", arguments->toggle_rate,
                                   "Of the application's data, 0 to 1 (default: not known)"));
  arguments->of_distances.push_back(add_card_node_option(*command, arguments->card_node));
  of_distances(command->add_option("--crossing-mm", arguments->crossing_mm,
                                   "How long a crossing is, as a floorplan has it [mm] "
                                   "(default: not known)"));
  of_distances(command->add_option("--crossing-mm-source", arguments->crossing_mm_source,
                                   "Where that length is from (needed with it)"));
  command->add_flag("--json", arguments->json, "Machine-readable output on stdout");
  command->footer(
      "Example:\n  wirewatt project --model first-run/model.json --node 7nm --counters out.csv "
      "--optimise");
  command->callback([arguments, &outcome] {
    if (model::is_crossing_model(arguments->model)) {
      outcome.exit_code = project_crossing(*arguments);
      return;
    }
    if (model::is_chiplet_model(arguments->model)) {
      outcome.exit_code = project_chiplet(*arguments);
      return;
    }
    const auto result = project(*arguments);
    if (!result) {
      outcome.exit_code = report_error(result.error());
      return;
    }
    if (arguments->json) {
      print_json(*result);
    } else {
      print(*result);
    }
  });
}

}  // namespace ww::cli
