// Names of fitted constants, and of what a simulation found, for people.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace ww::report {

// "energy of a way, by random bits" for "energy_fj_per_bit_mm"; a key of no known name is shown
// with spaces for its underscores.
[[nodiscard]] std::string constant_name(std::string_view key);

// "packet latency [cycles]" for "avg_packet_latency", "energy of link [pJ]" for "energy_pj.link"; a
// metric of no known name is shown as it is.
[[nodiscard]] std::string metric_name(std::string_view metric);

// The name of a metric without its unit: "packet latency" for "avg_packet_latency".
[[nodiscard]] std::string plain_name(std::string_view metric);

// "registers–L1" for "registers_l1", also where several are named.
[[nodiscard]] std::string segment_name(std::string_view key);

// A key as words: "buffer read" for "buffer_read".
[[nodiscard]] std::string in_words(std::string_view key);

// A simulation's results, in the order in which people read it.
struct SimulatedFigure {
  const char* key;
  const char* name;
  const char* unit;
};
inline constexpr std::array kSimulated{
    SimulatedFigure{"avg_packet_latency", "packet latency", "cycles"},
    SimulatedFigure{"p99_packet_latency", "packet latency, 99th percentile", "cycles"},
    SimulatedFigure{"avg_network_latency", "network latency", "cycles"},
    SimulatedFigure{"accepted_flits_per_node_cycle", "accepted load", "flits/node/cycle"},
    SimulatedFigure{"avg_hops", "hops", "routers"},
    SimulatedFigure{"cycles", "cycles", "cycles"},
    SimulatedFigure{"packets", "packets", "packets"},
    SimulatedFigure{"energy_pj_per_flit", "energy a flit", "pJ"}};

}  // namespace ww::report
