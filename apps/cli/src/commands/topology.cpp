#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "command.hpp"
#include "device_options.hpp"
#include "floorplan_option.hpp"
#include "option.hpp"
#include "output.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/progress.hpp"
#include "ww/microbench/compute_device.hpp"
#include "ww/microbench/homes.hpp"
#include "ww/microbench/topology.hpp"
#include "ww/report/topology_picture.hpp"

namespace ww::cli {
namespace {

struct TopologyArguments {
  microbench::TopologyRequest request;
  std::string svg;
  std::string waves;
  std::string format{"wirewatt"};
  std::string floorplan;
  bool json{};
};

// wave,group,unpatched,hardware_id,engine,cu
Status write_waves(const TopologyArguments& arguments) {
  auto device = microbench::open_compute_device(arguments.request.device);
  if (!device) return tl::unexpected(device.error());
  const auto waves = microbench::record_wave_places(*device->host);
  if (!waves) return tl::unexpected(waves.error());
  std::string text = "wave,group,unpatched,hardware_id,engine,cu\n";
  for (const microbench::WavePlace& wave : *waves) {
    text += fmt::format("{},{},{:#010x},{:#010x},{},{}\n", wave.wave, wave.group, wave.unpatched,
                        wave.id, wave.engine, wave.cu);
  }
  return write_file_atomically(arguments.waves, text);
}

// The floorplan that was named, or else the one that is published of the device; nothing where
// there is none.
Result<std::optional<model::Floorplan>> plan_of(const TopologyArguments& arguments,
                                                const microbench::Topology& topology) {
  if (!arguments.floorplan.empty()) return named_floorplan(arguments.floorplan);
  WW_ASSIGN(toml, microbench::published_floorplan(arguments.request, topology));
  if (toml.empty()) return std::optional<model::Floorplan>();
  return model::parse_floorplan(toml, "the published floorplan");
}

// The homes beside that floorplan; nothing where there are no homes.
std::optional<microbench::FloorplanAgreement> agreement_of(
    const std::optional<model::Floorplan>& plan, const microbench::Topology& topology) {
  if (!plan || !topology.homes || !topology.homes->found) return std::nullopt;
  return microbench::compare_floorplan(*topology.homes, *plan);
}

void print_agreement(const microbench::FloorplanAgreement& agreement) {
  fmt::print("floorplan   {}: latencies and distances correlate with {:.3f}", agreement.floorplan,
             agreement.correlation);
  if (agreement.rank_correlation) {
    fmt::print(", their ranks with {:.3f}", *agreement.rank_correlation);
  }
  fmt::print("; {}\n", agreement.agrees ? "its millimetres may be used"
                                        : "its millimetres are refused: " + agreement.reason);
}

int run(const TopologyArguments& arguments) {
  Progress progress("probing");
  const auto topology = microbench::topology_of(
      arguments.request, [&progress](double share) { progress.update(share, 1.0, ""); });
  progress.finish();
  if (!topology) return report_error(topology.error());
  const auto plan = plan_of(arguments, *topology);
  if (!plan) return report_error(plan.error());
  if (!arguments.svg.empty()) {
    const auto written = write_file_atomically(
        arguments.svg, report::topology_svg(*topology, *plan ? &**plan : nullptr));
    if (!written) return report_error(written.error());
  }
  if (!arguments.waves.empty()) {
    if (const auto written = write_waves(arguments); !written) return report_error(written.error());
  }
  if (arguments.format == "mt4g") {
    print_json(microbench::to_mt4g(*topology));
    return 0;
  }
  const auto agreement = agreement_of(*plan, *topology);
  if (arguments.json) {
    nlohmann::json document = microbench::to_json(*topology);
    document["floorplan"] = agreement ? microbench::to_json(*agreement) : nlohmann::json();
    print_json(document);
  } else {
    fmt::print("{}", report::topology_picture(*topology));
    if (agreement) print_agreement(*agreement);
  }
  return 0;
}

}  // namespace

void add_topology(CLI::App& app, Outcome& outcome) {
  auto* command = app.add_subcommand(
      "topology", "Find and draw engines, L2 channels, and what is near to what");
  auto arguments = std::make_shared<TopologyArguments>();
  auto& request = arguments->request;
  request.device.need = need_of("topology");
  command->add_option("--device", request.device.name,
                      "Device as `wirewatt devices` names it: virtual:w9100, "
                      "opencl:PLATFORM.DEVICE, hip:N, cuda:N (default: the best card that runs "
                      "kernels, else virtual:w9100)");
  add_random_chip_options(*command, request.device);
  command->add_flag("--fresh", request.fresh, "Probe again, without the cached result");
  as_svg_file(
      command->add_option("--svg", arguments->svg, "Also write the picture as SVG to this file"));
  as_output_file(command->add_option(
      "--waves", arguments->waves,
      "Also write every wavefront's place to this CSV file: the proof of pinning"));
  as_input_file(command->add_option(
      "--floorplan", arguments->floorplan,
      "Compare measured homes with this floorplan: a name (w9100, vega10, vega20, "
      "mi100, mi210, navi21, navi31) or a file; default: the device's own"));
  command
      ->add_option(
          "--format", arguments->format,
          "Schema of the JSON: wirewatt (default), or mt4g, the one of MT4G's result files "
          "(implies --json)")
      ->check(CLI::IsMember({"wirewatt", "mt4g"}));
  command->add_flag("--json", arguments->json, "Machine-readable output on stdout");
  command->footer("Example:\n  wirewatt topology --device virtual:w9100 --svg w9100.svg");
  command->callback([arguments, &outcome] { outcome.exit_code = run(*arguments); });
}

}  // namespace ww::cli
