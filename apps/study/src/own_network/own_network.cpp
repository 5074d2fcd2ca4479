#include "own_network/own_network.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "ww/core/atomic_file.hpp"
#include "ww/core/json_reader.hpp"
#include "ww/core/process.hpp"
#include "ww/core/subprocess.hpp"
#include "ww/model/floorplan.hpp"
#include "ww/model/known_floorplans.hpp"
#include "ww/sim/net/factory.hpp"

namespace ww::study {
namespace {

using nlohmann::json;

constexpr const char* kFigure = "own network";
constexpr const char* kDevice = "virtual:w9100";
constexpr const char* kFloorplan = "w9100";
// The W9100's engine clock in its highest state, and its process (sim/gpu/chips/w9100.toml).
constexpr double kClockHz = 930e6;
constexpr double kNodeNm = 28;
constexpr double kRandomToggleRate = 0.5;  // of the bits that the calibration's figure is for

// A mesh with nodes for all compute units and channels of the L2, stretched over the die.
struct DieMesh {
  double link_mm{};  // mean of the pitches along x and y
  std::vector<int> cores;
  std::vector<int> memory;
};

Result<DieMesh> mesh_of_die(const OwnNetworkStudy& study) {
  const auto toml = model::known_floorplan(kFloorplan);
  if (!toml) {
    return fail(ErrorCode::not_found, "the floorplan is not built in", kFloorplan);
  }
  WW_ASSIGN(plan, model::parse_floorplan(*toml, kFloorplan));
  std::size_t units = 0;
  for (const auto& engine : plan.compute_units) units += engine.size();
  const std::size_t channels = plan.l2_channels.size();
  DieMesh mesh;
  mesh.link_mm =
      (plan.width.to<double>() / study.columns + plan.height.to<double>() / study.rows) / 2;
  // Node by node, so that routers fill evenly.
  for (int place = 0; place < study.nodes_of_router; ++place) {
    for (int router = 0; router < study.rows * study.columns; ++router) {
      const bool has_channels =
          std::ranges::find(study.channel_routers, router) != study.channel_routers.end();
      std::vector<int>& nodes = has_channels ? mesh.memory : mesh.cores;
      if (nodes.size() < (has_channels ? channels : units)) {
        nodes.push_back(router * study.nodes_of_router + place);
      }
    }
  }
  if (mesh.cores.size() != units || mesh.memory.size() != channels) {
    return fail(ErrorCode::unsupported,
                fmt::format("{} compute units and {} channels do not fit", units, channels),
                kFloorplan);
  }
  return mesh;
}

// Whether the network's clock is one of its keys, as in networks of light.
bool has_clock_of_its_own(const PaperNetwork& network) {
  const auto option = std::ranges::find(network.options, "--network");
  const sim::net::NetworkKind* kind =
      option != network.options.end() ? sim::net::find_network(*(option + 1)) : nullptr;
  return kind != nullptr && kind->clock_hz != nullptr;
}

std::vector<std::string> command_of(const std::string& self, const OwnNetworkStudy& study,
                                    const std::string& application, const PaperNetwork& network,
                                    const std::string& model, const std::string& size,
                                    const DieMesh& mesh) {
  std::vector<std::string> command{self,
                                   "-q",
                                   "simulate",
                                   "--model",
                                   model,
                                   "--workload",
                                   application,
                                   "--size",
                                   size,
                                   "--device",
                                   kDevice,
                                   "--node",
                                   fmt::format("{:g}", kNodeNm),
                                   "--json"};
  if (!has_clock_of_its_own(network)) {
    command.insert(command.end(), {"--clock", fmt::format("{:.0f}", kClockHz)});
  }
  if (network.name != kOwnCrossbar) {
    command.insert(command.end(),
                   {"--k", std::to_string(study.columns), "--height", std::to_string(study.rows),
                    "--concentration", std::to_string(study.nodes_of_router), "--link-mm",
                    fmt::format("{:.4f}", mesh.link_mm), "--core-nodes",
                    fmt::format("{}", fmt::join(mesh.cores, ",")), "--memory-nodes",
                    fmt::format("{}", fmt::join(mesh.memory, ","))});
  }
  command.insert(command.end(), network.options.begin(), network.options.end());
  return command;
}

// The ratio of two networks' figures by application, its mean, and what the mean is at the ends of
// the calibration's interval.
struct Compared {
  double mean{}, low{}, high{};
  std::string list;
};

// Joules or cycles of a run, at one of the calibration's ends.
using Figure = double (*)(const OwnNetworkRun& run, double OwnNetworkRun::*wires);

Compared compare(const OwnNetworkStudy& study, const std::string& network, const std::string& base,
                 Figure figure) {
  const auto of = [&](const auto& runs, double OwnNetworkRun::*wires) {
    return figure(runs.at(network), wires) / figure(runs.at(base), wires);
  };
  const auto mean = [&](double OwnNetworkRun::*wires) {
    double sum = 0;
    for (const auto& [application, runs] : study.runs) sum += of(runs, wires);
    return sum / static_cast<double>(study.runs.size());
  };
  Compared compared;
  compared.mean = mean(&OwnNetworkRun::wires_pj);
  const auto [low, high] = std::minmax(
      {compared.mean, mean(&OwnNetworkRun::wires_low_pj), mean(&OwnNetworkRun::wires_high_pj)});
  compared.low = low;
  compared.high = high;
  for (const auto& [application, runs] : study.runs) {
    compared.list += fmt::format("{}{} {:.2f}", compared.list.empty() ? "" : ", ", application,
                                 of(runs, &OwnNetworkRun::wires_pj));
  }
  return compared;
}

double energy(const OwnNetworkRun& run, double OwnNetworkRun::*wires) {
  return run.total_pj - run.wires_pj + run.*wires;
}
double cycles(const OwnNetworkRun& run, double OwnNetworkRun::*) {
  return run.cycles;
}

}  // namespace

Result<OwnNetworkRun> own_network_run(const json& report, const WirePrice& price) {
  const auto number = [](const json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_number() ? found->get<double>() : 0.0;
  };
  const json energy = report.value("energy_pj", json::object());
  OwnNetworkRun run;
  run.cycles = number(report, "cycles");
  run.total_pj = number(energy, "total");
  run.wires_pj = number(energy, "link") + number(energy, "bypass_link");
  for (const char* priced : {"chip_wires", "link_wires"}) {
    const auto wires = energy.find(priced);
    if (wires == energy.end()) continue;
    const double transitions_mm = number(*wires, "bit_mm") * number(*wires, "toggle_rate");
    const double pj = transitions_mm * price.value / kRandomToggleRate * 1e-3;
    run.total_pj += pj - run.wires_pj;
    run.wires_pj = pj;
  }
  run.wires_low_pj = price.low / price.value * run.wires_pj;
  run.wires_high_pj = price.high / price.value * run.wires_pj;
  if (!(run.cycles > 0) || !(run.total_pj > 0)) {
    return fail(ErrorCode::bad_data, "the report has no cycles or no energy", "simulate");
  }
  return run;
}

Status run_own_network(OwnNetworkStudy& study, const std::string& model, const std::string& size,
                       const std::function<void(const std::string&, double, double)>& done) {
  WW_ASSIGN(self, own_program());
  WW_ASSIGN(mesh, mesh_of_die(study));
  WW_ASSIGN(text, read_file(model));
  WW_ASSIGN(document, parse_json(text, model));
  const json& figure = document["energy_fj_per_bit_mm"];
  for (const char* key : {"value", "low", "high"}) {
    if (!figure.is_object() || !figure.contains(key) || !figure[key].is_number()) {
      return fail(ErrorCode::bad_data, "the calibration has no energy per bit and millimetre",
                  model);
    }
  }
  const WirePrice price{figure["value"].get<double>(), figure["low"].get<double>(),
                        figure["high"].get<double>()};

  std::vector<PaperNetwork> networks{{kPlainMesh, "mesh", {"--network", "mesh"}},
                                     {kOwnCrossbar, "crossbar", {"--network", "crossbar"}}};
  for (PaperNetwork& network : networks) {
    network.options.insert(network.options.end(), study.routers.begin(), study.routers.end());
  }
  networks.insert(networks.end(), study.networks.begin(), study.networks.end());
  const auto total = static_cast<double>(networks.size() * study.applications.size());
  double finished = 0;
  for (const std::string& application : study.applications) {
    for (const PaperNetwork& network : networks) {
      ProcessRequest request;
      request.command = command_of(self.string(), study, application, network, model, size, mesh);
      request.limit = kUnlimited;
      request.ends_with_parent = true;
      WW_ASSIGN(ended, run_process(request));
      if (ended.exit_code != 0) {
        return fail(ErrorCode::device_error, ended.errors,
                    fmt::format("{} on {}", application, network.name));
      }
      WW_ASSIGN(report, parse_json(ended.output, network.name));
      WW_ASSIGN(run, own_network_run(report, price));
      study.runs[application][network.name] = run;
      done(fmt::format("{} on the W9100's {}", application, network.text), ++finished, total);
    }
  }
  return {};
}

void add_own_network_rows(Reproduction& out, const OwnNetworkStudy& study) {
  if (study.runs.empty()) return;
  const auto ends = [](const Compared& of) {
    return fmt::format("[{:.3g}, {:.3g}] at the ends of the calibration's interval; {}", of.low,
                       of.high, of.list);
  };
  const auto add = [&](const std::string& network, const std::string& text, const char* base,
                       const char* base_text, const json& claim_energy, const json& claim_time) {
    const Compared joules = compare(study, network, base, energy);
    out.add({kFigure, fmt::format("{}: network energy over that of {}, mean", text, base_text),
             claim_energy, joules.mean, "", kOurs, ends(joules)});
    const Compared time = compare(study, network, base, cycles);
    out.add({kFigure, fmt::format("{}: cycles over those of {}, mean", text, base_text), claim_time,
             time.mean, "", kOurs, time.list});
  };
  for (const PaperNetwork& network : study.networks) {
    add(network.name, network.text, kPlainMesh, "a mesh of the virtual W9100's nodes",
        network.claim_energy, network.claim_time);
    add(network.name, network.text, kOwnCrossbar, "the virtual W9100's own crossbar", nullptr,
        nullptr);
  }
  add(kOwnCrossbar, "the virtual W9100's own crossbar", kPlainMesh, "a mesh of its nodes", nullptr,
      nullptr);
}

}  // namespace ww::study
