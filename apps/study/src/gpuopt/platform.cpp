// Tables 2 and 3 of the PS_GPUOPT paper beside the chip, its network and its light.
#include <cmath>

#include "gpuopt/gpuopt.hpp"
#include "ww/sim/net/factory.hpp"
#include "ww/sim/net/memory_link.hpp"
#include "ww/sim/net/vc_router_config.hpp"
#include "ww/sim/power/photonic_power.hpp"

namespace ww::study::gpuopt {
namespace {

using nlohmann::json;

// GCN's vector instructions (Southern Islands ISA, chapter 2): 16 lanes wide, 64 lanes a wave, at
// most 256 registers a lane.
constexpr int kGcnSimdLanes = 16;
constexpr int kGcnWaveLanes = 64;
constexpr int kGcnRegistersPerLane = 256;

struct TableRows {
  Reproduction& out;
  const char* table;

  void add(const char* quantity, const json& paper, const json& ours, const char* unit,
           const char* why_not) {
    const bool same = paper.is_number() && ours.is_number()
                          ? std::abs(paper.get<double>() - ours.get<double>()) <=
                                1e-3 * std::abs(paper.get<double>())
                          : paper == ours;
    out.add({table, quantity, paper, ours, unit, same ? kByConstruction : kDiffers,
             same ? "read from the chip and its network, which are set after the table" : why_not});
  }
  void missing(const char* quantity, const json& paper, const char* unit, const char* why) {
    out.add({table, quantity, paper, nullptr, unit, kUnavailable, why});
  }
};

constexpr const char* kChanged = "the chip or its network is not the table's";

void add_table_2(Reproduction& out, const GpuoptPlatform& platform) {
  TableRows rows{out, "Table 2"};
  const sim::gpu::Architecture& chip = platform.chip;
  const sim::gpu::TimingConfig& timing = platform.timing;
  const sim::net::NetworkConfig& network = timing.network;
  const auto& router = network.own<sim::net::VcRouterConfig>();
  const sim::net::PhotonicConfig light;
  const double clock_mhz =
      chip.dvfs.empty() ? 0
                        : chip.dvfs[static_cast<std::size_t>(chip.reference_state)].clock_hz * 1e-6;
  rows.add("technology of the network", 16, timing.node_nm, "nm", kChanged);
  rows.add("die under the waveguides", 600, light.die_mm2, "mm2", kChanged);
  rows.add("core clock", 1400, clock_mhz, "MHz", kChanged);
  rows.add("SMs", 64, chip.compute_units(), "", kChanged);
  rows.add("SPs an SM", 32, chip.simds_per_cu * kGcnSimdLanes, "",
           "the SMs are GCN compute units with four SIMDs of 16 lanes");
  rows.missing("LSUs an SM", 16, "", "a GCN compute unit takes a wave's lines one after another");
  rows.missing("SFUs an SM", 8, "", "a GCN SIMD computes special functions itself");
  rows.add("registers an SM", 32678, chip.simds_per_cu * kGcnRegistersPerLane * kGcnWaveLanes, "",
           "GCN's 256 for each lane of a wave; the paper prints 32,678");
  rows.add("L1", 32, chip.l1_bytes / 1024, "KiB", kChanged);
  rows.add("ways of the L1", 4, chip.l1_ways, "", kChanged);
  rows.missing("instruction cache", 8, "KiB", "instructions always come in time here");
  rows.missing("constant cache", 16, "KiB", "scalar loads take a constant time here");
  rows.add("L2 banks", 8, chip.l2_channels, "", kChanged);
  rows.add("L2 a bank", 512, chip.l2_bytes / chip.l2_channels / 1024, "KiB", kChanged);
  rows.add("ways of the L2", 8, chip.l2_ways, "", kChanged);
  rows.add("line of the L2", 128, chip.line_bytes, "B",
           "64 bytes, as section 5.3.1 of the paper says; the table says 128");
  rows.add("memory controllers", 8, static_cast<int>(network.memory_nodes.size()), "", kChanged);
  rows.add("queue of a station", 16, light.station_queue, "messages", kChanged);
  rows.add("routing of EMESH", "XY", std::string(sim::net::routing_of(network)), "", kChanged);
  rows.add("link of EMESH", 1, network.link_delay, "cycles", kChanged);
  rows.add("router of EMESH", 2,
           router.routing_delay + (router.speculative ? 0 : router.vc_alloc_delay) +
               router.sw_alloc_delay + router.st_delay,
           "cycles", kChanged);
  rows.add("flit of EMESH", 256, network.flit_bits, "bits", kChanged);
  rows.add("data rate of EMESH's wires", 10, clock_mhz * 1e-3, "Gb/s",
           "a flit of 256 bits a cycle of 1,400 MHz; variant emesh-10g has the other reading");
}

void add_table_3(Reproduction& out) {
  TableRows rows{out, "Table 3"};
  const sim::power::PhotonicPowerConfig power;
  const sim::power::OpticalLosses& losses = power.losses;
  const sim::net::PhotonicConfig light;
  const sim::net::MemoryLinkConfig memory;
  rows.add("photodetector power", 36, power.receiver_uw, "uW", kChanged);
  rows.add("propagation in a waveguide", 11, light.waveguide_ps_per_mm, "ps/mm", kChanged);
  rows.add("propagation in a fibre", 5, memory.fibre_ps_per_mm, "ps/mm", kChanged);
  rows.add("coupling loss", 50, 100 * (1 - std::pow(10, -losses.coupler_db / 10)), "%", kChanged);
  rows.add("waveguide loss", 0.274, losses.waveguide_db_per_cm, "dB/cm", kChanged);
  rows.add("bending loss", 0.005, losses.bend_db, "dB", kChanged);
  rows.add("splitter loss", 0.36, losses.splitter_db, "dB", kChanged);
  rows.add("photodetector loss", 0.1, losses.detector_db, "dB", kChanged);
  rows.add("crossing loss", 0.05, losses.crossing_db, "dB", kChanged);
  rows.add("loss of a ring that is off", 0.005, losses.off_ring_db, "dB", kChanged);
  rows.add("loss of a ring that is on", 0.6, losses.modulator_db, "dB", kChanged);
}

}  // namespace

void add_gpuopt_platform(Reproduction& out, const GpuoptPlatform& platform) {
  add_table_2(out, platform);
  add_table_3(out);
}

void add_gpuopt_summary(Reproduction& out) {
  out.headline("GPUOPT is faster than an electrical mesh", "Fig. 12",
               "GPUOPT over EMESH (a 256-bit flit a cycle), mean");
  out.headline("the same, if each of the mesh's wires carries 10 Gb/s", "Fig. 12",
               "GPUOPT over EMESH (256 wires at 10 Gb/s), mean");
  out.headline("GPUOPT is faster than Prior_Opt, with 64 wavelengths a link", "Fig. 14",
               "GPUOPT over Prior_Opt, 64 wavelengths a link");
  out.headline("the same, with 128 wavelengths a link", "Fig. 14",
               "GPUOPT over Prior_Opt, 128 wavelengths a link");
  out.headline("GPUOPT's lasers need less than Prior_Opt's, 64 wavelengths", "Fig. 15",
               "laser power of GPUOPT against Prior_Opt, 64 wavelengths");
  out.headline("the same, with 128 wavelengths", "Fig. 15",
               "laser power of GPUOPT against Prior_Opt, 128 wavelengths");
  out.headline("Turning lasers off saves laser power", "Fig. 15",
               "laser power of PS_GPUOPT against GPUOPT");
  out.headline("the same by the other readings of its control", "Fig. 15",
               "all four of these readings: laser power");
  out.headline("Turning lasers off costs time: GPUOPT over PS_GPUOPT", "Fig. 14",
               "GPUOPT over PS_GPUOPT, mean gain");
  out.headline("the same by the other readings of its control", "Fig. 14",
               "GPUOPT over PS_GPUOPT, all four of these readings");
  out.headline("Prior_Opt lights more than busy stations need", "Fig. 6",
               "laser power of Prior_Opt");
  out.headline("32 SMs are faster than 8", "Fig. 2", "performance of 32 SMs over 8, mean");
  out.headline("Units lit by PS_GPUOPT", "Table 4", "tokens an epoch, PS_GPUOPT: mean");
  out.headline("Wait of a message in GPUOPT", "Table 4", "wait, GPUOPT: mean");
  out.headline("ED2 of PS_GPUOPT against GPUOPT, network energy", "Fig. 16",
               "ED2 of PS_GPUOPT against GPUOPT, network energy");
}

}  // namespace ww::study::gpuopt
