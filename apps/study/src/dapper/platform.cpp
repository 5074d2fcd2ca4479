// Table 1 of the Dapper paper beside the chip and the network that the runs use.
#include <fmt/format.h>

#include "dapper/dapper.hpp"
#include "ww/core/device_name.hpp"
#include "ww/runner/chip_architecture.hpp"
#include "ww/sim/net/factory.hpp"
#include "ww/sim/net/vc_router_config.hpp"

namespace ww::study::dapper {
namespace {

using nlohmann::json;

// GCN's vector instructions (Southern Islands ISA, chapter 2): 64 lanes a wave, 256 registers a
// lane at most.
constexpr int kGcnWaveLanes = 64;
constexpr int kGcnRegistersPerLane = 256;

}  // namespace

Result<DapperPlatform> dapper_platform(const std::string& chip) {
  microbench::DeviceRequest device;
  device.name = virtual_device_name(chip);
  WW_ASSIGN(sheet, runner::chip_architecture(device));
  sim::gpu::TimingConfig timing = sim::gpu::default_timing(sheet);
  return DapperPlatform{std::move(sheet), std::move(timing)};
}

void add_dapper_platform(Reproduction& out, const DapperPlatform& platform) {
  const sim::gpu::Architecture& chip = platform.chip;
  const sim::gpu::TimingConfig& timing = platform.timing;
  const sim::net::NetworkConfig& network = timing.network;
  const auto& router = network.own<sim::net::VcRouterConfig>();
  const auto row = [&](const char* quantity, const json& paper, const json& ours, const char* unit,
                       const char* differs) {
    const bool same = paper == ours;
    out.add({"Table 1", quantity, paper, ours, unit, same ? kByConstruction : kDiffers,
             same ? "read from the chip and its network, which are set after the table" : differs});
  };
  const char* changed = "the chip or its network is not the table's";
  row("shader cores", 12, chip.compute_units(), "", changed);
  row("memory controllers", 4, chip.l2_channels, "", changed);
  row("mesh", "4x4", fmt::format("{}x{}", network.width, network.height), "", changed);
  row("network's routing", "XY", std::string(sim::net::routing_of(network)), "", changed);
  row("channel width", 128, network.flit_bits, "bits", changed);
  row("virtual channels a port", 5, router.vcs, "", changed);
  row("flits a virtual channel", 4, router.vc_buffer, "", changed);
  row("L1 a core", 16, chip.l1_bytes / 1024, "KiB", changed);
  row("L2 a memory controller", 128, chip.l2_bytes / chip.l2_channels / 1024, "KiB", changed);
  row("packets in an output buffer", 66, timing.output_buffer, "", changed);
  row("threads a core", 1536, chip.simds_per_cu * chip.waves_per_simd * kGcnWaveLanes, "", changed);
  row("warp size", 32, kGcnWaveLanes, "lanes",
      "the virtual chip executes GCN code: waves of 64 lanes");
  row("registers a core", 32768, chip.simds_per_cu * kGcnRegistersPerLane * kGcnWaveLanes, "",
      "GCN's 256 for each lane; 24 waves of the six applications' kernels take at most 20 a lane, "
      "30,720 together, but DXTC's, which takes 140");
  out.add({"Table 1", "texture cache a core", 8, nullptr, "KiB", kUnavailable,
           "textures are buffers here, and go through the L1"});
}

void add_dapper_summary(Reproduction& out) {
  out.headline("Dapper takes hardly longer than its baseline", "Fig. 8a",
               "Dapper over baseline, mean");
  out.headline("the same, if a reply is one datum of 64 bits", "Fig. 8a",
               "Dapper over baseline, mean: a reply is one datum");
  out.headline("the same, and no core waits for replies", "Fig. 8a",
               "if no core waited: replies of one datum");
  out.headline("Approx-NoC takes longer", "Fig. 8a", "Approx-NoC over baseline, mean");
  out.headline("Dapper saves network energy, at most", "Fig. 8b", "Dapper saves, most");
  out.headline("Dapper saves network power, at most", "Fig. 8b",
               "network power (energy a cycle) that Dapper saves, most");
  out.headline("the same, if bypass routers take half a router's power", "Fig. 8b",
               "bypass routers at half a router's power");
  out.headline("Approx-NoC uses more energy than its baseline", "Fig. 8b",
               "Approx-NoC's network energy");
  out.headline("Dapper's latency is like the baseline's", "Fig. 8c",
               "network latency, Dapper over baseline");
  for (const int percent : {10, 20}) {
    out.headline(fmt::format("Error of outputs at a threshold of {}%", percent), "Fig. 9",
                 fmt::format("Dapper at {}%, mean", percent));
    out.headline("the same, one datum a reply, over the mean output", "Fig. 9",
                 fmt::format("mean output, Dapper at {}%, mean: a reply is one datum", percent));
    out.headline("the same, a reply for each datum, over the mean output", "Fig. 9",
                 fmt::format("mean output, Dapper at {}%, mean: a reply for each datum", percent));
  }
  out.headline("Much of the data may be approximated", "Fig. 3a", "highest of DCT, Hist, ConvTex");
  out.headline("The network's share of the GPU's power", "Fig. 1",
               "network's share of the GPU's power");
}

}  // namespace ww::study::dapper
