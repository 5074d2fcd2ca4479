// Timing mode: the cores issue into a cycle-level network of sim/net, and a load's registers get
// the bytes that the network delivered. What the system around the network is like, and what it
// did.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/sim/gpu/chip.hpp"
#include "ww/sim/net/i_network.hpp"
#include "ww/sim/power/accounting.hpp"

namespace ww::sim::gpu {

// A memory channel's banks, in cycles of its own clock. GDDR5, Hynix H5GQ1H24AFR, as GPGPU-Sim's
// configuration of a GTX 480 has it (the simulator of the Dapper paper): 924 MHz, two chips of 32
// data pins a channel, bursts of 8 at four transfers a clock: 64 bytes in two cycles.
struct DramConfig {
  double clock_hz{924e6};
  int banks{16};
  int row_bytes{2048};  // of a channel's row: consecutive lines of one bank
  int burst{2};         // cycles that a line takes on the data bus
  int rrd{6}, rcd{12}, ras{28}, rp{12}, rc{40};
  int cl{12}, wl{4};
  int cdlr{5};             // from the last datum written to a read
  int wr{12};              // and to closing the row
  int rtp{2};              // from a read to closing the row
  int queue{32};           // commands that wait for banks; the first of them that can go goes
  int return_cycles{100};  // network cycles from the data bus back to the controller
};

// The system, in cycles of the network unless it says otherwise.
struct TimingConfig {
  net::NetworkConfig network;
  // Node of each compute unit; empty: nodes without memory. The nodes of L2 channels are the
  // network's memory_nodes; empty: default_memory_nodes().
  std::vector<net::NodeId> core_nodes;
  int cus_in_use{};           // of each shader engine, that get work-groups; 0: all
  double network_clock_hz{};  // of network, L2 and controllers; 0: the cores'
  int header_bytes{8};        // of every packet: address, operation
  int mshrs{64};              // L1 misses that a core may have under way
  int writes{64};             // stores and atomics that a core may have under way
  int request_buffer{8};      // packets that wait at a core's network interface
  int fill_cycles{32};        // core cycles from a reply's arrival at the core to the registers
  int request_cycles{0};      // from a request's arrival at its slice to the slice's input
  int l2_cycles{120};         // from the slice's lookup to the reply (GPGPU-Sim: rop_latency)
  int l2_banks{4};            // of a slice; each takes a line every l2_bank_cycles
  int l2_bank_cycles{2};
  int line_bytes{64};  // of the L1s, of a read and its reply: 64 or 128 (two of the L2's)
  // The L1s. "launch": write-through, nothing kept by stores, emptied at each launch, as OpenCL's
  // memory model allows. "coherent": kept over launches and written back; a directory at the slices
  // has each line's owner and sharers, and a store to a line that others have invalidates theirs.
  std::string l1_policy{"launch"};
  // Payload of the reply to a vector load. "line": its line. Dapper's section V.A calls a channel
  // of 128 bits twice the L1's line, and algorithm 1 compares one number: a packet carries a datum
  // of 64 bits. "each": a packet for each datum of the line. "first": one packet, with the datum of
  // the first lane; the rest of the line comes with it at no cost, as if the datum were the line.
  std::string reply_data{"line"};
  // A file that gets every packet with its time and its cause (ww/sim/net/packet_trace.hpp); empty:
  // none.
  std::string packet_trace;
  int scalar_cache_bytes{0};  // of a core, for scalar loads and kernel arguments; 0: these take a
                              // constant time and do not cross the network
  int output_buffer{66};      // reply packets that a controller holds (Dapper, section V)
  // A direction that is narrower than the network's flits: its packets have more of them in
  // proportion. 0: as wide. For times alone: a flit's energy stays that of a whole one. With planes
  // the other direction does not feel it.
  int request_flit_bits{0};
  int reply_flit_bits{0};
  DramConfig dram;

  // Largest relative error of an approximable word where the program says none, as a fraction; the
  // network's error_threshold stands for all of them.
  double default_threshold{0.1};

