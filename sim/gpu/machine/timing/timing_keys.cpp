#include "machine/timing/timing_keys.hpp"

namespace ww::sim::gpu {
namespace {

using net::anything;
using net::between;
using net::Key;
using net::one_of;

constexpr std::string_view kDramCycles = "cycles of the memory's clock";
constexpr std::string_view kMemoryCycles = "memory cycles";
constexpr std::string_view kNetworkCycles = "cycles of the network";
constexpr std::string_view kGpgpuSim = "GPGPU-Sim, GTX 480";
constexpr std::string_view kHynix = "Hynix H5GQ1H24AFR, as GPGPU-Sim has it";

constexpr Key<TimingConfig> kSystemKeys[] = {
    {"core_nodes", &TimingConfig::core_nodes, anything(), "", "", "Node of each compute unit", ""},
    {"cus_in_use", &TimingConfig::cus_in_use, anything(), "", "",
     "Compute units of each shader engine that get work-groups; 0: all", ""},
    {"network_clock_hz", &TimingConfig::network_clock_hz, between(0, 1e11, "0 is the cores' clock"),
     "Hz", "", "Clock of network, L2 and controllers; 0: the cores'", ""},
    {"header_bytes", &TimingConfig::header_bytes,
     between(8, 64, "the address needs 7, the kind one"), "bytes", "", "Header of every packet",
     ""},
    {"line_bytes", &TimingConfig::line_bytes, anything(), "bytes", "", "Line of the L1s: 64 or 128",
     ""},
    {"l1_policy", &TimingConfig::l1_policy, one_of("launch, coherent"), "", "",
     "L1s that write through and are emptied at each launch, or that are kept coherent", ""},
    {"packet_trace", &TimingConfig::packet_trace, anything(), "", "",
     "File that gets every packet with its time and its cause; empty: none", ""},
    {"reply_data", &TimingConfig::reply_data, one_of("line, each, first"), "", "",
     "What replies to loads carry: the line, each datum of 64 bits by itself, or the first alone",
     ""},
    {"scalar_cache_bytes", &TimingConfig::scalar_cache_bytes, between(0, 1 << 20, "0: none"),
     "bytes", "", "Scalar cache of a core; 0: none", ""},
    {"mshrs", &TimingConfig::mshrs, between(1, 4096, "a core needs one to load anything"), "", "",
     "L1 misses that a core may have under way", ""},
    {"writes", &TimingConfig::writes, between(1, 4096, "a core needs one to store anything"), "",
     "", "Stores and atomics that a core may have under way", ""},
    {"request_buffer", &TimingConfig::request_buffer, between(1, 4096, "packets"), "packets", "",
     "Queue of a core's network interface", ""},
    {"fill_cycles", &TimingConfig::fill_cycles, between(1, 10000, "the quantum of the simulation"),
     "core cycles", "", "Time from a reply's arrival to the registers", ""},
    {"request_cycles", &TimingConfig::request_cycles, between(0, 10000, kNetworkCycles), "cycles",
     "", "Time from a request's arrival to its slice's input", ""},
    {"l2_cycles", &TimingConfig::l2_cycles, between(1, 10000, kNetworkCycles), "cycles", "",
     "Time from a slice's lookup to the reply", "GPGPU-Sim: rop_latency"},
    {"l2_banks", &TimingConfig::l2_banks, between(1, 64, "of a slice"), "", "", "Banks of a slice",
     ""},
    {"l2_bank_cycles", &TimingConfig::l2_bank_cycles, between(1, 1000, kNetworkCycles), "cycles",
     "", "Time that a bank needs for a line", ""},
    {"output_buffer", &TimingConfig::output_buffer, between(1, 65536, "packets"), "packets", "",
     "Replies that a controller holds", "Dapper, section V"},
    {"request_flit_bits", &TimingConfig::request_flit_bits, anything(), "bits", "",
     "Width of the way to memory, where it is narrower; 0: as wide as a flit", ""},
    {"reply_flit_bits", &TimingConfig::reply_flit_bits, anything(), "bits", "",
     "Width of the way back, where it is narrower; 0: as wide as a flit", ""},
};

constexpr Key<DramConfig> kDramKeys[] = {
    {"clock_hz", &DramConfig::clock_hz, between(1e6, 1e11, "the memory's command clock"), "Hz", "",
     "Command clock of the memory", kHynix},
    {"banks", &DramConfig::banks, between(1, 64, "banks of a channel"), "", "",
     "Banks of a channel", kHynix},
    {"row_bytes", &DramConfig::row_bytes, between(64, 65536, "a row holds whole lines"), "bytes",
     "", "Row of a channel", kHynix},
    {"burst", &DramConfig::burst, between(1, 1000, kDramCycles), kMemoryCycles, "",
     "Time of a line on the data bus", kHynix},
    {"rrd", &DramConfig::rrd, between(0, 1000, kDramCycles), kMemoryCycles, "",
     "From opening a row to opening one in another bank", kHynix},
    {"rcd", &DramConfig::rcd, between(1, 1000, kDramCycles), kMemoryCycles, "",
     "From opening a row to a command", kHynix},
    {"ras", &DramConfig::ras, between(0, 1000, kDramCycles), kMemoryCycles, "",
     "From opening a row to closing it", kHynix},
    {"rp", &DramConfig::rp, between(1, 1000, kDramCycles), kMemoryCycles, "",
     "From closing a row to opening one", kHynix},
    {"rc", &DramConfig::rc, between(0, 1000, kDramCycles), kMemoryCycles, "",
     "From opening a row to opening the next of its bank", kHynix},
    {"cl", &DramConfig::cl, between(1, 1000, kDramCycles), kMemoryCycles, "",
     "From a read to its data", kHynix},
    {"wl", &DramConfig::wl, between(0, 1000, kDramCycles), kMemoryCycles, "",
     "From a write to its data", kHynix},
    {"cdlr", &DramConfig::cdlr, between(0, 1000, kDramCycles), kMemoryCycles, "",
     "From the last datum written to a read", kHynix},
    {"wr", &DramConfig::wr, between(0, 1000, kDramCycles), kMemoryCycles, "",
     "From the last datum written to closing the row", kHynix},
    {"rtp", &DramConfig::rtp, between(0, 1000, kDramCycles), kMemoryCycles, "",
     "From a read to closing the row", kHynix},
    {"queue", &DramConfig::queue, between(2, 4096, "a miss may need two commands"), "", "",
     "Commands that wait for banks", kGpgpuSim},
    {"return_cycles", &DramConfig::return_cycles, between(0, 100000, kNetworkCycles), "cycles", "",
     "Time from the data bus back to the controller", kGpgpuSim},
};

constexpr Key<TimingConfig> kApproximationKeys[] = {
    {"default_threshold", &TimingConfig::default_threshold, between(0, 1, "a fraction"), "", "",
     "Largest relative error of an approximable word where the program says none", ""},
};

constexpr Key<TimingConfig> kEnergyKeys[] = {
    {"estimator", &TimingConfig::estimator, anything(), "", "", "Estimator of the router energies",
     ""},
    {"node_nm", &TimingConfig::node_nm, between(1, 250, "nanometres"), "nm", "",
     "Technology node of the routers", ""},
    {"link_mm", &TimingConfig::link_mm, between(0, 100, "millimetres"), "mm", "",
     "Length of a link", ""},
    {"bypass_power", &TimingConfig::bypass_power, between(0, 1, "0 is the estimator's"), "", "",
     "Power of a bypass router over that of a router as wide; 0: the estimator's", ""},
};

template <class C, std::size_t kCount>
net::BoundKeys rows(C& config, const Key<C> (&table)[kCount]) {
  net::BoundKeys keys;
  net::bind_rows<C>(config, table, keys);
  return keys;
}

}  // namespace

std::vector<SettingsTable> settings_of(TimingConfig& config) {
  return {{"system", rows(config, kSystemKeys)},
          {"dram", rows(config.dram, kDramKeys)},
          {"approximation", rows(config, kApproximationKeys)},
          {"energy", rows(config, kEnergyKeys)}};
}

}  // namespace ww::sim::gpu
