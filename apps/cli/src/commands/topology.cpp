#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "command.hpp"
#include "device_options.hpp"
#include "output.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/progress.hpp"
#include "ww/microbench/compute_device.hpp"
#include "ww/microbench/topology.hpp"
#include "ww/report/topology_picture.hpp"

namespace ww::cli {
namespace {

struct TopologyArguments {
  microbench::TopologyRequest request;
  std::string svg;
  std::string waves;
  std::string format{"wirewatt"};
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

int run(const TopologyArguments& arguments) {
  Progress progress("probing");
  const auto topology = microbench::topology_of(
      arguments.request, [&progress](double share) { progress.update(share, 1.0, ""); });
  progress.finish();
  if (!topology) return report_error(topology.error());
  if (!arguments.svg.empty()) {
    const auto written = write_file_atomically(arguments.svg, report::topology_svg(*topology));
    if (!written) return report_error(written.error());
  }
  if (!arguments.waves.empty()) {
    if (const auto written = write_waves(arguments); !written) return report_error(written.error());
  }
  if (arguments.json || arguments.format == "mt4g") {
    print_json(arguments.format == "mt4g" ? microbench::to_mt4g(*topology)
                                          : microbench::to_json(*topology));
  } else {
    fmt::print("{}", report::topology_picture(*topology));
  }
  return 0;
}

}  // namespace

void add_topology(CLI::App& app, Outcome& outcome) {
  auto* command = app.add_subcommand(
      "topology", "Find and draw engines, L2 channels, and what is near to what");
  auto arguments = std::make_shared<TopologyArguments>();
  auto& request = arguments->request;
  command->add_option("--device", request.device.name,
                      "Device as `wirewatt devices` names it: virtual:w9100 (default), "
                      "opencl:PLATFORM.DEVICE, hip:N, cuda:N");
  add_random_chip_options(*command, request.device);
  command->add_flag("--fresh", request.fresh, "Probe again, without the cached result");
  command->add_option("--svg", arguments->svg, "Also write the picture as SVG to this file");
  command->add_option("--waves", arguments->waves,
                      "Also write every wavefront's place to this CSV file: the proof of pinning");
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