  // Energy of the network; the router's size is the network's.
  std::string estimator{"dsent"};
  double node_nm{22};
  double link_mm{1.0};
  // Power of a bypass router of Dapper over that of a router as wide; 0: the estimator's router of
  // one VC and one flit. The paper says "up to 50% less".
  double bypass_power{0};
};

// A system for the chip: the smallest mesh, as near to a square as can be, with a node for each
// compute unit and each L2 channel, and the routers of Dapper's baseline (4 stages, 5 VCs of 4
// flits, 128 bits; `dapper` has its planes of 64).
[[nodiscard]] TimingConfig default_timing(const Architecture& architecture,
                                          std::string_view network = "mesh");
// One in each row where the rows are as many (columns 1, 3, 0, 2 of four), else evenly spread.
[[nodiscard]] std::vector<net::NodeId> default_memory_nodes(const net::NetworkConfig& network,
                                                            int count);

// Reads TOML over what `config` holds: [network] with NetworkConfig's keys, [system], [dram],
// [approximation] and [energy] with those above. Errors: parse_error, out_of_range,
// invalid_argument, with origin, line and key; unknown keys are errors.
Status read_timing(std::string_view toml_text, const std::string& origin, TimingConfig& config);
// Writes every key that read_timing reads.
[[nodiscard]] std::string to_toml(const TimingConfig& config);

// Settings of timing mode that an environment or a command line asks for.
struct TimingRequest {
  std::string settings;  // TOML as read_timing takes it; may be empty
  std::string origin;    // of the settings, for errors
  std::string network;   // instead of the settings'; empty: theirs
  // Single keys of [network] and [system] over the settings: {"vcs", "5"}, {"memory_nodes", "1,7"}.
  std::vector<std::pair<std::string, std::string>> keys;
  std::optional<double> threshold_percent;  // instead of the settings' and the programs'
};
// The chip's default system with what is asked for. Errors as read_timing() and validate().
[[nodiscard]] Result<std::shared_ptr<const TimingConfig>> make_timing(
    const Architecture& architecture, const TimingRequest& request);

// Checks all that can be checked without a chip, and what the network says of itself. Errors name
// the key.
[[nodiscard]] Status validate(const TimingConfig& config);

// One kind of packet in a report.
struct PacketCount {
  std::uint64_t packets{};
  std::uint64_t flits{};
};

// Counts of a launch (or of all launches) under the network's timing.
struct TimingStats {
  std::uint64_t launches{};
  std::uint64_t cycles{};  // of the cores
  std::uint64_t network_cycles{};
  std::uint64_t wave_instructions{};
  std::uint64_t l1_accesses{}, l1_hits{}, l1_merged{};  // hits: of them merged: line on its way
  std::uint64_t l2_accesses{}, l2_hits{}, l2_merged{};
  PacketCount read_requests, write_requests, atomic_requests;
  PacketCount read_replies, write_replies, atomic_replies;
  // Counts of coherent L1s: lines written back, recalled from their owner, and copies invalidated.
  PacketCount write_backs, recalls, invalidations;
  std::uint64_t l1_stores{};             // to lines that the L1 owned: nothing left the core
  std::uint64_t approximable_replies{};  // read replies whose line the program lets change
  std::uint64_t changed_replies{};       // delivered with other bytes than sent
  double request_latency{}, request_latency_p99{};  // of packets, network cycles
  double reply_latency{}, reply_latency_p99{};
  double request_transit{}, reply_transit{};  // since the head left its source queue
  double round_trip{};                        // core cycles from an L1 miss to its registers
  double output_occupancy{};                  // mean packets in a controller's output buffer
  std::uint64_t output_full_cycles{};         // summed over controllers: a reply waited for room
  std::uint64_t mshr_full_cycles{};           // summed over cores: a miss waited for a place
  std::uint64_t dram_reads{}, dram_writes{}, dram_row_hits{};
  double flits_per_node_cycle{};  // ejected
  power::NetworkEvents events;
  power::EnergyReport energy;
  double cpu_s{};  // of this process, while the launches ran
};

// JSON of all launches so far: {mode, virtual, network, ..., total: {...}, dispatches: [...]}.
// `cpu_s` apart, the same program and settings give the same bytes.
struct TimingReport {
  TimingConfig config;
  TimingStats total;
  struct Dispatch {
    std::string kernel;
    TimingStats stats;
  };
  std::vector<Dispatch> dispatches;
  std::vector<std::string> warnings;
};
[[nodiscard]] std::string to_json_text(const TimingReport& report);

}  // namespace ww::sim::gpu
